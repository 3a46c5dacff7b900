// HeatMap: configurations as cells of a map, coloured by one of several metrics.
import { bootWith, flash, h, inline, liveWith, roving, segmented } from "../shared/dom.js";
import { whole } from "../shared/link.js";

const LISTED = 6; // companions that are named; more are only counted
// Light enough for black digits, or dark enough for white ones, from end to end.
const THEMES = [[[0xf1, 0xf6, 0xfa], [0x4f, 0x9f, 0xd0]], [[0x20, 0x2b, 0x36], [0x2f, 0x74, 0xa2]]];
// What the letters of an axis are.
const WORDS = {
  "TM, TN": "tile of a thread", WMITER: "times a warp repeats its tile, down",
  "WMITER, WNITER": "times a warp repeats its tile", WM: "rows of a warp's tile",
  WN: "columns of a warp's tile", M: "rows of C", size: "M = N = K",
};

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

// A unit without what its label has already said: "wavefronts", "wavefronts per k" -> "per k".
export function unitBeside({ label, unit }) {
  const rest = unit.startsWith(label) ? unit.slice(label.length).trim() : unit;
  return label.includes(rest.replace(/^of /, "")) ? "" : rest;
}

// The chosen cell in words: [name, [[label, text], ...], what the companions have].
export function tell(config, state) {
  const cell = config.cells[state.row][state.col];
  const name = nameOf(config, state.row, state.col);
  if (!cell.values) return [name, [["no configuration", cell.reason]], ""];
  const lines = config.metrics.map((m, i) => [m.label, cell.values[i] === null ? "not measured"
    : `${shown(m, cell.values[i])} ${unitBeside(m)}`.trim()]);
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

// Three to five round numbers from 0 to one that is at least `most`.
export function ticks(most) {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((one) => one >= rough - 1e-9);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
}

// A line for every value of `together`, a dot for every cell on it, placed by the shown metric.
function strip(config, state, metric, choose) {
  const same = config.metrics.find((m) => m.key === config.together);
  if (!same || same.key === metric.key) return [];
  const marks = ticks(extent(config, metric.key)[1]);
  const most = marks.at(-1);
  const at = placeOf(config, metric.key);
  const lines = groupsOf(config).map(([value, cells]) => {
    const known = cells.filter((cell) => cell.values[at] !== null)
      .sort((a, b) => a.values[at] - b.values[at]);
    return h("div", { class: "gl-hm-line" },
      h("span", { class: "gl-hm-group" }, `${shown(same, value)}`),
      // Dots that would lie on one another stand a little higher and lower.
      h("span", { class: "gl-hm-rail" }, known.length ? known.map((cell, i) => h("i", {
        class: cell.row === state.row && cell.col === state.col ? "gl-hm-dot gl-hot" : "gl-hm-dot",
        style: `left:${(100 * cell.values[at]) / most}%;` +
          `top:${known.length > 1 ? (i % 2 ? 64 : 36) : 50}%`,
        title: `${cell.name}: ${shown(metric, cell.values[at])} ${metric.unit}`,
        onclick: () => choose(cell.row, cell.col),
      })) : h("span", { class: "gl-hm-ends" }, "not measured")));
  });
  const scale = h("div", { class: "gl-hm-line" }, h("span", {}),
    h("span", { class: "gl-hm-scale" }, marks.map((mark) => h("span", {
      style: `left:${(100 * mark) / most}%`,
    }, mark.toLocaleString("en")))));
  const title = `Down: ${same.label}. Across: ${metric.unit}. A dot is a cell of the map.`;
  return [h("div", { class: "gl-legend" }, title), ...lines, scale];
}

function legendText(config, state, metric) {
  const parts = [`${metric.label}, ${metric.unit}; ` +
    `${metric.less ? "less is better, the" : "the"} stronger the color, the better. ${metric.origin}`];
  if (typeof metric.limit === "number") {
    parts.push(`Line: ${shown(metric, metric.limit)} ${metric.unit}, ${metric.limit_is || "the limit"}.`);
  }
  if (config.cells.flat().some((cell) => cell.reason)) parts.push("Empty: no configuration.");
  if (companions(config, state).length) {
    const same = config.metrics[placeOf(config, config.together)].label;
    parts.push(`Dashed frame: as many ${same} as the chosen one.`);
  }
  return parts.join(" ");
}

function mount(root, config, initial, changed) {
  let state = initial;
  let before = ""; // the cell that was chosen
  let asked = false; // whether the reader has chosen one
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
    const first = !asked;
    asked = true;
    if (row !== state.row || col !== state.col) update({ row, col });
    else if (first) render();
  };
  const pick = (row, col) => {
    choose(row, col);
    grid.querySelector('[aria-pressed="true"]').focus({ preventScroll: true });
  };

  function render() {
    const metric = config.metrics.find((m) => m.key === state.metric);
    metrics.set(state.metric);
    const focused = grid.contains(document.activeElement);
    grid.setAttribute("aria-label", `${metric.label}: rows by ${config.axes[0].join(", ")}, ` +
      `columns by ${config.axes[1].join(", ")}. Arrow keys move.`);
    grid.replaceChildren(
      h("span", { class: "gl-hm-corner" }, ...config.axes.map((axis, i) => {
        const letters = axis.join(", ");
        return h("span", {}, i ? "→ " : "↓ ", WORDS[letters] ? `${WORDS[letters]}: ` : "",
          h("b", {}, letters));
      })),
      ...config.labels[1].map((label) => h("span", { class: "gl-hm-head" }, label)),
      ...config.cells.flatMap((cells, row) => [
        h("span", { class: "gl-hm-head gl-hm-side" }, config.labels[0][row]),
        ...cells.map((cell, col) => cellButton(config, state, metric, cell, row, col, choose))]));
    if (focused) grid.querySelector('[aria-pressed="true"]').focus();
    legend.textContent = legendText(config, state, metric);
    const [name, lines, others] = tell(config, state);
    const note = config.notes[config.cells[state.row][state.col].note];
    const dots = strip(config, state, metric, pick);
    // With the map and the dots in sight, a cell's numbers come when it is chosen.
    if (dots.length && !asked) {
      detail.replaceChildren(h("span", {}, "Choose a cell or a dot for all that is known of it."));
    } else detail.replaceChildren(h("b", {}, name), h("dl", {}, lines.map(([label, text]) =>
      h("div", {}, h("dt", {}, label), h("dd", {}, text)))),
    note ? h("div", {}, note) : "", others ? h("div", {}, others) : "");
    groups.replaceChildren(...dots);
    if (before && before !== name) flash(detail.firstElementChild);
    before = name;
  }

  root.append(h("div", { class: "gl-card gl-heatmap" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, metrics.el), grid, legend, groups, detail));
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
