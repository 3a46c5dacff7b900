// The pictures of MbarrierTimeline: lanes over time with a cursor, and the state of the barriers.
import { h } from "../shared/dom.js";
import { keyOf } from "../pipeline_timeline/key.js";
import { barrierKey, BOX, countsOf } from "../model/mbarrier/model.js";
import { waitingAt } from "../model/mbarrier/run.js";
import { digits } from "../model/mbarrier/words.js";

const LOOKS = [["issue", "starts a copy"], ["flight", "copy on its way"], ["full", "landed"],
  ["read", "reads the tile"], ["bad", "goes wrong"], ["wait", "waits for a barrier"],
  ["sync", "waits in __syncthreads()"]];

// The key above the lanes: what they have now, and the two parities.
export function keyNodes(run) {
  const parity = (n) => h("span", {}, h("i", { class: `gl-tl-bar gl-mb-parity${n}` }), `parity ${n}`);
  return [...keyOf(LOOKS, run.lanes), parity(0), parity(1)];
}

function tickSteps(scale, most) {
  const size = [1, 2, 5].flatMap((d) => [1, 10, 100, 1000].map((e) => d * e))
    .sort((a, b) => a - b).find((s) => scale / s <= most);
  return Array.from({ length: Math.floor(scale / size) + 1 }, (_, i) => i * size);
}

function barNode(bar, scale, width) {
  const part = (bar.end - bar.begin) / scale;
  const texts = bar.state === "bad" ? [`${bar.tile}!`, "!"] : [String(bar.tile)];
  const text = ["wait", "sync", "issue"].includes(bar.state) ? ""
    : texts.find((one) => part * width > 7 * one.length + 4) ?? "";
  return h("span", {
    class: `gl-tl-bar gl-tl-${bar.state}`,
    style: `left:${(100 * bar.begin) / scale}%;width:${100 * part}%`,
  }, text ? h("b", {}, text) : "");
}

function laneNode([name, bars], stuck, run, scale, width) {
  const end = stuck ? [h("span", {
    class: "gl-tl-bar gl-mb-stuck", style: `left:${(100 * run.total) / scale}%;right:0`,
  }, run.total ? "✕" : "✕ waits for ever")] : [];
  return h("div", { class: "gl-tl-lane", "data-lane": name },
    h("span", { class: "gl-tl-name" }, name),
    h("div", { class: "gl-tl-track" }, bars.map((bar) => barNode(bar, scale, width)), end));
}

// The phases of a barrier: {phase, begin, end}, from its states after each event.
export function phasesOf(run, key) {
  const bars = [];
  run.events.forEach(({ time }, i) => {
    const { phase } = run.states[i][key];
    if (bars.at(-1)?.phase === phase) return;
    if (bars.length) bars.at(-1).end = time;
    bars.push({ phase, begin: time, end: run.total });
  });
  return bars;
}

// Arrivals as dots, those that still lack hollow; and the bytes that a phase still expects.
function sideNode(bar, name) {
  const dots = "●".repeat(Math.max(0, bar.count - bar.pending)) + "○".repeat(bar.pending);
  const part = Math.min(1, Math.abs(bar.tx) / (2 * BOX));
  return [h("span", { class: "gl-mb-dots" }, dots), name === "full"
    ? h("span", { class: "gl-mb-bytes" }, h("i", { style: `--v:${part}` })) : null,
  name === "full" ? h("span", { class: "gl-mb-tx-now" }, digits(bar.tx)) : null];
}

function barrierLane(run, name, stage, scale, width) {
  const key = barrierKey({ name, stage });
  return h("div", { class: "gl-tl-lane gl-mb-lane", "data-barrier": key, "data-name": name },
    h("span", { class: "gl-tl-name" }, key),
    h("div", { class: "gl-tl-track" }, phasesOf(run, key).map(({ phase, begin, end: over }) => {
      const end = over === run.total ? scale : over; // nothing ends it
      const room = ((end - begin) / scale) * width;
      return h("span", {
        class: `gl-tl-bar gl-mb-parity${phase % 2}`,
        style: `left:${(100 * begin) / scale}%;width:${(100 * (end - begin)) / scale}%`,
      }, room > 10 ? h("b", {}, room > 130 ? `phase ${phase}, parity ${phase % 2}`
        : room > 52 ? `phase ${phase}` : String(phase)) : "");
    })), h("span", { class: "gl-mb-side" }));
}

