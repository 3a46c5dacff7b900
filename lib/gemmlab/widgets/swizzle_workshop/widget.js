// SwizzleWorkshop: bits of a byte offset XORed onto others until ldmatrix has no conflict.
import {
  bootWith, h, inline, liveWith, segmented, select, setText, stepper
} from "../shared/dom.js";
import { whole } from "../shared/link.js";
import {
  SIDE, bitsOf, chunksOf, describeMap, describePhase, describeRead, describeWrite, formulaOf, groupsOf,
  offsetOf, pointed, readRequest, torn, writeRequest,
} from "../model/shared/ldmatrix.js";
import { collision, move, pairsOf, swizzleOf } from "../model/shared/swizzle.js";
import { bankStyle } from "../shared/bank_view.js";
import { bitTable } from "./bit_table.js";
import { cellText, chunkGrid, groupGrid, waiting } from "./pictures.js";

const STEPS = [
  ["B", "B: how many bits change", 4],
  ["M", "M: the lowest bit that changes", 5],
  ["S", "S: how far above them the bits stand that are read", 8],
];
const LEGEND = "A cell is a chunk of 16 bytes, its number the group of four banks in which it " +
  "stands: group g is banks 4g to 4g + 3. Bits 6 to 4 of its address choose the group. A phase is " +
  "the eight rows that ldmatrix reads at a time: where two of them stand in one group, one waits " +
  "for a further wavefront, a further pass over the 32 banks. Point at a chunk to see its bits. A " +
  "new bit is the old one XORed (⊕) with the bits that are switched on in its line, of which the " +
  "framed ones are 1; all other bits stay.";
const KEY = [["gl-used", "read in this phase"], ["gl-unused gl-w-other", "in another phase"],
  ["gl-unused", "not read"]];
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const sortedPairs = (pairs) => [...pairs].sort((a, b) => a[0] - b[0] || a[1] - b[1]);

// All that the state means: the requests, null where there is none, and the words.
export function workshopModel(config, state) {
  const tile = config.tiles.find((one) => one.name === state.tile);
  const reader = config.readers.find((one) => one.name === state.reader);
  const { pairs, phase } = state;
  const lanes = pointed(reader);
  const phaseCells = lanes.slice(SIDE * phase, SIDE * (phase + 1));
  const model = { tile, reader, pairs, phase, lanes, phaseCells, map: describeMap(pairs, tile),
    formula: formulaOf(pairs, tile), whole: !torn(pairs), read: null, write: null };
  model.unique = model.whole && !collision(pairs, bitsOf(tile));
  if (!model.whole) return { ...model, readings: [model.map], solved: false };
  model.read = readRequest(tile, pairs, reader);
  model.groups = groupsOf(tile, pairs, phaseCells);
  const readings = [
    model.map, describeRead(model.read, reader), describePhase(model.groups, phase),
  ];
  if (model.unique) {
    model.write = writeRequest(tile, pairs);
    readings.push(describeWrite(model.write, tile));
  }
  return { ...model, readings, solved: model.unique && model.read.conflicts === 0 };
}

// The state after one toggle, or after another B, M or S: each follows the other where it can.
export function toggled(state, pair) {
  const pairs = state.pairs.some((one) => same(one, pair))
    ? state.pairs.filter((one) => !same(one, pair)) : sortedPairs([...state.pairs, pair]);
  const [, m, s] = state.swizzle;
  return { pairs, swizzle: pairs.length ? swizzleOf(pairs) ?? state.swizzle : [0, m, s] };
}

export function stepped(state, tile, i, value) {
  const swizzle = [...state.swizzle];
  swizzle[i] = value;
  // S must be at least B: the one that was not touched gives way.
  if (i === 0) swizzle[2] = Math.max(swizzle[2], value);
  if (i === 2) swizzle[0] = Math.min(swizzle[0], value);
  return { swizzle, pairs: pairsOf(swizzle, bitsOf(tile)) };
}

const follows = (state, tile) =>
  same(sortedPairs(pairsOf(state.swizzle, bitsOf(tile))), sortedPairs(state.pairs));

// The counts, which light up when they change.
function statsView() {
  const boxes = ["wavefronts to read", "minimum", "too many"].map((text) => {
    const value = h("b", {});
    return { value, el: h("div", { class: "gl-stat" }, value, h("span", {}, text)) };
  });
  return { el: h("div", { class: "gl-stats", "aria-live": "polite" }, boxes.map((one) => one.el)),
    set({ read, solved }) {
      const values = [read?.wavefronts, read?.minimum, read?.conflicts];
      boxes.forEach((one, i) => setText(one.value, String(values[i] ?? "–")));
      boxes[2].el.className = `gl-stat ${read ? (read.conflicts ? "gl-bad"
        : solved ? "gl-good" : "") : ""}`;
    } };
}

