// WarpgroupTimeline: a producer, two consumers and the tensor cores over time, in a model of one SM.
import { bootWith, h, inline, liveWith, select, setText, stepper } from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { player } from "../shared/play.js";
import { shareCores, warpgroupLanes } from "../model/warpgroups/model.js";
import { SCHEDULES, tellShared, tellShareMoment } from "../model/warpgroups/words.js";
import { chart, range } from "../pipeline_timeline/view.js";

const TIMES = [["products", "products", 64], ["latency", "latency", 0], ["end", "storing C", 64]];
const LOOKS = [["products", "products of consumer 0"], ["second", "of consumer 1"],
  ["issue", "asks for a copy"], ["wait", "waits"], ["store", "C leaves"], ["pack", "packs"],
  ["flight", "copy on its way"], ["full", "there"], ["old", "may be overwritten"],
  ["idle", "tensor cores idle"]];
const PLAY_S = 12;

// The run of a state, and the time at the right edge: that of the slowest schedule with the same
// numbers, so that a shorter run is shorter in the picture.
export function sharedOf(state) {
  const run = shareCores(state);
  const totals = Object.keys(SCHEDULES).map((schedule) => shareCores({ ...state, schedule }).total);
  return { run, lanes: warpgroupLanes(run), scale: Math.max(...totals) };
}

function mount(root, config, initial, changed) {
  let state = initial;
  let model = sharedOf(state);
  let before = null;
  const last = () => model.run.total - 1;
  const update = (change) => {
    play.stop();
    if (change.schedule) before = `${model.run.percent} %`;
    state = { ...state, ...change };
    state.time = Math.min(state.time, shareCores(state).total - 1);
    render();
    changed(state);
  };
  const schedule = select("Schedule", Object.entries(SCHEDULES), state.schedule,
    (key) => update({ schedule: key }));
  const number = (name, label, low, high, title) => stepper(label, state[name], low, high,
    (value) => update({ [name]: value }), title);
  const steps = [number("tiles", "tiles", 1, 4, "tiles of C for this SM"),
    number("depth", "k tiles", 1, 8, "k tiles of each"),
    number("stages", "stages", 2, 6, "stages of the ring")];
  const times = TIMES.map(([name, label, low]) =>
    range(label, config.given[name], low, (value) => update({ [name]: value })));
  const busy = h("b", {});
  const was = h("span", { class: "gl-dim" });
  const reading = h("div", { class: "gl-tl-reading", "aria-live": "polite" });
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
    const said = tellShareMoment(model.lanes, state.time);
    when.textContent = `Cycle ${state.time.toLocaleString("en")}`;
    words.replaceChildren(...said.slice(0, 6).map(([name, text]) =>
      h("div", { class: text.startsWith("idle from") ? "gl-bad" : "" }, h("dt", {}, name),
        h("dd", {}, text))));
    picture.put(state.time, `cycle ${state.time}. ` +
      said.slice(0, 6).map(([name, text]) => `${name}: ${text}`).join(". "));
  }

  function render() {
    model = sharedOf(state);
    schedule.set(state.schedule);
    ["tiles", "depth", "stages"].forEach((name, i) => steps[i].set(state[name]));
    TIMES.forEach(([name], i) => times[i].set(state[name]));
    setText(busy, `${model.run.percent} %`);
    was.textContent = before && before !== `${model.run.percent} %` ? ` before: ${before}` : "";
    reading.textContent = tellShared(model.run);
    picture.draw({ ...model.run, blocks: 1 }, model.lanes, model.scale, null);
    const rows = picture.el.querySelectorAll(".gl-tl-lane:not(.gl-tl-axis)");
    rows[0].classList.add("gl-tl-main");
    rows.forEach((row, i) => row.classList.toggle("gl-tl-thin", [3, 5].includes(i) || i > 5));
    showMoment();
  }

  root.append(h("div", { class: "gl-card gl-timeline gl-warpgroups" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row gl-tl-controls" }, schedule.el, play.el,
      h("span", {}, "tensor cores busy ", busy, was)),
    reading, picture.el, h("div", { class: "gl-tl-now" }, when, words),
    h("div", { class: "gl-row gl-tl-controls" }, steps.map((one) => one.el)),
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" }, h("summary", {}, "Other times"),
        h("div", { class: "gl-row" }, times.map((one) => one.el))),
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this, and the model"),
        h("div", { class: "gl-legend gl-tl-legend" }, LOOKS.map(([key, text]) =>
          h("span", {}, h("i", { class: `gl-tl-bar gl-tl-${key}` }), text)),
        "Numbers are k tiles, those of C are tiles."),
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

const RULES = { name: "WarpgroupTimeline", allows: {
  schedule: oneOf(Object.keys(SCHEDULES)), tiles: whole(1, 4), depth: whole(1, 8),
  stages: whole(2, 6), products: whole(2, 65536), latency: whole(0, 65536),
  end: whole(1, 65536), time: whole(0, 10000000),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
