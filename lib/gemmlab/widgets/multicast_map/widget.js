// MulticastMap: which block of a cluster loads what, and into whose shared memory it goes.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { reading } from "../shared/guess.js";
import { isTruth, oneOf, whole } from "../shared/link.js";
import { clusterFacts, clusterLoads, tellCluster, tellClusterBlock } from "../model/clusters.js";

const EDGE = 34; // pixels of the strips of A and B
const GAP = 24;
const TALLEST = 300;
const hue = (block) => `--c:var(--h${block})`;

// Who asks L2 for which part of an operand: {operand, first, count, blocks}, several blocks for the
// same part where each copies for itself.
export function partsOf(c) {
  const parts = new Map();
  for (let block = 0; block < c.rows * c.columns; block++) {
    for (const { operand, first, count } of clusterLoads(c, block)) {
      const key = `${operand} ${first}`;
      if (!parts.has(key)) parts.set(key, { operand, first, count, blocks: [] });
      parts.get(key).blocks.push(block);
    }
  }
  return [...parts.values()];
}

// Tiles of C with the strips of A at the left and B above, a band for each copy in the color of the
// block that asks for it, and arrows into the blocks that get it; the chosen block's are strong.
export function clusterPicture(c, chosen, width) {
  const from = EDGE + GAP;
  const scale = Math.min((width - from - 4) / (c.columns * c.BN), TALLEST / (c.rows * c.BM));
  const px = (value) => Number((value * scale).toFixed(1));
  const range = [...Array(c.rows * c.columns).keys()];
  const place = (block) => [from + px(block % c.columns * c.BN),
    from + px(Math.floor(block / c.columns) * c.BM)];
  const off = (block) => (block === chosen ? "" : " gl-off");
  const rect = (name, block, x, y, w, tall) => `<rect class="gl-mm-${name}" style="${hue(block)}" ` +
    `x="${x}" y="${y}" width="${w}" height="${tall}" rx="2" data-block="${block}"/>`;
  const blocks = range.map((block) => {
    const [x, y] = place(block);
    const name = `block${block === chosen ? " gl-on" : ""}`;
    return rect(name, block, x, y, px(c.BN) - 3, px(c.BM) - 3);
  });
  // Above the arrows, on a ground of their own.
  const names = range.map((block) => {
    const [x, y] = place(block);
    return `<text style="${hue(block)}" x="${x + px(c.BN) / 2}" y="${y + px(c.BM) - 12}" text-anchor="middle" ` +
      `class="gl-mm-name${block === chosen ? " gl-mm-bold" : ""}" pointer-events="none">block ${block}</text>`;
  });
  const [bands, ways] = [[], []];
  for (const { operand, first, count, blocks: loaders } of partsOf(c)) {
    const thick = EDGE / loaders.length;
    loaders.forEach((block, i) => {
      const [start, long, across] = [from + px(first), px(count) - 1, i * thick];
      bands.push(operand === "A" ? rect(`part${off(block)}`, block, across, start, thick - 1, long)
        : rect(`part${off(block)}`, block, start, across, long, thick - 1));
      const one = clusterLoads(c, block).find((load) => load.operand === operand);
      const at = start + long * (i + 1) / (loaders.length + 1);
      one.to.forEach((to) => ways.push([block, operand, at, across + thick, place(to)]));
    });
  }
  const arrows = ways.sort((one, other) => (one[0] === chosen) - (other[0] === chosen))
    .map(([block, operand, at, begin, [left, top]]) => {
      const end = operand === "A" ? left + 18 : top + 18;
      const d = operand === "A" ? `M${begin} ${at}H${end - 8}` : `M${at} ${begin}V${end - 8}`;
      const head = operand === "A" ? `M${end} ${at}l-10 -6v12z` : `M${at} ${end}l-6 -10h12z`;
      return `<path class="gl-mm-way${off(block)}" style="${hue(block)}" d="${d}"/>` +
        `<path class="gl-mm-end${off(block)}" style="${hue(block)}" d="${head}"/>`;
    });
  const [wide, tall] = [from + px(c.columns * c.BN), from + px(c.rows * c.BM)];
  return `<svg viewBox="0 0 ${wide} ${tall}" width="${wide}" aria-hidden="true">` +
    `<text x="0" y="${from - 6}" class="gl-mm-bold">A</text>` +
    `<text x="${from - 14}" y="20" class="gl-mm-bold">B</text>` +
    `${blocks.join("")}${bands.join("")}${arrows.join("")}${names.join("")}</svg>`;
}

