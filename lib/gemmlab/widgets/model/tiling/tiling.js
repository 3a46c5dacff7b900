// A block tile cut into warps, lanes and elements: the same integers and sentences as
// layouts/tiling/ (tiling.py, rules.py and occupancy.py), which tests hold equal to this file.

const WARP = 32;
const FLOAT = 4;
export const range = (count) => Array.from({ length: count }, (_, i) => i);
const up = (value, unit) => Math.ceil(value / unit) * unit;

// With at most one decimal, and commas between thousands.
export const number = (value) =>
  (Math.floor(value * 10 + 0.5) / 10).toLocaleString("en-US", { maximumFractionDigits: 1 });

// Elements of the widest load that a run of neighbours is cut into.
export const vector = (run) => [4, 2, 1].find((wide) => run % wide === 0);

// Everything that follows from the sizes; rows and columns of warps, of lanes, values of a thread.
export function derive(t) {
  const [warpRows, warpCols] = [t.BM / t.WM, t.BN / t.WN];
  const [m, n] = [t.WMITER * t.TM, t.WNITER * t.TN];
  return {
    ...t, warpRows, warpCols, m, n, sums: m * n, threads: warpRows * warpCols * WARP,
    laneRows: t.WM / m, laneCols: t.WN / n, fragments: m * (t.a === "mk4" ? 4 : 1) + n,
    sharedBytes: t.stages * (t.BM + t.BN) * t.BK * FLOAT,
  };
}

// What makes a tiling impossible, a sentence each.
export function problems(s) {
  const found = [];
  for (const of of "MN") {
    const [block, warp] = [s[`B${of}`], s[`W${of}`]];
    if (block % warp) {
      found.push(
        `B${of} = ${block} is no multiple of W${of} = ${warp}: ${block % warp} left over.`);
    }
  }
  for (const of of "MN") {
    const [warp, count, size] = [s[`W${of}`], s[`W${of}ITER`], s[`T${of}`]];
    if (warp % (count * size)) {
      found.push(`W${of} = ${warp} is no multiple of W${of}ITER x T${of} = ${count} x ${size}: ` +
        `${warp % (count * size)} left over.`);
    }
  }
  for (const name of ["BK", "BN"]) {
    if (s[name] % 4) {
      found.push(`${name} = ${s[name]} is no multiple of 4: a row is no whole float4.`);
    }
  }
  return found.length ? found : wrongCounts(s);
}

function wrongCounts(s) {
  const { laneRows, laneCols, warpRows, warpCols, threads } = derive(s);
  const lanes = laneRows * laneCols;
  if (lanes !== WARP) {
    const cut = s.WMITER * s.WNITER > 1 ? `${s.WMITER} x ${s.WNITER} subtiles of ` : "";
    const much = lanes < WARP ? `${WARP - lanes} of them have nothing to do`
      : `${number(lanes / WARP)} times too many`;
    return [`A warp tile of ${s.WM} x ${s.WN} in ${cut}${laneRows} x ${laneCols} pieces of ` +
      `${s.TM} x ${s.TN} takes ${lanes} lanes, and a warp has 32: ${much}.`];
  }
  if (threads <= 1024) return [];
  return [`${warpRows} x ${warpCols} = ${warpRows * warpCols} warps are ${number(threads)} ` +
    `threads, and a block has at most 1,024: ${number(threads / 1024)} times too many.`];
}

// The single changes, [name, value], among [[name, values], ...] that make a tiling possible.
export const repairs = (s, choices) => choices.flatMap(([name, values]) =>
  values.filter((value) => value !== s[name] && !problems({ ...s, [name]: value }).length)
    .map((value) => [name, value]));

// --- who has what; `d` is what derive() gives ---

const lanePlace = (d, lane) => (d.lanes === "rows"
  ? [Math.floor(lane / d.laneCols), lane % d.laneCols]
  : [lane % d.laneRows, Math.floor(lane / d.laneRows)]);

// The first element of C that a thread owns.
export function corner(d, thread) {
  const warp = Math.floor(thread / WARP);
  const [row, col] = lanePlace(d, thread % WARP);
  return [Math.floor(warp / d.warpCols) * d.WM + row * d.TM,
    (warp % d.warpCols) * d.WN + col * d.TN];
}

// The first rows and the first columns of the runs that a thread owns.
export function runs(d, thread) {
  const [m, n] = corner(d, thread);
  return [range(d.WMITER).map((i) => m + i * (d.WM / d.WMITER)),
    range(d.WNITER).map((i) => n + i * (d.WN / d.WNITER))];
}

