// BankMap: what a warp's access to a tile costs in shared memory, under any layout of the tile.
import { bootWith, glide, h, inline, liveWith, segmented } from "../shared/dom.js";
import { evaluate, laneElements, laneList, plural, uniqueLanes } from "../model/shared/banks.js";
import { accessControls, layoutControls, walker } from "./controls.js";
import { bankPicture, highlight, readout, tilePicture, wavefrontRows } from "../shared/bank_view.js";

const NARROW = 600; // below this many pixels, 16 banks or columns stand side by side, else 32
const BANK_LEGEND = "One row is one wavefront: at most one word from each bank. The number is " +
  "the lane; ×4 means that four lanes share the word. Marked rows are those above the minimum.";
const COPY = " A copy's wavefronts depend on its sources, too; these are its destinations.";
const TILE_LEGEND = "The number is the bank that holds the element. Strong colour: this request " +
  "wants it.";

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

function figures({ wavefronts, minimum, conflicts }) {
  const figure = (value, text, kind = "") =>
    h("div", { class: `gl-stat ${kind}` }, h("b", {}, String(value)), h("span", {}, text));
  return [
    figure(wavefronts, wavefronts === 1 ? "wavefront" : "wavefronts"),
    figure(minimum, "minimum"),
    figure(conflicts, "too many", conflicts === 0 ? "gl-good" : "gl-bad"),
  ];
}

function badge(model) {
  const [text, kind] = model.error ? ["fails", "gl-bad"]
    : model.request.conflicts ? [`${model.request.conflicts} too many`, "gl-bad"]
    : ["no conflict", "gl-good"];
  return h("em", { class: `gl-badge ${kind}` }, text);
}

function mount(root, config, initial, changed) {
  let state = initial;
  let all = [];
  let step = 0; // the wavefront that is shown, 0 for the whole request
  let drawn = -1; // the access that the pictures show
  let page = null; // first column of the tile's window, null: where the access begins
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const spoken = { "aria-live": "polite" };
  const counts = part("gl-stats");
  const reading = part("gl-reading", spoken);
  const hint = part("gl-hint", spoken);
  const goal = part("gl-goal", spoken);
  const what = part("gl-what");
  const banks = part("gl-picture");
  const tile = part("gl-picture");
  const model = () => all[state.access];
  const columns = () => (root.clientWidth < NARROW ? 16 : 32);

  function update(apply) {
    apply(state);
    step = 0;
    render(true);
    changed(state);
  }
  const layout = layoutControls(state, update);
  const editor = config.goal ? null : accessControls(config, update);
  const nameOf = (access, i) => access.name || `access ${i + 1}`;
  const tabs = state.accesses.length < 2 ? null : segmented("Access",
    state.accesses.map((access, i) => [i, nameOf(access, i)]), state.access,
    (i) => update((s) => { s.access = i; page = null; }));
  const walk = walker("wavefronts", (by) => {
    const stops = model().request.wavefronts + 1;
    step = (step + by + stops) % stops;
    showStep();
  });
  const turn = walker("columns", (by) => {
    const [first, width, length] = view();
    const to = first + by * width;
    if (to >= 0 && to < length) page = to;
    render();
  });

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
    for (const node of banks.querySelectorAll("[data-wave]")) {
      node.classList.toggle("gl-off", step > 0 && node.dataset.wave !== String(step));
    }
    highlight(tile, { lanes: step ? uniqueLanes(rows[step - 1].words) : [] });
    const served = step ? laneList(uniqueLanes(rows[step - 1].words)) : "";
    walk.set(step ? `wavefront ${step} of ${rows.length}: ${served}`
      : `${rows.length > 1 ? "all " : ""}${plural(rows.length, "wavefront")}`);
  }

  function rest() {
    if (model().error) return;
    hint.textContent = config.hint;
    highlight(banks, {});
    showStep();
  }

  function draw(moving) {
    const [first, width, length] = view();
    drawn = state.access;
    const place = () => banks.replaceChildren(bankPicture(model(), width, show));
    if (moving) glide(banks, place);
    else place();
    tile.replaceChildren(tilePicture(model(), first, width, show));
    turn.el.hidden = length <= width;
    turn.set(`columns ${first} to ${Math.min(length, first + width) - 1} of ${length}`);
    rest();
  }

  function render(moving = false) {
    all = models(config, state);
    const { access, error, request } = model();
    layout.set(state);
    editor?.set(state);
    tabs?.set(state.access);
    all.forEach((m, i) => tabs?.label(i, `${nameOf(m.access, i)} `, badge(m)));
    root.classList.toggle("gl-error", Boolean(error));
    reading.textContent = error ? sentence(error)
      : model().reading + (access.op === "cp.async" ? COPY : "");
    what.replaceChildren(
      h("b", {}, accessName(access)),
      h("code", {}, access.pattern), h("code", {}, offsetText(state)));
    if (config.goal) {
      const done = meets(config.goal, state, all);
      root.classList.toggle("gl-solved", done);
      goal.replaceChildren(h("b", {}, done ? "✓ Solved" : "Goal"), config.goal.text);
    }
    // What was last drawn of this access stays, dimmed, while a formula is being typed.
    const none = { wavefronts: "–", minimum: "–", conflicts: "–" };
    counts.replaceChildren(...figures(error ? none : request));
    views.inert = Boolean(error);
    views.hidden = hint.hidden = Boolean(error) && drawn !== state.access;
    if (!error) draw(moving);
  }

  const views = h("div", { class: "gl-views", onpointerleave: rest },
    h("div", { class: "gl-title" }, h("b", {}, "Banks"), walk.el), banks,
    h("div", { class: "gl-legend" }, BANK_LEGEND),
    h("div", { class: "gl-title" }, h("b", {}, "Tile"), turn.el), tile,
    h("div", { class: "gl-legend" }, TILE_LEGEND));
  root.append(h("div", { class: "gl-card gl-bankmap" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    config.goal ? goal : null,
    h("div", { class: "gl-controls" }, tabs?.el, layout.el, editor?.el),
    what,
    h("div", { class: "gl-result" }, counts, reading),
    views, hint));
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

export const boot = bootWith(mount);
export default liveWith(mount);
