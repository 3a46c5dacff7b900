// A tile of C that walks along k: the rule of layouts/traffic/block_tile.py.
import { plural, quotient } from "./words.js";

// What a product of n x n in tiles of `tile` loads in all, and what one block has after `step` tiles.
export function blockTile(n, tile, step) {
  const steps = n / tile;
  const after = (count) => 2 * tile * tile * count;
  const [loaded, fmas] = [after(step), tile ** 3 * step];
  const words = `After ${plural(step, "tile")} of ${steps} along k the block has loaded ` +
    `${plural(loaded, "value")} and done ${plural(fmas, "FMA")}. Each value serves ` +
    `${plural(tile, "FMA")}: ${quotient(tile, 2)} for each load, as an FMA takes two values.`;
  return { steps, blocks: steps * steps, all: steps * steps * after(steps), loaded, fmas, words };
}
