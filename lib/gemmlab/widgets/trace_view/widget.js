// TraceView: a traced kernel's requests lane by lane, on the banks or on the sectors.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { player } from "../shared/play.js";
import { whole } from "../shared/link.js";
import { laneList, plural, served, uniqueLanes } from "../model/shared/banks.js";
import {
  bankPicture, highlight, readout, SHOWN_ROWS, wavefrontRows
} from "../shared/bank_view.js";
import { lineList, slider } from "./controls.js";
import { laneLines, laneStrip, laneTable, sectorPicture, sectorsOf, tell } from "./pictures.js";

const NARROW = 600; // below this many pixels, 16 banks or two sectors stand side by side
const SECTOR_ROWS = 12; // that are shown at first
const LEGENDS = {
  shared: () => "A line leads from a lane to the bank of its first word. A column is a bank, a row " +
    "one wavefront: at most one word from each bank. The number is the lane that the word is for; " +
    "×4 means four lanes. Marked rows are those above the minimum.",
  global: (across) => "A box is a sector of 32 bytes, which moves as a whole; a row is " +
    `${32 * across} bytes, and rows that nobody asks for are left out. The number is the lane that ` +
    "a word is for; ×4 means four lanes. Striped words are moved and not asked for.",
};

const KEYS = {
  shared: [[null, "number: lane; color: bank"]],
  global: [["gl-asked", "asked for by this lane"], ["gl-along", "moved, not asked for"]],
};

const HINTS = {
  shared: "Point at a lane, a word or a bank, or move over them with the arrow keys.",
  global: "Point at a sector, or move over them with the arrow keys.",
};

// The request that the state names: {line, sample, addresses, places, request or sectors}.
export function modelOf(config, state) {
  const line = config.lines[state.line];
  const sample = line.samples[state.request];
  const { addresses } = sample;
  const model = { line, sample, addresses, places: config.places };
  if (line.memory === "global") return { ...model, sectors: sectorsOf(addresses, line.width) };
  return { ...model, request: served(addresses, line.width, sample.phases, sample.least) };
}

const ordinal = (n) =>
  `${n}${(n % 100 - n % 10 === 10 ? null : { 1: "st", 2: "nd", 3: "rd" }[n % 10]) ?? "th"}`;

// Who made the request: "warp 0, 5th" of its requests, with the block if it is not the first.
const nameOf = ({ block, warp, time }) =>
  `${block ? `block ${block}, ` : ""}warp ${warp}, ${ordinal(time + 1)}`;

// How many of the line's requests look like this one.
export function company({ samples, requests }, sample) {
  const all = `${requests.toLocaleString("en-US")} request${requests === 1 ? "" : "s"}`;
  const who = `Block ${sample.block}, warp ${sample.warp}, the ${ordinal(sample.time + 1)} time`;
  if (!sample.requests) {
    return `${who}. The line makes ${all} of many shapes; these are the first ones and the most expensive one.`;
  }
  if (requests === 1) return `${who}: the line's only request.`;
  if (sample.requests === requests) return `${who}. All ${all} of the line have this shape.`;
  const some = sample.requests.toLocaleString("en-US");
  return `${who}. ${some} of the line's ${all} have this shape.`;
}

function figures(sample, noun) {
  const figure = (value, text, kind = "") =>
    h("div", { class: `gl-stat ${kind}` }, h("b", {}, value.toLocaleString("en-US")),
      h("span", {}, text));
  const surplus = sample.cost - sample.least;
  return [
    figure(sample.cost, sample.cost === 1 ? noun : `${noun}s`),
    figure(sample.least, "minimum"),
    figure(surplus, "too many", surplus ? "gl-bad" : "gl-good"),
  ];
}