function mount(root, config, initial, changed) {
  let state = initial;
  let was = null;
  let width = 0;
  const facts = (one) => {
    const { asked, cycles, blocks } = clusterFacts(one);
    return [`${asked / 1024} KB`, `${Math.round(10 * asked / cycles) / 10} B`,
      `${blocks * asked / 1024} KB`];
  };
  const update = (change) => {
    if (!("block" in change && Object.keys(change).length === 1)) was = facts(state);
    state = { ...state, ...change };
    state.block = Math.min(state.block, state.rows * state.columns - 1);
    render();
    changed(state);
  };
  const key = (pair) => pair.join(" x ");
  const pick = (label, pairs, now, take) => segmented(label, pairs.map((one) => [key(one), key(one)]),
    key(now), (text) => take(pairs.find((one) => key(one) === text)));
  const shape = pick("Cluster, rows x columns", config.shapes, [state.rows, state.columns],
    ([rows, columns]) => update({ rows, columns }));
  const tile = pick("Tile of a block", config.tiles, [state.BM, state.BN], ([BM, BN]) => update({ BM, BN }));
  const cast = segmented("Copies", [[false, "each for itself"], [true, "multicast"]],
    state.multicast, (multicast) => update({ multicast }));
  const picture = h("div", {
    class: "gl-mm-picture", tabindex: 0, role: "group",
    "aria-label": "The cluster's tiles. Arrow keys choose a block.",
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = state.block + by;
      if (next >= 0 && next < state.rows * state.columns) update({ block: next });
    },
    onclick: (event) => {
      const { block } = event.target.dataset;
      if (block !== undefined) update({ block: Number(block) });
    },
  });
  const numbers = h("div", { class: "gl-numbers-now" });
  const words = h("div", { class: "gl-words", "aria-live": "polite" });
  const colors = h("div", { class: "gl-legend gl-key" });
  const all = h("p", {});

  function render() {
    shape.set(key([state.rows, state.columns]));
    tile.set(key([state.BM, state.BN]));
    cast.set(state.multicast);
    const now = facts(state);
    const before = (i) => (was && was[i] !== now[i] ? was[i] : null);
    numbers.replaceChildren(reading("a block asks L2 for", now[0], before(0)),
      reading("that is, per cycle", now[1], before(1)),
      reading("the whole cluster reads", now[2], before(2)));
    words.textContent = tellClusterBlock(state, state.block);
    all.textContent = tellCluster(state);
    colors.replaceChildren(...Array.from({ length: state.rows * state.columns }, (_, block) =>
      h("span", {}, h("i", { class: "gl-mm-swatch", style: hue(block) }), `asked for by block ${block}`)));
    if (width) picture.innerHTML = clusterPicture(state, state.block, width);
  }

  root.append(h("div", { class: "gl-card gl-mm" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, shape.el, cast.el),
    h("div", { class: "gl-pair" }, picture, h("div", { class: "gl-beside" }, colors, numbers, words)),
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" }, h("summary", {}, "Other tiles"), tile.el),
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"),
        h("div", { class: "gl-legend" }, "Left and above: the rows of A and columns of B that the " +
          "cluster needs for one k tile of 64. A part that several blocks ask for has a band for " +
          "each of them. Arrows: into which blocks' shared memory a copy goes.", all)))));
  new ResizeObserver(() => {
    if (width === picture.clientWidth) return;
    width = picture.clientWidth;
    render();
  }).observe(picture);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const among = (list, pair) => list.some((one) => one.join() === pair.join());
const RULES = { name: "MulticastMap", allows: {
  rows: (_, config, state) => among(config.shapes, [state.rows, state.columns]),
  columns: (_, config, state) => among(config.shapes, [state.rows, state.columns]),
  BM: (_, config, state) => among(config.tiles, [state.BM, state.BN]), BN: oneOf([128, 192, 256]),
  multicast: isTruth, block: (value, _, state) => whole(0, state.rows * state.columns - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
