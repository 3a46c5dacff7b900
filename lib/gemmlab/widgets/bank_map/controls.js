// The controls of BankMap. Each returns {el, set(state)}; `update(f)` lets f change the state.
import { h, segmented, select, stepper, textField } from "../shared/dom.js";

const LAYOUTS = [
  ["none", "as is"], ["pad", "padded"], ["swizzle", "swizzled"], ["formula", "formula"],
];
const SWIZZLE = [
  ["B", "B: how many bits change", 5],
  ["M", "M: the lowest bit that changes", 8],
  ["S", "S: how far above them the bits stand that are read", 12],
];
const ELEMENTS = [[2, "half"], [4, "float"], [8, "double"]];

// How the tile is laid out: the one control that every BankMap shows.
export function layoutControls(state, update) {
  const kind = segmented("Layout", LAYOUTS, state.kind, (key) =>
    update((s) => { s.kind = key; }));
  const pad = stepper("pad", state.pad, 0, 64, (value) =>
    update((s) => { s.pad = value; }), "unused elements after each row");
  const bits = SWIZZLE.map(([name, title, high], i) =>
    stepper(name, state.swizzle[i], 0, high, (value) => update((s) => {
      s.swizzle[i] = value;
      // S must be at least B: the one that was not touched gives way.
      if (i === 0) s.swizzle[2] = Math.max(s.swizzle[2], value);
      if (i === 2) s.swizzle[0] = Math.min(s.swizzle[0], value);
    }), title));
  const formula = textField("column =", state.formula, (text) =>
    update((s) => { s.formula = text; }), { wide: true });
  const panels = {
    pad: h("div", { class: "gl-steps" }, pad.el,
      h("span", { class: "gl-label" }, "elements after each row")),
    swizzle: h("div", { class: "gl-steps" }, bits.map((bit) => bit.el)),
    formula: h("div", { class: "gl-steps" }, formula.el),
  };
  const shown = h("div", { class: "gl-panel" }, Object.values(panels));
  const el = h("div", { class: "gl-row" }, kind.el, shown);
  const set = (s) => {
    kind.set(s.kind);
    pad.set(s.pad);
    bits.forEach((bit, i) => bit.set(s.swizzle[i]));
    formula.set(s.formula);
    for (const [key, panel] of Object.entries(panels)) panel.hidden = key !== s.kind;
    shown.hidden = !(s.kind in panels);
  };
  return { el, set };
}

// The folded editor of the access: pattern, widths, row length.
export function accessControls(config, update) {
  const change = (apply) => update((s) => apply(s.accesses[s.access], s));
  const known = Object.entries(config.presets);
  const preset = select("Pattern", [["", "my own"], ...known.map(([name]) => [name, name])], "",
    (name) => change((a) => { a.pattern = config.presets[name] ?? a.pattern; }));
  const text = textField("Row and column of each lane", "", (typed) =>
    change((a) => { a.pattern = typed; }), { wide: true });
  const store = segmented("Access", [[0, "load"], [1, "store"]], 0, (choice) =>
    change((a) => { a.store = choice === 1; delete a.op; }));
  const width = segmented("Bytes a lane", [2, 4, 8, 16].map((w) => [w, String(w)]), 4, (w) =>
    change((a, s) => { a.width = w; delete a.op; s.element = Math.min(s.element, w); }));
  const element = segmented("Element", ELEMENTS, 4, (bytes) => change((a, s) => {
    s.element = bytes;
    for (const access of s.accesses) access.width = Math.max(access.width, bytes);
  }));
  const length = select("Row length",
    [8, 16, 32, 64, 128, 256].map((count) => [count, `${count} elements`]), "",
    (count) => update((s) => { s.row_length = Number(count); }));
  const el = h("details", { class: "gl-more" }, h("summary", {}, "Change the access"),
    h("div", { class: "gl-row" }, preset.el, text.el),
    h("div", { class: "gl-row" }, store.el, width.el, element.el, length.el));
  const set = (s) => {
    const access = s.accesses[s.access];
    preset.set(known.find(([, formula]) => formula === access.pattern)?.[0] ?? "");
    text.set(access.pattern);
    store.set(access.store ? 1 : 0);
    width.set(access.width);
    element.set(s.element);
    length.set(s.row_length);
  };
  return { el, set };
}

// Two buttons that walk; the arrow keys do the same while one of them has the focus.
export function walker(label, go) {
  const text = h("span", { class: "gl-walk-text", "aria-live": "polite" });
  const button = (by, sign, name) => h("button", {
    type: "button", "aria-label": name, onclick: () => go(by),
  }, sign);
  const el = h("div", {
    class: "gl-walk", role: "group", "aria-label": label,
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      go(by);
    },
  }, text, button(-1, "‹", `${label}: back`), button(1, "›", `${label}: on`));
  return { el, set: (words) => { text.textContent = words; } };
}
