// BlockOrder: which tiles of C run together, and which panels of A and B they need.
import { bootWith, h, inline, liveWith, segmented, select, stepper } from "../shared/dom.js";
import { describe, neverTaken, places, wave, waves } from "../model/tiling/block_order.js";

const HUES = ["0072b2", "e69f00", "009e73", "cc79a7"];
const px = (value) => Number(value.toFixed(2));

// Squares of one kind as one path; `inset` makes them smaller.
function squares(at, s, inset = 0) {
  const side = px(s - 2 * inset);
  return at.map(([row, column]) => `M${px(column * s + inset)} ${px(row * s + inset)}h${side}` +
    `v${side}h-${side}z`).join("");
}

// Pixels of a tile (s), the bars at the left and above, columns with those outside, whole size.
export function geometry(o, width) {
  const reach = Math.max(o.columns, ...places(o).map(([, column]) => column + 1));
  const bar = 26;
  const s = Math.min(26, (width - bar - 2) / reach, (width * 1.05 - bar) / o.rows);
  return { s, bar, reach, width: bar + reach * s + 2, height: bar + o.rows * s + 2 };
}

function bars(o, g, now) {
  const mark = (kind, x, y, w, tall) => `<rect class="gl-o-${kind}" x="${px(x)}" y="${px(y)}" ` +
    `width="${px(w)}" height="${px(tall)}"/>`;
  const [thin, end] = [12, Math.max(0.5, g.s - (g.s > 6 ? 2 : 0.6))];
  return mark("bar", 4, g.bar, thin, o.rows * g.s) + mark("bar", g.bar, 4, o.columns * g.s, thin) +
    now.rows.map((row) => mark("need", 4, g.bar + row * g.s, thin, end)).join("") +
    now.columns.map((column) => mark("need", g.bar + column * g.s, 4, end, thin)).join("") +
    `<text x="4" y="${g.bar - 2}">A</text><text x="${g.bar - 11}" y="13">B</text>`;
}

// Every wave in its tint, the chosen one in full, its way through the tiles as a line.
export function picture(o, index, g) {
  const now = wave(o, index);
  const out = places(o).filter(([, column]) => column >= o.columns);
  const tints = Array.from({ length: waves(o) }, (_, w) => (w === index ? ""
    : `<path class="gl-o-wave" style="--c:#${HUES[w % HUES.length]}" ` +
      `d="${squares(wave(o, w).at, g.s, 0.4)}"/>`));
  const way = now.at.map(([row, column], i) =>
    `${i ? "L" : "M"}${px((column + 0.5) * g.s)} ${px((row + 0.5) * g.s)}`).join("");
  const numbers = g.s < 17 ? "" : places(o).map(([row, column], t) =>
    `<text class="${t < now.first || t > now.last ? "" : "gl-o-on"}" ` +
    `x="${px((column + 0.5) * g.s)}" y="${px((row + 0.5) * g.s)}" ` +
    `style="font-size:${px(g.s * (t < 100 ? 0.46 : 0.36))}px">${t}</text>`).join("");
  return `<svg viewBox="0 0 ${px(g.width)} ${px(g.height)}" width="${px(g.width)}" ` +
    `aria-hidden="true"><defs><pattern id="gl-o-lines" width="5" height="5" ` +
    `patternUnits="userSpaceOnUse"><path class="gl-o-line" d="M0 5L5 0"/></pattern></defs>` +
    `${bars(o, g, now)}<g transform="translate(${g.bar} ${g.bar})">${tints.join("")}` +
    `<path class="gl-o-now" d="${squares(now.at, g.s, Math.min(1, g.s / 10))}"/>` +
    `<path class="gl-o-out" d="${squares(out, g.s, 1)}"/>` +
    (numbers || (g.s < 5 ? "" : `<path class="gl-o-way" d="${way}"/>`)) + numbers +
    `<path class="gl-o-never" d="${squares(neverTaken(o), g.s, 0.5)}"/>` +
    `<rect class="gl-o-c" width="${px(o.columns * g.s)}" height="${px(o.rows * g.s)}"/></g></svg>`;
}

