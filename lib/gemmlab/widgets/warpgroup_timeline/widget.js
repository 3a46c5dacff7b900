// WarpgroupTimeline: a producer, two consumers and the tensor cores over time, in a model of one SM
// or as a kernel's own clocks have recorded it.
import { bootWith, h, inline, liveWith, segmented, select, setText, stepper } from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { player } from "../shared/play.js";
import { shareCores, warpgroupLanes } from "../model/warpgroups/model.js";
import { SCHEDULES, tellShared, tellShareMoment } from "../model/warpgroups/words.js";
import { keyOf } from "../pipeline_timeline/key.js";
import { chart, range } from "../pipeline_timeline/view.js";

const TIMES = [["products", "products", 64], ["latency", "latency", 0], ["end", "storing C", 64]];
const LOOKS = [["products", "products of consumer 0"], ["second", "consumer 1"],
  ["both", "products of both"], ["idle", "idle"], ["issue", "asks for a copy"], ["wait", "waits"],
  ["data", "waits for data"], ["turn", "waits for its turn"], ["pack", "packs sums"],
  ["store", "stores C"]];
const RING = [["flight", "copy on its way"], ["full", "there"], ["read", "being read"],
  ["old", "may be overwritten"]];
// What the figures of a recorded trace are.
const RECORDED = ["products under way", "longest gap, cycles", "cycles measured"];
const PLAY_S = 12;

// The run of a state, and the time at the right edge: that of the slowest schedule with the same
// numbers, so that a shorter run is shorter in the picture.
export function sharedOf(state) {
  const run = shareCores(state);
  const totals = Object.keys(SCHEDULES).map((schedule) => shareCores({ ...state, schedule }).total);
  return { run, lanes: warpgroupLanes(run), scale: Math.max(...totals) };
}

// A recorded trace, in the form of a run; it has an axis of its own.
export function recordedOf({ schedule, depth, total, lanes }) {
  const bars = (list) => list.map(([state, tile, begin, end]) => ({ state, tile, begin, end }));
  return { run: { schedule, depth, total }, lanes: lanes.map(([name, list]) => [name, bars(list)]),
    scale: total };
}

// Where the cursor stands at first: in the longest gap between products.
export function longestGap([[, cores]]) {
  const gaps = cores.filter((bar) => bar.state === "idle");
  const { begin, end } = gaps.sort((a, b) => (b.end - b.begin) - (a.end - a.begin))[0] ?? cores[0];
  return Math.floor((begin + end) / 2);
}

// The lanes that are shown: the ring only if it is asked for, a store once. A consumer has it in its
// own lane, but for one beside its products.
export function shownLanes(run, lanes, ring) {
  const beside = run.schedule === "deferred";
  return lanes.filter(([name]) => (ring || !name.startsWith("stage")) &&
    (beside || !name.startsWith("C of")))
    .map(([name, bars]) => [name, beside && name.startsWith("consumer")
      ? bars.filter((bar) => bar.state !== "store") : bars]);
}

