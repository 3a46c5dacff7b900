// What wgmma reads for an operand, in words, as layouts/wgmma/operand_words.py has it.
import { MODES, coreOf, coreWavefronts, pieceAt } from "./operand.js";

const bytesText = (value) => value.toLocaleString("en");

// The elements of a piece.
const pieceName = (o, row, k) => (o.mnMajor ? `k ${k}, rows ${row} to ${row + 7}`
  : `row ${row}, k ${k} to ${k + 7}`);

export function tellOperand(pieces) {
  const right = pieces.filter((one) => one.right).length;
  if (right === pieces.length) return `All ${right} pieces are the right ones.`;
  const outside = pieces.filter((one) => one.found === null).length;
  const twice = pieces.length - new Set(pieces.map((one) => one.read)).size;
  const parts = [`${right} of ${pieces.length} pieces are the right ones`];
  if (twice) parts.push(`${twice} are read a second time in another's place`);
  if (outside) parts.push(`${outside} lie behind the tile`);
  return `${parts.join("; ")}. No error: the tensor cores multiply what lies there.`;
}

export function tellPiece(o, piece) {
  const wanted = `For ${pieceName(o, piece.row, piece.k)} wgmma reads byte ${bytesText(piece.read)}`;
  if (piece.right) return `${wanted}, where it lies.`;
  const own = `It lies at ${bytesText(piece.wanted)}`;
  if (piece.found === null) return `${wanted}, behind the tile. ${own}.`;
  return `${wanted}, where ${pieceName(o, ...piece.found)} lies. ${own} itself.`;
}

// The core matrix of a piece: what it is of, and how many wavefronts it takes.
export function tellCore(o, pieces, index) {
  const core = coreOf(o, index).map((i) => pieces[i]);
  const [{ row, k }, count] = [core[0], coreWavefronts(core)];
  const cost = count === 1 ? "one wavefront" : `${count} wavefronts`;
  const spread = count === 1 ? "all eight columns of banks" : "too few columns of banks";
  return `Its core matrix, rows ${row} to ${row + 7} by k ${k} to ${k + 7}, is read from ` +
    `${spread}: ${cost}.`;
}

export const tellByte = (o, offset) =>
  `Byte ${bytesText(Math.floor(offset / 16) * 16)}: ${pieceName(o, ...pieceAt(o, offset))}.`;

// [bits, name, the field's number, what it says] of each field.
export function descriptorFields(given) {
  const swizzle = given.span === 16 ? "no swizzle" : `${given.span}-byte swizzle`;
  return [["0-13", "start address", "start"], ["16-29", "leading offset", "leading"],
    ["32-45", "stride offset", "stride"]].map(([bits, name, key]) =>
    [bits, name, String(given[key] / 16), `${bytesText(given[key])} bytes`])
    .concat([["62-63", "swizzle", String(MODES[given.span]), swizzle]]);
}
