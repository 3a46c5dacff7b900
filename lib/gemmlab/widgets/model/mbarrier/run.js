// A run of the ring, as layouts/mbarrier/run.py does it: events, lanes, and what is ordered.
import {
  actorsOf, arrived, arrivedExpecting, barrierKey, barriersOf, BETWEEN, BOX, completed, isOver,
  programsOf
} from "./model.js";

const [ISSUE, READ, SLOWER] = [20, 200, 40];

const latest = (one, other) => (one ? one.map((n, i) => Math.max(n, other[i])) : [...other]);

function beginRun(ring) {
  const actors = actorsOf(ring);
  const stages = Array.from({ length: ring.stages }, (_, s) => s);
  const first = actors.length - ring.consumers;
  const names = [...actors.slice(0, first), ...stages.map((s) => `stage ${s}`),
    ...actors.slice(first)];
  return {
    ring, actors, barriers: barriersOf(ring), programs: programsOf(ring), events: [], queue: [],
    at: actors.map(() => 0), reading: actors.map(() => null), blocked: new Map(),
    held: stages.map(() => [-1, -1]), flying: stages.map(() => []),
    lanes: new Map(names.map((name) => [name, []])),
    // Vector clocks: what each actor knows of the reads that each has ended.
    clocks: actors.map(() => actors.map(() => 0)), arriving: {}, over: {},
    reads: stages.map(() => new Map()),
  };
}

function push(state, time, actor, tile = 0, box = 0) {
  state.queue.push([time, actor, tile, box]);
}

// The entry that comes first: by time, then by actor (the copy engine is the last), tile, box.
function pop(queue) {
  const before = (a, b) => {
    const i = a.findIndex((value, at) => value !== b[at]);
    return i >= 0 && a[i] < b[i];
  };
  const first = queue.reduce((a, b) => (before(b, a) ? b : a));
  return queue.splice(queue.indexOf(first), 1)[0];
}

function note(state, time, actor, kind, op, more = {}) {
  state.events.push({
    time, actor: actor === null ? "" : state.actors[actor] ?? "copy engine", kind, tile: op.tile,
    stage: op.stage, name: op.name, value: op.value, before: null, after: null, blocks: false,
    problem: "", held: [-1, -1], flying: [], victims: [], ...more,
  });
}

const barOf = (state, tile, begin, end) => ({ state, tile, begin, end });

function release(state, actor, time) {
  const { op, since } = state.blocked.get(actor);
  state.blocked.delete(actor);
  state.lanes.get(state.actors[actor]).push(barOf(op.kind, op.tile, since, time));
  push(state, time, actor);
}

function knows(state, actor, key) {
  state.clocks[actor] = latest(state.over[key], state.clocks[actor]);
}

// A barrier's new state; actors that wait for the phase it ends are released.
function change(state, time, actor, kind, op, after) {
  const key = barrierKey(op);
  const before = state.barriers[key];
  note(state, time, actor, kind, op, { before, after });
  state.barriers[key] = after;
  if (actor < state.actors.length) {
    state.arriving[key] = latest(state.arriving[key], state.clocks[actor]);
  }
  if (after.phase > before.phase) state.over[key] = state.arriving[key];
  for (const [a, { op: wait }] of [...state.blocked].sort((x, y) => x[0] - y[0])) {
    if (wait.kind !== "wait" || barrierKey(wait) !== key || !isOver(after, wait.value)) continue;
    knows(state, a, key);
    release(state, a, time);
  }
}

function land(state, now, tile, box) {
  const stage = tile % state.ring.stages;
  state.held[stage][box] = tile;
  if (box === 1) {
    state.flying[stage].splice(state.flying[stage].indexOf(tile), 1);
    const lane = state.lanes.get(`stage ${stage}`);
    lane[lane.length - 1].end = now;
    lane.push(barOf("full", tile, now, -1));
  }
  const op = { tile, stage, name: "full", value: box };
  change(state, now, state.actors.length, "land", op,
    completed(state.barriers[barrierKey(op)], BOX));
  return true;
}

function wait(state, now, actor, op) {
  const blocks = !isOver(state.barriers[barrierKey(op)], op.value);
  note(state, now, actor, "wait", op, { blocks });
  if (blocks) {
    state.blocked.set(actor, { op, since: now });
    return true;
  }
  knows(state, actor, barrierKey(op));
  push(state, now, actor);
  return true;
}

function arrive(state, now, actor, op) {
  const barrier = state.barriers[barrierKey(op)];
  if (barrier.pending === 0) {
    note(state, now, actor, op.kind, op, { problem: "overrun" });
    return false;
  }
  const expects = op.kind === "expect";
  change(state, now, actor, op.kind, op,
    expects ? arrivedExpecting(barrier, op.value) : arrived(barrier));
  if (expects) {
    state.lanes.get(state.actors[actor]).push(barOf("issue", op.tile, now, now + ISSUE));
  }
  push(state, expects ? now + ISSUE : now, actor);
  return true;
}

