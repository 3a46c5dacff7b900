// BankMap: what a warp's access to a tile costs in shared memory, under any layout of the tile.
import { bootWith, h, inline, liveWith, segmented, setText } from "../shared/dom.js";
import { player } from "../shared/play.js";
import { glide } from "./glide.js";
import { isText, oneOf, whole } from "../shared/link.js";
import { evaluate, laneElements, laneList, plural, uniqueLanes } from "../model/shared/banks.js";
import { accessControls, layoutControls, walker } from "./controls.js";
import {
  bankPicture, highlight, readout, SHOWN_ROWS, tilePicture, wavefrontRows
} from "../shared/bank_view.js";

const LEAST_ROWS = 4; // of the tile
const NARROW = 600; // below this many pixels, 16 banks or columns stand side by side, else 32
const BANK_LEGEND = "Banks: one row is one wavefront, at most one word from each bank. The number " +
  "is the lane; ×4 means that four lanes share the word. Marked rows are those above the minimum. " +
  "A line parts the phases, which serve one group of lanes after the other.";
const COPY = " A copy's wavefronts depend on its sources, too; these are its destinations.";
const TILE_LEGEND = "Tile: the number and the color are those of the bank that holds the element, " +
  "as in the picture of the banks. Strong color: this request wants it.";
const KEY = "Number: above the lane, below the bank. Strong color: the warp wants the element.";
const LATE_KEY = "wavefronts above the minimum.";

// The tile grows with the rows that a typed pattern asks for.
function tileOf(config, state) {
  const tile = { rows: config.rows, row_length: state.row_length, element: state.element };
  for (const access of state.accesses) {
    try {
      const rows = laneElements(access, tile).map((at) => at[0]);
      tile.rows = Math.min(128, Math.max(tile.rows, ...rows.map((row) => row + 1)));
    } catch {
      continue; // evaluate() says what is wrong
    }
  }
  return tile;
}

// One model for each access: {access, tile, place, elements, addresses, request} or {error}.
export function models(config, state) {
  const tile = tileOf(config, state);
  return state.accesses.map((access) => ({ access, tile, ...evaluate(access, tile, state) }));
}

// The goal is met if no access faults and the counts of all together keep the limits.
export function meets(goal, state, all) {
  if (all.some((model) => model.error)) return false;
  if (goal.layout && goal.layout !== state.kind) return false;
  const total = (name) => all.reduce((sum, model) => sum + model.request[name], 0);
  return Object.entries(goal.limits).every(([name, limit]) => total(name) <= limit);
}

// The layout as the offset that it gives to element (row, col).
function offsetText(state) {
  const flat = `row*${state.row_length} + col`;
  return `offset = ${{
    none: flat,
    pad: `row*(${state.row_length} + ${state.pad}) + col`,
    swizzle: `Swizzle<${state.swizzle.join(",")}>(${flat})`,
    formula: `row*${state.row_length} + (${state.formula})`,
  }[state.kind]}`;
}

