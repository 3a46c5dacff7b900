// MbarrierTimeline: a ring of stages between TMA and the warps, one mbarrier event at a time.
import { bootWith, h, inline, liveWith, select, stepper } from "../shared/dom.js";
import { oneOf, whole } from "../shared/link.js";
import { player } from "../shared/play.js";
import { runRing } from "../model/mbarrier/run.js";
import { digits, outcomeOf, tellEvent } from "../model/mbarrier/words.js";
import { barrierTables, keyNodes, laneChart } from "./view.js";

const LATENCIES = [20, 50, 100, 200, 400, 700, 1000, 1300, 1600, 2000];
const PLAY_S = 12; // a whole run

// The run that a state asks for, and the event that it shows.
export function ringOf(config, state) {
  const { mode, tiles, consumers } = config;
  const { stages, mistake, latency } = state;
  const run = runRing({ mode, mistake, tiles, stages, consumers, latency });
  return { run, index: Math.min(state.event, run.events.length - 1) };
}

// What the simulator says of the mistake, and the lines that make it; nothing without a mistake.
export function quotesOf({ simulated }, { mistake, stages }) {
  const numbers = simulated.quotes[mistake]?.[stages] ?? [];
  return { changes: simulated.changes[mistake] ?? [], said: numbers.map((i) => simulated.texts[i]) };
}

function latencyField(config, picked) {
  const values = [...new Set([...LATENCIES, config.latency])].sort((a, b) => a - b);
  const shown = h("output", { class: "gl-tl-value" });
  const input = h("input", {
    type: "range", min: 0, max: values.length - 1, step: 1, class: "gl-tl-range",
    "aria-label": "latency of a copy", oninput: () => picked(values[Number(input.value)]),
  });
  const el = h("label", { class: "gl-tl-field" },
    h("span", { class: "gl-label" }, "copy latency"), input, shown);
  return { el, set(value) {
    input.value = values.indexOf(value);
    input.setAttribute("aria-valuetext", digits(value));
    shown.textContent = digits(value);
  } };
}

// Buttons and a slider over the events; `play` stands between them. Returns {el, set(...)}.
function eventWalk(move, play) {
  let index = 0;
  const go = (to) => {
    play.stop();
    move(to);
  };
  const button = (text, label, by) => h("button", {
    type: "button", class: "gl-mb-button", "aria-label": label, onclick: () => go(index + by),
  }, text);
  const slider = h("input", {
    type: "range", min: 0, step: 1, class: "gl-mb-slider", "aria-label": "event",
    oninput: () => go(Number(slider.value)),
  });
  const el = h("div", { class: "gl-mb-player" }, button("◀", "one event back", -1), play.el,
    button("▶", "one event forward", 1), slider);
  el.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by || event.target === slider) return;
    event.preventDefault();
    go(index + by);
  });
  return { el, set(nextIndex, events, words) {
    index = nextIndex;
    slider.max = events - 1;
    slider.value = index;
    slider.setAttribute("aria-valuetext", words);
  } };
}

const codeLine = (number, code, kind = "") => h("div", { class: `gl-mb-line ${kind}` },
  h("span", { class: "gl-mb-no" }, number), h("code", {}, code));

// The changed lines, and what the simulator says when it runs them.
function simulatorNode(config, state) {
  const { changes, said } = quotesOf(config, state);
  const where = `${config.simulated.tiles} tiles, ${state.stages} stages`;
  return [
    h("div", { class: "gl-mb-code", role: "group", "aria-label": "the changed lines" },
      h("div", { class: "gl-label" }, "kernels/probes/ring.cuh, with the mistake in it"),
      changes.flatMap(([number, old, now]) => [codeLine(`${number} −`, old, "gl-mb-old"),
        codeLine("+", now || "(left out)", "gl-mb-now")])),
    h("div", { class: "gl-mb-said" },
      h("div", { class: "gl-label" }, `The simulator, running this with ${where}, says:`),
      said.map(({ message, lines }) => h("blockquote", {}, `${message}.`,
        h("div", {}, lines.map(([number, code]) => codeLine(number, code)))))),
  ];
}

