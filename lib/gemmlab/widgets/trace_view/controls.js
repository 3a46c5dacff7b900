// The controls of TraceView: the list of source lines, and the slider over wavefronts.
import { h, uid } from "../shared/dom.js";
import { plural } from "../model/shared/banks.js";

// What one request of a line takes on average, in words, and whether that is more than it must.
export function costText(entry) {
  const [each, least] = [entry.cost, entry.least].map((sum) =>
    Number((sum / entry.requests).toFixed(2)));
  const text = plural(each, entry.memory === "shared" ? "wavefront" : "sector");
  return entry.cost > entry.least ? `▲ ${text}, least ${least}` : text;
}

// Source lines, each with a choice for every kind of access that it makes: native radio buttons.
// Returns {el, set(index), more: how many lines are out of sight}.
export function lineList(lines, picked) {
  const name = uid("gl-line");
  const inputs = [];
  const rows = new Map();
  lines.forEach((entry, i) => {
    const input = h("input", {
      type: "radio", name, value: String(i), onchange: () => picked(i),
      "aria-label": `line ${entry.line}, ${entry.op} ${entry.width} bytes, ${costText(entry)}`,
    });
    inputs.push(input);
    if (!rows.has(entry.line)) {
      const chips = h("span", { class: "gl-chips" });
      rows.set(entry.line, { chips, el: h("div", { class: "gl-srcline" },
        h("span", { class: "gl-srcno" }, String(entry.line)),
        h("code", { class: "gl-srccode", onclick: () => input.click() }, entry.code), chips) });
    }
    const kind = entry.cost > entry.least ? "gl-chip-cost gl-more-cost" : "gl-chip-cost";
    rows.get(entry.line).chips.append(h("label", { class: "gl-chip" }, input,
      h("span", { class: "gl-chip-text" }, h("b", {}, `${entry.op} ${entry.width} B`),
        h("span", { class: kind }, costText(entry)))));
  });
  const el = h("div", {
    class: "gl-lines", role: "radiogroup", "aria-label": "Source line and access",
    onscroll: () => tellHidden(),
  }, [...rows.values()].map((row) => row.el));
  const more = h("span", { class: "gl-legend" });
  // How many lines are out of sight, since a list may show no scroll bar.
  function tellHidden() {
    const all = [...rows.values()].map((row) => row.el);
    const above = all.filter((row) => row.offsetTop + row.offsetHeight / 2 < el.scrollTop).length;
    const below = all.filter((row) =>
      row.offsetTop + row.offsetHeight / 2 > el.scrollTop + el.clientHeight).length;
    el.classList.toggle("gl-more-above", above > 0);
    el.classList.toggle("gl-more-below", below > 0);
    more.textContent = [above ? `▲ ${above} more above` : "", below ? `▼ ${below} more below` : ""]
      .filter(Boolean).join("   ");
  }
  new ResizeObserver(tellHidden).observe(el);
  const set = (index) => {
    inputs[index].checked = true;
    const row = inputs[index].closest(".gl-srcline");
    // Within the list only: a page must not jump when a widget starts.
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < el.scrollTop) el.scrollTop = top;
    if (bottom > el.scrollTop + el.clientHeight) el.scrollTop = bottom - el.clientHeight;
    tellHidden();
  };
  return { el, set, more };
}

// From 0 (everything) to the last step, with what is shown in words beside it.
// Returns {el, set(value, last, words)}.
export function slider(label, moved) {
  const input = h("input", {
    type: "range", min: 0, step: 1, class: "gl-range", "aria-label": label,
    oninput: () => moved(Number(input.value)),
  });
  const button = (by, sign, name) => h("button", {
    type: "button", "aria-label": `${label}: ${name}`,
    onclick: () => moved((Number(input.value) + by + Number(input.max) + 1) % (Number(input.max) + 1)),
  }, sign);
  const text = h("span", { class: "gl-walk-text", "aria-hidden": "true" });
  const el = h("div", { class: "gl-stepper" }, text,
    h("span", { class: "gl-walk" }, button(-1, "‹", "back"), input, button(1, "›", "on")));
  const set = (value, last, words) => {
    input.max = String(last);
    input.value = String(value);
    input.setAttribute("aria-valuetext", words);
    text.textContent = words;
  };
  return { el, set };
}
