// HeatMap: configurations as cells of a map, coloured by one of several metrics.
import { bootWith, flash, h, inline, liveWith, roving, segmented } from "../shared/dom.js";
import { whole } from "../shared/link.js";

const LISTED = 6; // companions that are named; more are only counted
const THEMES = [[[0xf1, 0xf6, 0xfa], [0x00, 0x5a, 0x8f]], [[0x20, 0x2b, 0x36], [0x8f, 0xd0, 0xf7]]];

// The colour from weak (0) to strong (1) in a theme, and black or white for the text on it.
export function shade(part, [weak, strong]) {
  const rgb = weak.map((from, i) => Math.round(from + (strong[i] - from) * part));
  const linear = rgb.map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return [`rgb(${rgb})`, light > 0.18 ? "#000" : "#fff"];
}

export const shown = (metric, value) => (value === null || value === undefined ? "-"
  : value.toLocaleString("en", {
    minimumFractionDigits: metric.digits, maximumFractionDigits: metric.digits,
  }));

// Where a metric's values stand in a cell's.
const placeOf = (config, key) => config.metrics.findIndex((m) => m.key === key);

// "TM 8, TN 4, WMITER 2, WNITER 2": the keys of both axes, and what the cell adds.
export const nameOf = (config, row, col) => [row, col].flatMap((at, axis) => {
  const values = config.labels[axis][at].split(", ");
  return config.axes[axis].map((key, i) => `${key} ${values[i]}`);
}).concat(config.cells[row][col].also ?? []).join(", ");

// Every valid cell: {row, col, name, values}.
const valid = (config) => config.cells.flatMap((cells, row) => cells.map((cell, col) =>
  ({ ...cell, row, col, name: nameOf(config, row, col) })).filter((cell) => cell.values));

// [lowest, highest] value of a metric.
function extent(config, key) {
  const at = placeOf(config, key);
  const values = valid(config).map((cell) => cell.values[at]).filter((v) => v !== null);
  return [Math.min(...values), Math.max(...values)];
}

// How good a value is among all, from 0 to 1.
export function goodness(config, metric, value) {
  const [low, high] = extent(config, metric.key);
  const part = high > low ? (value - low) / (high - low) : 0;
  return metric.less ? 1 - part : part;
}

// The cells in which the metric `together` is as in the chosen one, which is not among them.
export function companions(config, { row, col }) {
  const chosen = config.cells[row][col];
  if (!config.together || !chosen.values) return [];
  const at = placeOf(config, config.together);
  return valid(config).filter((cell) => (cell.row !== row || cell.col !== col) &&
    cell.values[at] !== null && cell.values[at] === chosen.values[at]);
}

// The cells by the value of `together`, the least first: [[value, cells], ...].
export function groupsOf(config) {
  const groups = new Map();
  for (const cell of valid(config)) {
    const value = cell.values[placeOf(config, config.together)];
    if (value !== null) groups.set(value, [...(groups.get(value) ?? []), cell]);
  }
  return [...groups].sort((a, b) => a[0] - b[0]);
}

// The chosen cell in words: [name, [[label, text], ...], what the companions have].
export function tell(config, state) {
  const cell = config.cells[state.row][state.col];
  const name = nameOf(config, state.row, state.col);
  if (!cell.values) return [name, [["no configuration", cell.reason]], ""];
  const lines = config.metrics.map((m, i) => [m.label, cell.values[i] === null ? "not measured"
    : `${shown(m, cell.values[i])} ${m.unit}`]);
  const others = companions(config, state);
  if (!others.length) return [name, lines, ""];
  const [at, by] = [placeOf(config, state.metric), placeOf(config, config.together)];
  const [metric, same] = [config.metrics[at], config.metrics[by]];
  const list = others.slice(0, LISTED).map((o) =>
    (at === by ? o.name : `${o.name}: ${shown(metric, o.values[at])}`)).join("; ");
  const more = others.length > LISTED ? `; and ${others.length - LISTED} more` : "";
  const what = at === by ? "" : ` (${metric.label}, ${metric.unit})`;
  return [name, lines,
    `Also ${shown(same, cell.values[by])} ${same.unit}${what}: ${list}${more}.`];
}

// On which sides of a cell the contour runs: where a neighbour does not reach the limit.
export function contour(config, metric, row, col) {
  const at = placeOf(config, metric.key);
  const limit = metric.limit ?? null;
  const within = (r, c) => {
    const value = config.cells[r]?.[c]?.values?.[at];
    return typeof value === "number" && value >= limit;
  };
  if (limit === null || !within(row, col)) return "";
  const sides = { t: [-1, 0], b: [1, 0], l: [0, -1], r: [0, 1] };
  return Object.entries(sides).filter(([, [dr, dc]]) => config.cells[row + dr]?.[col + dc] &&
    !within(row + dr, col + dc)).map(([side]) => `gl-hm-${side}`).join(" ");
}

