// What a warp's cp.async past L1 costs: the rule of layouts/shared/copies.py, for lanes that all read.
export const LINE_BYTES = 128;
const SECTOR = 32;
const HALF = 16;

// Wavefronts of 16-byte copies; of those to one destination only the first reads.
export function pastL1(to, source) {
  const pairs = new Map(); // of sectors: which halves of the source's are used, and where
  source.forEach((from, lane) => {
    if (to.indexOf(to[lane]) < lane) return;
    const sectors = [from, to[lane]].map((at) => Math.floor(at / SECTOR));
    const key = sectors.join();
    const pair = pairs.get(key) ?? { sectors, pieces: new Set() };
    pair.pieces.add([from, to[lane]].map((at) => Math.floor(at / HALF) % 2).join());
    pairs.set(key, pair);
  });
  const shared = new Map(); // what must agree: how often each sector of the source
  for (const { sectors: [from, into], pieces } of pairs.values()) {
    const key = [from >> 2, into >> 2, [...pieces].sort().join(" "), (from ^ into) & 1].join();
    const counts = shared.get(key) ?? new Map();
    shared.set(key, counts.set(from, (counts.get(from) ?? 0) + 1));
  }
  return [...shared.values()].reduce((sum, counts) => sum + Math.max(...counts.values()), 0);
}
