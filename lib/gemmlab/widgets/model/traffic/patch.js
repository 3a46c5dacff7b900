// One load of a warp from a row-major matrix: the rule of layouts/traffic/patch.py.
import { plural } from "./words.js";

export const PER_SECTOR = 8;
const [LANES, FLOAT] = [32, 4];

// {rows, row, column} -> every lane's place, the sectors with the elements read, and the sentence.
export function patch({ rows, row, column }) {
  const columns = LANES / rows;
  const places = Array.from({ length: LANES }, (_, lane) =>
    [row + Math.floor(lane / columns), column + (lane % columns)]);
  const sectors = new Map();
  for (const [r, c] of places) {
    const key = `${r},${Math.floor(c / PER_SECTOR)}`;
    sectors.set(key, (sectors.get(key) ?? 0) + 1);
  }
  const moved = sectors.size * PER_SECTOR * FLOAT;
  const read = LANES * FLOAT;
  const percent = Math.floor((200 * read + moved) / (2 * moved));
  const words = `${plural(rows, "row")} of ${plural(columns, "lane")} from column ${column} on: ` +
    `${plural(sectors.size, "sector")}, ${moved.toLocaleString("en")} bytes moved for ${read} that ` +
    `are read, ${percent} %.`;
  return {
    columns, places, moved, read, percent, words,
    sectors: [...sectors].map(([key, used]) => [...key.split(",").map(Number), used]),
  };
}
