// TensorMapFields: the arguments of cuTensorMapEncodeTiled, each with its value and its rule.
import {
  bootWith, flash, h, inline, liveWith, segmented, select, textField
} from "../shared/dom.js";
import { isText, oneOf, orNone, whole } from "../shared/link.js";
import { DTYPES, SPANS, problems, sizes } from "../model/tma/tensor_map.js";
import { describeMap } from "../model/tma/words.js";

const NUMBERS = [
  ["rows", "Rows"], ["columns", "Columns"], ["row_stride", "Row stride"],
  ["box_rows", "Box rows"], ["box_columns", "Box columns"],
];
const TYPES = { bf16: "BFLOAT16", fp16: "FLOAT16", fp32: "FLOAT32", uint8: "UINT8" };
const LONG = "CU_TENSOR_MAP_";

export const mapOf = ({ shown, ...map }) => map;

// What each argument of the call is, written as in C.
export function valuesOf(map) {
  const { stride } = sizes(map);
  return {
    tensorMap: "&map",
    tensorDataType: `${LONG}DATA_TYPE_${TYPES[map.dtype]}`,
    tensorRank: "2",
    globalAddress: map.address === null ? "matrix" : `0x${map.address.toString(16)}`,
    globalDim: `{${map.columns}, ${map.rows}}`,
    globalStrides: `{${stride}}`,
    boxDim: `{${map.box_columns}, ${map.box_rows}}`,
    elementStrides: "{1, 1}",
    interleave: `${LONG}INTERLEAVE_NONE`,
    swizzle: `${LONG}SWIZZLE_${map.swizzle.toUpperCase()}`,
    l2Promotion: `${LONG}L2_PROMOTION_L2_128B`,
    oobFill: `${LONG}FLOAT_OOB_FILL_NONE`,
  };
}

// The fields in the order of the call, as layouts/tma/words.py has them.
export function fieldsOf(config, state) {
  const map = mapOf(state);
  const [shown, wrong] = [valuesOf(map), new Map(problems(map))];
  return config.fields.map(([name, unit, meaning, rule, otherwise, given]) => ({
    name, value: shown[name], unit, meaning, rule, otherwise,
    problem: given.filter((one) => wrong.has(one)).map((one) => `${one}: ${wrong.get(one)}.`)
      .join(" "),
  }));
}

// What was typed as a number; null where a row stride is left out, undefined where it is none.
export function readNumber(text, key) {
  const typed = text.trim();
  if (typed === "" && key === "row_stride") return null;
  return /^\d{1,13}$/.test(typed) ? Number(typed) : undefined;
}

// Long names may break after an underscore.
const broken = (value) => value.split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : part));

function fieldRow(one, open, toggled) {
  const line = (label, text, kind = "") => (text
    ? h("div", { class: `gl-f-line ${kind}` }, h("b", {}, label), h("span", {}, inline(text)))
    : null);
  const el = h("details", { class: `gl-f-field${one.problem ? " gl-f-wrong" : ""}` },
    h("summary", { "data-field": one.name },
      h("span", { class: "gl-f-name" }, one.name),
      h("span", { class: "gl-f-value" }, broken(one.value)),
      h("span", { class: "gl-f-unit" }, one.problem ? "✗ refused" : one.unit)),
    h("div", { class: "gl-f-body" }, line("What it is", one.meaning), line("Rule", one.rule),
      line("Why refused", one.problem, "gl-bad"), line("A wrong value", one.otherwise)));
  el.open = open;
  el.addEventListener("toggle", () => toggled(one.name, el.open));
  return el;
}

function mount(root, config, initial, changed) {
  let state = initial;
  const update = (change) => {
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const typed = new Map(); // what stands in a text field and is no number
  const numbers = NUMBERS.map(([key, label]) => [key, textField(label, "", (text) => {
    const value = readNumber(text, key);
    typed.delete(key);
    if (value === undefined) typed.set(key, text);
    if (value === undefined) render();
    else update({ [key]: value });
  })]);
  const dtype = select("Elements", Object.keys(DTYPES).map((one) => [one, one]), state.dtype,
    (value) => update({ dtype: value }));
  const address = select("Matrix begins at", config.addresses.map(([name], i) => [i, name]), 0,
    (i) => update({ address: config.addresses[i][1] }));
  const swizzle = segmented("Swizzle", Object.keys(SPANS).map((one) => [one, one]), state.swizzle,
    (value) => update({ swizzle: value }));
  const reading = h("div", { class: "gl-hint", "aria-live": "polite" });
  const list = h("div", { class: "gl-f-list", role: "group",
    "aria-label": "The arguments of cuTensorMapEncodeTiled in their order" });
  const before = new Map(); // the fields' values that were shown

  // Fields are made anew; which of them is open and which has the focus stay.
  function drawFields() {
    const focused = list.contains(document.activeElement)
      ? document.activeElement.dataset.field : null;
    const fields = fieldsOf(config, state);
    list.replaceChildren(...fields.map((one) =>
      fieldRow(one, one.name === state.shown, (name, open) => {
        if (open ? state.shown !== name : state.shown === name) {
          update({ shown: open ? name : "" });
        }
      })));
    fields.forEach(({ name, value, problem }, i) => {
      const now = value + problem;
      if (before.has(name) && before.get(name) !== now) flash(list.children[i].firstChild);
      before.set(name, now);
    });
    if (focused) list.querySelector(`[data-field="${focused}"]`).focus({ preventScroll: true });
  }

  function render() {
    for (const [key, field] of numbers) {
      if (!typed.has(key)) field.set(state[key] === null ? "" : String(state[key]));
    }
    dtype.set(state.dtype);
    swizzle.set(state.swizzle);
    address.set(String(config.addresses.findIndex(([, value]) => value === state.address)));
    const [bad] = typed;
    const map = mapOf(state);
    const wrong = problems(map).map(([key]) => key);
    // Which arguments are refused; why stands in each of them, for who has thought about it.
    const named = fieldsOf(config, state).filter((one) => one.problem).map((one) => one.name);
    reading.textContent = bad
      ? `${bad[0]}: got "${bad[1]}", expected a number from 0 on; still shown is the last one.`
      : wrong.length ? `✗ cuTensorMapEncodeTiled refuses it, because of ${named.join(" and ")}. Why?`
        : describeMap(map);
    reading.classList.toggle("gl-wrong", Boolean(bad) || wrong.length > 0);
    for (const [key, { el }] of numbers) {
      el.querySelector("input").setAttribute("aria-invalid", wrong.includes(key) || typed.has(key));
    }
    drawFields();
  }

  for (const [key, { el }] of numbers) {
    const input = el.querySelector("input");
    input.inputMode = "numeric";
    if (key === "row_stride") input.placeholder = "least";
    input.addEventListener("change", () => {
      typed.delete(key);
      render();
    });
  }
  const row = (...parts) => h("div", { class: "gl-row" }, parts);
  root.append(h("div", { class: "gl-card gl-fields" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    row(h("span", { class: "gl-legend" }, "In elements:"), ...numbers.map(([, { el }]) => el)), row(dtype.el, swizzle.el, address.el),
    reading, list));
  render();
  return (next) => {
    state = next;
    typed.clear();
    render();
  };
}

const count = whole(0, 1e13);
const RULES = { name: "TensorMapFields", allows: {
  rows: count, columns: count, box_rows: count, box_columns: count, row_stride: orNone(count),
  dtype: oneOf(Object.keys(DTYPES)), swizzle: oneOf(Object.keys(SPANS)), shown: isText,
  address: (value, config) => config.addresses.some(([, one]) => one === value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