function mount(root, config, initial, changed) {
  let state = initial;
  let model = null;
  let choice = {};
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const spoken = { "aria-live": "polite" };
  const [requests, what, counts, lanes, lines, picture, legend, more] = ["gl-field", "gl-what",
    "gl-stats", "gl-picture", "gl-lines-box", "gl-picture", "gl-legend", "gl-more-body"]
    .map((name) => part(name));
  let top = 0; // the first wavefront that is shown
  let full = false; // whether all wavefronts are
  const reading = part("gl-reading", spoken);
  const hint = part("gl-hint", spoken);
  const columns = () => (root.clientWidth < NARROW ? 16 : 32);
  const shared = () => Boolean(model.request);

  function update(change) {
    play.stop();
    Object.assign(state, { step: 0 }, change);
    render();
    changed(state);
  }
  const list = lineList(config.lines, (line) => update({ line, request: 0 }));
  function go(step) {
    if (step === state.step) return;
    state.step = step;
    showStep();
    changed(state);
  }
  const steps = slider("wavefronts", (step) => {
    play.stop();
    go(step);
  });
  const count = () => model.request?.wavefronts ?? 1;
  const play = player(() => Math.min(12, 0.8 * count() + 0.8), () => state.step / (count() + 1),
    (at) => go(at < 1 ? Math.min(count(), Math.floor(at * (count() + 1))) : 0));
  const rowsButton = h("button", { type: "button", class: "gl-plain", onclick: () => {
    full = !full;
    drawPictures();
  } });
  const first = () => (full ? 0
    : Math.floor(Math.max(0, state.step - 1) / SHOWN_ROWS) * SHOWN_ROWS);

  function show(target) {
    hint.textContent = target.bank === undefined ? tell(model, target)
      : readout({ ...model, access: {} }, target);
    for (const node of [lanes, lines, picture]) highlight(node, target);
  }

  function stepText(rows) {
    if (!state.step) return rows.length > 1 ? `all ${rows.length} wavefronts` : "1 wavefront";
    const { phase, wavefront, words } = rows[state.step - 1];
    const { phases } = model.request;
    const inPhase = phases[phase].wavefronts;
    return `${phases.length > 1 ? `phase ${phase + 1} of ${phases.length}, ` : ""}` +
      `wavefront ${wavefront + 1} of ${inPhase}: ${laneList(uniqueLanes(words))}`;
  }

  // One wavefront: its words, the lanes that it serves, and those that wait in the same phase.
  function showStep() {
    if (!shared()) return;
    const rows = wavefrontRows(model.request);
    const row = state.step ? rows[state.step - 1] : null;
    if (first() !== top) return drawPictures();
    for (const node of picture.querySelectorAll("[data-wave]")) {
      const wave = Number(node.dataset.wave);
      node.classList.toggle("gl-off", Boolean(row) && wave > state.step);
      node.classList.toggle("gl-acts", wave === state.step);
    }
    const now = row ? uniqueLanes(row.words) : [];
    highlight(lines, { lanes: now });
    for (const node of lanes.querySelectorAll("[data-lanes]")) {
      const lane = Number(node.dataset.lanes);
      node.classList.toggle("gl-hot", now.includes(lane));
      node.classList.toggle("gl-waits",
        Boolean(row) && !now.includes(lane) && row.lanes.includes(lane));
      node.classList.toggle("gl-off", Boolean(row) && !row.lanes.includes(lane));
    }
    steps.set(state.step, rows.length, stepText(rows));
    return undefined;
  }

  function rest() {
    hint.textContent = HINTS[model.line.memory];
    for (const node of [lanes, lines, picture]) highlight(node, {});
    showStep();
  }

  function drawPictures() {
    const wide = columns();
    top = first();
    // The lanes stand in the sectors already, if there are no banks that they lead to.
    lanes.replaceChildren(...(shared() ? [laneStrip(model, wide, show)] : []));
    lines.hidden = !shared() || wide < 32;
    if (!lines.hidden) lines.innerHTML = laneLines(model, Math.max(200, lanes.clientWidth));
    const most = full ? Infinity : SHOWN_ROWS;
    picture.replaceChildren(shared() ? bankPicture(model, wide, show, top, most)
      : sectorPicture(model, wide / 8, show, full ? Infinity : SECTOR_ROWS));
    const rows = shared() ? count() : picture.firstChild.dataset.rows;
    rowsButton.hidden = rows <= (shared() ? SHOWN_ROWS : SECTOR_ROWS);
    rowsButton.textContent = full ? "Fewer rows" : `All ${rows} rows`;
    rowsButton.setAttribute("aria-expanded", String(full));
    legend.textContent = LEGENDS[model.line.memory](wide / 8);
    rest();
  }

  // One choice for each request of the line; made anew for another line only, to keep the focus.
  function drawChoice({ line }) {
    if (choice.line !== line) {
      choice = { line, ...segmented("Request", line.samples.map((one, i) => [i, nameOf(one)]),
        state.request, (request) => update({ request })) };
      requests.replaceChildren(choice.el);
    }
    choice.set(state.request);
    requests.hidden = line.samples.length < 2;
  }

  function render() {
    model = modelOf(config, state);
    const { line, sample } = model;
    list.set(state.line);
    drawChoice(model);
    what.replaceChildren(
      h("b", {}, `line ${line.line}: ${line.op}, ${plural(line.width, "byte")} a ` +
        (line.op.endsWith("matrix") ? "row" : "lane")),
      h("span", { class: "gl-legend" }, company(line, sample)));
    counts.replaceChildren(...figures(sample, shared() ? "wavefront" : "sector"));
    // What the counts beside it say already is read aloud only.
    const [counted, ...rest_] = sample.reading.split(/(?<=\d too many\. )/);
    reading.replaceChildren(...(rest_.length
      ? [h("span", { class: "gl-unseen" }, counted), ...rest_] : [counted]));
    title.textContent = shared() ? "Lanes and banks" : "Sectors of 32 bytes";
    key.replaceChildren(...KEYS[line.memory].map(([look, text]) =>
      h("span", {}, look ? h("i", { class: `gl-cell ${look}` }) : null, text)));
    steps.el.hidden = play.el.hidden = !shared() || sample.cost < 2;
    more.replaceChildren(laneTable(model));
    drawPictures();
  }

  const title = h("b", {});
  const key = h("div", { class: "gl-legend gl-key gl-trace-key" });
  const views = h("div", { class: "gl-views", onpointerleave: rest },
    h("div", { class: "gl-title" }, title, key, h("span", { class: "gl-steps" }, steps.el, play.el,
      rowsButton)), lanes, lines, picture);
  root.append(h("div", { class: "gl-card gl-traceview" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-controls" },
      h("div", { class: "gl-row gl-list-head" }, h("span", { class: "gl-legend" }, config.title),
        list.more), list.el, requests),
    what, h("div", { class: "gl-result" }, counts, reading), views,
    h("div", { class: "gl-feet" }, hint,
      h("details", { class: "gl-more" }, h("summary", {}, "Addresses"), more),
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"), legend))));
  let narrow = columns();
  new ResizeObserver(() => {
    if (narrow === columns()) return;
    narrow = columns();
    drawPictures();
  }).observe(root);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "TraceView", allows: {
  line: (value, config) => whole(0, config.lines.length - 1)(value),
  request: (value, config, state) =>
    whole(0, (config.lines[state.line]?.samples.length ?? 0) - 1)(value),
  step: (value, config, state) =>
    whole(0, config.lines[state.line]?.samples[state.request]?.cost ?? 0)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
