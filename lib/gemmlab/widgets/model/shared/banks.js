// Banks, wavefronts, layouts and patterns: the same integer rules and messages as
// layouts/shared/banks.py and layouts/shared/access.py, which tests hold equal to this file.
import { compileExpression, compileProgram } from "./formula.js";

export const WARP = 32;
export const BANKS = 32;
const BANK_BYTES = 4;
// Instructions that are served as a store is, and how many lanes give an address.
const OPS = { "cp.async": WARP };
for (const n of [1, 2, 4]) OPS[`ldmatrix.x${n}`] = OPS[`stmatrix.x${n}`] = 8 * n;
const range = (count) => Array.from({ length: count }, (_, i) => i);

function onePhase(addresses, lanes, width) {
  const wanted = new Map();
  for (const lane of lanes) {
    const first = Math.floor(addresses[lane] / BANK_BYTES);
    for (let index = first; index < first + Math.max(1, width / BANK_BYTES); index++) {
      wanted.set(index, [...(wanted.get(index) ?? []), lane]);
    }
  }
  const queue = new Array(BANKS).fill(0);
  const words = [...wanted].map(([index, users]) => {
    const bank = index % BANKS;
    return { index, bank, wavefront: queue[bank]++, lanes: users };
  });
  return { lanes, words, wavefronts: Math.max(...queue) };
}

// A request by the groups of lanes that are served together, each a phase.
export function served(addresses, width, groups, minimum = groups.length) {
  const phases = groups.map((lanes) => onePhase(addresses, lanes, width));
  const total = phases.reduce((sum, phase) => sum + phase.wavefronts, 0);
  return { phases, wavefronts: total, minimum, conflicts: total - minimum };
}

// Whether the lanes agree in pairs: each has the address of lane n ^ 1, or each that of n ^ 2.
const agree = (addresses, lanes) =>
  [1, 2].some((step) => lanes.every((n) => addresses[n] === addresses[n ^ step]));

// How a warp's request is served: phases of words, each word in one bank and one wavefront. Two
// phases of a load whose lanes agree are joined, unless a conflict parts them.
export function wavefronts(addresses, width, store) {
  const size = width <= BANK_BYTES ? WARP : (WARP * BANK_BYTES) / width;
  const apart = range(addresses.length / size).map((i) => range(size).map((n) => i * size + n));
  if (store || width <= BANK_BYTES) return served(addresses, width, apart);
  const groups = [];
  let minimum = 0;
  for (let i = 0; i < apart.length; i += 2) {
    const two = [apart[i], apart[i + 1]];
    const both = two.flat();
    const joined = served(addresses, width, [both]).wavefronts;
    const joins = agree(addresses, both);
    const shown = joins && [1, served(addresses, width, two).wavefronts].includes(joined);
    groups.push(...(shown ? [both] : two));
    minimum += joins ? 1 : 2;
  }
  return served(addresses, width, groups, minimum);
}

// The banks that must deliver more than one word in this phase, worst first.
export function collisions(phase) {
  return range(BANKS)
    .map((bank) => phase.words.filter((word) => word.bank === bank))
    .filter((words) => words.length > 1)
    .sort((a, b) => b.length - a.length);
}

export const uniqueLanes = (words) =>
  [...new Set(words.flatMap((word) => word.lanes))].sort((a, b) => a - b);

