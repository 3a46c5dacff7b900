// The model of layouts/warpgroups/model.py: two consumers share the tensor cores, in integer cycles.

const BARRIER = 64; // from the last products to the first of the next k tile
const COPY = 512; // of asking for a k tile of 128x256
const PACK = 64; // in which a warpgroup packs its sums

const bar = (state, tile, begin, end) => ({ state, tile, begin, end });
const longerThan0 = (bars) => bars.filter((b) => b.end > b.begin);
const newConsumer = () =>
  ({ free: 0, ends: [], own: [], stores: [], waiting: -1, keeps: 0 });

// Goes through the k tiles in the order of the ring; everything before is known then.
function shareModel(shape) {
  const { schedule, tiles, depth, stages, end: storing } = shape;
  const products = shape.products + shape.products % 2;
  const turns = schedule === "ping-pong";
  const uses = [];
  const consumers = [newConsumer(), newConsumer()];
  let [cores, path, turn, met] = [0, 0, 0, 0];

  // The copy of the next k tile: into a stage that is empty, when the path is free.
  function ask(part, k) {
    let at = path;
    if (uses.length >= stages) at = Math.max(at, uses[uses.length - stages].released);
    if ((schedule === "barrier" || schedule === "blocks") && part && k === 0) {
      at = Math.max(at, ...consumers.map((c) => c.free));
    }
    path = at + (turns ? Math.floor((2 * COPY + 2) / 3) : COPY);
    return { tile: part * depth + k, asked: at, issued: path, full: path + shape.latency,
      groups: [], released: 0 };
  }
  const release = (n, at) => { uses[n].released = Math.max(at, uses[n].released); };

  // When a consumer starts its products of a k tile.
  function startOf(own, k, use) {
    let at = Math.max(own.free, use.full);
    if (own.ends.length > 1) at = Math.max(at, own.ends.at(-2));
    if (schedule === "barrier" && k) at = Math.max(at, met);
    if (turns && k === 0) at = Math.max(at, turn);
    if (schedule === "deferred" && own.keeps && k >= 1 && k <= 4) {
      at = Math.max(at, own.stores.at(-1).begin + k * Math.ceil(storing / 4));
    }
    return at;
  }
  function startGroup(c, n, k, start, begin, end) {
    const own = consumers[c];
    const { tile } = uses[n];
    own.own.push(bar("wait", tile, own.own.at(-1)?.end ?? 0, begin),
      bar(c ? "second" : "products", tile, begin, end));
    if (k === 0 && own.keeps) own.stores.push(bar("store", own.keeps - 1, start, start + storing));
    if (own.waiting >= 0 && schedule !== "barrier") {
      release(own.waiting, Math.max(start, own.ends.at(-1)));
    }
    [own.waiting, own.free] = [n, start];
    own.ends.push(end);
  }
  function useTile(part, k, members) {
    const use = ask(part, k);
    const n = uses.push(use) - 1;
    for (const c of members) {
      const start = startOf(consumers[c], k, use);
      const begin = Math.max(start, cores);
      cores = begin + products / 2;
      use.groups.push([c, begin, cores]);
      startGroup(c, n, k, start, begin, cores);
    }
    if (turns && k === depth - 1) turn = consumers[members[0]].free;
    if (schedule === "barrier") {
      met = Math.max(...use.groups.map((group) => group[2])) + BARRIER;
      use.released = met;
    }
  }
  // The end of a tile: its last products are waited for, and C leaves.
  function finish(c, part, last) {
    const own = consumers[c];
    const done = own.ends.at(-1);
    if (schedule !== "barrier") release(own.waiting, done);
    const late = own.keeps ? Math.max(done, own.stores.at(-1).end) : done;
    Object.assign(own, { waiting: -1, ends: [], keeps: 0 });
    own.own.push(bar("wait", -1, done, late));
    if (schedule === "deferred" && !last) {
      own.own.push(bar("pack", part, late, late + PACK));
      Object.assign(own, { keeps: part + 1, free: late + PACK });
      return;
    }
    own.stores.push(bar("store", part, late, late + storing));
    own.own.push(bar("store", part, late, late + storing));
    own.free = late + storing;
  }

  const parts = turns ? 2 * tiles : tiles;
  for (let part = 0; part < parts; part++) {
    const members = turns ? [part % 2] : [0, 1];
    for (let k = 0; k < depth; k++) useTile(part, k, members);
    for (const c of members) finish(c, part, part === parts - 1);
  }
  return { ...shape, products, uses, own: consumers.map((c) => longerThan0(c.own)),
    stores: consumers.map((c) => longerThan0(c.stores)) };
}

// The tensor cores from 0 to the end: products of either consumer, and idle.
function coresOf({ uses, total }) {
  const groups = uses.flatMap((use) => use.groups.map(([c, begin, end]) =>
    bar(c ? "second" : "products", use.tile, begin, end))).sort((a, b) => a.begin - b.begin);
  let at = 0;
  const bars = groups.flatMap((group) => {
    const before = bar("idle", -1, at, group.begin);
    at = group.end;
    return [before, group];
  });
  return longerThan0([...bars, bar("idle", -1, at, total)]);
}

function askingOf(uses) {
  let at = 0;
  return longerThan0(uses.flatMap((use) => {
    const bars = [bar("wait", use.tile, at, use.asked), bar("issue", use.tile, use.asked, use.issued)];
    at = use.issued;
    return bars;
  }));
}

function stageOf({ uses, stages, total }, number) {
  const mine = uses.filter((_, n) => n % stages === number);
  return longerThan0(mine.flatMap((use, i) => {
    const read = use.groups[0][1];
    return [bar("flight", use.tile, use.asked, use.full), bar("full", use.tile, use.full, read),
      bar("read", use.tile, read, use.released),
      bar("old", use.tile, use.released, mine[i + 1]?.asked ?? total)];
  }));
}

// The run of {schedule, tiles, depth, stages, products, latency, end}.
export function shareCores(shape) {
  const run = shareModel(shape);
  run.total = Math.max(...run.stores.map((bars) => bars.at(-1).end));
  run.busy = run.tiles * run.depth * run.products;
  run.percent = Math.floor((200 * run.busy + run.total) / (2 * run.total));
  run.cores = coresOf(run);
  const idle = (b) => (b.state === "idle" ? b.end - b.begin : 0);
  const [first, last] = [idle(run.cores[0]), idle(run.cores.at(-1))];
  run.gaps = [first, run.total - run.busy - first - last, last];
  return run;
}

// [name, bars] of every lane of the picture.
export function warpgroupLanes(run) {
  const who = run.schedule === "barrier" ? "thread 0" : "producer";
  return [["tensor", run.cores], [who, askingOf(run.uses)],
    ...[0, 1].flatMap((c) => [[`consumer ${c}`, run.own[c]], [`C of ${c}`, run.stores[c]]]),
    ...Array.from({ length: run.stages }, (_, s) => [`stage ${s}`, stageOf(run, s)])];
}
