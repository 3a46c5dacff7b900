// What every widget shares: elements, controls, and the two ways of being started.

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

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Redraws with `draw`, then lets the elements that carry the same data-key glide to their places.
export function glide(container, draw) {
  const before = new Map();
  if (!still() && container.isConnected) {
    for (const node of container.querySelectorAll("[data-key]")) {
      before.set(node.dataset.key, node.getBoundingClientRect());
    }
  }
  draw();
  if (!before.size) return;
  for (const node of container.querySelectorAll("[data-key]")) {
    const from = before.get(node.dataset.key);
    const to = node.getBoundingClientRect();
    if (!from || (from.left === to.left && from.top === to.top)) continue;
    const shift = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
    node.animate([{ transform: shift }, { transform: "none" }],
      { duration: 380, easing: "ease-out" });
  }
}

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

function prepare(root) {
  root.classList.add("gl");
  // JupyterLab would take the arrow keys for itself.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.addEventListener("keydown", (event) => event.stopPropagation());
}

// The anywidget face: `state` is read from the model and every change is written back to it.
export const liveWith = (mount) => ({
  render({ model, el }) {
    prepare(el);
    const read = () => structuredClone(model.get("state"));
    let mine = "";
    const set = mount(el, model.get("config"), read(), (state) => {
      mine = JSON.stringify(state);
      model.set("state", structuredClone(state));
      model.save_changes();
    });
    model.on("change:state", () => {
      if (JSON.stringify(model.get("state")) !== mine) set(read());
    });
  },
});

// The static face: takes over the first element of that key that still shows its picture.
export const bootWith = (mount) => (key, config, state) => {
  const root = document.querySelector(`[data-gemmlab="${key}"]:not([data-live])`);
  if (!root) return;
  root.setAttribute("data-live", "");
  root.replaceChildren();
  prepare(root);
  mount(root, config, state, () => {});
};
