// What a tensor map says and where the copy engine puts a box: the same integer rules and refusals
// as layouts/tma/tensor_map.py, which tests hold equal to this file.
// map: {rows, columns, box_rows, box_columns, dtype, swizzle, row_stride, address}; the last two
// may be null. box: {map, x, y, address}.
export const DTYPES = { bf16: 2, fp16: 2, fp32: 4, uint8: 1 };
export const SPANS = { none: 16, "32B": 32, "64B": 64, "128B": 128 };
export const CHUNK = 16;
export const LINE = 128;
export const SIDE = 8;
const MAX_SHARED = 232448;

const up = (count) => Math.ceil(count / CHUNK) * CHUNK;

// The numbers that follow from a map.
export function sizes(map) {
  const element = DTYPES[map.dtype];
  const span = SPANS[map.swizzle];
  const rowBytes = map.box_columns * element;
  return {
    element, span, rowBytes, count: CHUNK / element, chunks: rowBytes / CHUNK,
    stride: map.row_stride === null ? up(map.columns * element) : map.row_stride * element,
    boxBytes: map.box_rows * rowBytes, pitch: Math.max(rowBytes, span),
    alignment: Math.max(LINE, span > CHUNK ? 8 * span : 0),
  };
}

const sizeProblem = (n) => (n >= 1 && n <= 2 ** 32 ? ""
  : `got ${n}, allowed are 1 to 2^32; leave out what is empty, split what is larger`);

const boxProblem = (n) => (n >= 1 && n <= 256 ? ""
  : `got ${n}, allowed are 1 to 256; load a larger tile as several boxes`);

function addressProblem({ address }) {
  if (address === null || (address && address % CHUNK === 0)) return "";
  return `got 0x${address.toString(16)}, which is ${address % CHUNK} past a multiple of 16 ` +
    "bytes, or null; copy the matrix to an aligned address";
}

function strideProblem(map, { element, stride }) {
  if (map.row_stride === 0) {
    return "got 0, and rows would lie on each other; give the elements from row to row";
  }
  const got = `got ${stride / element} ${map.dtype}: ${stride} bytes`;
  if (stride % CHUNK) {
    const longer = up(stride) / element;
    return `${got}, no multiple of 16; copy the matrix into rows of ${longer} elements`;
  }
  return stride >= 2 ** 40 ? `${got}, which must be below 2^40; split the matrix` : "";
}

function rowProblem(map, { element, span, rowBytes }) {
  const got = `got ${map.box_columns} ${map.dtype}: ${rowBytes} bytes a row`;
  if (rowBytes % CHUNK) return `${got}, no multiple of 16; take ${up(rowBytes) / element}`;
  if (span === CHUNK || rowBytes <= span) return "";
  return `${got}, more than the ${span} that the ${map.swizzle} swizzle spans; take ` +
    `${span / element}, and load the tile as ${Math.ceil(rowBytes / span)} boxes side by side`;
}

function bytesProblem(map, { rowBytes, boxBytes }) {
  if (boxBytes <= MAX_SHARED || map.box_columns > 256) return "";
  return `got ${map.box_rows} rows of ${rowBytes} bytes: ${boxBytes} bytes, more than the ` +
    `${MAX_SHARED} of shared memory that a block can have; use smaller boxes`;
}

// [argument, what was given, the rule and the remedy] of all that cuTensorMapEncodeTiled refuses.
export function problems(map) {
  const s = sizes(map);
  return [
    ["address", addressProblem(map)],
    ["rows", sizeProblem(map.rows)],
    ["columns", sizeProblem(map.columns)],
    ["row_stride", strideProblem(map, s)],
    ["box_rows", boxProblem(map.box_rows) || bytesProblem(map, s)],
    ["box_columns", boxProblem(map.box_columns) || rowProblem(map, s)],
  ].filter(([, said]) => said);
}

// Offset from the start of the tile; the XOR is of the address.
function place({ pitch, span }, address, row, at) {
  const plain = address + row * pitch + at;
  return (plain ^ ((plain >> 3) & (span - CHUNK))) - address;
}

// 16 bytes of a box: where they come from, which elements of them exist, where they land.
export function chunkOf(box, row, chunk) {
  const s = sizes(box.map);
  const [y, x] = [box.y + row, box.x + chunk * s.count];
  const [first, last] = [Math.max(0, -x), Math.min(s.count, box.map.columns - x)];
  const some = y >= 0 && y < box.map.rows && first < last;
  const offset = place(s, box.address, row, chunk * CHUNK);
  return {
    row, chunk, y, x, begin: some ? first : 0, end: some ? last : 0, offset,
    line: Math.floor(offset / LINE), slot: Math.floor((offset % LINE) / CHUNK),
    byRow: place(s, 0, row, chunk * CHUNK),
  };
}

// All chunks of a box, and what they add up to.
export function layOut(box) {
  const s = sizes(box.map);
  const chunks = [];
  for (let row = 0; row < box.map.box_rows; row++) {
    for (let chunk = 0; chunk < s.chunks; chunk++) chunks.push(chunkOf(box, row, chunk));
  }
  const inside = chunks.reduce((sum, one) => sum + one.end - one.begin, 0);
  return {
    ...s, box, all: chunks, bytes: s.boxBytes, zeros: s.boxBytes - inside * s.element,
    lines: 1 + Math.max(...chunks.map((one) => one.line)),
    misplaced: chunks.filter((one) => one.byRow !== one.offset).length,
  };
}

// The 8 rows around `row` of a column of chunks, and what one ldmatrix of them costs.
export function matrixOf(box, row, chunk) {
  const first = row - (row % SIDE);
  const held = [];
  for (let r = first; r < Math.min(first + SIDE, box.map.box_rows); r++) {
    held.push(chunkOf(box, r, chunk));
  }
  const slots = Array.from({ length: 8 }, () => []);
  for (const one of held) slots[one.slot].push(one.row);
  return { held, slots, wavefronts: Math.max(...slots.map((rows) => rows.length)) };
}
