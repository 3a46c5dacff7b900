// Ladder: the steps measured so far as bars, with cuBLAS as a bar and as a line.
import { bootWith, h, inline, liveWith, roving, segmented } from "../shared/dom.js";
import { isTruth } from "../shared/link.js";

const trim = (value, digits) => value.toLocaleString("en", {
  minimumFractionDigits: digits, maximumFractionDigits: digits,
});
const three = (value) => trim(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);

export const METRICS = {
  tflops: { label: "TFLOP/s", show: (v) => three(v), say: (v) => `${three(v)} TFLOP/s` },
  ratio: {
    label: "% of cuBLAS",
    show: (v) => `${trim(100 * v, v < 0.1 ? 1 : 0)} %`,
    say: (v) => `${trim(100 * v, 1)} % of cuBLAS`,
  },
  of_mma: {
    label: "% of mma.sync",
    show: (v) => `${trim(100 * v, v < 0.1 ? 1 : 0)} %`,
    say: (v) => `${trim(100 * v, 1)} % of what mma.sync does on registers`,
  },
  flop_per_clk_sm: {
    label: "FLOP/clk/SM",
    show: (v) => trim(v, 0),
    say: (v) => `${trim(v, 0)} FLOP per clock and SM`,
  },
  time_us: {
    label: "time", note: "shorter is better",
    show: (v) => (v < 1000 ? `${three(v)} µs` : `${three(v / 1000)} ms`),
    say: (v) => (v < 1000 ? `${three(v)} µs` : `${three(v / 1000)} ms`),
  },
};

// The rows as another GPU measured them; what it did not measure is null.
export function rowsOn(config, gpu) {
  const other = config.others.find((each) => each.gpu === gpu);
  if (!other) return config.rows;
  return config.rows.map((row, at) => ({
    ...row, ...Object.fromEntries(config.metrics.map((name, i) => [name, other.values[at][i]])),
  }));
}

// Everything known about one row, in words.
export function describeRow(row) {
  const parts = Object.entries(METRICS)
    .filter(([name]) => typeof row[name] === "number" && !(row.baseline && name === "ratio"))
    .map(([name, metric]) => metric.say(row[name]));
  const how = row.estimated ? " (estimated, not measured)" : "";
  return `${row.label}, ${row.size}${how}: ${parts.join(", ")}.`;
}

// The rows that are drawn: the last steps and the baselines, or all.
export function drawn(rows, steps, all) {
  const hidden = rows.filter((row) => !row.baseline).slice(0, -steps);
  return all ? rows : rows.filter((row) => !hidden.includes(row));
}

// A step's name leads to its chapter in the book; a notebook has no such pages.
function nameOf(row, linked) {
  if (!linked || !row.chapter) return row.label;
  return h("a", { href: `${row.chapter}.html`, class: "gl-to" }, row.label);
}

function bar(row, index, metric, most, highlight, show, linked) {
  const value = row[metric];
  const known = typeof value === "number";
  const kind = [row.baseline ? "gl-base" : row.kernel === highlight ? "gl-now" : "",
    row.estimated ? "gl-guess" : ""].join(" ");
  return h("div", {
    class: `gl-rung ${kind}`, "data-kernel": row.kernel, role: "listitem", tabindex: index ? -1 : 0,
    "data-row": index + 1, "data-col": 0, "aria-label": describeRow(row),
    onpointerenter: () => show(row), onfocus: () => show(row),
  },
  h("span", { class: "gl-rung-name" }, nameOf(row, linked)),
  h("span", { class: "gl-track" },
    h("span", { class: "gl-bar", style: `--v:${known ? value / most : 0}` })),
  h("span", { class: "gl-value" }, known
    ? `${METRICS[metric].show(value)}${row.estimated ? " estimated" : ""}` : "not measured"));
}

function mount(root, config, initial, changed) {
  let state = initial;
  const pick = (name) => (value) => {
    state = { ...state, [name]: value };
    render();
    changed(state);
  };
  const sizes = segmented("M = N = K", config.sizes.map((size) => [size, size]), state.size,
    pick("size"));
  const metrics = segmented("Show", config.metrics.map((name) => [name, METRICS[name].label]),
    state.metric, pick("metric"));
  const gpus = segmented("GPU", [config.gpu, ...config.others.map((each) => each.gpu)]
    .map((name) => [name, name]), state.gpu, pick("gpu"));
  if (config.sizes.some((size) => size.includes("x"))) {
    sizes.el.firstChild.textContent = "Size";
  }
  const chart = h("div", { class: "gl-chart", role: "list" });
  const detail = h("div", { class: "gl-detail", "aria-live": "polite" });
  roving(chart);
  const more = h("button", {
    class: "gl-all", type: "button", onclick: () => pick("all")(!state.all),
  });

  function render() {
    sizes.set(state.size);
    metrics.set(state.metric);
    gpus.set(state.gpu);
    const every = rowsOn(config, state.gpu).filter((row) => row.size === state.size);
    origin.textContent = config.others.find((each) => each.gpu === state.gpu)?.origin ??
      config.origin;
    const rows = drawn(every, config.steps, state.all);
    const steps = every.filter((row) => !row.baseline).length;
    more.hidden = steps <= config.steps;
    more.textContent = state.all ? `Show the last ${config.steps} steps` : `Show all ${steps} steps`;
    more.setAttribute("aria-expanded", state.all);
    const values = rows.map((row) => row[state.metric]).filter((v) => typeof v === "number");
    const most = Math.max(...values, Number.MIN_VALUE);
    const show = (row) => {
      detail.textContent = describeRow(row);
      for (const rung of chart.children) {
        rung.classList.toggle("gl-told", rung.dataset.kernel === row.kernel);
      }
    };
    const reference = rows.find((row) => row.kernel === "cublas")?.[state.metric];
    chart.style.setProperty("--ref", typeof reference === "number" ? reference / most : -1);
    chart.classList.toggle("gl-with-ref", typeof reference === "number");
    chart.setAttribute("aria-label", `${METRICS[state.metric].label} at ${state.size}`);
    chart.replaceChildren(...rows.map((row, i) =>
      bar(row, i, state.metric, most, config.highlight, show, root.hasAttribute("data-live"))));
    const chosen = rows.find((row) => row.kernel === config.highlight) ?? rows[0];
    if (chosen) show(chosen);
    const { note } = METRICS[state.metric];
    legend.replaceChildren(`Bars: ${METRICS[state.metric].label} at ${state.size}, from 0 on` +
      `${note ? `; ${note}` : ""}. Striped: what it is measured against. `,
    ...(typeof reference === "number" ? [h("i", { "aria-hidden": "true" }), " cuBLAS. "] : []),
    rows.some((row) => row.kernel === config.highlight) ? "Strong color: this chapter's step." : "");
  }

  const legend = h("div", { class: "gl-legend" });
  const origin = h("div", { class: "gl-origin" });
  root.append(h("div", { class: "gl-card gl-ladder" },
    h("div", { class: "gl-caption" },
      inline(config.caption || "How fast is each step beside cuBLAS?")),
    config.others.length ? gpus.el : null,
    config.sizes.length > 1 ? sizes.el : null,
    h("div", { class: "gl-row" }, metrics.el, more), chart, detail,
    h("div", { class: "gl-feet" }, legend, h("details", { class: "gl-more" },
      h("summary", {}, "Where the numbers come from"), origin))));
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "Ladder", allows: {
  size: (value, config) => config.sizes.includes(value),
  metric: (value, config) => config.metrics.includes(value), all: isTruth,
  gpu: (value, config) => [config, ...config.others].some((each) => each.gpu === value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
