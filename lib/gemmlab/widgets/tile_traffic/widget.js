// TileTraffic: a tile of C walks along k, and what all blocks load falls as the tile grows.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { guess, reading } from "../shared/guess.js";
import { scrub } from "../shared/scrub.js";
import { blockTile } from "../model/traffic/block_tile.js";
import { quotient } from "../model/traffic/words.js";

const GAP = 22;
const px = (value) => Number(value.toFixed(2));
const rect = (name, x, y, w, tall, more = "") =>
  `<rect class="${name}" x="${px(x)}" y="${px(y)}" width="${px(w)}" height="${px(tall)}" ${more}/>`;

// Lines between the tiles of a square of side `side` at (x, y).
function grid(x, y, side, count) {
  if (side / count < 3) return "";
  const at = Array.from({ length: count - 1 }, (_, i) => px((i + 1) * side / count));
  return `<path class="gl-tt-grid" d="${at.map((d) =>
    `M${px(x + d)} ${y}v${side}M${x} ${px(y + d)}h${side}`).join("")}"/>`;
}

// A at the left, B above, C in the corner; the block's row of A, column of B and its tile of C.
export function picture(n, tile, step, side) {
  const found = blockTile(n, tile, Math.ceil(step));
  const s = side * tile / n; // of a tile
  const [o, block] = [GAP + side, Math.floor(found.steps / 2)];
  const [A, B, C] = [[0, o], [o, 0], [o, o]];
  const across = A[1] + block * s;
  const down = B[0] + block * s;
  const at = Math.min(step, found.steps);
  const now = Math.min(Math.floor(at), found.steps - 1) * s;
  const walks = at < found.steps && at > 0;
  const squares = [A, B, C].map(([x, y]) => rect("gl-tt-matrix", x, y, side, side)).join("");
  const done = rect("gl-tt-done", A[0], across, at * s, s) + rect("gl-tt-done", down, B[1], s, at * s);
  const mark = walks ? rect("gl-tt-now", A[0] + now, across, s, s) +
    rect("gl-tt-now", down, B[1] + now, s, s) : "";
  const c = rect("gl-tt-c", down, across, s, s) +
    rect("gl-tt-sum", down, across + s * (1 - at / found.steps), s, s * at / found.steps);
  const name = (text, x, y) => `<text x="${x}" y="${y}" class="gl-tt-name">${text}</text>`;
  return `<svg viewBox="0 0 ${2 * side + GAP} ${2 * side + GAP}" width="${2 * side + GAP}" ` +
    `aria-hidden="true">${squares}${done}${mark}${c}` +
    [A, B, C].map(([x, y]) => grid(x, y, side, found.steps)).join("") +
    name("A", 0, o - 6) + name("B", o - 16, 14) + name("C", o + side - 10, o - 6) +
    `<text x="4" y="${side * 0.3}" class="gl-tt-k">k runs →</text>` +
    `<text x="4" y="${side * 0.3 + 18}" class="gl-tt-k">along A and ↓ B</text></svg>`;
}

// What all blocks load with each tile, as bars; the one that is chosen is set off.
function bars(n, tiles, chosen) {
  const most = blockTile(n, tiles[0], 0).all;
  return tiles.map((tile) => {
    const { all } = blockTile(n, tile, 0);
    return h("div", { class: `gl-tt-row${tile === chosen ? " gl-tt-chosen" : ""}` },
      h("span", {}, `${tile} x ${tile}`),
      h("span", { class: "gl-tt-bar", style: `--v:${all / most}` }),
      h("span", {}, all.toLocaleString("en")));
  });
}

function mount(root, config, initial, changed) {
  let state = initial;
  let was = null;
  const { n, tiles } = config;
  const isOpen = () => !config.ask || state.guess !== null;
  const update = (change, done = true) => {
    if (change.tile && change.tile !== state.tile) {
      was = blockTile(n, state.tile, 0).all;
      // The same place along k, at a whole tile.
      const at = state.step * state.tile / change.tile;
      change.step = Math.min(n / change.tile, Math.ceil(at));
    }
    state = { ...state, ...change };
    render();
    if (done) changed(state);
  };
  const ask = guess(config.ask, state.guess, (value) => update({ guess: value, ...config.shown }));
  const choose = segmented("Tile", tiles.map((tile) => [tile, `${tile} x ${tile}`]), state.tile,
    (tile) => { walk.stop(); update({ tile }); });
  const walk = scrub("tiles along k", (step, done) =>
    update({ step: done ? Math.round(step) : step }, done));
  const tools = h("div", { class: "gl-row" }, choose.el);
  const box = h("div", {});
  const numbers = h("div", { class: "gl-numbers-now" });
  const chart = h("div", { class: "gl-tt-chart" });
  const words = h("div", { class: "gl-words" });
  let side = 180;

  function render() {
    const open = isOpen();
    const found = blockTile(n, state.tile, Math.ceil(state.step));
    ask.set(state.guess);
    choose.set(state.tile);
    tools.hidden = !open;
    box.innerHTML = picture(n, state.tile, state.step, side);
    const { steps } = found;
    walk.set({
      time: Math.min(state.step, steps), total: steps, seconds: 5,
      stops: Array.from({ length: steps + 1 }, (_, i) => i),
      text: `tile ${Math.ceil(state.step)} of ${steps} along k`,
    });
    const all = found.all.toLocaleString("en");
    numbers.replaceChildren(
      reading("values loaded, all blocks", open ? all : "?",
        open && was !== null && was !== found.all ? was.toLocaleString("en") : null),
      reading("FMAs for each load", quotient(state.tile, 2)));
    chart.replaceChildren(...(open ? bars(n, tiles, state.tile)
      : [h("div", { class: "gl-dim" }, "The bars appear with your guess.")]));
    words.textContent = found.words;
  }

  root.append(h("div", { class: "gl-card gl-traffic" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    ask.el, tools,
    h("div", { class: "gl-pair" },
      box,
      h("div", { class: "gl-beside" }, numbers, chart, words)),
    walk.el));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    side = Math.floor((Math.min(350, width) - GAP) / 2);
    render();
  }).observe(box);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "TileTraffic" };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
