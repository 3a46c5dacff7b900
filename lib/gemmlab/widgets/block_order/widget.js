// BlockOrder: which tiles of C run together, and which panels of A and B they need.
import {
  bootWith, h, inline, liveWith, segmented, select, setText, stepper
} from "../shared/dom.js";
import { player } from "../shared/play.js";
import { oneOf, whole } from "../shared/link.js";
import { describe, neverTaken, panels, places, wave, waves } from "../model/tiling/block_order.js";

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
  const bar = 22;
  const s = Math.min(34, (width - bar - 2) / reach, (Math.min(width, 328) - bar) / o.rows);
  return { s, bar, reach, width: bar + reach * s + 2, height: bar + o.rows * s + 2 };
}

function bars(o, g, now) {
  const mark = (kind, x, y, w, tall) => `<rect class="gl-o-${kind}" x="${px(x)}" y="${px(y)}" ` +
    `width="${px(w)}" height="${px(tall)}"/>`;
  const [thin, end] = [10, Math.max(0.5, g.s - (g.s > 6 ? 2 : 0.6))];
  return mark("bar", 4, g.bar, thin, o.rows * g.s) + mark("bar", g.bar, 4, o.columns * g.s, thin) +
    now.rows.map((row) => mark("need", 4, g.bar + row * g.s, thin, end)).join("") +
    now.columns.map((column) => mark("need", g.bar + column * g.s, 4, end, thin)).join("") +
    `<text x="4" y="${g.bar - 4}">A</text><text x="${g.bar - 9}" y="12">B</text>`;
}

// The way through the tiles of a wave, with a dot where it begins.
function wayOf(at, s) {
  const points = at.map(([row, column]) => `${px((column + 0.5) * s)} ${px((row + 0.5) * s)}`);
  const [x, y] = points[0].split(" ");
  return `<path class="gl-o-way" d="M${points.join("L")}"/>` +
    `<circle class="gl-o-start" cx="${x}" cy="${y}" r="${px(Math.max(2, Math.min(5, s / 4)))}"/>`;
}

// Numbers only where they can be read.
function numbersOf(o, now, s) {
  if (s < 25) return "";
  return places(o).map(([row, column], t) =>
    `<text class="${t < now.first || t > now.last ? "" : "gl-o-on"}" ` +
    `x="${px((column + 0.5) * s)}" y="${px((row + 0.5) * s)}">${t}</text>`).join("");
}

