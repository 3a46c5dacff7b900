// What every widget shares: elements, controls, and the two ways of being started.
import { readLink, withGiven, writeLink } from "./link.js";

// JupyterLab loads the module once per widget: without the random part two widgets would share the
// names of their radio buttons, and choosing in one would clear the other.
const copy = Math.random().toString(36).slice(2, 8);
let serial = 0;
export const uid = (prefix) => `${prefix}-${copy}-${++serial}`;

// h("div", {class: "x", onclick: f, "aria-label": "y"}, child, "text", [more])
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") node.style.cssText = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Escaped text in which `code` and **bold** are marked up, as an array of nodes.
export function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (/^`[^`]+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*\*[^*]+\*\*$/.test(part)) return h("strong", {}, part.slice(2, -2));
    return part;
  });
}

// A row of exclusive choices: native radio buttons, so arrow keys and screen readers work.
// options: [[value, label node or text], ...]. Returns {el, set(value), label(value, node)}.
export function segmented(legend, options, value, picked, { hidden = false } = {}) {
  const name = uid("gl-choice");
  const inputs = new Map();
  const texts = new Map();
  const labels = options.map(([key, text]) => {
    const input = h("input", {
      type: "radio", name, value: String(key), onchange: () => picked(key),
    });
    const shown = h("span", { class: "gl-seg-text" }, text);
    inputs.set(key, input);
    texts.set(key, shown);
    return h("label", { class: "gl-seg" }, input, shown);
  });
  const el = h("div", { class: "gl-field", role: "radiogroup", "aria-label": legend },
    hidden ? null : h("span", { class: "gl-label", "aria-hidden": "true" }, legend),
    h("div", { class: "gl-segs" }, labels));
  const set = (key) => {
    if (inputs.has(key)) inputs.get(key).checked = true;
  };
  set(value);
  return { el, set, label: (key, ...nodes) => texts.get(key).replaceChildren(...nodes) };
}

// A small integer with a button on either side; the arrow keys work while it has the focus.
export function stepper(label, value, low, high, changed, title = label) {
  const shown = h("output", { class: "gl-step-value" });
  const button = (by, sign, name) => h("button", {
    type: "button", onclick: () => move(by), "aria-label": `${title}: ${name}`,
  }, sign);
  const [less, more] = [button(-1, "−", "less"), button(1, "+", "more")];
  let current = value;
  const set = (next) => {
    current = next;
    shown.textContent = String(next);
    less.setAttribute("aria-disabled", String(next <= low));
    more.setAttribute("aria-disabled", String(next >= high));
  };
  const move = (by) => {
    if (current + by >= low && current + by <= high) changed(current + by);
  };
  const el = h("div", {
    class: "gl-step", role: "group", "aria-label": title, title,
    onkeydown: (event) => {
      const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      move(by);
    },
  }, h("span", { class: "gl-label" }, label), less, shown, more);
  set(value);
  return { el, set };
}

export function textField(label, value, changed, { wide = false } = {}) {
  const input = h("input", {
    type: "text", class: "gl-text", spellcheck: "false", autocapitalize: "off",
    autocomplete: "off", "aria-label": label, maxlength: 160,
    oninput: () => changed(input.value),
  });
  input.value = value;
  const el = h("label", { class: wide ? "gl-field gl-wide" : "gl-field" },
    h("span", { class: "gl-label" }, label), input);
  return { el, set: (next) => { if (input.value !== next) input.value = next; } };
}

export function select(label, options, value, changed) {
  const input = h("select", {
    class: "gl-select", "aria-label": label, onchange: () => changed(input.value),
  }, options.map(([key, text]) => h("option", { value: key }, text)));
  input.value = value;
  const el = h("label", { class: "gl-field" }, h("span", { class: "gl-label" }, label), input);
  return { el, set: (next) => { input.value = next; } };
}

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Arrow keys over the elements `[data-row][data-col]` of a grid, one of which is in the tab order.
export function roving(grid) {
  const items = () => [...grid.querySelectorAll("[data-row]")];
  grid.addEventListener("focusin", (event) => {
    if (!event.target.dataset.row) return;
    for (const item of items()) item.tabIndex = item === event.target ? 0 : -1;
  });
  grid.addEventListener("keydown", (event) => {
    const at = event.target.dataset;
    const [dr, dc] = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    }[event.key] ?? [0, 0];
    if (!at.row || (!dr && !dc)) return;
    event.preventDefault();
    const [row, col] = [Number(at.row), Number(at.col)];
    const along = (item) => (dr ? (item.dataset.row - row) * dr : (item.dataset.col - col) * dc);
    const aside = (item) => Math.abs(dr ? item.dataset.col - col : item.dataset.row - row);
    const next = items().filter((item) => along(item) > 0)
      .sort((a, b) => aside(a) * 100 + along(a) - aside(b) * 100 - along(b))[0];
    next?.focus();
  });
}

// Sets a text, and lets it light up if it is another one than before.
export function setText(node, text) {
  if (node.textContent === text) return;
  const first = !node.textContent;
  node.textContent = text;
  if (!first) flash(node);
}

export function flash(node) {
  if (still() || !node.animate) return;
  const glow = (part) =>
    `inset 0 0 0 99px color-mix(in srgb, var(--gl-accent) ${part}%, transparent)`;
  node.animate([{ boxShadow: glow(32) }, { boxShadow: glow(0) }], 900);
}

const spaced = (name) => name.replace(/(?!^)([A-Z])/g, " $1");
const named = (name) => [...document.querySelectorAll(`.gl[data-widget="${name}"]`)];

