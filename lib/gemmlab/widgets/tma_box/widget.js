// TmaBox: a box of a matrix, and where the copy engine puts its chunks in shared memory.
import {
  bootWith, h, inline, liveWith, segmented, select, setText, stepper, uid
} from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { DTYPES, SPANS, chunkOf, layOut, matrixOf, problems, sizes } from "../model/tma/tensor_map.js";
import {
  describeBox, describeChunk, describeMap, describeMatrix, describeStart, formulaOf, written,
} from "../model/tma/words.js";
import { fly, geometry, markTile, matrixPicture, tileGrid } from "./pictures.js";

const LEGEND = "Drag the box, or move it by the arrow keys. A line of shared memory is 128 bytes: all 32 " +
  "banks. A chunk is 16 bytes of a row of the box. A wavefront is a step of one ldmatrix, which reads " +
  "8 rows of the chosen chunk. Misread: chunks that are not where a kernel looks that XORs with the " +
  "row; a dashed frame is where it looks for the chosen one.";

// The key above the pictures: of the looks those that they have now.
function keyOfBox(view) {
  const { map, stride, element } = view;
  const looks = [["gl-t-key-text", "5:2", "row 5, chunk 2"], ["gl-t-key-color", "", "one color for each chunk"],
    ["gl-t-key-zero", "", "outside: zeros"], ["gl-t-key-used", "", "read by one ldmatrix"],
    ["gl-t-key-one", "", "the chosen chunk"]];
  if (stride / element > map.columns) looks.push(["gl-t-key-pad", "", "padding"]);
  return looks.map(([kind, text, words]) => h("span", {}, h("i", { class: kind }, text), words));
}

export const mapOf = ({ rows, columns, row_stride }, s) => ({
  rows, columns, row_stride, box_rows: s.box_rows, box_columns: s.box_columns, dtype: s.dtype,
  swizzle: s.swizzle, address: null,
});

// All that the state means; of a refused map its sizes and the sentence only.
export function boxModel(config, state) {
  const map = mapOf(config, state);
  const box = { map, x: state.x, y: state.y, address: state.start };
  const view = { ...sizes(map), map, box, refused: problems(map).length > 0 };
  if (view.refused) return { ...view, readings: [describeMap(map)] };
  const [row, chunk] = [Math.min(state.chosen[0], map.box_rows - 1),
    Math.min(state.chosen[1], view.chunks - 1)];
  Object.assign(view, layOut(box), {
    one: chunkOf(box, row, chunk), matrix: matrixOf(box, row, chunk),
  });
  return { ...view, readings: [describeBox(view), describeChunk(box, view.one),
    describeMatrix(view.matrix), describeStart(view)] };
}

// The state with the box where it may stand: at most its own size before the matrix.
export function held(config, state) {
  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  return { ...state, x: within(state.x, -state.box_columns, config.columns),
    y: within(state.y, -state.box_rows, config.rows) };
}

// What a key does to x and y: a row or a chunk, with Shift a whole box.
export function stepOf({ map, count }, key, whole) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  }[key] ?? [0, 0];
  return [dx * (whole ? map.box_columns : count), dy * (whole ? map.box_rows : 1)];
}

// The counts, which light up when they change.
function statsView() {
  const boxes = ["bytes expected", "of them zeros", "wavefronts", "misread"].map((text) => {
    const value = h("b", {});
    return { value, el: h("div", { class: "gl-stat" }, value, h("span", {}, text)) };
  });
  return { el: h("div", { class: "gl-stats" }, boxes.map((one) => one.el)), set(view) {
    const ways = view.matrix?.wavefronts;
    const texts = view.refused ? ["–", "–", "–", "–"]
      : [written(view.bytes), written(view.zeros), String(ways), String(view.misplaced)];
    const bad = [null, null, ways > 1, view.misplaced > 0];
    boxes.forEach(({ el, value }, i) => {
      setText(value, texts[i]);
      const kind = view.refused || bad[i] === null ? "" : bad[i] ? "gl-bad" : "gl-good";
      el.className = `gl-stat ${kind}`;
    });
  } };
}