export const plural = (count, noun) => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`);

export function laneList(lanes) {
  const last = lanes[lanes.length - 1];
  if (lanes.length === 1) return `lane ${lanes[0]}`;
  if (lanes.length > 2 && last - lanes[0] === lanes.length - 1) {
    return `lanes ${lanes[0]} to ${last}`;
  }
  if (lanes.length > 8) {
    return `${lanes.length} lanes (${lanes.slice(0, 3).join(", ")}, ... ${last})`;
  }
  return `lanes ${lanes.join(", ")}`;
}

// The request in words: wavefronts, minimum, the surplus, and who meets where.
export function describe(request) {
  const count = plural(request.wavefronts, "wavefront");
  if (!request.conflicts) return `${count}, the minimum is ${request.minimum}: no conflict.`;
  const worst = request.phases.reduce((a, b) => (b.wavefronts > a.wavefronts ? b : a));
  const crowded = collisions(worst);
  const lanes = uniqueLanes(crowded[0]);
  const bank = crowded[0][0].bank;
  const others = crowded.filter((words) => words.length === crowded[0].length).length - 1;
  let where = `${laneList(lanes)} meet in bank ${bank}`;
  if (lanes.length === 1) {
    where = `${laneList(lanes)} alone needs ${crowded[0].length} words of bank ${bank}`;
  }
  if (request.phases.length > 1) where = `in phase ${request.phases.indexOf(worst) + 1} ${where}`;
  const also = others ? `, and as many in ${plural(others, "other bank")}` : "";
  where = where[0].toUpperCase() + where.slice(1);
  const { minimum, conflicts } = request;
  return `${count}, the minimum is ${minimum}: ${conflicts} too many. ${where}${also}.`;
}

export function swizzle([b, m, s], offset) {
  const read = offset & (((1 << b) - 1) << (m + Math.max(s, 0)));
  return offset ^ (s >= 0 ? read >> s : read << -s);
}

// place(row, col): the element offset at which a layout keeps an element of the tile.
export function placement(layout, tile) {
  const length = tile.row_length;
  if (layout.kind === "pad") return (row, col) => row * (length + layout.pad) + col;
  if (layout.kind === "swizzle") return swizzled(layout.swizzle, tile);
  if (layout.kind === "formula") return formulaPlacement(layout.formula, tile);
  return (row, col) => row * length + col;
}

function swizzled(bits, tile) {
  const size = tile.rows * tile.row_length;
  for (let offset = 0; offset < size; offset++) {
    if (swizzle(bits, offset) >= size) {
      throw new Error(`layout: Swizzle<${bits.join(",")}> sends an element out of the tile`);
    }
  }
  return (row, col) => swizzle(bits, row * tile.row_length + col);
}

function formulaPlacement(text, tile) {
  const length = tile.row_length;
  const compute = compileExpression(text, ["row", "col", "L"]);
  const columns = range(tile.rows).map((row) => {
    const to = range(length).map((col) => {
      const target = compute({ row, col, L: length });
      if (!(target >= 0 && target < length)) {
        throw new Error(
          `formula: column ${col} of row ${row} goes to column ${target}, outside the row`);
      }
      return target;
    });
    if (new Set(to).size < length) {
      throw new Error(`formula: two elements of row ${row} go to the same place`);
    }
    return to;
  });
  return (row, col) => row * length + columns[row][col];
}

// [row, col] of the first element of each lane that gives an address.
export function laneElements(access, tile) {
  const run = compileProgram(access.pattern, ["lane", "n", "L"], ["row", "col"]);
  const n = Math.max(1, access.width / tile.element);
  return range(OPS[access.op] ?? WARP).map((lane) => {
    const at = run({ lane, n, L: tile.row_length });
    return [at.row, at.col];
  });
}

function checkInside(access, tile, [row, col], lane) {
  const n = Math.max(1, access.width / tile.element);
  if (row >= 0 && row < tile.rows && col >= 0 && col <= tile.row_length - n) return;
  throw new Error(`pattern: lane ${lane} wants row ${row}, column ${col}, outside the tile of ` +
    `${tile.rows} x ${tile.row_length}`);
}

function address(access, tile, place, lane, [row, col]) {
  const n = Math.max(1, access.width / tile.element);
  const first = place(row, col);
  if (range(n).some((j) => place(row, col + j) !== first + j)) {
    throw new Error(`layout: it parts the ${n} elements of lane ${lane}; one access of ` +
      `${access.width} bytes needs neighbours`);
  }
  const bytes = first * tile.element;
  if (bytes % access.width) {
    throw new Error(`layout: lane ${lane} is at byte ${bytes}, no multiple of ${access.width}; ` +
      "the GPU would report a misaligned address");
  }
  return bytes;
}

// Everything that a picture needs, or {error} with the sentence that Python would raise.
export function evaluate(access, tile, layout) {
  try {
    const place = placement(layout, tile);
    const elements = laneElements(access, tile);
    elements.forEach((at, lane) => checkInside(access, tile, at, lane));
    const addresses = elements.map((at, lane) => address(access, tile, place, lane, at));
    const request = wavefronts(addresses, access.width, access.store || Boolean(access.op));
    return { place, elements, addresses, request, reading: describe(request) };
  } catch (error) {
    return { error: error.message };
  }
}
