// The pictures of TilingExplorer as SVG text: the tile of C with the strips of A and B that it is
// made of, what one thread has to do with them, and the thread's own elements.
import { copies, number, owner, range, runs, stores, vector } from "../model/tiling/tiling.js";

const GAP = 6;
const STRIP = 24; // pixels that a strip has at least
const HUES = ["0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "b5a800", "8c8c8c"];
const LEAST = 12; // pixels of text; smaller is left out
const px = (value) => Number(value.toFixed(2));

const rect = (kind, x, y, w, h, more = "") =>
  `<rect class="gl-t-${kind}" x="${px(x)}" y="${px(y)}" width="${px(w)}" ` +
  `height="${px(h)}" ${more}/>`;

const svg = (w, h, content) =>
  `<svg viewBox="0 0 ${px(w)} ${px(h)}" width="${px(w)}" aria-hidden="true">${content}</svg>`;

// Text in a box, if it can be read there.
function label(text, x, y, w, h, kind = "text", most = 12) {
  const size = Math.min(most, h * 0.9, (w * 1.6) / Math.max(2, text.length));
  return size < LEAST || !text ? "" : `<text class="gl-t-${kind}" x="${px(x + w / 2)}" ` +
    `y="${px(y + h / 2)}" font-size="${px(size)}">${text}</text>`;
}

// Pixels an element (s), pixels a step of k in the strips (k), the corner of C and the whole size.
export function geometry(d, width) {
  const tall = Math.min(width * 1.1, 350);
  const fit = (strip, k) =>
    Math.min((width - GAP - strip) / (d.BN + k), (tall - GAP - strip) / (d.BM + k));
  const exact = fit(0, d.BK);
  const s = d.BK * exact < STRIP ? fit(STRIP, 0) : exact;
  const strip = Math.max(STRIP, d.BK * s);
  const at = strip + GAP;
  return { s, k: strip / d.BK, strip, at, width: at + d.BN * s, height: at + d.BM * s };
}

// The thread at a point of the picture: who owns that element of C, or copies that one of A or B.
export function threadAt(d, g, x, y) {
  const inside = (value, size) => Math.min(size - 1, Math.max(0, Math.floor(value)));
  const [row, col] = [inside((y - g.at) / g.s, d.BM), inside((x - g.at) / g.s, d.BN)];
  if (x >= g.at && y >= g.at) return owner(d, row, col);
  if (x < g.at && y < g.at) return null;
  const quad = x < g.at ? row * (d.BK / 4) + Math.floor(inside(x / g.k, d.BK) / 4)
    : inside(y / g.k, d.BK) * (d.BN / 4) + Math.floor(col / 4);
  return quad % d.threads;
}

// What does not change with the thread: the strips, and the warps of C.
export function tilePicture(d, g) {
  const [w, h] = [d.WN * g.s, d.WM * g.s];
  const warps = range(d.warpRows * d.warpCols).map((warp) => {
    const [x, y] = [g.at + (warp % d.warpCols) * w, g.at + Math.floor(warp / d.warpCols) * h];
    const name = w > 60 ? `warp ${warp}` : String(warp);
    return rect("warp", x, y, w, h, `style="--c:#${HUES[warp % HUES.length]}"`) +
      label(name, x, y, w, h);
  });
  return svg(g.width, g.height,
    `<defs><pattern id="gl-t-lines" width="4" height="4" patternUnits="userSpaceOnUse">` +
    `<path class="gl-t-line" d="M0 4L4 0"/></pattern></defs>` +
    rect("strip", 0, g.at, g.strip, d.BM * g.s) + rect("strip", g.at, 0, d.BN * g.s, g.strip) +
    label("A", 0, g.at - 20, g.strip, 16, "name", 14) +
    label("B", g.at - 20, 0, 18, g.strip, "name", 14) + `${warps.join("")}<g></g>`);
}

function bands(d, g, thread) {
  const [rows, columns] = runs(d, thread);
  const [h, w] = [d.TM * g.s, d.TN * g.s];
  return rows.map((m) => rect("read", 0, g.at + m * g.s, g.strip, h) +
      rect("guide", g.strip, g.at + m * g.s, g.at - g.strip + columns[columns.length - 1] * g.s, h))
    .concat(columns.map((n) => rect("read", g.at + n * g.s, 0, w, g.strip) +
      rect("guide", g.at + n * g.s, g.strip, w, g.at - g.strip + rows[rows.length - 1] * g.s)))
    .join("");
}

function elements(d, g, thread, kind) {
  const [rows, columns] = runs(d, thread);
  const [w, h] = [d.TN * g.s, d.TM * g.s];
  return rows.flatMap((m) => columns.map((n) => {
    const [x, y] = [g.at + n * g.s, g.at + m * g.s];
    return rect(kind, x, y, w, h) + label(String(thread % 32), x, y, w, h, `${kind}-text`);
  })).join("");
}

function copied(d, g, thread) {
  const box = (x, y, w, h, i) => rect("copy", x, y, w, h) +
    label(i < 8 ? String(i + 1) : "", x + w, y + h / 2 - 7, 15, 15, "copy-text");
  return copies(d, thread, "A").map(([row, col], i) =>
    box(col * g.k, g.at + row * g.s, 4 * g.k, g.s, i)).join("") +
    copies(d, thread, "B").map(([row, col], i) =>
      box(g.at + col * g.s, row * g.k, 4 * g.s, g.k, i)).join("");
}

// One thread: the lanes of its warp, its elements, what it reads and what it copies.
export function threadPicture(d, g, thread, withCopies) {
  const first = thread - (thread % 32);
  const [rows, columns] = runs(d, first);
  const subtiles = rows.flatMap((m) => columns.map((n) => rect("subtile", g.at + n * g.s,
    g.at + m * g.s, (d.WN / d.WNITER) * g.s, (d.WM / d.WMITER) * g.s))).join("");
  const hue = HUES[(first / 32) % HUES.length];
  return `${bands(d, g, thread)}<g style="--c:#${hue}">` +
    range(32).map((lane) => elements(d, g, first + lane, "lane")).join("") +
    `${subtiles}</g>` +
    elements(d, g, thread, "mine") + (withCopies ? copied(d, g, thread) : "");
}

// The thread's own elements, enlarged: its values of A and B for one k, and its stores in order.
export function zoomPicture(d, thread, width) {
  const [rows, columns] = runs(d, thread);
  const [left, top] = [30, 20];
  const room = Math.max(width - left, 60);
  const apart = Math.min(5, room / 4 / columns.length);
  const cell = Math.min(26, (room - apart * columns.length) / d.n);
  const wall = Math.min(1, cell / 4); // between two cells, however small they are
  const high = Math.min(17, Math.max(7, 270 / d.m));
  const wide = vector(d.TN);
  // Which of a thread's rows or columns it is.
  const index = (starts, run, at) => {
    const n = starts.findIndex((start) => at < start + run);
    return n * run + at - starts[n];
  };
  // Pixels of the i-th of a thread's rows or columns, with a gap after each run.
  const place = (i, run, size, from) => from + i * size + Math.floor(i / run) * apart;
  const parts = range(d.m).map((i) => {
    const row = rows[Math.floor(i / d.TM)] + (i % d.TM);
    const told = high >= 13 || i % d.TM === 0 || i % d.TM === d.TM - 1;
    const y = place(i, d.TM, high, top);
    return rect("value", left - 5, y, 4, high - 1) +
      label(told ? String(row) : "", 0, y, left - 7, Math.max(high, 14), "tick");
  });
  for (let j = 0; j < d.n; j++) {
    const x = place(j, d.TN, cell, left);
    parts.push(rect("value", x, top - 5, cell - wall, 4));
    if (j % wide) continue;
    const column = columns[Math.floor(j / d.TN)] + (j % d.TN);
    parts.push(label(String(column), x, 0, Math.max(wide * cell, 24), top - 6, "tick"));
  }
  stores(d, thread).forEach(([row, column], order) => {
    const [i, j] = [index(rows, d.TM, row), index(columns, d.TN, column)];
    const [x, y] = [place(j, d.TN, cell, left), place(i, d.TM, high, top)];
    parts.push(rect("store", x, y, wide * cell - wall, high - 1) +
      label(number(order + 1), x, y, wide * cell, high, "store-text"));
  });
  const [w, h] = [place(d.n - 1, d.TN, cell, left) + cell, place(d.m - 1, d.TM, high, top) + high];
  return svg(w, h, parts.join(""));
}