function mount(root, config, initial, changed) {
  let state = initial;
  let model = ringOf(config, state);
  const choose = (change) => {
    play.stop();
    state = { ...state, ...change };
    const { run, index } = ringOf(config, state);
    state.event = run.problems.length ? run.lesson : index;
    render();
    changed(state);
  };
  const move = (event) => {
    state = { ...state, event: Math.max(0, Math.min(event, model.run.events.length - 1)) };
    model.index = state.event;
    showEvent();
    changed(state);
  };
  const mistake = select("Mistake", Object.entries(config.mistakes), state.mistake, (key) =>
    choose({ mistake: key }));
  const stages = stepper("stages", state.stages, 2, 4, (value) => choose({ stages: value }));
  const latency = latencyField(config, (value) => choose({ latency: value }));
  // Model time goes by; the last event that is over is shown.
  const timeOf = (index) => model.run.events[index].time;
  const play = player(() => PLAY_S, () => timeOf(model.index) / (model.run.total || 1), (part) => {
    const time = part * model.run.total;
    const index = part < 1 ? model.run.events.findLastIndex((e) => e.time <= time)
      : model.run.events.length - 1;
    if (index !== model.index) move(Math.max(0, index));
    picture.glide(time);
  });
  const walk = eventWalk(move, play);
  const picture = laneChart((index) => { play.stop(); move(index); });
  const key = h("div", { class: "gl-legend gl-key gl-tl-key" });
  const verdict = h("div", { class: "gl-mb-verdict", role: "status" });
  const wrong = h("button", { type: "button", class: "gl-plain", onclick: () => {
    play.stop();
    move(model.run.lesson);
  } }, "Show where");
  const when = h("b", {});
  const words = h("p", {});
  const tables = h("div", { class: "gl-mb-tables" });
  const simulator = h("div", { class: "gl-mb-sim" });
  const says = h("details", { class: "gl-more" },
    h("summary", {}, "What the simulator says of this mistake"), simulator);

  function showEvent() {
    const { run, index } = model;
    const event = run.events[index];
    const said = tellEvent(run, index);
    when.textContent = `Event ${index + 1} of ${run.events.length}, at ${digits(event.time)}`;
    words.textContent = event.problem ? `✕ ${said}` : said;
    words.className = event.problem ? "gl-bad" : "";
    tables.replaceChildren(...barrierTables(run, index));
    walk.set(index, run.events.length, said);
    picture.put(index);
    wrong.hidden = !run.problems.length || index === run.lesson;
  }

  function render() {
    model = ringOf(config, state);
    const { run } = model;
    const good = !run.problems.length;
    mistake.set(state.mistake);
    stages.set(state.stages);
    latency.set(state.latency);
    verdict.replaceChildren(h("strong", { class: good ? "gl-good" : "gl-bad" },
      good ? "✓ " : "✕ "), outcomeOf(run), " ", wrong);
    key.replaceChildren(...keyNodes(run));
    picture.draw(run, outcomeOf(run));
    simulator.hidden = says.hidden = state.mistake === "none";
    simulator.replaceChildren(...(simulator.hidden ? [] : simulatorNode(config, state)));
    showEvent();
  }

  root.append(h("div", { class: "gl-card gl-timeline gl-mbarrier" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, stages.el, latency.el, mistake.el), verdict, key, picture.el,
    walk.el, h("div", { class: "gl-mb-event", "aria-live": "polite" }, when, words),
    h("div", { class: "gl-feet" }, says,
      h("details", { class: "gl-more" }, h("summary", {}, "The barriers in numbers"), tables),
      h("details", { class: "gl-more" }, h("summary", {}, "The model"),
        h("ul", {}, config.model.map((line) => h("li", {}, line)))))));
  render();
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (width === root.clientWidth) return;
    width = root.clientWidth;
    picture.draw(model.run, outcomeOf(model.run));
    picture.put(model.index);
  }).observe(root);
  return (next) => {
    play.stop();
    state = next;
    render();
  };
}

const RULES = { name: "MbarrierTimeline", allows: {
  mistake: (value, config) => oneOf(Object.keys(config.mistakes))(value), stages: whole(2, 4),
  latency: whole(1, 100000), event: whole(0, 100000),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
