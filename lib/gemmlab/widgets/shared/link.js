// A widget's state in a link: "#BankMap.2?kind=pad&pad=1" is the page's second BankMap, so set. The
// same text in a phrase of the prose, <a class="gemmlab-set" href="#BankMap?kind=pad">, sets the
// nearest one.
const LINK = /^#([A-Z]\w*)(?:\.(\d+))?\?(.*)$/;

// What a value of the state may be: (value, config, whole state) -> boolean.
export const oneOf = (list) => (value) => list.includes(value);
export const whole = (low, high) => (value) =>
  Number.isInteger(value) && value >= low && value <= high;
export const isText = (value) => typeof value === "string" && value.length <= 200;
export const isTruth = (value) => typeof value === "boolean";
export const orNone = (rule) => (value, ...rest) => value === null || rule(value, ...rest);

// {name, number or null, given: {key: text}} of a link's fragment; null for other fragments.
export function readLink(fragment) {
  const found = LINK.exec(fragment);
  return found && { name: found[1], number: found[2] ? Number(found[2]) : null,
    given: Object.fromEntries(new URLSearchParams(found[3])) };
}

// The fragment that changes `initial` to `state`; text stands as it is, all else as JSON.
export function writeLink(name, number, initial, state) {
  const changed = Object.entries(state).filter(([key, value]) =>
    JSON.stringify(value) !== JSON.stringify(initial[key]));
  return `#${name}.${number}?${new URLSearchParams(changed.map(([key, value]) =>
    [key, typeof value === "string" ? value : JSON.stringify(value)]))}`;
}

function valueOf(text, was) {
  if (typeof was === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The state with what a link gives: {state, wrong: the keys that do not fit, in words}.
export function withGiven(rules, config, state, given) {
  const next = structuredClone(state);
  const keys = Object.keys(given);
  for (const key of keys) if (rules[key]) next[key] = valueOf(given[key], state[key]);
  const wrong = keys.filter((key) => !rules[key] || !rules[key](next[key], config, next));
  return { state: wrong.length ? state : next, wrong: wrong.map((key) => `${key}=${given[key]}`) };
}
