// What a tiling costs and what a thread of it does, in words: as layouts/tiling/facts.py.
import {
  copies, derive, loads, number, occupancy, runs, stores, storeSectors, vector,
} from "./tiling.js";

const OTHER_REGISTERS = 24;
const VECTORS = { 4: "float4", 2: "float2", 1: "float" };
const percent = (share) => `${Math.floor(100 * share + 0.5)} %`;
const fact = (name, value, how, more = {}) =>
  ({ name, value, how, bar: null, bad: false, ...more });

// Registers a thread, about, and how many __launch_bounds__ leaves it.
function registers(d, gpu) {
  const asked = d.min_blocks * d.threads <= gpu.threads ? d.min_blocks : 1;
  const most = Math.min(gpu.registers_thread,
    Math.floor(gpu.registers / (asked * d.threads) / 8) * 8);
  return [Math.min(d.sums + d.fragments + OTHER_REGISTERS, most), most];
}

// The table: {name, value, how, bar, bad} a line.
export function facts(t, gpu, size) {
  const d = derive(t);
  const found = occupancy(d.threads, registers(d, gpu)[0], d.sharedBytes, gpu);
  return [
    threadsFact(d), sharedFact(d, gpu), registersFact(d, gpu), occupancyFact(found, gpu),
    fact("FLOP per byte from global memory", number((d.BM * d.BN) / (2 * (d.BM + d.BN))),
      `${d.BM} x ${d.BN} / (2 x (${d.BM} + ${d.BN})); BK cancels`),
    fact("FMAs per value from shared memory", number(d.sums / (d.m + d.n)),
      `${d.m} x ${d.n} / (${d.m} + ${d.n})`),
    ...paceFacts(d, gpu), storesFact(d), ...gridFacts(d, found, gpu, size),
  ];
}

function threadsFact(d) {
  const where = d.WMITER * d.WNITER > 1 ? ` in each of ${d.WMITER} x ${d.WNITER} subtiles` : "";
  const warps = d.threads / 32;
  return fact("Threads", number(d.threads),
    `${d.warpRows} x ${d.warpCols} = ${warps} warp${warps === 1 ? "" : "s"} of ` +
    `${d.WM} x ${d.WN}; ${d.laneRows} x ${d.laneCols} lanes of ${d.TM} x ${d.TN}${where}`);
}

function sharedFact(d, gpu) {
  const times = d.stages > 1 ? `${d.stages} x ` : "";
  const bad = d.sharedBytes > gpu.shared_block;
  let how = `${times}(${d.BM} x ${d.BK} + ${d.BK} x ${d.BN}) x 4 bytes`;
  if (bad) how += `; a block has at most ${number(gpu.shared_block / 1024)} KB`;
  else if (d.sharedBytes > gpu.shared_default) {
    how += `; above ${number(gpu.shared_default / 1024)} KB the launch must ask for it`;
  }
  return fact("Shared memory", `${number(d.sharedBytes / 1024)} KB`, how, { bad });
}

function registersFact(d, gpu) {
  const needed = d.sums + d.fragments;
  const [about, most] = registers(d, gpu);
  const blocks = `${d.min_blocks} block${d.min_blocks === 1 ? "" : "s"}`;
  let how = `${d.sums} sums + ${d.fragments} in fragments + about ${OTHER_REGISTERS} for ` +
    `addresses: an estimate, the compiler decides; ${blocks} an SM leave ${most}`;
  if (d.min_blocks * d.threads > gpu.threads) {
    how += ` (${blocks} cannot be, so the compiler ignores it)`;
  }
  if (needed > most) how += `, ${needed - most} too few: the rest spills`;
  return fact("Registers a thread", `about ${about}`, how, { bad: needed > most });
}

function occupancyFact({ blocks, warps, allowed }, gpu) {
  const each = Object.entries(allowed);
  const list = each.map(([name, count]) => `${name} ${count}`).join(", ");
  const by = each.filter(([, count]) => count === blocks).map(([name]) => name).join(" and ");
  const all = gpu.threads / 32;
  const how = blocks
    ? `${warps} of ${all} warps (${percent(warps / all)}), limited by ${by}. Blocks by ${list}`
    : `no block fits: too much of ${by}. Blocks by ${list}`;
  return fact("Blocks on an SM", number(blocks), how, { bad: !blocks });
}

