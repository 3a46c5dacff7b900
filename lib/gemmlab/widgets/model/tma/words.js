// A tensor map, a box and its chunks in words: the sentences of layouts/tma/words.py.
import { CHUNK, problems, sizes } from "./tensor_map.js";

export const written = (value) => value.toLocaleString("en-US");

export function describeMap(map) {
  const found = problems(map);
  if (found.length) {
    return "cuTensorMapEncodeTiled refuses it. " +
      found.map(([name, said]) => `${name}: ${said}.`).join(" ");
  }
  const s = sizes(map);
  const gap = s.pitch > s.rowBytes ? `, of which each row fills ${s.rowBytes}` : "";
  const overlap = s.stride < map.columns * s.element
    ? " Rows of the matrix overlap: that is taken, and seldom meant." : "";
  return `Taken. A box is ${map.box_rows} x ${map.box_columns} elements, ${written(s.boxBytes)} ` +
    `bytes for the mbarrier. In shared memory its rows stand ${s.pitch} bytes apart${gap}; let ` +
    `the tile begin at a multiple of ${written(s.alignment)} bytes.${overlap}`;
}

export function describeBox({ box, bytes, zeros }) {
  const { element, count } = sizes(box.map);
  const before = Math.floor(box.x / count) * count;
  if (before !== box.x) {
    return `The box begins at column ${box.x}, byte ${box.x * element} of a row and no multiple ` +
      "of 16: a GPU ends the kernel with an illegal instruction. Begin at column " +
      `${before} or ${before + count}.`;
  }
  const told = `The box begins at column ${box.x} of row ${box.y}. The mbarrier gets ` +
    `${written(bytes)} bytes`;
  if (zeros === bytes) return `${told}, all of them zeros: the box lies outside of the matrix.`;
  if (!zeros) return `${told}: all of them lie in the matrix.`;
  return `${told}: the whole box, of which ${written(zeros)} lie outside of the matrix and are ` +
    "zeros.";
}

export function describeChunk(box, one) {
  const { count, pitch, span } = sizes(box.map);
  const plain = Math.floor((one.row * pitch + one.chunk * CHUNK) / CHUNK) % 8;
  const xor = span > CHUNK ? ` (${plain} xor ${plain ^ one.slot})` : "";
  let text = `Row ${one.row}, chunk ${one.chunk} → line ${one.line}, slot ${one.slot}${xor}, ` +
    `banks ${4 * one.slot} to ${4 * one.slot + 3}. It holds row ${one.y}, columns ${one.x} to ` +
    `${one.x + count - 1} of the matrix`;
  if (one.begin === one.end) {
    text += ", which lie outside: zeros";
  } else if (one.end - one.begin < count) {
    text += `, of which ${one.x + one.begin} to ${one.x + one.end - 1} exist: the rest is zeros`;
  }
  const expected = Math.floor((one.byRow % 128) / CHUNK);
  if (expected === one.slot) return `${text}.`;
  return `${text}. A kernel that takes ${formulaOf(box.map)} looks in slot ${expected}.`;
}

export function describeMatrix({ held, slots, wavefronts }) {
  const text = `ldmatrix, rows ${held[0].row} to ${held.at(-1).row} of chunk ${held[0].chunk}:`;
  if (wavefronts === 1) {
    return `${text} ${held.length} groups of four banks, no two rows in one: 1 wavefront.`;
  }
  const at = slots.findIndex((rows) => rows.length === wavefronts);
  return `${text} rows ${slots[at].join(", ")} meet in banks ${4 * at} to ${4 * at + 3}: ` +
    `${wavefronts} wavefronts, ${wavefronts - 1} too many.`;
}

// Where a kernel finds a chunk that XORs with the row, as C.
export function formulaOf(map) {
  const { span } = sizes(map);
  if (span === CHUNK) return "chunk";
  const shift = Math.log2(128 / span);
  return `chunk ^ (${shift ? `row >> ${shift}` : "row"} & ${span / CHUNK - 1})`;
}

export function describeStart({ box, span, alignment, boxBytes, misplaced }) {
  if (span === CHUNK) {
    return "Without a swizzle the tile may begin at any multiple of 128 bytes.";
  }
  const [period, code] = [written(alignment), formulaOf(box.map)];
  if (!misplaced) {
    return `The tile begins at a multiple of ${period} bytes: ${code} finds every chunk.`;
  }
  const bits = { 128: "bits 7 to 9", 64: "bits 7 and 8", 32: "bit 7" }[span];
  return `The tile begins ${box.address % alignment} bytes past a multiple of ${period}. The XOR ` +
    `takes ${bits} of the address, not the row: ${code} reads ${misplaced} of ` +
    `${boxBytes / CHUNK} chunks wrong. Align the tile to ${period} bytes.`;
}
