// Coalescing: 32 lanes over a matrix in memory, and the sectors that their load fetches.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { guess, reading, waits } from "../shared/guess.js";
import { patch, PER_SECTOR } from "../model/traffic/patch.js";

export const [ROWS, COLUMNS] = [32, 48];
const SHAPES = [32, 16, 8, 4, 2, 1];

const rect = (name, x, y, w, tall, more = "") =>
  `<rect class="${name}" x="${x}" y="${y}" width="${w}" height="${tall}" ${more}/>`;

// The matrix: sectors as frames, the fetched ones filled, the elements that lanes read on top.
function memory(found, open, cell, tall) {
  const frames = Array.from({ length: ROWS * COLUMNS / PER_SECTOR }, (_, i) => {
    const per = COLUMNS / PER_SECTOR;
    return `M${(i % per) * PER_SECTOR * cell + 1} ${Math.floor(i / per) * tall + 0.75}` +
      `h${PER_SECTOR * cell - 2}v${tall - 1.5}h-${PER_SECTOR * cell - 2}z`;
  }).join("");
  const fetched = open ? found.sectors.map(([r, s]) =>
    rect("gl-co-sector", s * PER_SECTOR * cell + 1, r * tall + 0.75, PER_SECTOR * cell - 2,
      tall - 1.5)).join("") : "";
  const lanes = found.places.map(([r, c]) =>
    rect("gl-co-lane", c * cell + 0.75, r * tall + 1.5, cell - 1.5, tall - 3)).join("");
  return `<svg viewBox="0 0 ${COLUMNS * cell} ${ROWS * tall}" width="${COLUMNS * cell}" ` +
    `aria-hidden="true"><path class="gl-co-frame" d="${frames}"/>${fetched}${lanes}</svg>`;
}

// The fetched sectors as they arrive: eight elements each, those that are read in full colour.
function arrivals(found, open) {
  const [w, gap, per, tall] = [7, 9, 4, 12];
  const one = (i) => [(i % per) * (8 * w + gap), Math.floor(i / per) * (tall + 3)];
  const boxes = open ? found.sectors.map(([r, s, used], i) => {
    const [x, y] = one(i);
    const read = new Set(found.places.filter(([row, c]) =>
      row === r && Math.floor(c / PER_SECTOR) === s).map(([, c]) => c % PER_SECTOR));
    return `<g class="gl-co-box" style="--i:${i}"><title>${used} of 8 elements read</title>` +
      rect("gl-co-sector", x, y, 8 * w, tall) + [...read].map((c) =>
        rect("gl-co-lane", x + c * w + 0.5, y + 0.5, w - 1, tall - 1)).join("") + "</g>";
  }).join("") : "";
  const empty = Array.from({ length: 32 }, (_, i) => {
    const [x, y] = one(i);
    return rect("gl-co-slot", x + 0.5, y + 0.5, 8 * w - 1, tall - 1);
  }).join("");
  return `<svg viewBox="0 0 ${per * (8 * w + gap) - gap} ${8 * (tall + 3)}" ` +
    `width="${per * (8 * w + gap) - gap}" aria-hidden="true">${empty}${boxes}</svg>`;
}

