// WarpgroupSums: which of 128 threads has which sum of one wgmma.
import { bootWith, h, inline, liveWith, roving, segmented } from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { scrub } from "../shared/scrub.js";
import { sumElement, sumHolder, tellSum, tellSumThread } from "../model/wgmma/sums.js";

const ROWS = 64;
const TALL = 4; // pixels of a row
const LEFT = 74; // for the names of the warps and the rows
const BELOW = 18; // for the columns

// How far the sums of a thread are apart: down from its third pair of columns, and to the right of
// its last but one, between its two rows.
function apart(thread, columns, unit) {
  const [[top, left], [bottom]] = [sumElement(thread, 0), sumElement(thread, 2)];
  const x = (column) => Number((LEFT + (column + 1) * unit).toFixed(1));
  const [down, from, to] = [x(left + 16), x(left + columns - 16), x(left + columns - 8)];
  const middle = (top + bottom + 1) / 2 * TALL;
  return `<path class="gl-ws-apart" d="M${down} ${(top + 1) * TALL}V${bottom * TALL}` +
    `M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8"/>` +
    `<text class="gl-ws-name" x="${down + 5}" y="${middle + 4}">${bottom - top} rows</text>` +
    `<text class="gl-ws-name" x="${from - 5}" y="${middle + 4}" text-anchor="end">8 columns</text>`;
}

// All sums: a band for each warp, the sums of the chosen thread, and a frame around the matrix.
export function sumsPicture(columns, row, column, width) {
  const unit = (width - LEFT) / columns;
  const px = (value) => Number(value.toFixed(2));
  const rect = (name, x, y, w, tall) =>
    `<rect class="gl-ws-${name}" x="${px(LEFT + x * unit)}" y="${px(y * TALL)}" ` +
    `width="${px(w * unit)}" height="${px(tall * TALL)}"/>`;
  const [thread] = sumHolder(row, column);
  const bands = [0, 1, 2, 3].map((warp) =>
    rect(warp % 2 ? "odd" : "even", 0, 16 * warp, columns, 16) +
    `<text class="gl-ws-name" x="0" y="${(16 * warp + 9) * TALL}">warp ${warp}</text>` +
    `<text class="gl-ws-name" x="${LEFT - 6}" y="${16 * warp * TALL + 11}" ` +
    `text-anchor="end">${16 * warp}</text>`);
  const heads = [0, 1, 2, 3, 4].map((i) => i * columns / 4 - (i === 4 ? 1 : 0)).map((at) =>
    `<text class="gl-ws-name" x="${px(LEFT + (at + 0.5) * unit)}" y="${ROWS * TALL + 14}" ` +
    `text-anchor="${at ? at === columns - 1 ? "end" : "middle" : "start"}">${at}</text>`);
  const own = Array.from({ length: columns / 4 }, (_, i) => {
    const [at, first] = sumElement(thread, 2 * i);
    return rect("own", first, at, 2, 1);
  });
  const frame = rect("frame", column - column % 8, row - row % 8, 8, 8);
  return `<svg viewBox="-2 -2 ${width + 4} ${ROWS * TALL + BELOW + 4}" width="${width}" ` +
    `aria-hidden="true">${bands.join("")}${own.join("")}${apart(thread, columns, unit)}${frame}` +
    `${heads.join("")}</svg>`;
}