function mount(root, config, initial, changed) {
  let state = initial;
  const isRecorded = () => state.view === "recorded" && Boolean(config.recorded);
  const modelOf = () => (isRecorded() ? recordedOf(config.recorded) : sharedOf(state));
  let model = modelOf();
  let before = null;
  let ring = false; // whether the stages are shown
  let shown = [];
  const last = () => model.run.total - 1;
  const update = (change) => {
    play.stop();
    if (change.schedule) before = `${model.run.percent} %`;
    state = { ...state, ...change };
    if (change.view) state.time = longestGap(modelOf().lanes);
    state.time = Math.min(state.time, modelOf().run.total - 1);
    render();
    changed(state);
  };
  const views = !config.recorded ? null : segmented("Show",
    [["model", "model"], ["recorded", `recorded, ${config.recorded.gpu}`]], state.view,
    (view) => update({ view }));
  const schedule = select("Schedule", Object.entries(SCHEDULES), state.schedule,
    (key) => update({ schedule: key }));
  const number = (name, label, low, high, title) => stepper(label, state[name], low, high,
    (value) => update({ [name]: value }), title);
  const steps = [number("tiles", "tiles of C", 1, 4, "tiles of C for this SM"),
    number("depth", "k tiles", 1, 8, "k tiles of each"),
    number("stages", "stages", 2, 6, "stages of the ring")];
  const times = TIMES.map(([name, label, low]) =>
    range(label, config.given[name], low, (value) => update({ [name]: value })));
  const stats = ["tensor cores busy", "idle between products", "cycles in the model"].map((label) => {
    const value = h("b", {});
    const text = h("span", {}, label);
    return { value, text, label, el: h("div", { class: "gl-tl-stat" }, value, text) };
  });
  const reading = h("div", { class: "gl-tl-reading gl-tl-hidden", "aria-live": "polite" });
  const key = h("div", { class: "gl-legend gl-key gl-tl-key" });
  const stages = h("input", { type: "checkbox", onchange: () => {
    ring = stages.checked;
    render();
  } });
  const when = h("b", {});
  const words = h("dl", { class: "gl-tl-words" });
  const play = player(() => PLAY_S, () => state.time / last(), (part) => {
    state = { ...state, time: Math.round(part * last()) };
    showMoment();
    if (part === 1) changed(state);
  });
  const picture = chart((time, done) => {
    if (!done && play.runs()) return;
    play.stop();
    state = { ...state, time: Math.max(0, Math.min(time, last())) };
    showMoment();
    if (done) changed(state);
  });

  function showMoment() {
    const said = tellShareMoment(shown, state.time, model.run.depth);
    when.textContent = `Cycle ${state.time.toLocaleString("en")}`;
    words.replaceChildren(...said.map(([name, text]) =>
      h("div", { class: text.startsWith("idle from") ? "gl-bad" : "" }, h("dt", {}, name),
        h("dd", {}, text))));
    picture.put(state.time, `cycle ${state.time}. ` +
      said.slice(0, 6).map(([name, text]) => `${name}: ${text}`).join(". "));
  }

  function render() {
    model = modelOf();
    schedule.set(state.schedule);
    ["tiles", "depth", "stages"].forEach((name, i) => steps[i].set(state[name]));
    TIMES.forEach(([name], i) => times[i].set(state[name]));
    const { run } = model;
    views?.set(state.view);
    for (const el of ofModel) el.hidden = isRecorded();
    for (const el of ofRecorded) el.hidden = !isRecorded();
    const figures = isRecorded() ? config.recorded.figures
      : [`${run.percent} %`, ...[run.gaps[1], run.total].map((n) => n.toLocaleString("en"))];
    const labels = isRecorded() ? RECORDED : stats.map((one) => one.label);
    stats.forEach((one, i) => {
      setText(one.value, figures[i]);
      one.text.textContent = labels[i];
    });
    if (!isRecorded() && before && before !== figures[0]) {
      stats[0].text.textContent += `, was ${before}`;
    }
    // What the model says of itself, its picture and figures show; a recording has a day and a place.
    reading.classList.toggle("gl-tl-hidden", !isRecorded());
    reading.textContent = isRecorded() ? config.recorded.reading : tellShared(run);
    shown = shownLanes(run, model.lanes, ring && !isRecorded());
    key.replaceChildren(...keyOf([...LOOKS, ...RING], shown));
    picture.draw({ ...run, blocks: 1 }, shown, model.scale, null);
    picture.el.querySelector(".gl-tl-lane").classList.add("gl-tl-main");
    showMoment();
  }

  const more = (title, ...nodes) =>
    h("details", { class: "gl-more" }, h("summary", {}, title), nodes);
  const list = (lines) => h("ul", {},
    ["Numbers are k tiles of a tile of C, those of a store are tiles of C.", ...lines]
      .map((line) => h("li", {}, line)));
  const showStages = h("label", { class: "gl-tl-ring" }, stages, " show the stages");
  const otherTimes = more("Other times", h("div", { class: "gl-row" }, times.map((one) => one.el)));
  const aboutModel = more("The model", list(config.model));
  const ofModel = [schedule.el, ...steps.map((one) => one.el), showStages, otherTimes, aboutModel];
  const ofRecorded = config.recorded ? [more("The recording", list(config.recorded.notes))] : [];
  root.append(h("div", { class: "gl-card gl-timeline gl-warpgroups" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row gl-tl-controls" }, views?.el, schedule.el,
      steps.map((one) => one.el)),
    h("div", { class: "gl-row" }, play.el,
      h("div", { class: "gl-tl-stats" }, stats.map((one) => one.el)), showStages),
    reading, key, picture.el, h("div", { class: "gl-tl-now" }, when, words),
    h("div", { class: "gl-feet" }, otherTimes, aboutModel, ofRecorded,
      config.missing ? h("div", { class: "gl-tl-missing" }, inline(config.missing)) : null)));
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

const RULES = { name: "WarpgroupTimeline", allows: {
  view: (value, config) => value === "model" || (value === "recorded" && Boolean(config.recorded)),
  schedule: oneOf(Object.keys(SCHEDULES)), tiles: whole(1, 4), depth: whole(1, 8),
  stages: whole(2, 6), products: whole(2, 65536), latency: whole(0, 65536),
  end: whole(1, 65536), time: whole(0, 10000000),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
