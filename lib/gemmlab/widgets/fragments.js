// Who holds what in tensor-core fragments; layouts/fragments.py says the same.
// f: {name, origins, bits, transposed, rows, columns, registers, addressed}.
export const SIDE = 8;
export const LANES = 32;

export function matrixOf(f, row, column) {
  const [top, left] = [row - row % SIDE, column - column % SIDE];
  return f.origins.findIndex((at) => at[0] === top && at[1] === left);
}

// {lane, register, half}; half is null where the element is a whole register.
export function holder(f, row, column) {
  const i = matrixOf(f, row, column);
  const [group, inner] = f.transposed ? [column % SIDE, row % SIDE] : [row % SIDE, column % SIDE];
  const lane = 4 * group + Math.floor(inner / 2);
  return f.bits === 32 ? { lane, register: 2 * i + inner % 2, half: null }
    : { lane, register: i, half: inner % 2 };
}

// [row, column] of what a register holds.
export function element(f, lane, register, half) {
  const [i, odd] = f.bits === 32 ? [Math.floor(register / 2), register % 2] : [register, half];
  const [group, inner] = [Math.floor(lane / 4), 2 * (lane % 4) + odd];
  const [top, left] = f.origins[i];
  return f.transposed ? [top + inner, left + group] : [top + group, left + inner];
}

// "T5 r1.h"
export function short({ lane, register, half }) {
  return `T${lane} r${register}${half === null ? "" : half ? ".h" : ".l"}`;
}

const rowName = (f, row) => (f.addressed
  ? `row ${row % SIDE} of matrix ${Math.floor(row / SIDE)}`
  : `row ${row} of ${f.name.split(" ").at(-1)}`);

export function describeElement(f, row, column) {
  const at = holder(f, row, column);
  const half = at.half === null ? "" : `, ${at.half ? "high" : "low"} half`;
  const address = f.addressed ? ` The row's address comes from lane ${row}.` : "";
  return `R${rowName(f, row).slice(1)}, column ${column}: lane ${at.lane}, register ` +
    `${at.register}${half}.${address}`;
}

function pairName(f, lane, register) {
  const [row, column] = element(f, lane, register, 0);
  if (f.bits === 32) return `row ${row}, column ${column}`;
  const of = f.addressed ? ` of matrix ${register}` : "";
  const r = f.addressed ? row % SIDE : row;
  return f.transposed ? `rows ${r} and ${r + 1}, column ${column}${of}`
    : `row ${r}, columns ${column} and ${column + 1}${of}`;
}

export function describeLane(f, lane) {
  const held = Array.from({ length: f.registers }, (_, n) => `r${n} ${pairName(f, lane, n)}`);
  const text = `Lane ${lane} holds ${held.join("; ")}.`;
  if (!f.addressed) return text;
  return lane < f.rows ? `${text} It gives the address of ${rowName(f, lane)}.`
    : `${text} Its address is not used.`;
}

// Parts of the picture, {top, left, rows, columns, title}: the matrices of ldmatrix and stmatrix
// each, else the whole, or 8 columns at a time where it is narrow.
export function panels(f, narrow) {
  if (f.addressed) {
    return f.origins.map(([top, left], i) =>
      ({ top, left, rows: SIDE, columns: SIDE, title: `matrix ${i}` }));
  }
  const columns = narrow ? SIDE : f.columns;
  return Array.from({ length: f.columns / columns }, (_, i) => ({
    top: 0, left: i * columns, rows: f.rows, columns,
    title: columns === f.columns ? "" : `columns ${i * columns} to ${(i + 1) * columns - 1}`,
  }));
}