function mount(root, config, initial, changed) {
  let state = initial;
  let width = 0;
  const update = (change, done = true) => {
    state = { ...state, ...change };
    render();
    if (done) changed(state);
  };
  const choose = segmented("N, columns of C", config.widths.map((one) => [one, String(one)]), state.columns,
    (columns) => update({ columns, column: Math.min(state.column, columns - 8 + state.column % 8) }));
  const threads = scrub("threads 0 to 127", (time, done) => {
    const register = sumHolder(state.row, state.column)[1];
    const [row, column] = sumElement(Math.min(127, Math.round(time)), register);
    update({ row, column }, done);
  });
  const move = (dr, dc) => {
    const [row, column] = [state.row + 8 * dr, state.column + 8 * dc];
    if (row >= 0 && row < ROWS && column >= 0 && column < state.columns) update({ row, column });
  };
  const all = h("div", {
    class: "gl-ws-all", tabindex: 0, role: "group",
    "aria-label": "All sums of the warpgroup. Arrow keys move from one 8x8 matrix to the next.",
    onkeydown: (event) => {
      const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
        ArrowRight: [0, 1] }[event.key];
      if (!by) return;
      event.preventDefault();
      move(...by);
    },
    onclick: (event) => {
      const box = all.firstChild.getBoundingClientRect();
      const scale = (width + 4) / box.width;
      const x = (event.clientX - box.left) * scale - 2 - LEFT;
      const y = (event.clientY - box.top) * scale - 2;
      const [row, column] = [Math.floor(y / TALL),
        Math.floor(x / (width - LEFT) * state.columns)];
      if (row >= 0 && row < ROWS && column >= 0 && column < state.columns) update({ row, column });
    },
  });
  const title = h("div", { class: "gl-label" });
  const whole_ = h("div", { class: "gl-label" });
  const now = h("b", { class: "gl-ws-now" });
  const cells = Array.from({ length: 64 }, (_, i) => h("button", {
    type: "button", class: "gl-ws-cell", tabindex: -1, "data-row": Math.floor(i / 8),
    "data-col": i % 8, onclick: () => update({ row: state.row - state.row % 8 + Math.floor(i / 8),
      column: state.column - state.column % 8 + i % 8 }),
  }, h("b", {}), h("span", {})));
  const grid = h("div", { class: "gl-ws-grid", role: "group",
    "aria-label": "The 64 sums of the matrix. Arrow keys move, Enter chooses." }, cells);
  roving(grid);
  const words = h("div", { class: "gl-ws-words", "aria-live": "polite" });

  function render() {
    const [thread] = sumHolder(state.row, state.column);
    const [top, left] = [state.row - state.row % 8, state.column - state.column % 8];
    choose.set(state.columns);
    threads.set({ time: thread, total: 127, seconds: 12, text: `thread ${thread}`,
      stops: Array.from({ length: 128 }, (_, i) => i) });
    title.textContent = `the framed part: rows ${top} to ${top + 7}, columns ${left} to ${left + 7}`;
    whole_.replaceChildren(`C, ${ROWS} rows x ${state.columns} columns; `,
      h("i", { class: "gl-ws-swatch" }), ` thread ${thread}'s`);
    now.textContent = `thread ${thread}, register d[${sumHolder(state.row, state.column)[1]}]`;
    cells.forEach((cell, i) => {
      const [row, column] = [top + Math.floor(i / 8), left + i % 8];
      const [owner, register] = sumHolder(row, column);
      const chosen = row === state.row && column === state.column;
      cell.firstChild.textContent = `T${owner}`;
      cell.lastChild.textContent = `d${register}`;
      cell.classList.toggle("gl-hot", owner === thread);
      cell.setAttribute("aria-pressed", String(chosen));
      cell.setAttribute("aria-label", tellSum(row, column));
      if (chosen && !grid.contains(document.activeElement)) {
        for (const other of cells) other.tabIndex = other === cell ? 0 : -1;
      }
    });
    words.textContent = `${tellSum(state.row, state.column)} ${tellSumThread(state.columns, thread)}`;
    if (width) all.innerHTML = sumsPicture(state.columns, state.row, state.column, width);
  }

  root.append(h("div", { class: "gl-card gl-sums" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, choose.el),
    h("div", { class: "gl-ws-threads" }, threads.el, now),
    h("div", { class: "gl-pair" }, h("div", { class: "gl-beside" }, whole_, all),
      h("div", { class: "gl-beside" }, title, grid)),
    words,
    h("div", { class: "gl-feet" }, h("details", { class: "gl-more" },
      h("summary", {}, "How to read this"), h("div", { class: "gl-legend" },
        "A sum is an element of C. Left: a band is a warp. Right: T is the thread of the warpgroup, " +
        "d its register. Arrow keys move the frame, or go from cell to cell.")))));
  new ResizeObserver(() => {
    if (width === all.clientWidth) return;
    width = all.clientWidth;
    render();
  }).observe(all);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "WarpgroupSums", allows: {
  columns: (value, config) => oneOf(config.widths)(value), row: whole(0, ROWS - 1),
  column: (value, _, state) => whole(0, state.columns - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
