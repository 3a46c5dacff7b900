// Numbers with their nouns: those of layouts/traffic/words.py.
export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

export function quotient(a, b) {
  const tenths = Math.floor((20 * a + b) / (2 * b));
  const whole = Math.floor(tenths / 10).toLocaleString("en");
  return tenths % 10 ? `${whole}.${tenths % 10}` : whole;
}
