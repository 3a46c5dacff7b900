// PipelineTimeline: how the copies and the products of k tiles lie in time, in a model of one SM.
import { bootWith, h, inline, liveWith, segmented, stepper } from "../shared/dom.js";
import { lanesOf, simulate } from "../model/pipeline/model.js";
import { cycles, describe, moment, SCHEMES } from "../model/pipeline/words.js";
import { chart, legend, range } from "./view.js";

const TIMES = [["issue", "issue", 0], ["latency", "latency", 0], ["products", "products", 16]];

// The run that a state asks for, its lanes, and the time at the right edge: that of a single buffer
// with the same numbers, so that a shorter run is shorter in the picture, too.
export function modelOf(state) {
  const run = simulate(state);
  const scale = Math.max(run.total, simulate({ ...state, scheme: "single" }).total);
  const watch = Math.min(state.watch, state.blocks - 1);
  return { run, scale, lanes: lanesOf(run, watch), watch };
}

// Whether the reader has moved the page's three times.
export const moved = (config, state) => TIMES.some(([name]) => state[name] !== config.given[name]);

function stat(value, label) {
  return h("div", { class: "gl-tl-stat" }, h("b", {}, value), h("span", {}, label));
}

function mount(root, config, initial, changed) {
  let state = initial;
  let model = modelOf(state);
  const update = (change) => {
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const scheme = segmented("Scheme", Object.entries(SCHEMES), state.scheme, (key) =>
    update({ scheme: key }));
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
    type: "button", class: "gl-tl-back", onclick: () => update({ ...config.given }),
  }, "Back to the page's times");
  const origin = h("span", {});
  const stats = h("div", { class: "gl-tl-stats" });
  const reading = h("div", { class: "gl-tl-reading", "aria-live": "polite" });
  const words = h("dl", { class: "gl-tl-words" });
  const when = h("b", {});

  const picture = chart((time, done) => {
    state = { ...state, time: Math.max(0, Math.min(time, model.run.total - 1)) };
    showMoment();
    if (done) changed(state);
  });

  function showMoment() {
    const time = Math.min(state.time, model.run.total - 1);
    const said = moment(model.run, model.lanes, time);
    when.textContent = `Cycle ${cycles(time)} of ${cycles(model.run.total)}`;
    words.replaceChildren(...said.map(([name, text]) =>
      h("div", { class: text.startsWith("idle from") ? "gl-bad" : "" }, h("dt", {}, name),
        h("dd", {}, text))));
    const short = said.slice(0, 2 + model.run.blocks).map(([name, text]) => `${name}: ${text}`);
    picture.put(time, `cycle ${cycles(time)}. ${short.join(". ")}`);
  }

  function render() {
    model = modelOf(state);
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
    stats.replaceChildren(stat(cycles(run.total), "cycles in the model"),
      stat(`${run.percent} %`, "FMA pipe busy"), stat(cycles(run.perTile), "cycles a tile"));
    reading.textContent = describe(run);
    picture.draw(run, model.lanes, model.scale);
    showMoment();
  }

  root.append(h("div", { class: "gl-card gl-timeline" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, scheme.el, stages.el, blocks.el, tiles.el),
    h("div", { class: "gl-row" }, times.map((time) => time.el)),
    h("div", { class: "gl-row gl-tl-origin" }, origin, back),
    h("div", { class: "gl-tl-result" }, stats, reading), watch.el, picture.el, legend(),
    h("div", { class: "gl-tl-now" }, when, words),
    h("details", { class: "gl-more" }, h("summary", {}, "The model"),
      h("ul", {}, config.model.map((line) => h("li", {}, line))))));
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

export const boot = bootWith(mount);
export default liveWith(mount);
