// MulticastMap: which block of a cluster loads what, and into whose shared memory it goes.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { reading } from "../shared/guess.js";
import { isTruth, oneOf, whole } from "../shared/link.js";
import { clusterFacts, clusterLoads, tellCluster, tellClusterBlock } from "../model/clusters.js";

const EDGE = 26; // pixels of the strips of A and B
const GAP = 22;
const TALLEST = 250;
const hue = (block) => `--c:var(--h${block})`;

// Tiles of C with the strips of A at the left and B above, coloured by who loads them; dashed: the
// ways of what the chosen block loads.
export function clusterPicture(c, chosen, width) {
  const from = EDGE + GAP;
  const scale = Math.min((width - from - 4) / (c.columns * c.BN), TALLEST / (c.rows * c.BM));
  const px = (value) => Number((value * scale).toFixed(1));
  const range = [...Array(c.rows * c.columns).keys()];
  const place = (block) => [from + px(block % c.columns * c.BN),
    from + px(Math.floor(block / c.columns) * c.BM)];
  const rect = (name, style, x, y, w, tall, block) => `<rect class="gl-mm-${name}" ` +
    `style="${style}" x="${x}" y="${y}" width="${w}" height="${tall}" rx="2" data-block="${block}"/>`;
  const blocks = range.map((block) => {
    const [x, y] = place(block);
    const name = `block${block === chosen ? " gl-on" : ""}`;
    return rect(name, hue(block), x, y, px(c.BN) - 3, px(c.BM) - 3, block) +
      `<text x="${x + px(c.BN) / 2}" y="${y + px(c.BM) - 12}" text-anchor="middle" ` +
      `class="${block === chosen ? "gl-mm-bold" : ""}" pointer-events="none">block ${block}</text>`;
  });
  // Without multicast several blocks load the same part: those of the chosen one are on top.
  const order = [...range.filter((block) => block !== chosen), chosen];
  const parts = order.map((block) => {
    const [a, b] = clusterLoads(c, block);
    const name = `part${block === chosen ? "" : " gl-off"}`;
    return rect(name, hue(block), 0, from + px(a.first), EDGE, px(a.count) - 1, block) +
      rect(name, hue(block), from + px(b.first), 0, px(b.count) - 1, EDGE, block);
  });
  const [a, b] = clusterLoads(c, chosen);
  const ways = [...a.to.map((to) => [EDGE, from + px(a.first + a.count / 2), place(to), "A"]),
    ...b.to.map((to) => [from + px(b.first + b.count / 2), EDGE, place(to), "B"])]
    .map(([x, y, [left, top], operand]) => {
      const end = operand === "A" ? [left + 16, y] : [x, top + 16];
      return `<path class="gl-mm-way" style="${hue(chosen)}" d="M${x} ${y}L${end[0]} ${end[1]}"/>` +
        `<circle class="gl-mm-end" style="${hue(chosen)}" cx="${end[0]}" cy="${end[1]}" r="6"/>`;
    });
  const [wide, tall] = [from + px(c.columns * c.BN), from + px(c.rows * c.BM)];
  return `<svg viewBox="0 0 ${wide} ${tall}" width="${wide}" aria-hidden="true">` +
    `<text x="0" y="${from - 6}" class="gl-mm-bold">A</text>` +
    `<text x="${from - 14}" y="16" class="gl-mm-bold">B</text>` +
    `${blocks.join("")}${parts.join("")}${ways.join("")}</svg>`;
}

function mount(root, config, initial, changed) {
  let state = initial;
  let was = null;
  let width = 0;
  const facts = (one) => {
    const { asked, cycles, blocks } = clusterFacts(one);
    return [`${asked / 1024} KB`, `${Math.round(10 * asked / cycles) / 10}`,
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
  const shape = pick("Cluster", config.shapes, [state.rows, state.columns],
    ([rows, columns]) => update({ rows, columns }));
  const tile = pick("Tile", config.tiles, [state.BM, state.BN], ([BM, BN]) => update({ BM, BN }));
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

  function render() {
    shape.set(key([state.rows, state.columns]));
    tile.set(key([state.BM, state.BN]));
    cast.set(state.multicast);
    const now = facts(state);
    const before = (i) => (was && was[i] !== now[i] ? was[i] : null);
    numbers.replaceChildren(reading("a block asks L2 for", now[0], before(0)),
      reading("bytes a cycle and SM", now[1], before(1)),
      reading("the cluster reads", now[2], before(2)));
    words.textContent = `${tellClusterBlock(state, state.block)} ${tellCluster(state)}`;
    if (width) picture.innerHTML = clusterPicture(state, state.block, width);
  }

  root.append(h("div", { class: "gl-card gl-mm" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, shape.el, cast.el, tile.el),
    h("div", { class: "gl-pair" }, picture, h("div", { class: "gl-beside" }, numbers, words)),
    h("div", { class: "gl-feet" }, h("details", { class: "gl-more" },
      h("summary", {}, "How to read this"), h("div", { class: "gl-legend" },
        "Left and above: the rows of A and columns of B that the cluster needs for one k tile of " +
        "64, in the colour of the block that asks for them. Dashed: into which blocks' shared " +
        "memory the chosen block's copies go. Without multicast several blocks ask for the same " +
        "part, and only one of them can be seen.")))));
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