// Every wave in its tint, the chosen one in full, its way through the tiles as a line. `upTo`: of
// the chosen wave only the blocks up to that one.
export function picture(o, index, g, upTo = Infinity) {
  const now = wave(o, index);
  const at = now.at.slice(0, Math.max(1, upTo - now.first + 1));
  const all = at.length === now.at.length;
  const inside = at.filter(([, column]) => column < o.columns);
  const needs = all ? now : { rows: [...new Set(inside.map(([row]) => row))],
    columns: [...new Set(inside.map(([, column]) => column))] };
  const out = places(o).filter(([, column]) => column >= o.columns);
  const tints = Array.from({ length: waves(o) }, (_, w) => (w === index && all ? ""
    : `<path class="gl-o-wave" style="--c:#${HUES[w % HUES.length]}" ` +
      `d="${squares(wave(o, w).at, g.s, 0.4)}"/>`));
  const numbers = numbersOf(o, { ...now, last: now.first + at.length - 1 }, g.s);
  return `<svg viewBox="0 0 ${px(g.width)} ${px(g.height)}" width="${px(g.width)}" ` +
    `aria-hidden="true"><defs><pattern id="gl-o-lines" width="5" height="5" ` +
    `patternUnits="userSpaceOnUse"><path class="gl-o-line" d="M0 5L5 0"/></pattern></defs>` +
    `${bars(o, g, needs)}<g transform="translate(${g.bar} ${g.bar})">${tints.join("")}` +
    `<path class="gl-o-now" d="${squares(at, g.s, Math.min(1, g.s / 10))}"/>` +
    `<path class="gl-o-out" d="${squares(out, g.s, 1)}"/>` +
    (numbers || (g.s < 4 ? "" : wayOf(at, g.s))) +
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

// One order: its picture, and how many panels the wave and all waves need.
function panelView(picked) {
  let [o, g] = [null, null];
  const box = h("div", { class: "gl-o-box", onclick: (event) => {
    const at = under(event, box.querySelector("svg"), g);
    const block = at ? blockOf(o, at) : -1;
    if (block >= 0) picked(Math.floor(block / o.slots));
  } });
  const [name, count, sum] = [h("b", {}), h("b", { class: "gl-o-count" }), h("span", {})];
  const el = h("div", { class: "gl-o-panel" }, h("div", { class: "gl-o-name" }, name), box,
    h("div", { class: "gl-o-said" }, count, " in this wave, ", sum));
  return { el, draw(next, title, index, width, upTo) {
    o = next;
    g = geometry(o, width);
    const at = Math.min(index, waves(o) - 1);
    box.innerHTML = picture(o, at, g, upTo);
    name.textContent = title;
    if (upTo !== undefined) return;
    setText(count, `${wave(o, at).panels} panels`);
    sum.textContent = `${panels(o)} in all`;
  } };
}

function mount(root, config, initial, changed) {
  let state = initial;
  const update = (change) => {
    play.stop();
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
  const reading = h("div", { class: "gl-hint", "aria-live": "polite" });
  const legend = h("div", { class: "gl-legend" });
  const views = [panelView((index) => update({ wave: index }))];
  if (config.orders.length > 1) views.push(panelView((index) => update({ wave: index })));
  const box = h("div", { class: "gl-o-two" }, views.map((one) => one.el));
  const titleOf = ({ order, height: tall }) => config.orders.find(([key]) => key === order)[1] +
    (order === "rows" ? "" : `, ${tall} tiles ${order === "strips" ? "high" : "wide"}`);
  // The blocks of the chosen wave, in their order, in both pictures.
  const size = () => Math.min(state.slots, state.rows * state.columns - state.wave * state.slots);
  const play = player(() => Math.min(8, 2 + size() / 50), () => 0, (part) => {
    const upTo = Math.floor(state.wave * state.slots + part * size());
    drawPictures(part < 1 ? upTo : undefined);
  });

  function drawPictures(upTo) {
    const [other] = config.orders.find(([key]) => key !== state.order) ?? [];
    const gap = 18;
    // Two are lower than one, which has fewer controls above it.
    const [room, most] = views.length > 1 ? [box.clientWidth - gap, 304] : [box.clientWidth, 420];
    const width = Math.min(most, Math.max(130, room / views.length));
    [state, { ...state, order: other }].slice(0, views.length).forEach((o, i) =>
      views[i].draw(o, titleOf(o), state.wave, width, upTo));
  }

  function render() {
    orders.set(state.order);
    height.set(state.height);
    height.el.hidden = state.order === "rows" && views.length < 2;
    grid.set(`${state.rows} ${state.columns}`);
    slots.set(String(state.slots));
    const count = waves(state);
    slider.max = String(count);
    slider.value = String(state.wave + 1);
    slider.disabled = count === 1;
    slider.setAttribute("aria-valuetext", `wave ${state.wave + 1} of ${count}`);
    which.textContent = `${state.wave + 1} of ${count}`;
    drawPictures();
    reading.textContent = describe(state, state.wave);
    const wrong = neverTaken(state).length > 0;
    reading.classList.toggle("gl-wrong", wrong);
    legend.textContent = "Frame: C, a square for each tile. Full colour: the chosen wave; the " +
      "line or the numbers are the order of its blocks, from the dot on. Tints: other waves. " +
      "Left and above: the panels of A and B that the wave needs. A click chooses a tile's " +
      `wave.${wrong ? " Striped: never taken. Dashed: blocks outside C." : ""}`;
  }

  root.append(h("div", { class: "gl-card gl-order" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, config.orders.length > 1 ? orders.el : null, height.el,
      config.grids.length > 1 ? grid.el : null, config.slots.length > 1 ? slots.el : null),
    h("div", { class: "gl-row" },
      h("label", { class: "gl-field" }, h("span", { class: "gl-label" }, "Wave"), slider, which),
      play.el),
    box, reading,
    h("details", { class: "gl-more" }, h("summary", {}, "How to read this"), legend)));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    drawPictures();
  }).observe(box);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "BlockOrder", allows: {
  rows: whole(1, 128), columns: whole(1, 128), height: whole(1, 32), slots: whole(1, 4096),
  order: (value, config) => oneOf(config.orders.map(([key]) => key))(value),
  wave: (value, _, state) => whole(0, waves(state) - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
