// Replay: one block's run, tick by tick of model time.
import { bootWith, h, inline, liveWith } from "../shared/dom.js";
import { whole } from "../shared/link.js";
import { unpacked } from "../shared/packed.js";
import { player } from "../shared/play.js";
import { plural, wavefronts } from "../model/shared/banks.js";
import { elementAt } from "../trace_view/pictures.js";

const FIELDS = 5; // of a step: request, base, tick, until, epoch
const TICK = 2;
const SECONDS_A_TICK = 0.12;
const UNKNOWN = -32768; // a value
const ZERO = 80; // the code of the character for the value 0
const NO_VALUE = "~";

const BOX = "mark tma.load"; // its values are shown in pieces of CHUNK bytes, as they lie
const CHUNK = 16;
const BARRIER = "mark barrier";
const WAITS = [BARRIER, "mark mbarrier.wait"]; // they end an epoch

// A warp's steps, each of which begins when the one before has ended. Its address is that of the
// same request the last time, and how much it has moved on.
function stepsOf([request, moved, waited, starts], { columns, requests, kinds }) {
  const names = requests.map(([kind]) => kinds[kind]);
  const base = new Map(starts);
  const rows = new Float64Array(columns[request].length * FIELDS);
  let [tick, epoch, barrier] = [0, 0, 0];
  columns[request].forEach((which, n) => {
    const at = base.get(which) + columns[moved][n];
    base.set(which, at);
    const until = tick + 1 + (names[which] === BARRIER ? columns[waited][barrier++] : 0);
    rows.set([which, at, tick, until, epoch], FIELDS * n);
    tick = until;
    if (WAITS.includes(names[which])) epoch += 1;
  });
  return rows;
}

// What is known of one memory in one epoch has a name.
const told = (memory, epoch) => `${memory} ${epoch}`;

const numbers = (data) => (typeof data === "string"
  ? Int16Array.from(data, (c) => (c === NO_VALUE ? UNKNOWN : c.charCodeAt(0) - ZERO))
  : Int16Array.from(data, (value) => value ?? UNKNOWN));

// A promise of the run that a config describes: the steps of each warp, what was read and written.
export async function runOf({ ticks, run }) {
  const tables = await unpacked(run);
  const found = tables.data.map(numbers);
  const values = new Map();
  for (const [memory, epoch, start, size, data] of tables.values) {
    const name = told(memory, epoch);
    if (!values.has(name)) values.set(name, []);
    values.get(name).push({ start, size, found: found[data] });
  }
  return { ...tables, ticks, warps: tables.warps.map((warp) => stepsOf(warp, tables)), values };
}

