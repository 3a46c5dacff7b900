// The model of layouts/pipeline/model.py: copies and products of k tiles on one SM, in integer cycles.
import { PIPES } from "./words.js";

// The steps of a block in their order: [kind, tile, the tile that must be there or -1].
function planOf(scheme, stages, tiles) {
  const plan = [];
  if (scheme === "single") {
    for (let t = 0; t < tiles; t++) {
      plan.push(["issue", t, -1], ["store", t, t], ["products", t, -1]);
    }
    return plan;
  }
  const [twice, ahead] = [scheme === "double", scheme === "double" ? 1 : stages - 1];
  for (let t = 0; t < Math.min(ahead, tiles); t++) plan.push(["issue", t, -1]);
  if (twice) plan.push(["store", 0, 0]);
  for (let t = 0; t < tiles; t++) {
    const more = t + ahead < tiles;
    if (more) plan.push(["issue", t + ahead, twice ? -1 : t]);
    plan.push(["products", t, twice ? -1 : t]);
    if (more && twice) plan.push(["store", t + 1, t + 1]);
  }
  return plan;
}

// Every block's steps, each served as soon as its block, its data and its unit are ready.
function serve(plan, { blocks, issue, latency, products }) {
  const [ended, done] = [Array(blocks).fill(0), Array(blocks).fill(0)];
  const arrival = new Map();
  const free = { path: 0, pipe: 0 };
  const ready = (b) => Math.max(ended[b], arrival.get(`${b},${plan[done[b]][2]}`) ?? 0);
  const steps = [];
  for (;;) {
    let block = -1; // of those that are ready first, the one with the lowest number
    for (let b = 0; b < blocks; b++) {
      if (done[b] < plan.length && (block < 0 || ready(b) < ready(block))) block = b;
    }
    if (block < 0) return steps;
    const [kind, tile, needs] = plan[done[block]];
    const unit = kind === "products" ? "pipe" : "path";
    const step = { block, kind, tile, needs, asked: ended[block], ready: ready(block) };
    step.begin = Math.max(step.ready, free[unit]);
    step.end = step.begin + (unit === "pipe" ? products : issue);
    steps.push(step);
    if (kind === "issue") arrival.set(`${block},${tile}`, step.end + latency);
    ended[block] = free[unit] = step.end;
    done[block] += 1;
  }
}

const bar = (state, block, tile, begin, end) => ({ state, block, tile, begin, end });
const ofStep = (step) => bar(step.kind, step.block, step.tile, step.begin, step.end);
const longerThan0 = (bars) => bars.filter((b) => b.end > b.begin);
const rounded = (part, whole) => Math.floor((2 * part + whole) / (2 * whole));
const byBegin = (steps) => [...steps].sort((a, b) => a.begin - b.begin);

function pipeOf(steps) {
  let at = 0;
  return longerThan0(byBegin(steps.filter((s) => s.kind === "products")).flatMap((step) => {
    const bars = [bar("idle", -1, -1, at, step.begin), ofStep(step)];
    at = step.end;
    return bars;
  }));
}

function actorOf(run, block) {
  return longerThan0(run.steps.filter((s) => s.block === block).flatMap((s) => [
    bar("wait", block, s.needs, s.asked, s.ready),
    bar("queue", block, s.tile, s.ready, s.begin), ofStep(s),
  ]));
}

// The issue, the store (none with cp.async) and the products of every tile of a block.
function byTile(run, block) {
  const tiles = Array.from({ length: run.tiles }, () => ({}));
  for (const step of run.steps) if (step.block === block) tiles[step.tile][step.kind] = step;
  return tiles;
}

function registersOf(run, block) {
  return longerThan0(byTile(run, block).flatMap(({ issue, store }, t) => {
    const arrival = issue.end + run.latency;
    return [bar("flight", block, t, issue.begin, arrival),
      bar("arrived", block, t, arrival, store.begin), ofStep(store)];
  }));
}

function bufferOf(run, block, number) {
  const tiles = byTile(run, block);
  const bars = [];
  for (let t = number; t < run.tiles; t += run.buffers) {
    const { issue, store, products } = tiles[t];
    const filled = store ? ofStep(store)
      : bar("flight", block, t, issue.begin, issue.end + run.latency);
    const next = tiles[t + run.buffers];
    const over = next ? (next.store ?? next.issue).begin : run.total;
    bars.push(filled, bar("full", block, t, filled.end, products.begin),
      bar("read", block, t, products.begin, products.end),
      bar("old", block, t, products.end, over));
  }
  return longerThan0(bars);
}

// Cycles that a round of tiles, one from each block, takes at least, by what it needs.
function roundsOf({ scheme, stages, issue, latency, products, blocks }) {
  const steps = {
    single: issue + latency + issue + products,
    double: issue + Math.max(latency, products) + issue,
    async: Math.max(issue + products, (issue + latency) / (stages - 1)),
  }[scheme];
  return { pipe: blocks * products, path: blocks * (scheme === "async" ? 1 : 2) * issue, steps };
}

export function simulate(params) {
  const { scheme, stages, tiles, blocks, products } = params;
  const steps = serve(planOf(scheme, stages, tiles), params);
  const total = Math.max(...steps.map((step) => step.end));
  const busy = blocks * tiles * products;
  const rounds = roundsOf(params);
  return {
    ...params, steps, total, busy, rounds,
    buffers: { single: 1, double: 2, async: stages }[scheme],
    percent: rounded(100 * busy, total),
    perTile: rounded(total, blocks * tiles),
    pipe: pipeOf(steps),
    pace: ["pipe", "path", "steps"].reduce((a, b) => (rounds[b] > rounds[a] ? b : a)),
  };
}

// [name, bars] of every lane of the picture; buffers and registers are those of `block`.
export function lanesOf(run, block, tensor = false) {
  const path = longerThan0(byBegin(run.steps.filter((s) => s.kind !== "products")).map(ofStep));
  const lanes = [[PIPES[Number(tensor)], run.pipe], ["copy path", path]];
  for (let b = 0; b < run.blocks; b++) lanes.push([`block ${b}`, actorOf(run, b)]);
  if (run.scheme !== "async") lanes.push(["registers", registersOf(run, block)]);
  for (let s = 0; s < run.buffers; s++) lanes.push([`buffer ${s}`, bufferOf(run, block, s)]);
  return lanes;
}
