// PipelineTimeline: how the copies and the products of k tiles lie in time, in a model of one SM.
import { bootWith, h, inline, liveWith, segmented, setText, stepper } from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { player } from "../shared/play.js";
import { lanesOf, simulate } from "../model/pipeline/model.js";
import { cycles, describe, moment, paceText, PIPES, SCHEMES } from "../model/pipeline/words.js";
import { keyOf } from "./key.js";
import { chart, range } from "./view.js";

const TIMES = [["issue", "issue", 0], ["latency", "latency", 0], ["products", "products", 16]];

const BEFORE = { double: "single", async: "double" };
const PLAY_S = 12;
const LOOKS = [["products", "products, which read a buffer"], ["issue", "issue of a copy"],
  ["flight", "copy on its way"], ["full", "complete"], ["arrived", "arrived in registers"],
  ["store", "store to shared memory"], ["old", "read"], ["wait", "waits"]];

// The run that a state asks for, its lanes, and the time at the right edge: that of a single buffer
// with the same numbers, so that a shorter run is shorter in the picture, too.
export function modelOf(state, tensor = false) {
  const run = simulate(state);
  const scale = Math.max(run.total, simulate({ ...state, scheme: "single" }).total);
  const watch = Math.min(state.watch, state.blocks - 1);
  const before = BEFORE[state.scheme];
  const ghost = before && { name: SCHEMES[before], run: simulate({ ...state, scheme: before }) };
  return { run, scale: Math.max(scale, ghost?.run.total ?? 0), watch, lanes: lanesOf(run, watch, tensor),
    ghost };
}

// Whether the reader has moved the page's three times.
export const moved = (config, state) => TIMES.some(([name]) => state[name] !== config.given[name]);

function stat(label) {
  const value = h("b", {});
  return { value, el: h("div", { class: "gl-tl-stat" }, value, h("span", {}, label)) };
}

function mount(root, config, initial, changed) {
  let state = initial;
  const tensor = config.tensor === true;
  const pipe = PIPES[Number(tensor)];
  let model = modelOf(state, tensor);
  const update = (change) => {
    play.stop();
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const scheme = segmented("Scheme", Object.entries(SCHEMES), state.scheme, (key) =>
    update({ scheme: key }), { hidden: true });
  const number = (name, label, low, high, title) => stepper(label, state[name], low, high,
    (value) => update({ [name]: value }), title);
  const stages = number("stages", "stages", 2, 6, "stages: shared-memory buffers");
  const blocks = number("blocks", "blocks", 1, 4, "blocks on the SM");
  const tiles = number("tiles", "k tiles", 2, 16, "k tiles of each block");
  const times = TIMES.map(([name, label, low]) =>
    range(label, config.given[name], low, (value) => update({ [name]: value })));
  const watch = segmented("Registers and buffers of", [0, 1, 2, 3].map((b) => [b, `block ${b}`]),
    state.watch, (block) => update({ watch: block }));
  const back = h("button", {
    type: "button", class: "gl-plain", onclick: () => update({ ...config.given }),
  }, "Back to the page's times");
  const origin = h("span", {});
  const stats = ["cycles in the model", `${pipe} busy`, "cycles a tile"].map(stat);
  const reading = h("div", { class: "gl-tl-reading gl-tl-hidden", "aria-live": "polite" });
  const pace = h("div", { class: "gl-tl-pace" });
  const key = h("div", { class: "gl-legend gl-key gl-tl-key" });
  const given = h("summary", {});
  const words = h("dl", { class: "gl-tl-words" });
  const when = h("b", {});

  // Model time goes by; a run takes twelve seconds.
  const play = player(() => PLAY_S, () => state.time / (model.run.total - 1), (part) => {
    state = { ...state, time: Math.round(part * (model.run.total - 1)) };
    showMoment();
    if (part === 1) changed(state);
  });
  const picture = chart((time, done) => {
    if (!done && play.runs()) return;
    play.stop();
    state = { ...state, time: Math.max(0, Math.min(time, model.run.total - 1)) };
    showMoment();
    if (done) changed(state);
  });

  // A block that is alone does what the copy path and the pipe do.
  const lanesShown = () => model.lanes.filter(([name]) =>
    state.blocks > 1 || !name.startsWith("block"));

  function showMoment() {
    const time = Math.min(state.time, model.run.total - 1);
    const said = moment(model.run, lanesShown(), time);
    when.textContent = `Cycle ${cycles(time)} of ${cycles(model.run.total)}`;
    words.replaceChildren(...said.map(([name, text]) =>
      h("div", { class: text.startsWith("idle from") ? "gl-bad" : "" }, h("dt", {}, name),
        h("dd", {}, text))));
    const short = said.slice(0, 2 + (state.blocks > 1 ? state.blocks : 0)).map(([name, text]) => `${name}: ${text}`);
    picture.put(time, `cycle ${cycles(time)}. ${short.join(". ")}`);
  }

  function render() {
    model = modelOf(state, tensor);
    const { run } = model;
    scheme.set(state.scheme);
    stages.set(state.stages);
    stages.el.hidden = state.scheme !== "async";
    blocks.set(state.blocks);
    tiles.set(state.tiles);
    TIMES.forEach(([name], i) => times[i].set(state[name]));
    watch.set(model.watch);
    watch.el.hidden = state.blocks === 1;
    watch.el.querySelectorAll("label").forEach((label, b) => { label.hidden = b >= state.blocks; });
    back.hidden = !moved(config, state);
    origin.textContent = back.hidden ? config.origin : "Times chosen here, not the page's.";
    [cycles(run.total), `${run.percent} %`, cycles(run.perTile)].forEach((text, i) =>
      setText(stats[i].value, text));
    reading.textContent = describe(run, tensor);
    pace.textContent = paceText(run, tensor);
    given.textContent = `Times: ${TIMES.map(([name]) => `${name} ${cycles(state[name])}`).join(", ")}` +
      ` cycles; ${state.tiles} k tiles`;
    const lanes = lanesShown();
    key.replaceChildren(...keyOf([...LOOKS, ["idle", `${pipe} idle`]], lanes,
      ...(model.ghost ? [["before", `the scheme before`]] : [])));
    picture.draw(run, lanes, model.scale, model.ghost);
    showMoment();
  }

  root.append(h("div", { class: `gl-card gl-timeline${tensor ? " gl-tl-tensor" : ""}` },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row gl-tl-controls" }, scheme.el, stages.el, blocks.el),
    h("div", { class: "gl-row" }, play.el,
      h("div", { class: "gl-tl-stats" }, stats.map((one) => one.el)), watch.el),
    reading, pace, key, picture.el, h("div", { class: "gl-tl-now" }, when, words),
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" }, given,
        h("div", { class: "gl-row gl-tl-controls" }, tiles.el, times.map((time) => time.el), back)),
      h("details", { class: "gl-more" }, h("summary", {}, "The model"),
        h("p", { class: "gl-tl-origin" }, origin),
        h("ul", {}, config.model.map((line) => h("li", {}, line)))))));
  render();
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (width === root.clientWidth) return;
    width = root.clientWidth;
    render();
  }).observe(root);
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "PipelineTimeline", allows: {
  scheme: oneOf(Object.keys(SCHEMES)), stages: whole(2, 6), blocks: whole(1, 4),
  tiles: whole(2, 16), issue: whole(0, 100000), latency: whole(0, 100000),
  products: whole(1, 100000), time: whole(0, 10000000), watch: whole(0, 3),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