// The number of the step that a warp makes, or waits in, at a tick: the last that has begun.
export function stepAt(rows, tick) {
  let [low, high] = [0, rows.length / FIELDS - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (rows[FIELDS * middle + TICK] <= tick) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Of a warp that does nothing.
const NO_STEP = { name: "", mark: true, line: 0, epoch: 0, width: 0, ended: true, waits: false,
  left: 0, addresses: [], memory: "shared" };

// A step with its addresses, and whether its warp still waits in it or has ended.
export function stepOf(run, warp, tick) {
  const rows = run.warps[warp];
  if (!rows.length) return NO_STEP;
  const at = FIELDS * stepAt(rows, tick);
  const [request, base, begins, until, epoch] = rows.slice(at, at + FIELDS);
  const [kind, line, width, shape] = run.requests[request];
  const name = run.kinds[kind];
  const mark = name.startsWith("mark ");
  return {
    name: name.replace("mark ", ""), mark, line, epoch,
    width: name === BOX ? CHUNK : width,
    ended: tick >= until && at + FIELDS >= rows.length,
    waits: mark && until - begins > 1 && tick < until, left: until - tick - 1,
    addresses: run.shapes[shape].map((offset) => (offset < 0 ? null : base + offset)),
    memory: name !== BOX && /global|tma/.test(name) ? "global" : "shared",
  };
}

// The memory whose values a step tells: what it reads there, or "to ..." what it writes; "" if none.
const TOLD = {
  "ld.shared": "shared", ldmatrix: "shared", "ld.global": "global", "cp.async.global": "global",
  "st.shared": "to shared", stmatrix: "to shared", "cp.async.shared": "to shared",
  "st.global": "to global", "tma.load": "to shared",
};

// What a lane of a step has read or written, element by element: null for one that is not known,
// and no elements if none is.
export function valuesAt(run, step, address) {
  const memory = TOLD[step.name];
  const epoch = /global/.test(memory) ? 0 : step.epoch;
  const known = ({ start, size, found }) =>
    address >= start && address < start + size * found.length;
  const own = memory && address !== null && run.values.get(told(memory, epoch))?.find(known);
  if (!own) return [];
  const first = (address - own.start) / own.size;
  const found = [...own.found.slice(first, first + Math.max(1, step.width / own.size))];
  return found.every((value) => value === UNKNOWN) ? []
    : found.map((value) => (value === UNKNOWN ? null : value));
}

// Groups of cp.async that a warp has begun and not waited for, before a tick.
export function pendingAt(run, warp, tick) {
  const rows = run.warps[warp];
  let pending = 0;
  for (let at = 0; at < rows.length && rows[at + TICK] < tick; at += FIELDS) {
    const [kind, , , shape] = run.requests[rows[at]];
    const name = run.kinds[kind];
    if (name === "mark commit") pending += 1;
    if (name === "mark wait") pending = Math.min(pending, run.shapes[shape][0] + rows[at + 1]);
  }
  return pending;
}

const BANKED = ["ld.shared", "st.shared", "ldmatrix", "stmatrix"];

// A request of shared memory on the banks; null for all else.
export const requestOf = (step) => (BANKED.includes(step.name)
  ? wavefronts(step.addresses, step.width, step.name !== "ld.shared") : null);

function reading(run, step, warp, tick) {
  const where = step.line ? `line ${step.line}` : "a header";
  if (step.ended) return `Warp ${warp} has ended.`;
  const pending = pendingAt(run, warp, tick + 1);
  const copies = pending ? ` ${plural(pending, "group")} of copies under way.` : "";
  if (step.waits) return `Warp ${warp} waits at ${where} (${step.name}) ${plural(step.left, "tick")} more.${copies}`;
  const request = requestOf(step);
  const cost = request
    ? `: ${plural(request.wavefronts, "wavefront")}, at least ${request.minimum}` : "";
  const size = step.mark ? "" : ` ${step.width} B`;
  return `Warp ${warp}, ${where}, ${step.name}${size}${cost}.${copies}`;
}

// The inside of the card. Returns what sets the state.
function fill(card, run, initial, changed) {
  let state = initial;
  const [code, warps, lanes, banks] = ["code", "warps", "lanes", "banks"]
    .map((name) => h("div", { class: `gl-rp-${name}` }));
  code.tabIndex = 0;
  code.setAttribute("role", "region");
  code.setAttribute("aria-label", "Source");
  const said = h("div", { class: "gl-reading", "aria-live": "polite" });
  const lines = new Map(run.lines.map(([number, text]) => {
    const count = h("b", {});
    const el = h("div", { class: "gl-rp-line" }, h("span", {}, String(number)), count, text);
    code.append(el);
    return [number, { el, count }];
  }));
  const chips = run.warps.map((_, warp) => {
    const chip = h("button", { type: "button", class: "gl-rp-warp", onclick: () => go({ warp }) });
    warps.append(chip);
    return chip;
  });
  const range = h("input", { type: "range", min: 0, max: run.ticks - 1, "aria-label": "Tick",
    oninput: () => { play.stop(); go({ tick: Number(range.value) }); } });
  const play = player(() => SECONDS_A_TICK * run.ticks, () => state.tick / run.ticks,
    (at) => go({ tick: Math.min(run.ticks - 1, Math.floor(at * run.ticks)) }));
  // To the begin of the shown warp's next step, or of the one before.
  function along(by) {
    play.stop();
    const rows = run.warps[state.warp];
    const next = stepAt(rows, state.tick) + by;
    if (next >= 0 && next < rows.length / FIELDS) go({ tick: rows[FIELDS * next + TICK] });
  }
  const button = (by, sign, name) => h("button", {
    type: "button", class: "gl-plain", "aria-label": name, onclick: () => along(by),
  }, sign);

  function go(change) {
    state = { ...state, ...change };
    draw();
    changed(state);
  }

  function drawWarps() {
    const counts = new Map();
    run.warps.forEach((_, warp) => {
      const step = stepOf(run, warp, state.tick);
      if (!step.ended) counts.set(step.line, (counts.get(step.line) ?? 0) + 1);
      const text = step.ended ? "ended" : step.waits ? "waits" : `:${step.line || "…"}`;
      chips[warp].textContent = `${warp} ${text}`;
      chips[warp].setAttribute("aria-label", `warp ${warp}, ${step.ended || step.waits ? text
        : `line ${step.line}`}`);
      chips[warp].setAttribute("aria-pressed", String(warp === state.warp));
      chips[warp].classList.toggle("gl-rp-waits", step.waits || step.ended);
    });
    for (const [number, { count }] of lines) {
      count.textContent = counts.get(number) ? `×${counts.get(number)}` : "";
    }
  }

  // What each lane asks for, or the first pieces of a box, which one lane starts.
  function asked(step) {
    if (step.name !== "tma.load") return step.mark ? [] : step.addresses;
    const first = step.addresses.find((address) => address !== null);
    return step.addresses.map((_, n) => first + CHUNK * n)
      .filter((address) => valuesAt(run, step, address).length);
  }

  function drawLanes(step) {
    const who = step.mark ? "piece" : "lane";
    lanes.replaceChildren(...(asked(step).map((address, lane) => {
      const where = address === null ? "–" : elementAt(run.places, step.memory, address);
      const values = valuesAt(run, step, address)
        .map((value) => (value === null ? "?" : String(value).replace("-", "−")));
      const said = values.join(" ");
      return h("div", { class: "gl-rp-lane", title: `${who} ${lane}: ${where}${said && `: ${said}`}` },
        h("i", {}, String(lane)), h("span", {}, where),
        said ? h("b", { class: values.length > 1 ? "gl-rp-wide" : "" }, said) : null);
    })));
  }

  function drawBanks(step) {
    const request = requestOf(step);
    banks.hidden = !request;
    if (!request) return;
    const rows = Array.from({ length: 32 }, () => 0);
    for (const phase of request.phases) {
      const words = new Set(phase.lanes.flatMap((lane) => {
        const address = step.addresses[lane];
        if (address === null) return [];
        return Array.from({ length: Math.max(1, step.width / 4) }, (_, n) => (address >> 2) + n);
      }));
      for (const word of words) rows[word % 32] += 1;
    }
    const most = Math.max(...rows, 1);
    const per = request.minimum;
    banks.replaceChildren(...rows.map((count, bank) => h("div", {
      class: count > per ? "gl-rp-clash" : count ? "gl-rp-hit" : "",
      style: `height:${Math.round((46 * count) / most)}px`,
      title: `bank ${bank}: ${plural(count, "word")}`,
    })));
  }

  function draw() {
    const step = stepOf(run, state.warp, state.tick);
    range.value = String(state.tick);
    range.setAttribute("aria-valuetext", `tick ${state.tick} of ${run.ticks}`);
    drawWarps();
    for (const [number, { el }] of lines) {
      el.classList.toggle("gl-rp-now", number === step.line && !step.ended);
    }
    const now = lines.get(step.line)?.el;
    if (now && (now.offsetTop < code.scrollTop ||
        now.offsetTop + 19 > code.scrollTop + code.clientHeight)) {
      code.scrollTop = now.offsetTop - code.clientHeight / 2;
    }
    drawLanes(step);
    drawBanks(step);
    said.textContent = reading(run, step, state.warp, state.tick);
  }

  card.append(
    h("div", { class: "gl-rp-scrub" }, play.el, button(-1, "‹", "This warp's step before"), range,
      button(1, "›", "This warp's next step")),
    warps, said,
    h("div", { class: "gl-rp-body" }, code, h("div", {}, lanes, banks)),
    h("details", { class: "gl-more" }, h("summary", {}, "How to read this"),
      h("div", {}, "Every warp makes one step a tick; a barrier lets all go on when the last one " +
        "has come. That is a model: the order of the steps within a warp, their lines and " +
        "addresses are those of the run, the times are not. Beside each lane stands what it asks " +
        "for, and in bold what it reads or writes there: of a wide access all elements. The bars " +
        "are the 32 banks with the words asked of each; ×n at a line says how many warps are there.")));
  draw();
  return (next) => {
    state = next;
    draw();
  };
}

const TOO_OLD = "This browser cannot unpack the run: it has no DecompressionStream. A newer one can.";
const why = (error) => (typeof DecompressionStream === "undefined" ? TOO_OLD
  : `The run cannot be shown: ${error.message}`);

function mount(root, config, initial, changed) {
  const card = h("div", { class: "gl-card" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-legend" }, config.title));
  root.append(card);
  let state = initial;
  let set = (next) => { state = next; }; // until the run is there
  runOf(config).then((run) => { set = fill(card, run, state, changed); })
    .catch((error) => card.append(h("p", { class: "gl-note" }, why(error))));
  return (next) => set(next);
}

const RULES = { name: "Replay", allows: {
  warp: (value, config) => whole(0, config.warps - 1)(value),
  tick: (value, config) => whole(0, config.ticks - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
