// ldmatrix and cp.async on a tile of chunks that an XOR of offset bits moves about: the same
// integer rules and sentences as layouts/shared/ldmatrix.py.
// tile: {rows, row_bytes}; pairs: [[source bit, target bit], ...]; reader: {name, matrices}.
import { LINE_BYTES, pastL1 } from "./copies.js";
import { WARP, plural, served } from "./banks.js";
import { collision, move } from "./swizzle.js";

export const SIDE = 8;
export const GROUPS = 8;
export const PIECE = 16;
export const LOW = 4; // lowest bit of a chunk's number
const PITCH = 8192;

export const chunksOf = (tile) => tile.row_bytes / PIECE;
export const rowBit = (tile) => Math.log2(tile.row_bytes);
export const bitsOf = (tile) => rowBit(tile) + Math.log2(tile.rows);
export const offsetOf = (tile, [row, chunk]) => row * tile.row_bytes + chunk * PIECE;

// What a bit of an offset tells: ["byte", ""], ["chunk", 0], ["row", 2].
export function roleOf(tile, bit) {
  if (bit < LOW) return ["byte", ""];
  return bit < rowBit(tile) ? ["chunk", bit - LOW] : ["row", bit - rowBit(tile)];
}

// [row, chunk] that the lanes of an ldmatrix point to.
export const pointed = ({ matrices }) =>
  Array.from({ length: SIDE * matrices }, (_, lane) => [lane % 16, Math.floor(lane / 16)]);

export const torn = (pairs) => pairs.some((pair) => Math.min(...pair) < LOW);

export function readRequest(tile, pairs, reader) {
  const addresses = pointed(reader).map((at) => move(pairs, offsetOf(tile, at)));
  const phases = Array.from({ length: reader.matrices }, (_, i) =>
    Array.from({ length: SIDE }, (_, n) => SIDE * i + n));
  return { addresses, ...served(addresses, PIECE, phases) };
}

export function writeRequest(tile, pairs) {
  const at = Array.from({ length: WARP }, (_, lane) =>
    [Math.floor(lane / chunksOf(tile)), lane % chunksOf(tile)]);
  const to = at.map((one) => move(pairs, offsetOf(tile, one)));
  const minimum = Math.ceil((new Set(to).size * PIECE) / LINE_BYTES);
  const wavefronts = pastL1(to, at.map(([row, chunk]) => row * PITCH + chunk * PIECE));
  return { wavefronts, minimum, conflicts: wavefronts - minimum };
}

// The rows of a phase by the group of banks in which they stand.
export function groupsOf(tile, pairs, cells) {
  const found = Array.from({ length: GROUPS }, () => []);
  const seen = new Set();
  for (const [row, chunk] of cells) {
    const place = move(pairs, offsetOf(tile, [row, chunk]));
    if (!seen.has(place)) found[Math.floor(place / PIECE) % GROUPS].push(row);
    seen.add(place);
  }
  return found;
}

export function describePhase(found, phase) {
  const most = Math.max(...found.map((rows) => rows.length));
  const total = found.flat().length;
  if (most === 1) {
    return `Phase ${phase + 1}: its ${total} rows stand in ${plural(total, "group")} of banks: ` +
      "1 wavefront.";
  }
  const at = found.findIndex((rows) => rows.length === most);
  const others = found.filter((rows) => rows.length === most).length - 1;
  const also = others ? `, and as many in ${plural(others, "other group")}` : "";
  return `Phase ${phase + 1}: rows ${found[at].join(", ")} meet in banks ${4 * at} to ` +
    `${4 * at + 3}${also}: ${most} wavefronts, ${most - 1} too many.`;
}

export function describeRead({ wavefronts, minimum, conflicts }, reader) {
  const surplus = conflicts ? `${conflicts} too many` : "no conflict";
  const count = plural(wavefronts, "wavefront");
  return `${reader.name}: ${count}, the minimum is ${minimum}: ${surplus}.`;
}

export function describeWrite({ wavefronts, minimum, conflicts }, tile) {
  const text = `cp.async: ${wavefronts} wavefronts, the minimum is ${minimum}`;
  const lines = Math.max(WARP / chunksOf(tile), (WARP * PIECE) / LINE_BYTES);
  if (wavefronts > lines) {
    return `${text}: the XOR is not the same for all chunks of a line, and splits its write.`;
  }
  if (!conflicts) return `${text}: no conflict.`;
  return `${text}: the ${tile.row_bytes}-byte rows come from ${lines} lines of global memory, ` +
    "and a wavefront takes from one. No swizzle changes that.";
}

export const cellOf = (tile, offset) =>
  [Math.floor(offset / tile.row_bytes), Math.floor((offset % tile.row_bytes) / PIECE)];

export function describeMap(pairs, tile) {
  if (torn(pairs)) {
    return `The 16 bytes of a chunk do not stay together: bit ${Math.min(...pairs.flat())} takes ` +
      "part, and ldmatrix and cp.async need them in one piece. M must be at least 3.";
  }
  const two = collision(pairs, bitsOf(tile));
  if (!two) return "One-to-one: every chunk has a place of its own.";
  const [a, b] = two.map((at) => cellOf(tile, at)).map(([r, c]) => `row ${r}, chunk ${c}`);
  return `Not one-to-one: ${a} and ${b} have the same place.`;
}

// Neighbouring pairs of one distance: [source, target, length].
function runsOf(pairs) {
  const runs = [];
  const sorted = [...pairs].sort((a, b) => (a[0] - a[1]) - (b[0] - b[1]) || a[1] - b[1]);
  for (const [s, t] of sorted) {
    const last = runs.at(-1);
    if (last && s === last[0] + last[2] && t === last[1] + last[2]) last[2] += 1;
    else runs.push([s, t, 1]);
  }
  return runs;
}

// The XOR as C, of the chunk where that is all that it changes, else of the byte offset.
export function formulaOf(pairs, tile) {
  const row = rowBit(tile);
  if (pairs.every(([s, t]) => LOW <= t && t < row && row <= s)) {
    return "chunk" + runsOf(pairs).map(([s, t, length]) => {
      const some = `(${s === row ? "row" : `row >> ${s - row}`} & ${(1 << length) - 1})`;
      return t === LOW ? ` ^ ${some}` : ` ^ (${some} << ${t - LOW})`;
    }).join("");
  }
  const masks = new Map();
  for (const [s, t] of pairs) masks.set(s - t, (masks.get(s - t) ?? 0) | (1 << t));
  return "offset" + [...masks].sort((a, b) => a[0] - b[0]).map(([d, mask]) =>
    ` ^ (offset ${d > 0 ? ">>" : "<<"} ${Math.abs(d)} & 0x${mask.toString(16)})`).join("");
}