// Dragging moves the box by whole chunks and rows from where it was taken.
function draggable(area, of, moved) {
  let from = null;
  const onBox = (event) => event.target.closest(".gl-t-box");
  // A finger on the box moves it and not the page.
  area.addEventListener("touchstart", (event) => onBox(event) && event.preventDefault(),
    { passive: false });
  area.addEventListener("pointerdown", (event) => {
    if (!onBox(event)) return;
    const { view } = of();
    from = { at: [event.clientX, event.clientY], x: view.box.x, y: view.box.y };
    area.setPointerCapture(event.pointerId);
    area.focus({ preventScroll: true });
    event.preventDefault();
  });
  area.addEventListener("pointermove", (event) => {
    if (!from) return;
    const { view, g } = of();
    const scale = g.width / area.querySelector("svg").getBoundingClientRect().width;
    const steps = (pixels, size) => Math.round((pixels * scale) / size);
    moved({ x: from.x + view.count * steps(event.clientX - from.at[0], g.sx * view.count),
      y: from.y + steps(event.clientY - from.at[1], g.sy) });
  });
  for (const end of ["pointerup", "pointercancel"]) {
    area.addEventListener(end, () => { from = null; });
  }
}

function mount(root, config, initial, changed) {
  let state = initial;
  let view = null;
  let g = null;
  const id = uid("gl-t-lines");
  const update = (change, quiet = false) => {
    const next = held(config, { ...state, ...change });
    if (JSON.stringify(next) === JSON.stringify(state)) return;
    state = next;
    render();
    if (!quiet) changed(state);
  };
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const same = (list) => list.map((one) => [one, String(one)]);
  const choice = (label, list, key) =>
    segmented(label, same(list), state[key], (value) => update({ [key]: value }));
  const controls = {
    swizzle: choice("Swizzle", Object.keys(SPANS), "swizzle"),
    box_columns: choice("Box columns (BK)", config.box_columns, "box_columns"),
    box_rows: choice("Box rows", config.box_rows, "box_rows"),
    dtype: select("Elements", same(Object.keys(DTYPES)), state.dtype,
      (dtype) => update({ dtype })),
    start: select("Tile begins", config.starts.map((n) =>
      [n, n ? `${n} past a multiple of 1024` : "at a multiple of 1024"]), state.start,
    (start) => update({ start: Number(start) })),
    x: stepper("x", state.x, -9999, 9999, (x) => update({ x }), "x, column of the matrix"),
    y: stepper("y", state.y, -9999, 9999, (y) => update({ y }), "y, row of the matrix"),
  };
  const counts = statsView();
  const layer = part("gl-t-layer", { "aria-hidden": "true" });
  const load = h("button", { type: "button", class: "gl-player", onclick: () =>
    fly(layer, area.querySelector("svg"), tile, view, g) }, "▶ Load the box");
  const key = h("div", { class: "gl-legend gl-key gl-t-key" });
  const [reading, start, hint] = ["gl-reading", "gl-t-start", "gl-hint gl-t-hint"].map((name) =>
    part(name, { "aria-live": "polite" }));
  const tile = part("gl-t-tile");
  const area = part("gl-t-area", {
    tabindex: 0, role: "group", "aria-label": "The matrix and the box on it. Arrow keys move the " +
      "box by a row or a chunk, with Shift by its own size.",
    onkeydown: (event) => {
      const [dx, dy] = stepOf(view, event.key, event.shiftKey);
      if (!dx && !dy) return;
      event.preventDefault();
      update({ x: state.x + dx, y: state.y + dy });
    },
  });
  draggable(area, () => ({ view, g }), update);

  // Cells that are made anew come under a pointer that rests: it chooses only where it moved.
  let pointer = "";
  function show(chosen, event) {
    const at = event ? `${event.screenX} ${event.screenY}` : pointer;
    if (event && at === pointer) return;
    pointer = at;
    update({ chosen }, Boolean(event));
  }

  let drawn = "";
  function drawTile() {
    const key = JSON.stringify({ ...state, chosen: 0 });
    if (key !== drawn) {
      const scrolled = tile.scrollTop;
      tile.replaceChildren(tileGrid(view, show));
      tile.scrollTop = scrolled;
    }
    drawn = key;
    markTile(tile, view);
  }

  function render() {
    view = boxModel(config, state);
    for (const [key, one] of Object.entries(controls)) one.set(state[key]);
    counts.set(view);
    load.disabled = view.refused;
    root.classList.toggle("gl-error", view.refused);
    g = geometry(view, Math.min(430, Math.max(220, area.clientWidth || 300)));
    area.innerHTML = matrixPicture(view, g, id);
    tile.inert = view.refused;
    [reading.textContent] = view.readings;
    // What the counts say is read aloud only; a refusal, or a box that begins within a chunk, is new.
    reading.classList.toggle("gl-t-unseen", !view.refused && view.box.x % view.count === 0);
    start.hidden = view.refused || (state.swizzle === "none" && !state.start);
    key.hidden = hint.hidden = view.refused;
    right.hidden = view.refused && !tile.firstChild;
    if (view.refused) return;
    key.replaceChildren(...keyOfBox(view));
    drawTile();
    const code = formulaOf(view.map); // set as code where a sentence has it
    const set = (text) => inline(code.includes("^")
      ? text.replace(` ${code} `, ` \`${code}\` `) : text);
    start.replaceChildren(...set(view.readings[3]));
    start.classList.toggle("gl-bad", view.misplaced > 0);
    hint.replaceChildren(h("div", {}, set(view.readings[1])),
      h("div", {}, view.readings[2]));
  }

  const right = h("div", { class: "gl-t-right gl-views" }, h("b", {}, "The box in shared memory ",
    h("span", { class: "gl-legend" }, "in lines of 32 banks")), tile);
  // What is not the page's subject is folded: the place of the box, or the tile's.
  const begins = state.start !== 0 || state.dtype !== "bf16";
  const place = [controls.box_rows.el,
    h("div", { class: "gl-steps" }, controls.x.el, controls.y.el)];
  const tile_ = [controls.dtype.el, controls.start.el];
  const row = (...parts) => h("div", { class: "gl-row" }, parts);
  root.append(h("div", { class: "gl-card gl-tma" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    row(controls.swizzle.el, controls.box_columns.el),
    row(...(begins ? tile_ : place), load),
    counts.el, key,
    h("div", { class: "gl-t-two" },
      h("div", { class: "gl-t-left" }, h("b", {}, "The matrix"), area), right, layer),
    h("div", { class: "gl-t-words" }, reading, start), hint,
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" }, h("summary", {}, begins ? "The box's rows and its place"
        : "Elements, and where the tile begins"), row(...(begins ? place : tile_))),
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"),
        h("div", { class: "gl-legend" }, LEGEND)))));
  let width = 0;
  new ResizeObserver(() => {
    if (width === area.clientWidth) return;
    width = area.clientWidth;
    render();
  }).observe(area);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "TmaBox", allows: {
  swizzle: oneOf(Object.keys(SPANS)), dtype: oneOf(Object.keys(DTYPES)),
  box_columns: (value, config) => config.box_columns.includes(value),
  box_rows: (value, config) => config.box_rows.includes(value),
  start: (value, config) => config.starts.includes(value),
  x: (value, config) => whole(-256, config.columns)(value),
  y: (value, config) => whole(-256, config.rows)(value),
  chosen: (value) => Array.isArray(value) && value.length === 2 && value.every(whole(0, 255)),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
