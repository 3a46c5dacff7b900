// BlockOrder: which tiles of C run together, and which panels of A and B they need.
import {
  bootWith, flash, h, inline, liveWith, segmented, select, setText, stepper
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
// The letters of A and B stand at the far ends of their bars.
export function geometry(o, width) {
  const reach = Math.max(o.columns, ...places(o).map(([, column]) => column + 1));
  const [bar, letter] = [18, 16];
  const s = Math.min(34, (width - bar - letter) / reach,
    (0.9 * width - bar - letter) / o.rows);
  return { s, bar, reach, width: bar + reach * s + letter, height: bar + o.rows * s + letter };
}

function bars(o, g, now) {
  const mark = (kind, x, y, w, tall) => `<rect class="gl-o-${kind}" x="${px(x)}" y="${px(y)}" ` +
    `width="${px(w)}" height="${px(tall)}"/>`;
  const [thin, end] = [10, Math.max(0.5, g.s - (g.s > 6 ? 2 : 0.6))];
  return mark("bar", 1, g.bar, thin, o.rows * g.s) + mark("bar", g.bar, 1, o.columns * g.s, thin) +
    now.rows.map((row) => mark("need", 1, g.bar + row * g.s, thin, end)).join("") +
    now.columns.map((column) => mark("need", g.bar + column * g.s, 1, end, thin)).join("") +
    `<text x="1" y="${px(g.bar + o.rows * g.s + 14)}">A</text>` +
    `<text x="${px(g.bar + o.columns * g.s + 5)}" y="11">B</text>`;
}

const beside = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) === 1;
const turns = (a, b, c) => a[0] - b[0] !== b[0] - c[0] || a[1] - b[1] !== b[1] - c[1];

// The tiles of a wave in their order, cut where it turns or jumps to a tile that is not beside.
export function runsOf(at) {
  const runs = [];
  for (const tile of at) {
    const run = runs.at(-1);
    const goes = run && beside(run.at(-1), tile) &&
      !(run.length > 1 && turns(run.at(-2), run.at(-1), tile));
    if (goes) run.push(tile);
    else runs.push([tile]);
  }
  return runs;
}

