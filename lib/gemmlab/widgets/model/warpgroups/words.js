// A run of the warpgroups' model in words, as layouts/warpgroups/words.py has it.

export const SCHEDULES = {
  barrier: "barrier in each k tile", blocks: "producer, one tile a block",
  persistent: "producer, blocks that stay", deferred: "deferred write-back",
  "ping-pong": "ping-pong",
};
const counted = (value) => value.toLocaleString("en");

// The whole run: how long it takes, and when the tensor cores have nothing to do.
export function tellShared(run) {
  const name = SCHEDULES[run.schedule];
  const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const each = run.schedule === "ping-pong" ? " for each consumer" : "";
  const many = `${plural(run.tiles, "tile")} of ${plural(run.depth, "k tile")}${each}`;
  const [first, between, last] = run.gaps.map(counted);
  return `${name[0].toUpperCase()}${name.slice(1)}: ${many} take ${counted(run.total)} cycles of the ` +
    `model. The tensor cores work for ${counted(run.busy)} of them, ${run.percent} %, and are idle ` +
    `for ${first} before the first products, ${between} between products, and ${last} after the ` +
    "last.";
}

const STAGE_TEXT = {
  flight: (tile, end) => `k tile ${tile}, on its way until ${end}`,
  full: (tile, end) => `k tile ${tile}, there, read from ${end} on`,
  read: (tile, end) => `k tile ${tile}, read until ${end}`,
  old: (tile) => `k tile ${tile}, may be overwritten`,
};

// The asking thread, or a consumer.
function warpgroupText(kind, now) {
  const end = `until ${counted(now.end)}`;
  if (now.state === "issue") return `asks for k tile ${now.tile}, ${end}`;
  if (now.state === "wait") {
    if (now.tile < 0) return `waits for its store, ${end}`;
    return kind === "consumer" ? `waits ${end}` : `waits with k tile ${now.tile}, ${end}`;
  }
  if (now.state === "pack") return `packs the sums of tile ${now.tile}, ${end}`;
  if (now.state === "store") return `stores tile ${now.tile}, ${end}`;
  return `its products of k tile ${now.tile} run, ${end}`;
}

function warpgroupLaneText(name, now) {
  const kind = name.split(" ")[0];
  if (kind === "stage") return now ? STAGE_TEXT[now.state](now.tile, counted(now.end)) : "nothing yet";
  if (!now) return { tensor: "idle", C: "nothing leaves" }[kind] ?? "done";
  if (kind === "tensor") {
    if (now.state === "idle") return `idle from ${counted(now.begin)} to ${counted(now.end)}`;
    const who = now.state === "second" ? 1 : 0;
    return `k tile ${now.tile} of consumer ${who}, until ${counted(now.end)}`;
  }
  if (kind === "C") return `tile ${now.tile} leaves, until ${counted(now.end)}`;
  return warpgroupText(kind, now);
}

// [lane, what it does] at a time, in the order of the lanes.
export const tellShareMoment = (lanes, time) => lanes.map(([name, bars]) =>
  [name, warpgroupLaneText(name, bars.find((bar) => bar.begin <= time && time < bar.end))]);
