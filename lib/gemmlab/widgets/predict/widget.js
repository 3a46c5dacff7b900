// Predict: the reader commits to a number or a choice, then sees the truth and how it came about.
import { bootWith, h, inline, liveWith, uid } from "../shared/dom.js";
import { orNone } from "../shared/link.js";

// "1,024", "0.5" or "1e3" as a number, else null.
export function readNumber(text) {
  const plain = text.trim().replace(/(\d)[,_ ](?=\d{3}(\D|$))/g, "$1");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

// Whether a guess counts as right; the same rule as in widgets/predict/__init__.py.
export function isRight(config, guess) {
  if (config.choices) return guess === config.answer;
  const { absolute, relative } = config.tolerance;
  const slack = Math.max(absolute, relative * Math.abs(config.answer));
  return Math.abs(guess - config.answer) <= slack * (1 + 1e-9);
}

// [what is given, the question]: only the last sentence is set bold, if it is a question.
export function parts(text) {
  const kept = text.replace(/(\d) to (\d)/g, "$1\u00a0to\u00a0$2");
  const cut = kept.match(/^([^]*[.?!:])\s+((?:`[^`]*`|[^`.?!:]|[.:](?=\S))+\?)\s*$/);
  return cut ? [cut[1], cut[2]] : ["", kept];
}

const shown = (config, value) =>
  typeof value === "number" && config.unit ? `${value} ${config.unit}` : String(value);

// How far off a number is, as a factor, where that says something.
export function distance(config, guess) {
  if (config.choices || guess <= 0 || config.answer <= 0) return "";
  const factor = guess / config.answer;
  if (factor > 0.67 && factor < 1.5) return "";
  const round = (x) => String(Number(x.toPrecision(3)));
  return factor > 1 ? ` That is ${round(factor)} times the answer.`
    : ` That is 1/${round(1 / factor)} of the answer.`;
}

// Guess and truth as bars on one scale, where both are numbers above 0 (or 0).
function bars(config, guess) {
  if (config.choices || guess < 0 || config.answer < 0 || guess === config.answer) return null;
  const most = Math.max(guess, config.answer);
  const bar = (name, value, kind, text) => h("div", { class: `gl-p-bar ${kind}` },
    h("span", {}, name), h("i", { style: `--v:${value / most}` }), h("b", {}, text));
  return h("div", { class: "gl-p-bars", role: "img",
    "aria-label": `You said ${shown(config, guess)}, the answer is ${config.shown}` },
  bar("you", guess, "", shown(config, guess)), bar("truth", config.answer, "gl-p-true", config.shown));
}

function mount(root, config, initial, changed) {
  let state = initial;
  const question = uid("gl-question");
  const problem = uid("gl-problem");
  const number = h("input", {
    type: "text", inputmode: "decimal", class: "gl-text gl-guess", autocomplete: "off",
    "aria-labelledby": question, "aria-describedby": problem,
  });
  const [facts, asks] = parts(config.question);
  const name = uid("gl-option");
  const options = (config.choices ?? []).map((choice) => h("input", {
    type: "radio", name, value: choice,
  }));
  const entry = config.choices
    ? h("div", { class: "gl-options", role: "radiogroup", "aria-labelledby": question },
      options.map((input) => h("label", { class: "gl-option" }, input,
        h("span", {}, inline(input.value)))))
    : h("div", { class: "gl-entry" }, number, config.unit ? h("span", {}, config.unit) : null);
  const commit = h("button", { type: "submit", class: "gl-button" }, "Check my guess");
  const warning = h("div", { class: "gl-bad", id: problem, "aria-live": "polite" });
  const result = h("div", { class: "gl-verdict", tabindex: -1, "aria-live": "polite" });

  function submit(event) {
    event.preventDefault();
    const guess = config.choices
      ? options.find((input) => input.checked)?.value ?? null
      : readNumber(number.value);
    warning.textContent = guess !== null ? ""
      : config.choices ? "Pick one first." : "Type a number, such as 12 or 0.5.";
    if (guess === null) {
      (options[0] ?? number).focus();
      return;
    }
    state = { guess, first: state.first ?? guess };
    changed(state);
    render();
    result.focus();
  }

  // Grey until there is something to check.
  function ready() {
    const given = config.choices ? options.some((input) => input.checked) : number.value.trim();
    commit.setAttribute("aria-disabled", String(!given));
  }

  function again() {
    state = { guess: null, first: state.first };
    changed(state);
    number.value = "";
    for (const input of options) input.checked = false;
    render();
    (options[0] ?? number).focus();
  }

  function verdict() {
    const right = isRight(config, state.guess);
    const first = state.first === state.guess ? ""
      : ` Your first prediction was ${shown(config, state.first)}.`;
    const said = config.choices ? "" : `You said ${shown(config, state.guess)}.`;
    const off = right ? "" : distance(config, state.guess);
    const past = `${said}${off}${first}`;
    return [
      h("div", { class: right ? "gl-good" : "gl-bad" },
        h("b", {}, right ? "✓ Right: " : "✗ The answer is: "), h("b", {}, inline(config.shown))),
      past ? h("div", { class: "gl-label gl-said" }, inline(past)) : null,
      bars(config, state.guess),
      config.explain ? h("div", {}, inline(config.explain)) : null,
      h("button", { type: "button", class: "gl-again", onclick: again }, "Hide and predict again"),
    ].filter(Boolean);
  }

  function render() {
    const open = state.guess !== null;
    root.classList.toggle("gl-open", open);
    for (const input of [number, ...options]) input.disabled = open;
    commit.hidden = open;
    if (open && !config.choices) number.value = String(state.guess);
    for (const input of options) {
      if (open) input.checked = input.value === state.guess;
      input.parentElement.classList.toggle("gl-truth", open && input.value === config.answer);
    }
    result.replaceChildren(...(open ? verdict() : []));
    ready();
  }

  root.append(h("form", { class: "gl-card gl-predict", novalidate: true, onsubmit: submit, oninput: ready },
    h("div", { class: "gl-kicker" }, "Predict"),
    h("div", { class: "gl-p-question", id: question },
      facts ? [h("span", {}, inline(facts)), " "] : null, h("b", {}, inline(asks))),
    h("div", { class: "gl-ask" }, entry, commit), warning, result));
  render();
  return (next) => {
    state = next;
    render();
  };
}

const isGuess = orNone((value, config) => (config.choices ? config.choices.includes(value)
  : typeof value === "number" && Number.isFinite(value)));
const RULES = { name: "Predict", allows: { guess: isGuess, first: isGuess } };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