// The XOR as one writes it in code, and by its name; neither where no bit is switched on.
function formulaView() {
  const [code, named, words] = [h("code", {}), h("span", {}), h("div", {})];
  const line = h("div", {}, h("span", { class: "gl-label" }, "In code: "), code);
  const name = h("div", { class: "gl-w-named" }, h("span", { class: "gl-label" }, "As a swizzle: "),
    named);
  return { el: h("div", { class: "gl-w-formula" }, words, line, name),
    set({ pairs, formula }, fits, [b, m, s]) {
      line.hidden = name.hidden = !pairs.length;
      words.hidden = pairs.length > 0;
      words.textContent = "No bit is switched on yet: every chunk stays in its place.";
      code.textContent = `${formula.split(" ")[0]} → ${formula}`;
      named.replaceChildren(...fits ? inline(`\`Swizzle<${b},${m},${s}>\` on elements, ` +
        `\`<${b},${m + 1},${s}>\` on bytes`) : ["No single Swizzle<B,M,S> does this"]);
    } };
}

function mount(root, config, initial, changed) {
  let state = initial;
  let model = null;
  let at = null; // the chunk whose bits are shown
  let drawn = "";
  let told = false; // whether the known swizzles are offered
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const spoken = { "aria-live": "polite" };
  const update = (change) => {
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const tileOf = (name) => config.tiles.find((one) => one.name === name);
  const start = (tile, bits) => ({ swizzle: bits, pairs: pairsOf(bits, bitsOf(tile)) });
  const names = (list) => list.map(({ name }) => [name, name]);
  const tiles = segmented("Tile", names(config.tiles), state.tile, (name) => {
    at = null;
    update({ tile: name, reader: tileOf(name).reader, phase: 0,
      ...start(tileOf(name), tileOf(name).starts[0][1]) });
  });
  const reader = select("Read by", names(config.readers), state.reader,
    (name) => { at = null; update({ reader: name, phase: 0 }); });
  const starts = part("gl-row gl-w-starts");
  const bits = bitTable((pair) => update(toggled(state, pair)));
  const steps = STEPS.map(([name, title, high], i) => stepper(name, state.swizzle[i], 0, high,
    (value) => update(stepped(state, model.tile, i, value)), title));
  const counts = statsView();
  const formula = formulaView();
  const [phases, before, grid, groups] = ["gl-w-phases", "gl-picture", "gl-picture", "gl-picture"]
    .map((name) => part(name));
  const [chosen, reading, phaseText, goal] = ["gl-hint", "gl-reading gl-w-said", "gl-w-phase",
    "gl-goal"].map((name) => part(name, spoken));
  const copied = part("gl-legend gl-w-write");
  const choose = (cell) => {
    at = cell;
    showCell();
  };

  function showCell() {
    bits.show(offsetOf(model.tile, at), move(state.pairs, offsetOf(model.tile, at)));
    chosen.hidden = !model.whole;
    if (model.whole) chosen.textContent = cellText(model, at);
    for (const node of grid.querySelectorAll("[data-row]")) {
      const here = node.dataset.row === String(at[0]) && node.dataset.col === String(at[1]);
      node.classList.toggle("gl-w-chosen", here);
      node.tabIndex = here ? 0 : -1;
    }
  }

  function drawControls() {
    tiles.set(state.tile);
    reader.set(state.reader);
    const known = model.tile.starts;
    starts.hidden = known.length < 2;
    // The known swizzles are the answer: they come when asked for.
    const shown = told || model.solved ? known : known.slice(0, 1);
    starts.replaceChildren(h("span", { class: "gl-label" }, "Known"), ...shown.map(([label, swizzle], i) => h("button", {
        type: "button", class: "gl-w-start",
        "aria-pressed": String(same(pairsOf(swizzle, bitsOf(model.tile)), state.pairs)),
        onclick: () => {
          update(start(model.tile, swizzle));
          starts.querySelectorAll("button")[i].focus(); // they are made anew
        },
      }, label === "none" ? "no swizzle" : label)), shown.length === known.length ? "" : h("button", {
      type: "button", class: "gl-plain", onclick: () => {
        told = true;
        render();
        starts.querySelectorAll("button")[1].focus();
      },
    }, "Show known swizzles"));
    steps.forEach((one, i) => one.set(state.swizzle[i]));
    const fits = follows(state, model.tile);
    stepping.classList.toggle("gl-off", !fits);
    formula.set(model, fits, state.swizzle);
  }

  // One choice for each phase, made anew for another ldmatrix only, to keep the focus.
  let choice = {};
  function drawPhases() {
    const { matrices } = model.reader;
    if (choice.matrices !== matrices) {
      choice = { matrices, ...segmented("Phase", Array.from({ length: matrices }, (_, i) =>
        [i, String(i + 1)]), state.phase, (phase) => { at = null; update({ phase }); },
      { hidden: true }) };
      phases.replaceChildren(choice.el);
    }
    choice.set(state.phase);
    model.read?.phases.forEach(({ wavefronts: count }, i) => choice.label(i, `phase ${i + 1}: `,
      h("em", { class: `gl-badge ${count > 1 ? "gl-bad" : "gl-good"}` },
        count > 1 ? `${count} wavefronts` : "1 wavefront")));
  }

  // What was last drawn stays, dimmed, while chunks are torn apart.
  function drawViews() {
    views.inert = !model.whole;
    root.classList.toggle("gl-error", !model.unique);
    root.classList.toggle("gl-w-torn", !model.whole);
    at ??= model.whole ? waiting(model) : [1, 0];
    const key = JSON.stringify(state);
    if (model.whole && key !== drawn) {
      before.replaceChildren(chunkGrid(model, []));
      grid.replaceChildren(chunkGrid(model, state.pairs, choose));
      groups.replaceChildren(groupGrid(model.groups));
      drawn = key;
    }
    showCell();
  }

  function render() {
    model = workshopModel(config, state);
    drawControls();
    bits.set(model.tile, state.pairs);
    counts.set(model);
    const [map, , phase, write] = model.readings;
    reading.textContent = map;
    reading.hidden = !state.pairs.length;
    phaseText.textContent = phase ?? "";
    title.textContent = `Wavefronts of phase ${state.phase + 1}`;
    swizzled.textContent = state.pairs.length ? "Swizzled" : "Swizzled: the same";
    // Beside wide tiles the pictures leave no room for a sentence.
    const room = chunksOf(model.tile) > 8 ? phaseRow : waves;
    if (phaseText.parentElement !== room) room.append(phaseText);
    readBy.textContent = `read by ${state.reader}, eight rows in a phase`;
    copied.textContent = write ?? "";
    drawPhases();
    drawViews();
    if (config.exercise) {
      root.classList.toggle("gl-solved", model.solved);
      goal.replaceChildren(h("b", {}, model.solved ? "✓ Solved" : "Goal"),
        `${model.reader.matrices} wavefronts to read, and a place of its own for every chunk.`);
    }
  }

  const title = h("b", {});
  const swizzled = h("b", {});
  const readBy = h("span", { class: "gl-w-by" });
  const stepping = h("div", { class: "gl-row gl-w-steps" },
    h("div", { class: "gl-steps" }, steps.map((one) => one.el)),
    h("span", { class: "gl-legend" }, "Swizzle<B,M,S> of 16-bit elements"));
  const shots = [[h("b", {}, "As is"), before], [swizzled, grid]].map((shot) =>
    h("div", { class: "gl-w-left" }, shot));
  const key = h("div", { class: "gl-legend gl-key gl-w-key" }, KEY.map(([look, text]) =>
    h("span", {}, h("i", { class: look, style: bankStyle(8), "aria-hidden": "true" }), text)),
  h("span", {}, "number: group of four banks"));
  const phaseRow = h("div", { class: "gl-row" }, phases);
  const waves = h("div", { class: "gl-w-right gl-w-waves" }, title, groups);
  const views = h("div", { class: "gl-views gl-w-views" }, phaseRow,
    h("div", { class: "gl-w-two" }, shots, waves), key);
  root.append(h("div", { class: "gl-card gl-workshop" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    config.exercise ? goal : null,
    h("div", { class: "gl-row gl-w-tile" }, config.tiles.length > 1 ? tiles.el
      : h("b", {}, `Tile ${state.tile}`), readBy),
    h("div", { class: "gl-w-two" },
      h("div", { class: "gl-w-table" }, h("div", { class: "gl-w-do" },
        "Click a +: the bit of its column is XORed onto the bit of its line."), bits.el),
      h("div", { class: "gl-w-right" }, counts.el, reading, formula.el, chosen)),
    views,
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" },
        h("summary", {}, "Swizzle by B, M and S, another ldmatrix"), stepping,
        h("div", { class: "gl-row gl-w-ways" }, reader.el, starts)),
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"),
        h("div", { class: "gl-legend" }, LEGEND), copied))));
  render();
  return (next) => {
    state = next;
    at = null;
    render();
  };
}

const isPair = (pair) => Array.isArray(pair) && pair.length === 2 &&
  pair.every(whole(0, 16)) && pair[0] !== pair[1];
const RULES = { name: "SwizzleWorkshop", allows: {
  tile: (value, config) => config.tiles.some(({ name }) => name === value),
  reader: (value, config) => config.readers.some(({ name }) => name === value),
  swizzle: (value) => Array.isArray(value) && value.length === 3 && value[0] <= value[2] &&
    value.every((bits, i) => whole(0, STEPS[i][2])(bits)),
  pairs: (value) => Array.isArray(value) && value.length < 40 && value.every(isPair),
  phase: (value, config, state) =>
    whole(0, config.readers.find(({ name }) => name === state.reader).matrices - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