// The thread that owns element (row, col) of C.
export function owner(d, row, col) {
  const warp = Math.floor(row / d.WM) * d.warpCols + Math.floor(col / d.WN);
  const i = Math.floor((row % (d.WM / d.WMITER)) / d.TM);
  const j = Math.floor((col % (d.WN / d.WNITER)) / d.TN);
  return warp * WARP + (d.lanes === "rows" ? i * d.laneCols + j : j * d.laneRows + i);
}

// Where the float4 start that a thread copies from the tile of "A" or "B".
export function copies(d, thread, matrix) {
  const [rows, quads] = matrix === "A" ? [d.BM, d.BK / 4] : [d.BK, d.BN / 4];
  const found = [];
  for (let quad = thread; quad < rows * quads; quad += d.threads) {
    found.push([Math.floor(quad / quads), (quad % quads) * 4]);
  }
  return found;
}

// Where a thread's stores of C start, in their order.
export function stores(d, thread) {
  const [rows, columns] = runs(d, thread);
  const wide = vector(d.TN);
  const groups = d.order === "rows" ? [columns] : columns.map((n) => [n]);
  return rows.flatMap((m) => groups.flatMap((group) => range(d.TM).flatMap((i) =>
    group.flatMap((n) => range(d.TN / wide).map((j) => [m + i, n + j * wide])))));
}

// --- what it costs ---

// Wavefronts of a load of `width` bytes a lane: the rule of layouts/shared/banks.py where all lanes are
// active. banks.js has it too, with all that BankMap tells about a request; here only the count is
// needed, and every stored widget carries its module.
export function wavefronts(addresses, width) {
  const count = (lanes) => {
    const words = range(WARP).map(() => new Set());
    for (const lane of lanes) {
      for (const w of range(width / FLOAT)) {
        words[(addresses[lane] / FLOAT + w) % WARP].add(addresses[lane] + w * FLOAT);
      }
    }
    return Math.max(...words.map((bank) => bank.size));
  };
  if (width === FLOAT) return count(range(WARP));
  const size = (WARP * FLOAT) / width;
  let total = 0;
  for (let first = 0; first < WARP; first += 2 * size) {
    const both = range(2 * size).map((i) => first + i);
    const joins = [1, 2].some((step) => both.every((n) => addresses[n] === addresses[n ^ step]));
    const one = joins && count(both) === 1;
    total += one ? 1 : count(both.slice(0, size)) + count(both.slice(size));
  }
  return total;
}

// A warp's loads of "A" or "B" for one k, and the wavefronts of each.
export function loads(d, matrix) {
  const lanes = range(WARP).map((lane) => lanePlace(d, lane));
  const along = matrix === "B" ? d.TN : d.TM;
  const wide = matrix === "B" || d.a === "km" ? vector(along) : d.a === "mk4" ? 4 : 1;
  const apart = matrix === "A" && d.a !== "km" ? d.BK : 1;
  const at = lanes.map((place) => FLOAT * place[matrix === "B" ? 1 : 0] * along * apart);
  return [(matrix === "B" ? d.n : d.m) / wide, wavefronts(at, wide * FLOAT)];
}

// Sectors of one store of C by a warp, and the least that its bytes could take.
export function storeSectors(d) {
  const bytes = vector(d.TN) * FLOAT;
  const touched = new Set(range(WARP).map((lane) => {
    const [m, n] = corner(d, lane);
    return `${m} ${Math.floor((n * FLOAT) / 32)}`;
  }));
  return [touched.size, bytes];
}

// How many blocks each resource of an SM allows, and how many it holds.
export function occupancy(threads, registers, sharedBytes, gpu) {
  const warps = Math.ceil(threads / WARP);
  const each = up(registers * WARP, gpu.registers_unit);
  const resident = Math.floor(gpu.registers / gpu.partitions / each) * gpu.partitions;
  const taken = up(sharedBytes + gpu.shared_reserved, gpu.shared_unit);
  const allowed = {
    registers: registers <= gpu.registers_thread ? Math.floor(resident / warps) : 0,
    "shared memory": sharedBytes <= gpu.shared_block ? Math.floor(gpu.shared / taken) : 0,
    threads: threads <= 1024 ? Math.floor(gpu.threads / (warps * WARP)) : 0,
    "block slots": gpu.blocks,
  };
  const blocks = Math.min(...Object.values(allowed));
  return { blocks, warps: blocks * warps, allowed };
}