// What stands under the pointer: [row, column] in tiles, or null.
function under(event, svg, g) {
  const box = svg.getBoundingClientRect();
  const by = g.width / box.width;
  const row = Math.floor(((event.clientY - box.top) * by - g.bar) / g.s);
  const column = Math.floor(((event.clientX - box.left) * by - g.bar) / g.s);
  return row < 0 || column < 0 ? null : [row, column];
}

// The block of a tile, or -1.
export const blockOf = (o, [row, column]) =>
  places(o).findIndex(([r, c]) => r === row && c === column);

function mount(root, config, initial, changed) {
  let state = initial;
  let g = null;
  const update = (change) => {
    state = { ...state, ...change };
    state.wave = Math.min(state.wave, waves(state) - 1);
    render();
    changed(state);
  };
  const orders = segmented("Order", config.orders, state.order, (order) => update({ order }));
  const height = stepper("strip", state.height, 1, 32, (value) => update({ height: value }),
    "strip, in tiles");
  const grid = select("Tiles of C", config.grids.map(([rows, columns]) =>
    [`${rows} ${columns}`, `${rows} x ${columns}`]), "", (value) => {
    const [rows, columns] = value.split(" ").map(Number);
    update({ rows, columns });
  });
  const slots = select("Blocks at a time", config.slots.map((n) => [n, String(n)]), state.slots,
    (value) => update({ slots: Number(value) }));
  const slider = h("input", {
    type: "range", class: "gl-range", min: 1, "aria-label": "Wave",
    oninput: () => update({ wave: Number(slider.value) - 1 }),
  });
  const which = h("b", {});
  const box = h("div", {
    class: "gl-o-box",
    onclick: (event) => {
      const at = under(event, box.querySelector("svg"), g);
      const block = at ? blockOf(state, at) : -1;
      if (block >= 0) update({ wave: Math.floor(block / state.slots) });
    },
  });
  const reading = h("div", { class: "gl-hint", "aria-live": "polite" });
  const legend = h("div", { class: "gl-legend" });

  function render() {
    orders.set(state.order);
    height.set(state.height);
    height.el.hidden = state.order === "rows";
    grid.set(`${state.rows} ${state.columns}`);
    slots.set(String(state.slots));
    const count = waves(state);
    slider.max = String(count);
    slider.value = String(state.wave + 1);
    slider.disabled = count === 1;
    slider.setAttribute("aria-valuetext", `wave ${state.wave + 1} of ${count}`);
    which.textContent = `${state.wave + 1} of ${count}`;
    g = geometry(state, Math.min(620, Math.max(200, box.clientWidth)));
    box.innerHTML = picture(state, state.wave, g);
    reading.textContent = describe(state, state.wave);
    const way = g.s < 17 ? "the line is the order of its blocks" : "the numbers are blocks";
    const wrong = neverTaken(state).length > 0;
    reading.classList.toggle("gl-wrong", wrong);
    legend.textContent = "Frame: C, a square for each tile. Full colour: the chosen wave; " +
      `${way}. ` +
      "Tints: other waves. Left and above: the panels of A and B that the wave needs. A click " +
      `chooses a tile's wave.${wrong ? " Striped: never taken. Dashed: blocks outside C." : ""}`;
  }

  root.append(h("div", { class: "gl-card gl-order" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, orders.el, height.el),
    h("div", { class: "gl-row" }, config.grids.length > 1 ? grid.el : null,
      config.slots.length > 1 ? slots.el : null,
      h("label", { class: "gl-field" }, h("span", { class: "gl-label" }, "Wave"), slider, which)),
    box, reading, legend));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    render();
  }).observe(box);
  render();
  return (next) => {
    state = next;
    render();
  };
}

export const boot = bootWith(mount);
export default liveWith(mount);
