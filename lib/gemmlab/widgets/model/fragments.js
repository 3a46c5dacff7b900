// Who holds what in tensor-core fragments; layouts/fragments.py says the same.
// f: {name, origins, bits, transposed, rows, columns, registers, addressed, wmma, repeats}.
export const SIDE = 8;
export const LANES = 32;
const WIDEST = 16; // columns of one part of the picture

export function matrixOf(f, row, column) {
  const [top, left] = [row - row % SIDE, column - column % SIDE];
  return f.origins.findIndex((at) => at[0] === top && at[1] === left);
}

// {lane, register, half, x}; half is null where the element is a whole register, x but for wmma.
export function holder(f, row, column) {
  const i = matrixOf(f, row, column);
  const [group, inner] = f.transposed ? [column % SIDE, row % SIDE] : [row % SIDE, column % SIDE];
  const lane = 4 * group + Math.floor(inner / 2);
  const x = f.wmma ? 2 * i + inner % 2 : null;
  return f.bits === 32 ? { lane, register: 2 * i + inner % 2, half: null, x }
    : { lane, register: i, half: inner % 2, x };
}

// [row, column] of what a register holds.
export function element(f, lane, register, half) {
  const [i, odd] = f.bits === 32 ? [Math.floor(register / 2), register % 2] : [register, half];
  const [group, inner] = [Math.floor(lane / 4), 2 * (lane % 4) + odd];
  const [top, left] = f.origins[i];
  return f.transposed ? [top + inner, left + group] : [top + group, left + inner];
}

// "T5 r1.h", of wmma "T5 x3"
export function short({ lane, register, half, x }) {
  if (x !== null) return `T${lane} x${x}`;
  return `T${lane} r${register}${half === null ? "" : half ? ".h" : ".l"}`;
}

const rowName = (f, row) => (f.addressed
  ? `row ${row % SIDE} of matrix ${Math.floor(row / SIDE)}`
  : `row ${row} of ${f.name.split(" ")[1] ?? f.name}`);

export function describeElement(f, row, column) {
  const at = holder(f, row, column);
  const half = at.half === null ? "" : `, ${at.half ? "high" : "low"} half`;
  const place = at.x === null ? `register ${at.register}${half}` : `x[${at.x}]`;
  const address = f.addressed ? ` The row's address comes from lane ${row}.` : "";
  return `R${rowName(f, row).slice(1)}, column ${column}: lane ${at.lane}, ${place}.${address}`;
}

// The two elements of matrix i.
function pairName(f, lane, i) {
  const [row, column] = f.bits === 32 ? element(f, lane, 2 * i) : element(f, lane, i, 0);
  const of = f.addressed ? ` of matrix ${i}` : "";
  const r = f.addressed ? row % SIDE : row;
  return f.transposed ? `rows ${r} and ${r + 1}, column ${column}${of}`
    : `row ${r}, columns ${column} and ${column + 1}${of}`;
}

function heldBy(f, lane) {
  if (f.wmma) {
    return f.origins.map((_, i) => `x[${2 * i}], x[${2 * i + 1}] ${pairName(f, lane, i)}`);
  }
  if (f.bits === 16) return f.origins.map((_, i) => `r${i} ${pairName(f, lane, i)}`);
  return Array.from({ length: f.registers }, (_, n) => {
    const [row, column] = element(f, lane, n);
    return `r${n} row ${row}, column ${column}`;
  });
}

export function describeLane(f, lane) {
  const text = `Lane ${lane} holds ${heldBy(f, lane).join("; ")}.`;
  if (f.repeats > 1) {
    const elements = 2 * f.origins.length;
    return `${text} In a fragment of __half, x[${elements}] to x[${f.repeats * elements - 1}] ` +
      "repeat them.";
  }
  if (!f.addressed) return text;
  return lane < f.rows ? `${text} It gives the address of ${rowName(f, lane)}.`
    : `${text} Its address is not used.`;
}

// Parts of the picture, {top, left, rows, columns, title}: the matrices of ldmatrix and stmatrix
// each, else 16 columns at a time, or 8 where it is narrow.
export function panels(f, narrow) {
  if (f.addressed) {
    return f.origins.map(([top, left], i) =>
      ({ top, left, rows: SIDE, columns: SIDE, title: `matrix ${i}` }));
  }
  const columns = narrow ? SIDE : Math.min(f.columns, WIDEST);
  return Array.from({ length: f.columns / columns }, (_, i) => ({
    top: 0, left: i * columns, rows: f.rows, columns,
    title: columns === f.columns ? "" : `columns ${i * columns} to ${(i + 1) * columns - 1}`,
  }));
}
