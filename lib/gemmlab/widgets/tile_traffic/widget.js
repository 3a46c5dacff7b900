// TileTraffic: a tile of C walks along k, and what all blocks load falls as the tile grows.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { guess, reading, waits } from "../shared/guess.js";
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
  const name = (text, x, y) => `<text x="${x + 6}" y="${y + 17}" class="gl-tt-name">${text}</text>`;
  return `<svg viewBox="0 0 ${2 * side + GAP} ${2 * side + GAP}" width="${2 * side + GAP}" ` +
    `aria-hidden="true">${squares}${done}${mark}${c}` +
    [A, B, C].map(([x, y]) => grid(x, y, side, found.steps)).join("") +
    name("A", ...A) + name("B", ...B) + name("C", ...C) + alongK(side, o) + "</svg>";
}

// Beside A and B an arrow: which way k runs.
function alongK(side, o) {
  const at = o - 9;
  return `<path class="gl-tt-arrow" d="M24 ${at}H${side - 4}m-6 -4l6 4l-6 4M${at} 24V${side - 4}` +
    `m-4 -6l4 6l4 -6"/><text x="10" y="${at + 4}" class="gl-tt-k">k</text>` +
    `<text x="${at - 4}" y="15" class="gl-tt-k">k</text>`;
}

// What all blocks load with each tile, as bars; the one that is chosen is set off.
function bars(n, tiles, chosen, open) {
  const most = blockTile(n, tiles[0], 0).all;
  return tiles.map((tile) => {
    const { all } = blockTile(n, tile, 0);
    return h("div", { class: `gl-tt-row${tile === chosen ? " gl-tt-chosen" : ""}` },
      h("span", {}, `${tile} x ${tile}`),
      h("span", { class: open ? "gl-tt-bar" : "", style: `--v:${all / most}` }),
      h("span", {}, open ? all.toLocaleString("en") : "?"));
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
  const choose = segmented("Tile of C", tiles.map((tile) => [tile, `${tile} x ${tile}`]), state.tile,
    (tile) => { walk.stop(); update({ tile }); });
  const walk = scrub("tiles along k", (step, done) =>
    update({ step: done ? Math.round(step) : step }, done));
  const tools = waits([choose], "after your guess");
  const key = h("div", { class: "gl-legend gl-key" }, [["done", "loaded so far"],
    ["now", "loaded in this step"], ["sum", "tile of C, filling up"]].map(([kind, text]) =>
    h("span", {}, h("i", { class: `gl-tt-k-${kind}`, "aria-hidden": "true" }), text)));
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
    tools.open(open);
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
      reading("FMAs for each load", open ? quotient(state.tile, 2) : "?"));
    chart.replaceChildren(h("div", { class: "gl-legend" }, "values that all blocks load, by tile"),
      ...bars(n, tiles, state.tile, open));
    // How many FMAs a value serves is the answer: it waits for the guess.
    words.textContent = open ? found.words : found.words.split(/(?<=\.) /)[0];
  }

  root.append(h("div", { class: "gl-card gl-traffic" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    ask.el, tools.el,
    h("div", { class: "gl-pair" },
      h("div", { class: "gl-beside" }, box, key),
      h("div", { class: "gl-beside" }, numbers, chart, words)),
    walk.el));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    side = Math.floor((Math.min(326, width) - GAP) / 2);
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
