// The two pictures of TmaBox: the matrix with the box on it, and the box in shared memory.
import { h, roving, still } from "../shared/dom.js";
import { bankStyle } from "../shared/bank_view.js";

const px = (value) => Number(value.toFixed(2));
export const hue = (chunk) => bankStyle(4 * (chunk % 8));

const ROOM = 0.45; // of the box that is seen where it stands outside of the matrix
const TEXT = 40; // pixels for what is written at the left

// Pixels of an element (sx) and of a row (sy), and the room on each side of the matrix.
export function geometry({ map, stride, element, count }, width) {
  const [beside, above] = [ROOM * map.box_columns, Math.max(3, ROOM * map.box_rows)];
  const wide = Math.max(map.columns, stride / element) + 2 * beside;
  const tall = map.rows + 2 * above;
  const sx = (width - TEXT) / wide;
  const sy = Math.max(1.5, Math.min(9, 0.9 * sx * count, 250 / tall));
  return { sx, sy, width, height: tall * sy, left: TEXT + beside * sx, top: above * sy };
}

const rect = (kind, x, y, w, tall, more = "") => `<rect class="${kind}" x="${px(x)}" ` +
  `y="${px(y)}" width="${px(Math.max(0, w))}" height="${px(tall)}" ${more}/>`;

// A line at each chunk and at every eighth row of the matrix.
function ruled({ map, count }, { sx, sy }) {
  let d = "";
  for (let x = count; x < map.columns; x += count) d += `M${px(x * sx)} 0v${px(map.rows * sy)}`;
  for (let y = 8; y < map.rows; y += 8) d += `M0 ${px(y * sy)}h${px(map.columns * sx)}`;
  return `<path class="gl-t-ruled" d="${d}"/>`;
}

// The box without what of it lies in the matrix.
function outside({ map, box }, { sx, sy }) {
  const square = (x, y, right, bottom) => (right <= x || bottom <= y ? ""
    : `M${px(x * sx)} ${px(y * sy)}H${px(right * sx)}V${px(bottom * sy)}H${px(x * sx)}z`);
  const [right, bottom] = [box.x + map.box_columns, box.y + map.box_rows];
  const inner = square(Math.max(0, box.x), Math.max(0, box.y), Math.min(map.columns, right),
    Math.min(map.rows, bottom));
  return `<path class="gl-t-outside" fill-rule="evenodd" ` +
    `d="${square(box.x, box.y, right, bottom)}${inner}"/>`;
}

// The matrix, the end of its rows, the box in stripes of a chunk, the rows that ldmatrix reads.
export function matrixPicture(view, g, id) {
  const { map, box, count, chunks, stride, element } = view;
  const { sx, sy } = g;
  const stripes = Array.from({ length: Math.ceil(chunks) }, (_, i) =>
    `<g style="${hue(i)}">${rect("gl-t-stripe", (box.x + i * count) * sx, box.y * sy,
      Math.min(count, map.box_columns - i * count) * sx, map.box_rows * sy)}</g>`).join("");
  const held = view.matrix?.held;
  const mark = !held ? "" : rect("gl-t-read", held[0].x * sx, held[0].y * sy, count * sx,
    held.length * sy) + rect("gl-t-one", view.one.x * sx, view.one.y * sy, count * sx, sy);
  const text = (x, y, words, more = "") =>
    `<text x="${px(x)}" y="${px(y)}" ${more}>${words}</text>`;
  const end = 'text-anchor="end"';
  return `<svg viewBox="0 0 ${px(g.width)} ${px(g.height)}" width="${px(g.width)}" ` +
    `aria-hidden="true"><defs><pattern id="${id}" width="6" height="6" ` +
    `patternUnits="userSpaceOnUse"><path class="gl-t-line" d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"/>` +
    `</pattern></defs><g transform="translate(${px(g.left)} ${px(g.top)})">` +
    rect("gl-t-pad", map.columns * sx, 0, (stride / element - map.columns) * sx, map.rows * sy) +
    rect("gl-t-matrix", 0, 0, map.columns * sx, map.rows * sy) + ruled(view, g) +
    `<g class="gl-t-box">${stripes}` +
    `<g style="--lines:url(#${id})">${outside(view, g)}</g>${mark}` +
    rect("gl-t-frame", box.x * sx, box.y * sy, map.box_columns * sx, map.box_rows * sy) +
    rect("gl-t-edge", 0, 0, map.columns * sx, map.rows * sy) + "</g>" +
    text(0, -5, "column 0") + text(map.columns * sx, -5, map.columns - 1, end) +
    text(-5, 10, "row 0", end) + text(-5, map.rows * sy, map.rows - 1, end) + "</g></svg>";
}

