// The picture of PipelineTimeline: lanes over time, an axis, and a cursor.
import { h, uid } from "../shared/dom.js";
import { cycles, PIPES } from "../model/pipeline/words.js";

// Values that a range runs through: round ones, and those that the page gives.
const ROUND = [0, 16, 32, 64, 96, 128, 192, 256, 384, 512, 640, 800, 1024, 1280, 1536, 1792, 2048,
  2560, 3072, 4096, 5120, 6144, 8192];

// A time in cycles. Returns {el, set(value)}; the given value can always be reached again.
export function range(label, given, low, picked) {
  let values = [];
  const shown = h("output", { class: "gl-tl-value" });
  const input = h("input", {
    type: "range", min: 0, step: 1, class: "gl-tl-range", "aria-label": `${label}, cycles`,
    oninput: () => picked(values[Number(input.value)]),
  });
  const set = (value) => {
    values = [...new Set([...ROUND.filter((v) => v >= low), given, value])].sort((a, b) => a - b);
    input.max = values.length - 1;
    input.value = values.indexOf(value);
    input.setAttribute("aria-valuetext", `${cycles(value)} cycles`);
    shown.textContent = `${cycles(value)} cycles`;
  };
  const el = h("label", { class: "gl-tl-field" }, h("span", { class: "gl-label" }, label), input,
    shown);
  return { el, set };
}

function ticks(scale, most) {
  const step = [1, 2, 5].flatMap((d) => Array.from({ length: 8 }, (_, e) => d * 10 ** e))
    .sort((a, b) => a - b).find((s) => scale / s <= most);
  return Array.from({ length: Math.floor(scale / step) + 1 }, (_, i) => i * step);
}

// A k tile's number: within its tile of C, where the run says how many of them a tile has.
function barText(bar, name, run, width) {
  if (bar.state === "idle") return width > 34 ? "idle" : "";
  if (["wait", "queue", "pack", "both", "data", "turn", "none"].includes(bar.state)) return "";
  const shared = run.blocks > 1 && (PIPES.includes(name) || name === "copy path");
  const number = run.depth && bar.state !== "store" ? bar.tile % run.depth : bar.tile;
  const text = shared ? `${bar.block}:${bar.tile}` : String(number);
  return width > 7 * text.length + 3 ? text : "";
}

function laneRow([name, bars], run, scale, width) {
  return h("div", { class: `gl-tl-lane${PIPES.includes(name) ? " gl-tl-main" : ""}` },
    h("span", { class: "gl-tl-name" }, name),
    h("div", { class: "gl-tl-track" }, bars.map((bar) => {
      const part = (bar.end - bar.begin) / scale;
      const text = barText(bar, name, run, part * width);
      const brief = bar.state === "idle" && part * width < 8 ? " gl-tl-brief" : "";
      return h("span", {
        class: `gl-tl-bar gl-tl-${bar.state}${brief}`, "data-begin": bar.begin, "data-end": bar.end,
        style: `left:${(100 * bar.begin) / scale}%;width:${100 * part}%`,
      }, text ? h("b", {}, text) : "");
    })));
}

// The pipe of the scheme before, with the same numbers, in outlines.
function ghostRow({ name, run }, scale) {
  return h("div", { class: "gl-tl-lane gl-tl-ghost", "aria-hidden": "true" },
    h("span", { class: "gl-tl-name" }, name),
    h("div", { class: "gl-tl-track" }, run.pipe.filter((bar) => bar.state === "products")
      .map((bar) => h("span", { class: "gl-tl-bar",
        style: `left:${(100 * bar.begin) / scale}%;width:${(100 * (bar.end - bar.begin)) / scale}%`,
      }))));
}

function axisRow(run, scale, width) {
  const label = `end ${cycles(run.total)}`;
  const near = (at) => Math.abs(at - run.total) / scale * width < 46 + 3 * label.length;
  const mark = (at, text, kind) => h("span", {
    class: kind, style: `left:${(100 * at) / scale}%`,
  }, text);
  return h("div", { class: "gl-tl-lane gl-tl-axis" }, h("span", { class: "gl-tl-name" }, "cycle"),
    h("div", { class: "gl-tl-track" },
      ticks(scale, width < 360 ? 4 : 8).filter((at) => !near(at)).map((at) =>
        mark(at, cycles(at), "gl-tl-tick")),
      mark(run.total, label, "gl-tl-tick gl-tl-end")));
}

// {el, draw(run, lanes, scale, ghost), put(time, words)}; the cursor asks for `move(time, done)`.
export function chart(move) {
  const cursor = h("div", { class: "gl-tl-cursor", "aria-hidden": "true" });
  const rows = h("div", { class: "gl-tl-rows" });
  const hint = h("span", { class: "gl-tl-hidden", id: uid("gl-tl") },
    "Arrow keys go to the next or previous change, with Shift by one cycle.");
  const el = h("div", {
    class: "gl-tl-chart", role: "slider", tabindex: 0, "aria-label": "Time",
    "aria-describedby": hint.id, "aria-valuemin": 0,
  }, rows, cursor, hint);
  let [run, lanes, scale, time] = [null, [], 1, 0];
  const track = () => rows.querySelector(".gl-tl-track");

  function at(event) {
    const box = track().getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width) * scale);
  }
  el.addEventListener("pointermove", (event) => move(at(event), false));
  el.addEventListener("pointerdown", (event) => move(at(event), true));
  el.addEventListener("pointerleave", () => move(time, true));

  const changes = () => [...new Set(lanes.flatMap(([, bars]) =>
    bars.flatMap((bar) => [bar.begin, bar.end])))].sort((a, b) => a - b);
  el.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const page = { PageUp: 1, PageDown: -1 }[event.key];
    let next = { Home: 0, End: run.total - 1 }[event.key];
    if (page) next = time + page * Math.round(run.total / 10);
    if (by) {
      const found = by > 0 ? changes().find((t) => t > time)
        : changes().filter((t) => t < time).pop();
      next = event.shiftKey ? time + by : found ?? time;
    }
    if (next === undefined) return;
    event.preventDefault();
    move(next, true);
  });

  function draw(nextRun, nextLanes, nextScale, ghost) {
    [run, lanes, scale] = [nextRun, nextLanes, nextScale];
    const name = Number.parseFloat(getComputedStyle(el).getPropertyValue("--name"));
    const width = Math.max(120, el.clientWidth - (name || 76));
    rows.classList.toggle("gl-tl-dense", lanes.length > 9);
    const [main, ...others] = lanes.map((lane) => laneRow(lane, run, scale, width));
    rows.replaceChildren(main, ghost ? ghostRow(ghost, scale) : "", ...others,
      axisRow(run, scale, width));
    el.setAttribute("aria-valuemax", run.total - 1);
  }
  function put(next, words) {
    time = next;
    el.style.setProperty("--at", (time + 0.5) / scale);
    el.setAttribute("aria-valuenow", time);
    el.setAttribute("aria-valuetext", words);
    for (const bar of rows.querySelectorAll("[data-begin]")) {
      bar.classList.toggle("gl-hot",
        Number(bar.dataset.begin) <= time && time < Number(bar.dataset.end));
    }
  }
  return { el, draw, put };
}