// {el, draw(run), put(index), glide(time)}; a click or a drag asks for `move(index)`.
export function laneChart(move) {
  const cursor = h("div", { class: "gl-tl-cursor", "aria-hidden": "true" });
  const rows = h("div", { class: "gl-tl-rows" });
  const el = h("div", { class: "gl-tl-chart", role: "img" }, rows, cursor);
  let [run, scale] = [null, 1];

  // The last event that is not later than the pointer.
  function at(event) {
    const box = rows.querySelector(".gl-tl-track").getBoundingClientRect();
    const time = ((event.clientX - box.left + 4) / box.width) * scale;
    return Math.max(0, run.events.findLastIndex((e) => e.time <= time));
  }
  el.addEventListener("pointerdown", (event) => move(at(event)));
  el.addEventListener("pointermove", (event) => { if (event.buttons) move(at(event)); });

  function draw(next, words) {
    run = next;
    scale = run.total * 1.05 || 100;
    const width = Math.max(120, el.clientWidth - 84 - 150);
    const stuck = run.events.at(-1).kind === "stuck"
      ? waitingAt(run, run.events.length - 1).map((e) => e.actor) : [];
    rows.replaceChildren(
      ...run.lanes.map((lane) => laneNode(lane, stuck.includes(lane[0]), run, scale, width)),
      h("div", { class: "gl-tl-lane gl-mb-heads" }, h("span"), h("span"),
        h("span", { class: "gl-mb-side" }, h("span", {}, "arrived ●"), h("span", {}, "bytes to come"))),
      ...Object.keys(countsOf(run.ring)).flatMap((name) =>
        Array.from({ length: run.ring.stages }, (_, stage) =>
          barrierLane(run, name, stage, scale, width))),
      h("div", { class: "gl-tl-lane gl-tl-axis" }, h("span", { class: "gl-tl-name" }, "time"),
        h("div", { class: "gl-tl-track" }, tickSteps(scale, width < 360 ? 4 : 8).map((time) =>
          h("span", { class: "gl-tl-tick", style: `left:${(100 * time) / scale}%` },
            digits(time))))));
    el.setAttribute("aria-label", words);
  }
  function put(index) {
    const event = run.events[index];
    const lane = event.kind === "land" ? `stage ${event.stage}` : event.actor;
    el.style.setProperty("--at", event.time / scale);
    for (const row of rows.querySelectorAll("[data-barrier]")) {
      const { barrier, name } = row.dataset;
      row.lastChild.replaceChildren(...sideNode(run.states[index][barrier], name).filter(Boolean));
      row.classList.toggle("gl-mb-acts", Boolean(event.name) && barrierKey(event) === barrier);
    }
    for (const row of rows.querySelectorAll("[data-lane]")) {
      row.classList.toggle("gl-mb-acts", row.dataset.lane === lane);
    }
  }
  const glide = (time) => el.style.setProperty("--at", time / scale);
  return { el, draw, put, glide };
}

// What a field was and is: an arrival that ends a phase takes pending through 0.
function values(name, event, bar) {
  const { before, after } = event;
  const shown = (value) => (name === "phase" ? `${value}` : digits(value));
  const steps = [before[name]];
  if (name === "pending" && event.kind !== "land") steps.push(before.pending - 1);
  if (name === "tx" && event.kind === "expect") steps.push(before.tx + event.value);
  if (steps.at(-1) !== after[name]) steps.push(after[name]);
  return steps.length > 1 ? steps.map(shown).join(" → ") : shown(bar[name]);
}

function fieldNode(name, event, bar, touched, suffix = "") {
  const text = touched ? values(name, event, bar) : digits(bar[name]);
  const changed = touched && text.includes("→");
  return h("td", { class: changed ? "gl-mb-new" : "" }, text, h("span", {}, suffix));
}

function barrierRow(run, index, name, stage) {
  const event = run.events[index];
  const bar = run.states[index][`${name}[${stage}]`];
  const named = event.name === name && event.stage === stage;
  const touched = named && Boolean(event.after);
  const waits = waitingAt(run, index).filter((e) => e.name === name && e.stage === stage);
  const numbers = waits.map((e) => e.actor.split(" ")[1]);
  const who = numbers[1] ? `warps ${numbers.join(", ")}` : waits[0]?.actor;
  return h("tr", { class: named ? "gl-mb-row" : "" },
    h("th", { scope: "row" }, barrierKey({ name, stage })),
    fieldNode("phase", event, bar, touched, ` (${bar.phase % 2})`),
    fieldNode("pending", event, bar, touched, ` of ${bar.count}`),
    name === "full" ? fieldNode("tx", event, bar, touched) : null,
    h("td", { class: "gl-mb-who" }, who ? `${who} (${waits[0].value})` : "–"));
}

// The state of every barrier after an event.
export function barrierTables(run, index) {
  return Object.keys(countsOf(run.ring)).map((name) => h("table", { class: "gl-mb-table" },
    h("thead", {}, h("tr", {}, [["barrier", "barrier"], ["phase", "phase (parity)"],
      ["pending", "pending"], ...(name === "full" ? [["tx", "tx, bytes"]] : []),
      ["who", "waits (for parity)"]].map(([key, text]) =>
      h("th", { scope: "col", class: `gl-mb-${key}` }, text)))),
    h("tbody", {}, Array.from({ length: run.ring.stages }, (_, stage) =>
      barrierRow(run, index, name, stage)))));
}