// "layout: lane 0 is ..." as a sentence.
function sentence(message) {
  const text = message.replace(/^(layout|pattern): /, "");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

// "load, 4 bytes a lane", "ldmatrix.x4, 16 bytes a row"
export function accessName({ op, store, width }) {
  return `${op || (store ? "store" : "load")}, ${width} bytes a ` +
    (op?.includes("matrix") ? "row" : "lane");
}

function figure(text) {
  const value = h("b", {});
  const words = h("span", {}, text);
  return { el: h("div", { class: "gl-stat" }, value, words), value, words };
}

function badge(model) {
  const [text, kind] = model.error ? ["fails", "gl-bad"]
    : model.request.conflicts ? [`${model.request.conflicts} too many`, "gl-bad"]
    : ["no conflict", "gl-good"];
  return h("em", { class: `gl-badge ${kind}` }, text);
}

// What the counts beside it do not say: the reading without its first sentence, if that is more.
export function beside(reading) {
  const rest = reading.replace(/^[^.]*: \d+ too many\. ?/, "");
  return rest.replace(/^[^.]*: no conflict\./, "No conflict.");
}

// The counts, which light up when they change. Returns {el, set(request or null)}.
function countsView() {
  const [waves, least, surplus, used] = ["wavefronts", "minimum", "too many", "banks used"]
    .map(figure);
  const el = h("div", { class: "gl-stats", "aria-live": "polite" },
    waves.el, least.el, surplus.el, used.el);
  return { el, set(request) {
    const { wavefronts, minimum, conflicts } = request ?? {};
    setText(waves.value, String(wavefronts ?? "–"));
    waves.words.textContent = wavefronts === 1 ? "wavefront" : "wavefronts";
    setText(least.value, String(minimum ?? "–"));
    setText(surplus.value, String(conflicts ?? "–"));
    const banks = request?.phases.flatMap((phase) => phase.words.map((word) => word.bank));
    setText(used.value, banks ? String(new Set(banks).size) : "–");
    surplus.el.className = `gl-stat ${conflicts === 0 ? "gl-good" : "gl-bad"}`;
  } };
}

function mount(root, config, initial, changed) {
  let state = initial;
  let all = [];
  let step = 0; // the wavefront that is shown, 0 for the whole request
  let drawn = -1; // the access that the pictures show
  let page = null; // first column of the tile's window, null: where the access begins
  let full = false; // whether all rows are shown
  let top = 0; // the first wavefront that is shown
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const spoken = { "aria-live": "polite" };
  const counts = countsView();
  const reading = part("gl-reading", spoken);
  const hint = part("gl-hint", spoken);
  const goal = part("gl-goal", spoken);
  const [access, offset] = [part("gl-what"), part("gl-what")];
  const banks = part("gl-picture");
  const tile = part("gl-picture");
  const key = part("gl-legend gl-bm-key");
  const model = () => all[state.access];
  const columns = () => (root.clientWidth < NARROW ? 16 : 32);

  function update(apply) {
    apply(state);
    step = 0;
    play.stop();
    render(true);
    changed(state);
  }
  const layout = layoutControls(state, update);
  const editor = config.goal ? null : accessControls(config, update);
  const nameOf = (access, i) => access.name || `access ${i + 1}`;
  const tabs = state.accesses.length < 2 ? null : segmented("Access",
    state.accesses.map((access, i) => [i, nameOf(access, i)]), state.access,
    (i) => update((s) => { s.access = i; page = null; }));
  function go(to) {
    if (to === step) return;
    step = to;
    showStep();
  }
  const count = () => model().request?.wavefronts ?? 1;
  const walk = walker("wavefronts", (by) => {
    play.stop();
    go((step + by + count() + 1) % (count() + 1));
  });
  // One wavefront after the other, then the whole request again.
  const play = player(() => Math.min(12, 0.8 * count() + 0.8), () => step / (count() + 1),
    (at) => go(at < 1 ? Math.min(count(), Math.floor(at * (count() + 1))) : 0));
  const turn = walker("columns", (by) => {
    const [first, width, length] = view();
    const to = first + by * width;
    if (to >= 0 && to < length) page = to;
    render();
  });
  const more = h("button", { type: "button", class: "gl-plain", onclick: () => {
    full = !full;
    draw(false);
  } });

  // First column of the tile's window, how many it shows, how many there are.
  function view() {
    const [width, length] = [columns(), model().tile.row_length];
    const start = page ?? Math.min(...model().elements.map((at) => at[1]));
    return [Math.min(Math.floor(start / width), Math.floor((length - 1) / width)) * width,
      width, length];
  }

  function show(target) {
    hint.textContent = readout(model(), target);
    highlight(banks, target);
    highlight(tile, target);
  }

  function showStep() {
    const rows = wavefrontRows(model().request);
    const at = full ? 0 : Math.floor(Math.max(0, step - 1) / SHOWN_ROWS) * SHOWN_ROWS;
    if (at !== top) return draw(false);
    for (const node of banks.querySelectorAll("[data-wave]")) {
      const wave = Number(node.dataset.wave);
      node.classList.toggle("gl-off", step > 0 && wave > step);
      node.classList.toggle("gl-acts", wave === step);
    }
    highlight(tile, { lanes: step ? uniqueLanes(rows[step - 1].words) : [] });
    const served = step ? laneList(uniqueLanes(rows[step - 1].words)) : "";
    walk.set(step ? `wavefront ${step} of ${rows.length}: ${served}`
      : `${rows.length > 1 ? "all " : ""}${plural(rows.length, "wavefront")}`);
    return undefined;
  }

  function rest() {
    if (model().error) return;
    hint.textContent = config.hint;
    highlight(banks, {});
    showStep();
  }

  function draw(moving) {
    const [first, width, length] = view();
    const rows = wavefrontRows(model().request);
    const most = full ? Infinity : SHOWN_ROWS;
    // The more wavefronts, the fewer rows of the tile: both have to be on one screen.
    const room = config.goal ? 10 : 12;
    const tall = full ? Infinity
      : Math.max(LEAST_ROWS, Math.min(SHOWN_ROWS, room - Math.min(rows.length, most)));
    drawn = state.access;
    top = full ? 0 : Math.floor(Math.max(0, step - 1) / SHOWN_ROWS) * SHOWN_ROWS;
    const place = () => banks.replaceChildren(bankPicture(model(), width, show, top, most));
    if (moving) glide(banks, place);
    else place();
    const lanes = uniqueLanes(rows.slice(top, top + most).flatMap((row) => row.words));
    tile.replaceChildren(tilePicture(model(), first, width, show, lanes, tall));
    turn.el.hidden = length <= width;
    turn.set(`columns ${first} to ${Math.min(length, first + width) - 1} of ${length}`);
    const every = Math.max(rows.length, model().tile.rows);
    more.hidden = !full && rows.length <= most && model().tile.rows <= tall;
    more.textContent = full ? "Fewer rows" : `All ${every} rows`;
    const late = rows.some((row) => row.wavefront > 0);
    key.replaceChildren(KEY, ...(late ? [" ", h("i", { class: "gl-late", "aria-hidden": "true" }),
      LATE_KEY] : []));
    more.setAttribute("aria-expanded", String(full));
    play.el.hidden = walk.el.hidden = rows.length < 2;
    rest();
  }

  function render(moving = false) {
    all = models(config, state);
    const { access: shown, error, request } = model();
    layout.set(state);
    editor?.set(state);
    tabs?.set(state.access);
    all.forEach((m, i) => tabs?.label(i, `${nameOf(m.access, i)} `, badge(m)));
    root.classList.toggle("gl-error", Boolean(error));
    reading.textContent = error ? sentence(error)
      : beside(model().reading) + (shown.op === "cp.async" ? COPY : "");
    access.replaceChildren(h("b", {}, "Banks"),
      "a line is a wavefront, one pass in which a bank serves one word");
    offset.replaceChildren(h("b", {}, "Tile"), `${accessName(shown)}:`,
      h("code", {}, shown.pattern), h("code", {}, offsetText(state)));
    if (config.goal) {
      const done = meets(config.goal, state, all);
      root.classList.toggle("gl-solved", done);
      goal.replaceChildren(h("b", {}, done ? "✓ Solved" : "Goal"), config.goal.text);
    }
    // What was last drawn of this access stays, dimmed, while a formula is being typed.
    counts.set(error ? null : request);
    views.inert = Boolean(error);
    views.hidden = hint.hidden = Boolean(error) && drawn !== state.access;
    if (!error) draw(moving);
  }

  const views = h("div", { class: "gl-views", onpointerleave: rest },
    h("div", { class: "gl-title" }, access, h("span", { class: "gl-steps" },
      walk.el, play.el)), banks,
    h("div", { class: "gl-title" }, offset, h("span", { class: "gl-steps" },
      turn.el, more)), tile, key);
  root.append(h("div", { class: "gl-card gl-bankmap" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    config.goal ? goal : null,
    h("div", { class: "gl-controls" }, tabs?.el, layout.el),
    h("div", { class: "gl-result" }, counts.el, reading),
    views, h("div", { class: "gl-feet" }, hint, editor?.el,
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"),
        h("div", { class: "gl-legend" }, BANK_LEGEND),
        h("div", { class: "gl-legend" }, TILE_LEGEND)))));
  let narrow = columns();
  new ResizeObserver(() => {
    if (narrow === columns()) return;
    narrow = columns();
    page = null;
    render();
  }).observe(root);
  render();
  return (next) => {
    state = next;
    step = 0;
    render();
  };
}

const BITS = [5, 8, 12];
const isSwizzle = (value) => Array.isArray(value) && value.length === 3 && value[2] >= value[0] &&
  value.every((bits, i) => whole(0, BITS[i])(bits));
const isAccess = (one) => one && isText(one.pattern) && isText(one.name) &&
  oneOf([2, 4, 8, 16])(one.width) && typeof one.store === "boolean" &&
  (one.op === undefined || isText(one.op));
// In an exercise the access is given.
const free = (rule) => (value, config, state) => !config.goal && rule(value, config, state);
const RULES = { name: "BankMap", allows: {
  access: (value, _, state) => whole(0, state.accesses.length - 1)(value),
  kind: oneOf(["none", "pad", "swizzle", "formula"]), pad: whole(0, 64), swizzle: isSwizzle,
  formula: isText, row_length: free(whole(1, 1024)), element: free(oneOf([1, 2, 4, 8])),
  accesses: free((value, config, state) => Array.isArray(value) && value.every(isAccess) &&
    value.length > state.access && value.length < 9),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