// Which part of a chunk lies in the matrix: "", "partly" or "outside".
export const stateOf = (one, count) => (one.begin === one.end ? "outside"
  : one.end - one.begin < count ? "partly" : "");

// The part of a chunk that is striped, from the left and to the right, in per cent.
function zeroPart({ begin, end }, count) {
  const percent = (n) => `${(100 * n) / count}%`;
  const [from, to] = end < count ? [percent(end), 0] : [0, percent(count - begin)];
  return `;--from:${from};--to:${to}`;
}

function cell(view, one, show) {
  const part = stateOf(one, view.count);
  const said = { "": "", partly: ", partly zeros", outside: ", zeros" }[part];
  const at = [one.row, one.chunk];
  return h("button", {
    type: "button", tabindex: -1, style: hue(one.chunk) + zeroPart(one, view.count),
    class: `gl-cell${part ? ` gl-t-${part}` : ""}`,
    "data-row": one.line, "data-col": one.slot, "data-at": String(at),
    "aria-label": `row ${one.row}, chunk ${one.chunk}: line ${one.line}, slot ${one.slot}${said}`,
    onclick: () => show(at), onfocus: () => show(at),
    onpointerenter: (event) => event.pointerType === "mouse" && show(at, event),
  }, at.join(":"));
}

// Shared memory: a line of 128 bytes in each row, eight slots of four banks. show([row, chunk]).
export function tileGrid(view, show) {
  const grid = h("div", {
    class: "gl-grid gl-t-grid", role: "group", style: "--cols:8",
    "aria-label": "The box in shared memory: row and chunk of the box. Arrow keys move.",
  });
  const heads = (name, text) => grid.append(h("span", { class: "gl-corner" }, name),
    ...Array.from({ length: 8 }, (_, slot) => h("span", { class: "gl-head" }, text(slot))));
  heads("line", (slot) => `${4 * slot}–${4 * slot + 3}`);
  const there = new Map(view.all.map((one) => [8 * one.line + one.slot, one]));
  for (let at = 0; at < 8 * view.lines; at++) {
    if (at % 8 === 0) grid.append(h("span", { class: "gl-corner" }, String(at / 8)));
    const one = there.get(at);
    const node = one ? cell(view, one, show) : h("span", { class: "gl-cell gl-idle" });
    node.dataset.place = at;
    grid.append(node);
  }
  roving(grid);
  return grid;
}

// Marks the chosen chunk, the rows that one ldmatrix reads, and where a kernel would look by row.
export function markTile(grid, { one, matrix }) {
  const read = new Set(matrix.held.map((held) => String([held.row, held.chunk])));
  const wanted = one.byRow === one.offset ? "" : String(Math.floor(one.byRow / 16));
  for (const node of grid.querySelectorAll("[data-place]")) {
    const { at, place } = node.dataset;
    const chosen = at === String([one.row, one.chunk]);
    node.classList.toggle("gl-t-wanted", place === wanted);
    if (!at) continue;
    node.classList.toggle("gl-used", read.has(at));
    node.classList.toggle("gl-unused", !read.has(at));
    node.classList.toggle("gl-t-chosen", chosen);
    node.tabIndex = chosen ? 0 : -1;
  }
}

// Every chunk flies from its place in the matrix to its slot, a row of the box after the other.
export function fly(layer, svg, grid, { box, count, all }, g) {
  if (still()) return;
  layer.replaceChildren();
  const [to, from] = [layer.getBoundingClientRect(), svg.getBoundingClientRect()];
  const by = from.width / g.width;
  const at = (x, y, w, tall) => ({ transform:
    `translate(${px(x - to.left)}px, ${px(y - to.top)}px) scale(${px(w) / 100}, ${px(tall) / 100})` });
  for (const { row, chunk } of all) {
    const cell = grid.querySelector(`[data-at="${row},${chunk}"]`);
    const end = cell.getBoundingClientRect();
    const delay = 45 * row + 12 * chunk;
    const node = layer.appendChild(h("i", { class: "gl-t-fly", style: hue(chunk) }));
    const start = at(from.left + by * (g.left + (box.x + chunk * count) * g.sx),
      from.top + by * (g.top + (box.y + row) * g.sy), by * count * g.sx, Math.max(2, by * g.sy));
    node.animate([start, at(end.left, end.top, end.width, end.height)],
      { duration: 700, delay, easing: "ease-in-out", fill: "both" })
      .finished.then(() => node.remove(), () => node.remove());
    cell.animate([{ opacity: 0 }, { opacity: 0 }], { duration: 700 + delay });
  }
}
