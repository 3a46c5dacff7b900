// The elements of C that a thread keeps: the rule of layouts/traffic/thread_tile.py.
import { plural, quotient } from "./words.js";

const MOST = 255; // registers of a thread

export function threadTile(m, n) {
  const [values, fmas] = [m + n, m * n];
  const registers = fmas + values;
  const fits = registers <= MOST;
  const percent = Math.floor((200 * fmas + registers) / (2 * registers));
  const said = `${m} x ${n}: ${plural(values, "value")} read, ${plural(fmas, "FMA")}, ` +
    `${quotient(fmas, values)} for each value; ${percent} % of these instructions are FMAs. ` +
    `${plural(registers, "register")}.`;
  const words = fits ? said
    : `${said} A thread can have ${MOST}, so the compiler spills some to memory.`;
  return { values, fmas, registers, fits, percent, words };
}

// Row and column of the element that an FMA updates.
export const element = (n, instruction) => [Math.floor(instruction / n), instruction % n];