// The way through the tiles of a wave: a line for each run, the jump from the first to the second
// broken, with an arrow, and a dot where it begins.
function wayOf(at, s) {
  const point = ([row, column]) => `${px((column + 0.5) * s)} ${px((row + 0.5) * s)}`;
  const runs = runsOf(at);
  const lines = runs.map((run) => `M${point(run[0])}L${point(run.at(-1))}`).join("");
  const [x, y] = point(at[0]).split(" ");
  return `<path class="gl-o-way" d="${lines}"/>` + (runs.length > 1 && s >= 8
    ? `<path class="gl-o-way gl-o-jump" marker-end="url(#gl-o-tip)" ` +
      `d="M${point(runs[0].at(-1))}L${point(runs[1][0])}"/>` : "") +
    `<circle class="gl-o-start" cx="${x}" cy="${y}" r="${px(Math.max(2.4, Math.min(5, s / 3)))}"/>`;
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
    `patternUnits="userSpaceOnUse"><path class="gl-o-line" d="M0 5L5 0"/></pattern>` +
    `<marker id="gl-o-tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" ` +
    `markerUnits="userSpaceOnUse" orient="auto"><path class="gl-o-tip" d="M0 0L8 4L0 8z"/>` +
    `</marker></defs>` +
    `${bars(o, g, needs)}<g transform="translate(${g.bar} ${g.bar})">${tints.join("")}` +
    `<path class="gl-o-now" d="${squares(at, g.s, g.s < 25 ? 0 : 1)}"/>` +
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
  const [name, count] = [h("b", {}), h("b", { class: "gl-o-count" })];
  const [parts, sum] = [h("span", {}), h("div", {})];
  const el = h("div", { class: "gl-o-panel" }, h("div", { class: "gl-o-name" }, name), box,
    h("div", { class: "gl-o-said" }, count, parts, sum));
  return { el, size: () => g.s, draw(next, title, index, width, upTo) {
    o = next;
    g = geometry(o, width);
    const at = Math.min(index, waves(o) - 1);
    box.innerHTML = picture(o, at, g, upTo);
    name.textContent = title;
    if (upTo !== undefined) return;
    const { rows, columns, panels: some } = wave(o, at);
    setText(count, `${some} panels`);
    parts.textContent = ` (${rows.length} of A + ${columns.length} of B) in this wave`;
    sum.textContent = waves(o) === 1 ? ""
      : `${panels(o).toLocaleString("en")} panels in all ${waves(o)} waves`;
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
  // Two orders are both in sight; of three the first is compared with one of the others.
  const [[base], ...rest] = config.orders;
  let second = rest[0]?.[0];
  const orders = segmented("Compare with", rest, second, (order) => update({ order }));
  const height = stepper("strip", state.height, 1, 32, (value) => update({ height: value }),
    "strip, in tiles");
  const grid = select("C has", config.grids.map(([rows, columns]) =>
    [`${rows} ${columns}`, `${rows} x ${columns} tiles`]), "", (value) => {
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
  const key = h("div", { class: "gl-legend gl-key gl-o-key" });
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
    const gap = 18;
    const room = views.length > 1 ? box.clientWidth - gap : Math.min(box.clientWidth, 400);
    const width = Math.max(130, room / views.length);
    const shown = views.length > 1 ? [base, second] : [state.order];
    shown.map((order) => ({ ...state, order })).forEach((o, i) =>
      views[i].draw(o, titleOf(o), state.wave, width, upTo));
  }

  function render() {
    if (state.order !== base) second = state.order;
    orders.set(second);
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
    const wrong = neverTaken(state).length > 0;
    // What a wave needs stands under its picture.
    const [about, , , end] = describe(state, state.wave).split(/(?<=\.) (?=[A-Z0-9])/);
    const title = titleOf(state);
    reading.textContent = `${title[0].toUpperCase()}${title.slice(1)}. ${about} ${end}`;
    reading.classList.toggle("gl-wrong", wrong);
    const drawn = views[0].size();
    key.replaceChildren(...[
      ["now", drawn < 25 ? "this wave" : "this wave, its blocks numbered in their order"],
      waves(state) > 1 ? ["tints", "other waves: click one"] : null,
      drawn < 25 && drawn >= 4 ? ["way", "order of its blocks, from the dot on"] : null,
      ["need", "panels: what a row of its tiles needs of A (left), a column of B (above)"],
      wrong ? ["never", "Striped: never taken"] : null,
      wrong ? ["out", "Dashed: blocks outside C"] : null,
    ].filter(Boolean).map(([kind, text]) =>
      h("span", {}, h("i", { class: `gl-o-k-${kind}`, "aria-hidden": "true" }), text)));
  }

  root.append(h("div", { class: "gl-card gl-order" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, rest.length > 1 ? orders.el : null, height.el,
      config.grids.length > 1 ? grid.el : null, config.slots.length > 1 ? slots.el : null,
      h("label", { class: "gl-field" }, h("span", { class: "gl-label" }, "Wave"), slider, which),
      play.el),
    box, views.length > 1 ? [key, reading] : null));
  if (views.length < 2) box.append(h("div", { class: "gl-o-side" }, key, reading));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    drawPictures();
  }).observe(box);
  render();
  return (next) => {
    const other = next.order !== state.order;
    state = next;
    render();
    // Where both orders are in sight, a phrase of the prose points to one of them.
    if (other && views.length > 1) flash(views[state.order === base ? 0 : 1].el);
  };
}

const RULES = { name: "BlockOrder", allows: {
  rows: whole(1, 128), columns: whole(1, 128), height: whole(1, 32), slots: whole(1, 4096),
  order: (value, config) => oneOf(config.orders.map(([key]) => key))(value),
  wave: (value, _, state) => whole(0, waves(state) - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
