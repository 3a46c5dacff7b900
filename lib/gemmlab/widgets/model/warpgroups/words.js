// A run of the warpgroups' model, or a recorded trace, in words, as layouts/warpgroups/words.py has it.

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

// A k tile by its number within its tile of C, as the picture has it.
const kTile = (tile, depth) => `k tile ${tile % depth} of tile ${Math.floor(tile / depth)}`;

const STAGE_TEXT = {
  flight: (end) => `on its way until ${end}`,
  full: (end) => `there, read from ${end} on`,
  read: (end) => `read until ${end}`,
  old: () => "may be overwritten",
};

// The asking thread, or a consumer.
function warpgroupText(kind, now, depth) {
  const end = `until ${counted(now.end)}`;
  if (now.state === "issue") return `asks for ${kTile(now.tile, depth)}, ${end}`;
  if (now.state === "wait") {
    if (now.tile < 0) return `waits for its store, ${end}`;
    return kind === "consumer" ? `waits ${end}` : `waits with ${kTile(now.tile, depth)}, ${end}`;
  }
  if (now.state === "data") return `waits for the data of ${kTile(now.tile, depth)}, ${end}`;
  if (now.state === "none") return `has no products under way, ${end}`;
  if (now.state === "turn") return `waits for its turn, ${end}`;
  if (now.state === "pack") return `packs the sums of tile ${now.tile}, ${end}`;
  if (now.state === "store") return `stores tile ${now.tile}, ${end}`;
  return `its products of ${kTile(now.tile, depth)} run, ${end}`;
}

function warpgroupLaneText(name, now, depth) {
  const kind = name.split(" ")[0];
  if (kind === "stage") {
    if (!now) return "nothing yet";
    return `${kTile(now.tile, depth)}, ${STAGE_TEXT[now.state](counted(now.end))}`;
  }
  if (!now) return { tensor: "idle", C: "nothing leaves" }[kind] ?? "done";
  if (kind === "tensor") {
    if (now.state === "idle") return `idle from ${counted(now.begin)} to ${counted(now.end)}`;
    if (now.state === "both") return `products of both consumers, until ${counted(now.end)}`;
    const who = now.state === "second" ? 1 : 0;
    return `${kTile(now.tile, depth)}, consumer ${who}, until ${counted(now.end)}`;
  }
  if (kind === "C") return `tile ${now.tile} leaves, until ${counted(now.end)}`;
  return warpgroupText(kind, now, depth);
}

// [lane, what it does] at a time, in the order of the lanes; depth: k tiles of a tile of C.
export const tellShareMoment = (lanes, time, depth) => lanes.map(([name, bars]) => [name,
  warpgroupLaneText(name, bars.find((bar) => bar.begin <= time && time < bar.end), depth)]);
