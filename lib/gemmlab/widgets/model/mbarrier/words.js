// A run of the ring in words, as layouts/mbarrier/words.py has it.
import { barrierKey, BETWEEN, BOX, countsOf } from "./model.js";
import { waitingAt } from "./run.js";

const HEADS = {
  stale: "Stale read", overwritten: "Overwritten", overrun: "Overrun", deadlock: "Deadlock",
};

export const digits = (value) => value.toLocaleString("en");
const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const theActor = (name) => (name === "producer" ? "the producer" : name);
const begun = (text) => theActor(text)[0].toUpperCase() + theActor(text).slice(1);
const fewer = (bar) => `pending ${bar.pending} → ${bar.pending - 1}`;

// "the producer", "warp 1", "warps 0 and 1", "warps 0, 1 and 2"
export function everyone(actors) {
  if (actors.length === 1) return theActor(actors[0]);
  const numbers = actors.map((name) => name.split(" ")[1]);
  return `warps ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

// What a phase waits for.
function lacks(bar) {
  const parts = bar.pending ? [many(bar.pending, "arrival")] : [];
  if (bar.tx > 0) parts.push(`${digits(bar.tx)} bytes`);
  if (bar.tx < 0) parts.push(`someone who expects ${digits(-bar.tx)} bytes that have come`);
  return parts.join(" and ");
}

// What a stage holds that a warp reads.
function heldText({ held: [a, b], flying }) {
  let text = `${a < 0 ? "nothing of A yet" : `A of tile ${a}`} and ` +
    (b < 0 ? "nothing of B yet" : `B of tile ${b}`);
  if (a === b) text = a < 0 ? "nothing yet" : `tile ${a}`;
  return flying.length ? `${text}, with tile ${flying.at(-1)} on its way` : text;
}

function stuckText(run, group) {
  const [event] = group;
  const who = `${everyone(group.map((e) => e.actor))} ${group.length === 1 ? "waits" : "wait"}`;
  if (event.kind === "sync") return `${who} in __syncthreads() for the other warps`;
  const bar = run.states.at(-1)[barrierKey(event)];
  return `${who} for parity ${event.value} at ${barrierKey(event)}, whose phase ${bar.phase} ` +
    `lacks ${lacks(bar)}`;
}

// What each blocked actor waits for at the end.
function deadlockText(run) {
  const groups = new Map();
  for (const event of waitingAt(run, run.events.length - 1)) {
    const key = event.kind === "sync" ? "sync" : barrierKey(event);
    groups.set(key, [...groups.get(key) ?? [], event]);
  }
  return [...groups.values()].map((group) => stuckText(run, group)).join("; ");
}

function brief(run, event) {
  const { tile, stage, kind } = event;
  if (event.problem === "deadlock") return deadlockText(run);
  if (kind === "copy") {
    const [name, old] = event.victims[0];
    return `the copy of tile ${tile} begins, though ${name} need not yet have read tile ${old} in ` +
      `stage ${stage}`;
  }
  if (kind === "read") {
    return `${event.actor} reads stage ${stage} for tile ${tile}, and finds ${heldText(event)}`;
  }
  const bar = run.states.at(-1)[barrierKey(event)];
  return `${theActor(event.actor)} arrives at ${barrierKey(event)} for tile ${tile}, but phase ` +
    `${bar.phase} has had its ${many(bar.count, "arrival")}`;
}

// How the run ends: what goes wrong first, and whether anybody can go on.
export function outcomeOf(run) {
  const { problems, events } = run;
  if (!problems.length) {
    if (run.ring.mistake !== "none") {
      return "The mistake does not show in this run: every read finds its tile.";
    }
    const reads = events.filter((e) => e.kind === "read").length;
    return `Every read finds its tile: ${reads} reads, done at ${digits(run.total)}.`;
  }
  const [first, last] = [events[problems[0]], events[problems.at(-1)]];
  const line = (e) => `${HEADS[e.problem]} at ${digits(e.time)}: ${brief(run, e)}.`;
  const rest = problems.slice(1).filter((i) =>
    ["stale", "overwritten"].includes(events[i].problem)).length;
  let text = line(first);
  if (rest) text += ` It is the first of ${rest + 1} reads and copies that go wrong.`;
  if (last !== first && ["deadlock", "overrun"].includes(last.problem)) text += ` ${line(last)}`;
  return text;
}

// Whether the operation ends the phase, and who goes on.
function result(run, index, { before, after, name, stage }) {
  if (after.phase === before.phase) return `Phase ${after.phase} lacks ${lacks(after)}.`;
  const still = waitingAt(run, index).map((e) => e.actor);
  const gone = waitingAt(run, index - 1).filter((e) =>
    e.name === name && e.stage === stage && !still.includes(e.actor));
  const text = `Pending is 0 and tx is 0: phase ${before.phase} is over, and the parity is ` +
    `${after.phase % 2} now`;
  if (!gone.length) return `${text}.`;
  return `${text}; ${everyone(gone.map((e) => e.actor))}, waiting for parity ${gone[0].value}, ` +
    `${gone.length === 1 ? "goes" : "go"} on.`;
}

function overrun(run, index, event) {
  const bar = run.states[index][barrierKey(event)];
  return `${begun(event.actor)} arrives at ${barrierKey(event)} for tile ${event.tile}, but phase ` +
    `${bar.phase} has had its ${many(bar.count, "arrival")} and lacks only ${lacks(bar)}. The phase ` +
    "cannot take another arrival; the model stops.";
}

const SAY = {
  init(run) {
    const { full, empty } = countsOf(run.ring);
    return `Thread 0 has initialized the barriers: each full[s] for ${many(full, "arrival")} a ` +
      `phase${empty === undefined ? "" : `, each empty[s] for ${empty}`}. All are in phase 0, of ` +
      "parity 0.";
  },
  wait(run, index, event) {
    const bar = run.states[index][barrierKey(event)];
    const text = `${begun(event.actor)} waits for parity ${event.value} at ${barrierKey(event)}`;
    if (event.blocks) {
      return `${text}, which is in phase ${bar.phase}, of that parity, and waits. ` +
        `The phase lacks ${lacks(bar)}.`;
    }
    if (bar.phase === 0) {
      return `${text}, which is in phase 0, of parity 0. The hardware treats the ` +
        "phase before as complete, so the wait returns at once.";
    }
    return `${text}. Phase ${bar.phase - 1} is over, the barrier is in phase ${bar.phase}, of ` +
      `parity ${bar.phase % 2}: the wait returns at once.`;
  },
  expect(run, index, event) {
    if (event.problem) return overrun(run, index, event);
    const { tx } = event.before;
    return `${begun(event.actor)} arrives at ${barrierKey(event)} and expects ` +
      `${digits(event.value)} bytes, for tile ${event.tile}: tx ${digits(tx)} → ` +
      `${digits(tx + event.value)}, ${fewer(event.before)}. ${result(run, index, event)}`;
  },
  land(run, index, event) {
    const { tx } = event.before;
    return `complete_tx of ${digits(BOX)} bytes at ${barrierKey(event)}: box ` +
      `${"AB"[event.value]} of tile ${event.tile} has landed in stage ${event.stage}, tx ` +
      `${digits(tx)} → ${digits(tx - BOX)}. ${result(run, index, event)}`;
  },
  arrive(run, index, event) {
    if (event.problem) return overrun(run, index, event);
    return `${begun(event.actor)} arrives at ${barrierKey(event)}: it has read tile ${event.tile}, ` +
      `which may now be overwritten. ${begun(fewer(event.before))}. ` +
      result(run, index, event);
  },
  copy(run, index, event) {
    const lands = event.time + run.ring.latency;
    const groups = new Map();
    for (const [name, tile, lasts] of event.victims) {
      const key = `${tile} ${lasts}`;
      groups.set(key, { tile, lasts, names: [...groups.get(key)?.names ?? [], name] });
    }
    const lost = [...groups.values()].map(({ tile, lasts, names }) => {
      const [who, one] = [begun(everyone(names)), names.length === 1];
      return lasts ? ` ${who} still read${one ? "s" : ""} tile ${tile} there, and may get either.`
        : ` ${who} ha${one ? "s" : "ve"} read tile ${tile} there, but nothing orders that before ` +
          "it: only the times do.";
    });
    return `${begun(event.actor)} has started the copies of tile ${event.tile} into stage ` +
      `${event.stage}: box A lands at ${digits(lands)}, box B at ${digits(lands + BETWEEN)}.` +
      lost.join("");
  },
  read(run, index, event) {
    const where = `${begun(event.actor)} reads stage ${event.stage}`;
    return event.problem
      ? `${where}, where tile ${event.tile} should be, and finds ${heldText(event)}.`
      : `${where}: tile ${event.tile}, both boxes have landed.`;
  },
  sync(run, index, event) {
    const of = `${event.value} of ${run.ring.consumers} warps`;
    const text = `${begun(event.actor)} comes to __syncthreads(), ${of}`;
    if (event.blocks) return `${text}, and waits for the others.`;
    const before = event.tile - 1;
    return `${text}: all go on.` +
      (event.tile ? ` Tile ${before} has been read by all: its stage is free.` : "");
  },
  stuck: (run) => `Nobody can go on: ${deadlockText(run)}.`,
};

// What an event is, and what it does to its barrier.
export const tellEvent = (run, index) => SAY[run.events[index].kind](run, index, run.events[index]);
