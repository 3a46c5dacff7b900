// In which order blocks take the tiles of C: the same integers and sentences as
// layouts/tiling/block_order.py, which tests hold equal to this file. `o` has rows, columns, order,
// height and slots.

const floor = Math.floor;
const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const sorted = (values) => [...new Set(values)].sort((a, b) => a - b);

// a / b with one decimal, halves rounded up, in integers.
export function tenth(a, b) {
  const tenths = floor((20 * a + b) / (2 * b));
  return `${floor(tenths / 10)}.${tenths % 10}`;
}

export const waves = (o) => Math.ceil((o.rows * o.columns) / o.slots);

// [row, column] of block t's tile; with "articles" the column may be outside.
export function place(o, t) {
  if (o.order === "rows") return [floor(t / o.columns), t % o.columns];
  if (o.order === "articles") {
    const left = floor(t / (o.height * o.rows)) * o.height;
    return [floor(t / o.height) % o.rows, left + (t % o.height)];
  }
  const strip = floor(t / (o.height * o.columns)) * o.height;
  const lines = Math.min(o.height, o.rows - strip);
  const within = t - strip * o.columns;
  return [strip + (within % lines), floor(within / lines)];
}

export function places(o, first = 0, last = o.rows * o.columns - 1) {
  const found = [];
  for (let t = first; t <= last; t++) found.push(place(o, t));
  return found;
}

// The blocks of a wave, where their tiles are, and the rows and columns of tiles they need.
export function wave(o, index) {
  const first = index * o.slots;
  const last = Math.min(first + o.slots, o.rows * o.columns) - 1;
  const at = places(o, first, last);
  const inside = at.filter(([, column]) => column < o.columns);
  const rows = sorted(inside.map(([row]) => row));
  const columns = sorted(inside.map(([, column]) => column));
  return { first, last, at, rows, columns, outside: at.length - inside.length,
    tiles: inside.length, panels: rows.length + columns.length };
}

export function panels(o) {
  let sum = 0;
  for (let index = 0; index < waves(o); index++) sum += wave(o, index).panels;
  return sum;
}

// [row, column] of the tiles that no block computes.
export function neverTaken(o) {
  const taken = new Set(places(o).map(([row, column]) => row * 1000 + column));
  return places({ ...o, order: "rows" }).filter(([row, column]) => !taken.has(row * 1000 + column));
}

export function describe(o, index) {
  const w = wave(o, index);
  const few = w.first === w.last ? `block ${w.first}` : `blocks ${w.first} to ${w.last}`;
  const each = w.panels ? tenth(w.tiles, w.panels) : "0";
  const [a, b] = [many(w.rows.length, "row"), many(w.columns.length, "column")];
  const text = `Wave ${index + 1} of ${waves(o)}, ${few}: ${many(w.tiles, "tile")} in ${a} and ` +
    `${b}. They need ${many(w.panels, "panel")} of A and B: ${each} tiles a panel. ` +
    `All waves together: ${many(panels(o), "panel")}. `;
  const never = neverTaken(o).length;
  return never === 0 ? `${text}Every tile is taken once.`
    : `${text}${many(never, "tile")} of ${o.rows * o.columns} never taken, ` +
      `${many(never, "block")} outside C.`;
}