function prepare(root, { name }, config) {
  root.classList.add("gl");
  if (name) root.dataset.widget = name;
  const about = (config.caption || config.question || config.title || "").replace(/[`*]/g, "");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label",
    spaced(root.dataset.widget ?? "Widget") + (about ? `: ${about}` : ""));
  // JupyterLab would take the arrow keys for itself.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.addEventListener("keydown", (event) => event.stopPropagation());
}

// A sentence above the widget, about a link.
function remark(root, text) {
  root.querySelector(":scope > .gl-note")?.remove();
  if (text) root.prepend(h("p", { class: "gl-note", role: "status" }, text));
}

const unfit = (wrong) => `The link asks for ${wrong.join(", ")}, which this widget cannot show; ` +
  "it is as the page has it.";

// The widget that a phrase sets: the nearest of that name, or the one with that number.
function addressed(link, from) {
  const all = named(link.name);
  if (link.number) return all[link.number - 1];
  const far = (root) => Math.abs(root.getBoundingClientRect().top - from);
  return all.sort((a, b) => far(a) - far(b))[0];
}

// Phrases of the prose become buttons; without scripts they are plain text.
function drive() {
  for (const phrase of document.querySelectorAll("a.gemmlab-set")) {
    phrase.setAttribute("role", "button");
  }
  const html = document.documentElement;
  if (html.dataset.gemmlabSet) return;
  html.dataset.gemmlabSet = "";
  const set = (event) => {
    const phrase = event.target.closest?.("a.gemmlab-set");
    if (!phrase || (event.key && event.key !== " " && event.key !== "Enter")) return;
    const link = readLink(phrase.getAttribute("href"));
    const root = link && addressed(link, phrase.getBoundingClientRect().top);
    if (!root) return;
    event.preventDefault();
    event.stopPropagation();
    root.dispatchEvent(new CustomEvent("gemmlab-set", { detail: link.given }));
    root.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
    flash(root.querySelector(".gl-card") ?? root);
  };
  // Before JupyterLab sees them.
  document.addEventListener("click", set, true);
  document.addEventListener("keydown", set, true);
}

const CHAIN = "M7 11a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M11 7a3.5 3.5 0 0 0-5 0l-3 3" +
  "a3.5 3.5 0 0 0 5 5l1-1";

// A button that copies the page's address with the state in it.
function linkButton(root, name, initial, now) {
  const said = h("span", { class: "gl-link-said", role: "status" });
  async function copyLink() {
    const fragment = writeLink(name, named(name).indexOf(root) + 1, initial, now());
    const address = location.href.replace(/#.*$/, "") + fragment;
    let done = "Link copied";
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      history.replaceState(null, "", fragment);
      done = "The page's address now has this state";
    }
    said.textContent = done;
    setTimeout(() => { said.textContent = ""; }, 2500);
  }
  const button = h("button", {
    type: "button", class: "gl-link", "aria-label": "Copy link", title: "Copy a link to this state",
    onclick: copyLink,
  });
  button.innerHTML = `<svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">` +
    `<path d="${CHAIN}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>`;
  return h("div", { class: "gl-link-box" }, said, button);
}

// Lets a phrase of the prose set the widget. `now` reads the state, `take` sets it.
function settable(root, rules, config, now, take) {
  root.addEventListener("gemmlab-set", ({ detail }) => {
    const { state, wrong } = withGiven(rules.allows, config, now(), detail);
    remark(root, wrong.length ? unfit(wrong) : "");
    if (!wrong.length) take(state);
  });
  drive();
}

// The anywidget face: `state` is read from the model and every change is written back to it.
// rules: {name, allows: what a link may set, by key of the state}.
export const liveWith = (mount, rules = {}) => ({
  render({ model, el }) {
    const config = model.get("config");
    prepare(el, rules, config);
    const read = () => structuredClone(model.get("state"));
    let mine = "";
    const write = (state) => {
      mine = JSON.stringify(state);
      model.set("state", structuredClone(state));
      model.save_changes();
    };
    const set = mount(el, config, read(), write);
    model.on("change:state", () => {
      if (JSON.stringify(model.get("state")) !== mine) set(read());
    });
    if (rules.allows) {
      settable(el, rules, config, read, (state) => { set(structuredClone(state)); write(state); });
    }
  },
});

// The static face: takes over the first element of that key that still shows its picture.
export const bootWith = (mount, rules = {}) => (key, config, initial) => {
  const root = document.querySelector(`[data-gemmlab="${key}"]:not([data-live])`);
  if (!root) return;
  root.setAttribute("data-live", "");
  root.replaceChildren();
  prepare(root, rules, config);
  let current = structuredClone(initial);
  const set = mount(root, config, structuredClone(initial), (state) => {
    current = structuredClone(state);
  });
  if (!rules.allows) return;
  const take = (state) => {
    current = structuredClone(state);
    set(structuredClone(state));
  };
  settable(root, rules, config, () => current, take);
  (root.querySelector(".gl-card") ?? root).prepend(
    linkButton(root, rules.name, initial, () => current));
  function follow() {
    const link = readLink(location.hash);
    const number = named(rules.name).indexOf(root) + 1;
    if (link?.name !== rules.name) return;
    const asked = link.number ?? 1;
    if (number === 1 && asked > named(rules.name).length) {
      remark(root, `The link asks for ${spaced(rules.name)} ${asked}, which this page does not have.`);
    }
    if (number !== asked) return;
    const { state, wrong } = withGiven(rules.allows, config, initial, link.given);
    remark(root, wrong.length ? unfit(wrong) : "");
    if (!wrong.length) take(state);
    // Once more when the widgets above have their own heights.
    for (const wait of [0, 500]) setTimeout(() => root.scrollIntoView({ block: "center" }), wait);
  }
  follow();
  addEventListener("hashchange", follow);
};