function startCopy(state, now, actor, op) {
  const victims = [...state.reads[op.stage]].sort((x, y) => x[0] - y[0])
    .filter(([a, [count, tile]]) =>
      a !== actor && count > state.clocks[actor][a] && tile < op.tile)
    .map(([a, [, tile]]) => [state.actors[a], tile, state.reading[a]?.stage === op.stage]);
  note(state, now, actor, "copy", op,
    { victims, problem: victims.length ? "overwritten" : "" });
  for (const [name, , lasts] of victims) {
    if (lasts) state.lanes.get(name).at(-1).state = "bad";
  }
  state.flying[op.stage].push(op.tile);
  const lane = state.lanes.get(`stage ${op.stage}`);
  if (lane.length) lane.at(-1).end = now;
  lane.push(barOf("flight", op.tile, now, -1));
  const lands = now + state.ring.latency;
  [0, 1].forEach((box) => push(state, lands + box * BETWEEN, state.actors.length, op.tile, box));
  push(state, now, actor);
  return true;
}

function read(state, now, actor, op) {
  const [held, flying] = [[...state.held[op.stage]], [...state.flying[op.stage]]];
  let problem = held.every((tile) => tile === op.tile) ? "" : "stale";
  if (Math.max(...held, ...flying) > op.tile) problem = "overwritten";
  note(state, now, actor, "read", op, { held, flying, problem });
  state.reading[actor] = op;
  state.reads[op.stage].set(actor, [state.clocks[actor][actor] + 1, op.tile]);
  const name = state.actors[actor];
  const end = now + READ + SLOWER * (actor + state.ring.consumers - state.actors.length);
  state.lanes.get(name).push(barOf(problem ? "bad" : "read", op.tile, now, end));
  push(state, end, actor);
  return true;
}

function meet(state, now, actor, op) {
  const syncs = [...state.blocked].filter(([, { op: other }]) => other.kind === "sync");
  const last = syncs.length + 1 === state.ring.consumers;
  note(state, now, actor, "sync", { ...op, value: syncs.length + 1 }, { blocks: !last });
  if (!last) {
    state.blocked.set(actor, { op, since: now });
    return true;
  }
  push(state, now, actor);
  const all = state.clocks.reduce(latest);
  state.clocks = state.clocks.map(() => [...all]);
  for (const [a] of syncs.sort((x, y) => x[0] - y[0])) release(state, a, now);
  return true;
}

const STEPS = { wait, arrive, expect: arrive, copy: startCopy, read, sync: meet };

// The next step of an actor. False: nothing after it is defined.
function goOn(state, now, actor) {
  if (state.reading[actor]) state.clocks[actor][actor] += 1;
  state.reading[actor] = null;
  const op = state.programs[actor][state.at[actor]];
  state.at[actor] += 1;
  return op ? STEPS[op.kind](state, now, actor, op) : true;
}

function lanesOf(state, total) {
  for (const [actor, { op, since }] of state.blocked) {
    state.lanes.get(state.actors[actor]).push(barOf(op.kind, op.tile, since, total));
  }
  return [...state.lanes].map(([name, bars]) => [name, bars.map((bar) =>
    ({ ...bar, end: bar.end < 0 ? total : Math.min(bar.end, total) }))]);
}

// {ring, events, lanes, total, states (the barriers after each event), problems, lesson}
export function runRing(ring) {
  const state = beginRun(ring);
  const none = { tile: -1, stage: -1, name: "", value: 0 };
  let [now, defined] = [0, true];
  const states = [];
  const remember = () => {
    while (states.length < state.events.length) states.push({ ...state.barriers });
  };
  note(state, 0, null, "init", none, { actor: "thread 0" });
  state.actors.forEach((_, actor) => push(state, 0, actor));
  remember();
  while (state.queue.length && defined) {
    const [time, actor, tile, box] = pop(state.queue);
    now = time;
    defined = actor === state.actors.length ? land(state, now, tile, box)
      : goOn(state, now, actor);
    remember();
  }
  if (defined && state.blocked.size) note(state, now, null, "stuck", none, { problem: "deadlock" });
  remember();
  const { events } = state;
  const problems = events.map((_, i) => i).filter((i) => events[i].problem);
  const end = events.findIndex((e) => e.before && e.after.phase > e.before.phase);
  return { ring, events, lanes: lanesOf(state, now), total: now, states, problems,
    lesson: problems[0] ?? end };
}

// The waits that are not over after an event, in the actors' order.
export function waitingAt(run, index) {
  const past = run.events.slice(0, index + 1);
  return actorsOf(run.ring).flatMap((actor) => {
    const event = past.findLast((e) => e.actor === actor);
    if (!event?.blocks) return [];
    const over = event.kind === "sync"
      ? !past.findLast((e) => e.kind === "sync" && e.tile === event.tile).blocks
      : isOver(run.states[index][barrierKey(event)], event.value);
    return over ? [] : [event];
  });
}
