// The two pictures of SwizzleWorkshop: the chunks of the tile, and the wavefronts of a phase.
import { h, roving } from "../shared/dom.js";
import { bankStyle } from "../shared/bank_view.js";
import { GROUPS, PIECE, SIDE, cellOf, chunksOf, offsetOf } from "../model/shared/ldmatrix.js";
import { move } from "../model/shared/swizzle.js";

const ROWS = 16; // of the tile that are drawn: what ldmatrix.x4 reaches
const isCell = (a, b) => a[0] === b[0] && a[1] === b[1];

// The chunks of the eight rows that a phase reads, each with its group of banks, under some pairs;
// `choose` is missing in the picture of the tile as it was.
export function chunkGrid(model, pairs, choose) {
  const { tile, lanes, phaseCells } = model;
  const count = chunksOf(tile);
  const top = Math.floor(phaseCells[0][0] / SIDE) * SIDE;
  const has = (cells, row, chunk) => cells.some((at) => isCell(at, [row, chunk]));
  const grid = h("div", {
    class: `gl-grid gl-w-grid${count > 8 ? " gl-w-wide" : ""}`, role: choose ? "group" : "img",
    style: `--cols:${count};--cell:${count > 8 ? 13 : 44}px`,
    "aria-label": choose ? "Chunks of the tile, each with its group of banks. Arrow keys move."
      : "The same chunks without a swizzle.",
  }, h("span", { class: "gl-corner" }, "row"));
  // Over narrow cells every other number, with the room of two.
  const wide = count > 8 ? 2 : 1;
  for (let chunk = 0; chunk < count; chunk += wide) {
    grid.append(h("span", { class: `gl-head gl-w-over${wide}` }, String(chunk)));
  }
  for (let row = top; row < top + SIDE; row++) {
    grid.append(h("span", { class: "gl-corner" }, String(row)));
    for (let chunk = 0; chunk < count; chunk++) {
      const group = Math.floor(move(pairs, offsetOf(tile, [row, chunk])) / PIECE) % GROUPS;
      const kind = has(phaseCells, row, chunk) ? "gl-used"
        : has(lanes, row, chunk) ? "gl-unused gl-w-other" : "gl-unused";
      const look = { class: `gl-cell ${kind}`, style: bankStyle(4 * group) };
      grid.append(choose ? h("button", {
        ...look, type: "button", tabindex: -1, "data-row": row, "data-col": chunk,
        "aria-label": `row ${row}, chunk ${chunk}: group ${group}`,
        onclick: () => choose([row, chunk]), onfocus: () => choose([row, chunk]),
        onpointerenter: () => choose([row, chunk]),
      }, String(group)) : h("span", look, String(group)));
    }
  }
  if (choose) roving(grid);
  return grid;
}

// The groups of banks as columns, a wavefront of the phase in each row.
export function groupGrid(groups) {
  const depth = Math.max(...groups.map((rows) => rows.length));
  const grid = h("div", { class: "gl-grid gl-w-groups", style: `--cols:${GROUPS}`, role: "img",
    "aria-label": "Groups of banks, a row for each wavefront; the number is the row of the tile." },
  h("span", { class: "gl-corner" }, "group"));
  groups.forEach((_, g) => grid.append(h("span", { class: "gl-head" }, String(g))));
  for (let wave = 0; wave < depth; wave++) {
    grid.append(h("span", { class: wave ? "gl-corner gl-late" : "gl-corner" }, String(wave + 1)));
    groups.forEach((rows, g) => grid.append(wave < rows.length
      ? h("span", { class: "gl-cell gl-word", style: bankStyle(4 * g) }, String(rows[wave]))
      : h("span", { class: "gl-cell gl-idle" })));
  }
  return grid;
}

// The chunk whose bits are shown before the reader chooses one: the first that has to wait.
export function waiting({ groups, phaseCells }) {
  const worst = groups.reduce((a, b) => (b.length > a.length ? b : a));
  return phaseCells.find(([row]) => row === (worst[1] ?? phaseCells[1][0]));
}

export function cellText({ tile, pairs, lanes }, at) {
  const [from, to] = [offsetOf(tile, at), move(pairs, offsetOf(tile, at))];
  const bank = (Math.floor(to / PIECE) % GROUPS) * 4;
  const place = from === to ? `byte ${from} stays` : `byte ${from} goes to byte ${to}`;
  const [row, chunk] = cellOf(tile, to);
  const where = from === to ? "" : ` (row ${row}, chunk ${chunk} of memory)`;
  const lane = lanes.findIndex((one) => isCell(one, at));
  const who = lane < 0 ? "" : ` Lane ${lane} points to it: phase ${Math.floor(lane / SIDE) + 1}.`;
  return `Row ${at[0]}, chunk ${at[1]}: ${place}${where}, in banks ${bank} to ${bank + 3}.${who}`;
}
