// The mbarrier and the ring of stages of layouts/mbarrier/model.py: what each actor does, step by step.

export const BETWEEN = 20;
export const BOX = 4096; // bytes of each of a tile's two boxes

// An operation ends the phase if it lacks neither arrivals nor bytes.
function settled(bar) {
  if (bar.pending || bar.tx) return bar;
  return { count: bar.count, pending: bar.count, tx: 0, phase: bar.phase + 1 };
}

export const initialised = (count) => ({ count, pending: count, tx: 0, phase: 0 });
export const arrived = (bar) => settled({ ...bar, pending: bar.pending - 1 });
export const arrivedExpecting = (bar, bytes) => arrived({ ...bar, tx: bar.tx + bytes });
export const completed = (bar, bytes) => settled({ ...bar, tx: bar.tx - bytes });
// Whether the phase of that parity, the current or the one before, is over.
export const isOver = (bar, parity) => bar.phase % 2 !== parity;

export const barrierKey = (one) => `${one.name}[${one.stage}]`;

export function actorsOf(ring) {
  const first = ring.mode === "syncthreads" ? 0 : 1; // the producer is in warp 0
  const warps = Array.from({ length: ring.consumers }, (_, w) => `warp ${w + first}`);
  return first ? ["producer", ...warps] : warps;
}

// Arrivals of a phase, of full[s] and empty[s].
export function countsOf(ring) {
  const full = ring.mistake === "full_count" ? 2 : 1;
  if (ring.mode === "syncthreads") return { full };
  const off = { empty_more: 1, empty_fewer: -1 }[ring.mistake] ?? 0;
  return { full, empty: ring.consumers + off };
}

// All barriers, by key.
export function barriersOf(ring) {
  const all = {};
  for (const [name, count] of Object.entries(countsOf(ring))) {
    for (let stage = 0; stage < ring.stages; stage++) {
      all[barrierKey({ name, stage })] = initialised(count);
    }
  }
  return all;
}

const step = (kind, tile, stage = 0, name = "", value = 0) => ({ kind, tile, stage, name, value });

function fill(ring, t) {
  const boxes = { bytes_many: 3, bytes_few: 1 }[ring.mistake] ?? 2;
  const stage = t % ring.stages;
  return [step("expect", t, stage, "full", boxes * BOX), step("copy", t, stage)];
}

function produce(ring, t) {
  if (ring.mistake === "no_empty_wait") return fill(ring, t);
  let parity = 1 - (Math.floor(t / ring.stages) % 2);
  if (ring.mistake === "producer_parity") parity = 1 - parity;
  if (ring.mistake === "producer_no_flip") parity = 1;
  return [step("wait", t, t % ring.stages, "empty", parity), ...fill(ring, t)];
}

function waitFull(ring, t) {
  if (ring.mistake === "no_full_wait") return [];
  let parity = Math.floor(t / ring.stages) % 2;
  if (ring.mistake === "consumer_parity") parity = 1 - parity;
  if (ring.mistake === "consumer_no_flip") parity = 0;
  return [step("wait", t, t % ring.stages, "full", parity)];
}

function consume(ring, t) {
  const last = [step("read", t, t % ring.stages), step("arrive", t, t % ring.stages, "empty")];
  if (ring.mistake === "early_release") last.reverse();
  return [...waitFull(ring, t), ...last];
}

function syncWarp(ring, fills) {
  const ahead = ring.stages - 1;
  const steps = [];
  for (let t = 0; fills && t < Math.min(ahead, ring.tiles); t++) steps.push(...fill(ring, t));
  for (let t = 0; t < ring.tiles; t++) {
    if (ring.mistake !== "no_empty_wait") steps.push(step("sync", t));
    if (fills && t + ahead < ring.tiles) steps.push(...fill(ring, t + ahead));
    steps.push(...waitFull(ring, t), step("read", t, t % ring.stages));
  }
  return steps;
}

// The steps of each actor.
export function programsOf(ring) {
  const tiles = Array.from({ length: ring.tiles }, (_, t) => t);
  return actorsOf(ring).map((name) => {
    if (ring.mode === "syncthreads") return syncWarp(ring, name === "warp 0");
    return tiles.flatMap((t) => (name === "producer" ? produce(ring, t) : consume(ring, t)));
  });
}
