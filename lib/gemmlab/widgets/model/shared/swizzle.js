// Bits of an offset XORed onto other bits of it: the same integer rules as BitXor in
// layouts/shared/swizzle.py. pairs: [[source bit, target bit], ...] of byte offsets. A Swizzle
// [B, M, S] counts in 16-bit elements, so its bits stand one higher in a byte offset.
export const move = (pairs, offset) =>
  pairs.reduce((moved, [source, target]) => moved ^ (((offset >> source) & 1) << target), offset);

// The pairs of a Swizzle on offsets of `bits` bits; the bits above are 0.
export function pairsOf([b, m, s], bits) {
  const pairs = Array.from({ length: s ? b : 0 }, (_, i) => [m + 1 + s + i, m + 1 + i]);
  return pairs.filter(([source]) => source < bits);
}

// The Swizzle that does what the pairs do, or null.
export function swizzleOf(pairs) {
  const [first, ...rest] = [...pairs].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (!first) return null;
  const [s, low] = [first[0] - first[1], first[1]];
  const run = rest.every(([source, target], i) =>
    source === low + s + i + 1 && target === low + i + 1);
  return run && s > rest.length && low > 0 ? [rest.length + 1, low - 1, s] : null;
}

// The first two offsets of `bits` bits that land on one place, or null.
export function collision(pairs, bits) {
  const places = new Map();
  for (let offset = 0; offset < 1 << bits; offset++) {
    const place = move(pairs, offset);
    if (places.has(place)) return [places.get(place), offset];
    places.set(place, offset);
  }
  return null;
}