function mount(root, config, initial, changed) {
  let state = initial;
  let was = null; // the sectors before the last change
  let size = { cell: 10, tall: 9 };
  const now = () => patch(state);
  const limit = ({ rows, row, column }) => ({
    rows, row: Math.max(0, Math.min(row, ROWS - rows)),
    column: Math.max(0, Math.min(column, COLUMNS - 32 / rows)),
  });
  const isOpen = () => !config.ask || state.guess !== null;
  function update(change, done = true) {
    const before = now().sectors.length;
    state = { ...state, ...limit({ ...state, ...change }) };
    if (now().sectors.length !== before) was = before;
    render();
    if (done) changed(state);
  }
  const ask = guess(config.ask, state.guess, (value) => {
    state = { ...state, guess: value };
    update(config.shown);
  });
  const shapes = segmented("Rows x lanes in a row", SHAPES.map((rows) =>
    [rows, `${rows} x ${32 / rows}`]), state.rows, (rows) => update({ rows }));
  const turn = h("button", {
    type: "button", class: "gl-scrub-play", onclick: () => update({ rows: state.rows === 1 ? 32 : 1 }),
  });
  const box = h("div", {
    class: "gl-co-memory", tabindex: 0, role: "slider", "aria-valuemin": 0,
    "aria-valuemax": ROWS * COLUMNS - 1, "aria-label": "Place of the warp. Arrow keys move it.",
    onkeydown: (event) => {
      const [dr, dc] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
        ArrowRight: [0, 1] }[event.key] ?? [0, 0];
      if (!dr && !dc) return;
      event.preventDefault();
      update({ row: state.row + dr, column: state.column + dc });
    },
    onpointerdown: (event) => { grab = at(event); box.setPointerCapture(event.pointerId); },
    onpointermove: (event) => {
      if (!grab) return;
      const [r, c] = at(event);
      const next = { row: start.row + r - grab[0], column: start.column + c - grab[1] };
      const kept = limit({ ...state, ...next });
      if (kept.row !== state.row || kept.column !== state.column) update(next, false);
    },
    onpointerup: () => { if (grab) changed(state); grab = null; },
    onpointercancel: () => { grab = null; },
  });
  let grab = null;
  let start = state;
  function at(event) {
    const edge = box.getBoundingClientRect();
    if (!grab) start = state;
    return [Math.floor((event.clientY - edge.top) / edge.height * ROWS),
      Math.floor((event.clientX - edge.left) / edge.width * COLUMNS)];
  }
  const bus = h("div", { class: "gl-co-bus" });
  const numbers = h("div", { class: "gl-numbers-now" });
  const words = h("div", { class: "gl-words", "aria-live": "polite" });
  const tools = config.turn ? { el: h("div", { class: "gl-row" }, turn), open: () => {} }
    : waits([shapes], "after your guess");
  const key = h("div", { class: "gl-legend gl-key" }, [["lane", "read by the 32 lanes of a warp"],
    ["sector", "sent with it, not read"], ["frame", "a sector: 32 bytes, eight floats"]]
    .map(([kind, text]) =>
      h("span", {}, h("i", { class: `gl-co-k-${kind}`, "aria-hidden": "true" }), text)));

  function render() {
    const found = now();
    const open = isOpen();
    ask.set(state.guess);
    shapes.set(state.rows);
    turn.textContent = state.rows === 1 ? "Stand the warp up" : "Lay the warp along a row";
    tools.open(open);
    box.innerHTML = memory(found, open, size.cell, size.tall);
    bus.innerHTML = arrivals(found, open);
    box.setAttribute("aria-valuenow", String(state.row * COLUMNS + state.column));
    box.setAttribute("aria-valuetext", open ? found.words
      : `row ${state.row}, column ${state.column}`);
    const shown = (value) => (open ? value : "?");
    numbers.replaceChildren(reading("sectors", shown(String(found.sectors.length)),
      open && was !== null ? String(was) : null),
    reading("of the bytes are used", shown(`${found.percent} %`)));
    const name = config.names[state.rows];
    words.replaceChildren(...inline(open ? `From column ${state.column} on, memory sends ` +
      `${found.moved.toLocaleString("en")} bytes, of which the warp reads ${found.read}.` +
      (name ? ` ${name}` : "") : "What memory sends appears with your guess."));
  }

  root.append(h("div", { class: "gl-card gl-coalescing" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    ask.el, tools.el,
    h("div", { class: "gl-pair" },
      h("div", {}, box, h("div", { class: "gl-legend" },
        "A matrix in memory. Drag the warp, or move it with the arrow keys."), key),
      h("div", { class: "gl-beside" }, numbers,
        h("div", { class: "gl-label" }, "what memory sends"), bus, words))));
  let width = 0;
  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    size = { cell: Math.max(6, Math.min(14, width / COLUMNS)), tall: width < 400 ? 8 : 10 };
    render();
  }).observe(box);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "Coalescing" };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
