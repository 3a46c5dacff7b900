// What wgmma reads for one operand: the rules of layouts/wgmma/operand.py.
export const DEPTH = 64; // values of k of a tile
export const K_STEP = 16; // of one wgmma
export const MODES = { 16: 0, 128: 1, 64: 2, 32: 3 }; // bits 62 and 63

export const swizzledBy = (address, span) => address ^ ((address >> 7) & (span / 16 - 1)) << 4;

// The 64 bits of {start, leading, stride, span}, as hexadecimal text.
export function descriptorBits({ start, leading, stride, span }) {
  const bits = BigInt(start >> 4) | BigInt(leading >> 4) << 16n | BigInt(stride >> 4) << 32n |
    BigInt(MODES[span]) << 62n;
  return `0x${bits.toString(16).padStart(16, "0")}`;
}

// The byte offset at which wgmma looks for element (row, k) of its 16 k.
export function readsAt({ start, leading, stride, span }, row, k, mnMajor) {
  if (!mnMajor) {
    const along = Math.floor(k / 8) * (span === 16 ? leading : 16);
    return swizzledBy(start + Math.floor(row / 8) * stride + row % 8 * span + along + k % 8 * 2,
      span);
  }
  const width = span / 2;
  const [across, along] = span === 16 ? [stride, leading] : [leading, stride];
  return swizzledBy(start + Math.floor(row / width) * across + row % width * 2 +
    Math.floor(k / 8) * along + k % 8 * span, span);
}

// A tile {mnMajor, span, rows} as the copy engine writes it.
export const bytesOf = (o) => o.rows * DEPTH * 2;
export const boxOf = (o) => o.span * (o.mnMajor ? DEPTH : o.rows);

export function placeOf(o, row, k) {
  const [line, along] = o.mnMajor ? [k, row] : [row, k];
  const box = Math.floor(2 * along / o.span);
  return swizzledBy(box * boxOf(o) + line * o.span + 2 * along % o.span, o.span);
}

// [row, k] of the first element of the piece at a byte offset; null outside.
export function pieceAt(o, offset) {
  if (offset < 0 || offset >= bytesOf(o)) return null;
  const at = Math.floor(swizzledBy(offset, o.span) / 16) * 16;
  const box = Math.floor(at / boxOf(o));
  const line = Math.floor(at % boxOf(o) / o.span);
  const along = (box * o.span + at % o.span) / 2;
  return o.mnMajor ? [along, line] : [line, along];
}

// The right descriptor for k from 16 * step on.
export function rightDescriptor(o, step) {
  const pattern = 8 * o.span;
  if (o.mnMajor) {
    const [near, far] = [pattern, boxOf(o)]; // the next 8 k, the next box of rows
    const [leading, stride] = o.span === 16 ? [near, far] : [far, near];
    return { start: step * 2 * pattern, leading, stride, span: o.span };
  }
  const along = step * K_STEP * 2;
  const start = Math.floor(along / o.span) * boxOf(o) + along % o.span;
  return { start, leading: o.span === 16 ? boxOf(o) : 16, stride: pattern, span: o.span };
}

// What a product of 16 k gets: {row, k, wanted, read, found, right} of each piece.
export function piecesOf(o, given, step) {
  const heads = [];
  if (o.mnMajor) {
    for (let row = 0; row < o.rows; row += 8) for (let k = 0; k < K_STEP; k++) heads.push([row, k]);
  } else for (let row = 0; row < o.rows; row++) heads.push([row, 0], [row, 8]);
  return heads.map(([row, k]) => {
    const whole = step * K_STEP + k;
    const [wanted, read] = [placeOf(o, row, whole), readsAt(given, row, k, o.mnMajor)];
    return { row, k: whole, wanted, read, found: pieceAt(o, read), right: wanted === read };
  });
}

// The numbers of the eight pieces of the core matrix that a piece belongs to.
export const coreOf = (o, index) => Array.from({ length: 8 }, (_, i) => (o.mnMajor
  ? Math.floor(index / 8) * 8 + i : Math.floor(index / 16) * 16 + index % 2 + 2 * i));

// What eight pieces cost that are read at once: the most in one column of four banks.
export function coreWavefronts(pieces) {
  const columns = pieces.map((one) => Math.floor(one.read / 16) % 8);
  return Math.max(...columns.map((one) => columns.filter((other) => other === one).length));
}