function cellButton(config, state, metric, cell, row, col, choose) {
  const value = cell.values?.[placeOf(config, metric.key)];
  const [light, dark] = THEMES.map((theme) =>
    shade(typeof value === "number" ? goodness(config, metric, value) : 0, theme));
  const kind = cell.reason ? "gl-hm-none" : value === null ? "gl-hm-unknown" : "";
  const chosen = row === state.row && col === state.col;
  const same = companions(config, state).some((other) => other.row === row && other.col === col);
  return h("button", {
    type: "button", class: `gl-hm-cell ${kind}${same ? " gl-hm-same" : ""} ${contour(config, metric, row, col)}`,
    "data-row": row + 1, "data-col": col, tabindex: chosen ? 0 : -1, "aria-pressed": String(chosen),
    "aria-label": `${nameOf(config, row, col)}: ` +
      (cell.reason ?? `${shown(metric, value)} ${metric.unit}`),
    style: kind ? "" : `--c:light-dark(${light[0]},${dark[0]});` +
      `--on:light-dark(${light[1]},${dark[1]})`,
    onfocus: () => choose(row, col), onclick: () => choose(row, col),
  }, cell.reason ? "" : shown(metric, value));
}

// A line for every value of `together`, a dot for every cell on it, placed by the shown metric.
function strip(config, state, metric) {
  const same = config.metrics.find((m) => m.key === config.together);
  if (!same || same.key === metric.key) return [];
  const [, most] = extent(config, metric.key);
  const at = placeOf(config, metric.key);
  const lines = groupsOf(config).map(([value, cells]) => {
    const known = cells.filter((cell) => cell.values[at] !== null);
    const numbers = known.map((cell) => cell.values[at]);
    const ends = [...new Set([Math.min(...numbers), Math.max(...numbers)].map((v) =>
      shown(metric, v)))].join(" to ");
    return h("div", { class: "gl-hm-line" },
      h("span", { class: "gl-hm-group" }, `${shown(same, value)}`),
      h("span", { class: "gl-hm-rail" }, known.map((cell) => h("i", {
        class: cell.row === state.row && cell.col === state.col ? "gl-hm-dot gl-hot" : "gl-hm-dot",
        style: `left:${(100 * cell.values[at]) / most}%`, title: cell.name,
      }))),
      h("span", { class: "gl-hm-ends" }, known.length ? ends : "not measured"));
  });
  const title = `${metric.label}, ${metric.unit} from 0 on, by ${same.unit}. Dots: configurations.`;
  return [h("div", { class: "gl-legend" }, title), ...lines];
}

function legendText(config, state, metric) {
  const parts = [metric.origin,
    `${metric.less ? "Less is better: the" : "The"} stronger the colour, the better.`];
  if (typeof metric.limit === "number") {
    parts.push(`Line: ${shown(metric, metric.limit)} ${metric.unit}, ${metric.limit_is || "the limit"}.`);
  }
  if (config.cells.flat().some((cell) => cell.reason)) parts.push("Hatched: no configuration.");
  if (companions(config, state).length) {
    const same = config.metrics[placeOf(config, config.together)].label;
    parts.push(`Dashed frame: as many ${same} as the chosen one.`);
  }
  return parts.join(" ");
}

function mount(root, config, initial, changed) {
  let state = initial;
  let before = ""; // the cell that was chosen
  const metrics = segmented("Show", config.metrics.map((m) => [m.key, m.label]), state.metric,
    (key) => update({ metric: key }));
  const grid = h("div", {
    class: "gl-hm-grid", role: "group", style: `--cols:${config.labels[1].length}`,
  });
  const legend = h("div", { class: "gl-legend" });
  const detail = h("div", { class: "gl-hm-detail", "aria-live": "polite" });
  const groups = h("div", { class: "gl-hm-strip" });
  roving(grid);
  const update = (change) => {
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const choose = (row, col) => {
    if (row !== state.row || col !== state.col) update({ row, col });
  };

  function render() {
    const metric = config.metrics.find((m) => m.key === state.metric);
    metrics.set(state.metric);
    const focused = grid.contains(document.activeElement);
    grid.setAttribute("aria-label", `${metric.label}: rows by ${config.axes[0].join(", ")}, ` +
      `columns by ${config.axes[1].join(", ")}. Arrow keys move.`);
    grid.replaceChildren(
      h("span", { class: "gl-hm-corner" }, config.axes.map((axis) => axis.join(", ")).join(" ╲ ")),
      ...config.labels[1].map((label) => h("span", { class: "gl-hm-head" }, label)),
      ...config.cells.flatMap((cells, row) => [
        h("span", { class: "gl-hm-head gl-hm-side" }, config.labels[0][row]),
        ...cells.map((cell, col) => cellButton(config, state, metric, cell, row, col, choose))]));
    if (focused) grid.querySelector('[aria-pressed="true"]').focus();
    legend.textContent = legendText(config, state, metric);
    const [name, lines, others] = tell(config, state);
    const note = config.notes[config.cells[state.row][state.col].note];
    detail.replaceChildren(h("b", {}, name), h("dl", {}, lines.map(([label, text]) =>
      h("div", {}, h("dt", {}, label), h("dd", {}, text)))),
    note ? h("div", {}, note) : "", others ? h("div", {}, others) : "");
    groups.replaceChildren(...strip(config, state, metric));
    if (before && before !== name) flash(detail.firstChild);
    before = name;
  }

  root.append(h("div", { class: "gl-card gl-heatmap" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, metrics.el), grid, legend, detail, groups));
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "HeatMap", allows: {
  metric: (value, config) => config.metrics.some((one) => one.key === value),
  row: (value, config) => whole(0, config.cells.length - 1)(value),
  col: (value, config) => whole(0, config.cells[0].length - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