// The two pipes for one k of a warp; the longer one sets the pace.
function paceFacts(d, gpu) {
  const found = [..."AB"].map((matrix) => [matrix, ...loads(d, matrix)]);
  const shared = found.reduce((sum, [, count, each]) => sum + count * each, 0);
  const fmas = d.sums / gpu.fma_warps;
  const most = Math.max(shared, fmas);
  const parts = found.map(([matrix, count, each]) => `${matrix} ${number(count)} x ${each}`);
  const slow = `: sets the pace, FMAs at most ${percent(fmas / shared)} of the time`;
  const fast = `: sets the pace, shared memory is busy ${percent(shared / fmas)} of the time`;
  return [
    fact("Wavefronts of a warp for one k", number(shared),
      `loads x wavefronts: ${parts.join(" + ")}${shared > fmas ? slow : ""}`,
      { bar: shared / most }),
    fact("Cycles of its FMAs", number(fmas),
      `${d.sums} FMAs, ${gpu.fma_warps} a cycle${fmas >= shared ? fast : ""}`,
      { bar: fmas / most }),
  ];
}

function storesFact(d) {
  const [found, least] = storeSectors(d);
  const used = found === least ? "every byte is used" : `${least} would do`;
  return fact("Sectors of a store of C", String(found),
    `${VECTORS[vector(d.TN)]} by 32 lanes: ${used}`);
}

function gridFacts(d, found, gpu, size) {
  const [rows, cols] = [Math.ceil(size / d.BM), Math.ceil(size / d.BN)];
  const blocks = rows * cols;
  const grid = fact("Blocks of the grid", number(blocks),
    `${rows} x ${cols} for ${number(size)} x ${number(size)}`);
  if (!found.blocks) return [grid, fact("Waves", "none", "no block fits")];
  const slots = found.blocks * gpu.sms;
  const waves = Math.ceil(blocks / slots);
  const last = blocks - (waves - 1) * slots;
  const idle = blocks < gpu.sms ? `; ${gpu.sms - blocks} SMs have no block at all` : "";
  return [grid, fact("Waves", number(waves),
    `${number(slots)} blocks at a time on ${gpu.sms} SMs; the last wave is ` +
    `${percent(last / slots)} full, all together ${percent(blocks / (waves * slots))}${idle}`)];
}

// "rows 8 to 15 and 24 to 31"
function runText(noun, starts, length) {
  const each = starts.map((s) => (length > 1 ? `${s} to ${s + length - 1}` : `${s}`));
  const last = each.pop();
  return `${noun}${length * starts.length > 1 ? "s" : ""} ` +
    `${each.length ? `${each.join(", ")} and ` : ""}${last}`;
}

// "A[9][4..7], A[73][4..7]", the first ones of many.
function pieces(name, starts, wide, most) {
  const shown = starts.slice(0, most).map(([m, n]) =>
    `${name}[${m}][${n}${wide > 1 ? `..${n + wide - 1}` : ""}]`);
  const more = starts.length > most ? `, ... (${starts.length} ${VECTORS[wide]})` : "";
  return shown.join(", ") + more;
}

// A thread in words: where it stands, what it owns, copies and stores.
export function describeThread(t, thread) {
  const d = derive(t);
  const [rows, columns] = runs(d, thread);
  const copied = [..."AB"].map((name) => pieces(name, copies(d, thread, name), 4, 4))
    .filter(Boolean);
  return `Thread ${thread} (warp ${Math.floor(thread / 32)}, lane ${thread % 32}): ` +
    `${runText("row", rows, d.TM)}, ${runText("column", columns, d.TN)}. ` +
    `${copied.length ? `Copies ${copied.join(" and ")}` : "Copies nothing"}. ` +
    `Stores ${pieces("C", stores(d, thread), vector(d.TN), 3)}.`;
}
