// FragmentMap: which lane holds which element of a tensor-core fragment, in which register.
import {
  bootWith, h, inline, liveWith, roving, segmented, select, setText
} from "../shared/dom.js";
import { player } from "../shared/play.js";
import { oneOf, orNone, whole } from "../shared/link.js";
import {
  LANES, describeElement, describeLane, holder, matrixOf, panels, short,
} from "../model/fragments.js";

const NARROW = 640; // below this many pixels, 8 columns stand side by side
const HUES = ["0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "f0e442", "8c8c8c"];
const REST = "Point at an element, or move over them with the arrow keys.";
const NO_LANE = "Choose a lane: a click on its number, or on an element.";

// Four lanes share a hue, in four strengths; in the dark theme letters allow less of it.
const laneTint = (lane) => `--c:#${HUES[Math.floor(lane / 4)]};--p:${12 + 14 * (lane % 4)}%;` +
  `--q:${8 + 9 * (lane % 4)}%`;

// The colour of an element.
export function tint(f, colour, row, column) {
  const { lane, register } = holder(f, row, column);
  if (colour === "lane") return laneTint(lane);
  return `--c:#${HUES[colour === "register" ? register : matrixOf(f, row, column)]};--p:40%;--q:30%`;
}

// The heading of a row: its number, and the lane that gives its address.
function rowHead(f, row) {
  if (!f.addressed) return h("span", { class: "gl-f-head" }, String(row));
  return h("span", { class: "gl-f-head", "data-lane": row, title: `lane ${row}: address` },
    `${row % 8} `, h("b", {}, `T${row}`));
}

// What a cell says: lane and register where both fit (or stand below each other), else what the
// colours stand for; of the chosen lane the register.
function label(at, f, colour, room) {
  const [lane, register] = short(at).split(" ");
  if (room) return [h("span", {}, lane), h("span", {}, ` ${register}`)];
  const first = colour === "register" ? register : lane;
  return [h("span", { class: "gl-f-first" }, first), " ",
    h("span", { class: "gl-f-own" }, register)];
}

function panelView(f, part, colour, room) {
  const grid = h("div", { class: "gl-f-grid" },
    h("span", { class: "gl-f-head", title: f.addressed ? "left: the lane with the address" : null },
      f.addressed ? part.title : ""));
  for (let column = part.left; column < part.left + part.columns; column++) {
    grid.append(h("span", { class: "gl-f-head gl-f-top" }, String(column)));
  }
  for (let row = part.top; row < part.top + part.rows; row++) {
    grid.append(rowHead(f, row));
    for (let column = part.left; column < part.left + part.columns; column++) {
      const at = holder(f, row, column);
      const words = describeElement(f, row, column);
      grid.append(h("button", {
        type: "button", tabindex: -1, class: "gl-f-cell", style: tint(f, colour, row, column),
        "data-row": row, "data-col": column, "data-lane": at.lane, "aria-label": words,
      }, label(at, f, colour, room)));
    }
  }
  return h("div", { class: `gl-f-panel${f.addressed ? " gl-f-addressed" : ""}`, style: `--cols:${part.columns}` },
    part.title && !f.addressed ? h("div", { class: "gl-legend" }, part.title) : null, grid);
}

// The letters of the picture.
function keyOf(f) {
  const half = f.bits === 32 ? "" : ", .l and .h its halves";
  const own = f.wmma ? "x3: x[3] of its fragment" : `r1: its register 1${half}`;
  const more = f.addressed ? "Left of a row: the lane with its address."
    : "An 8x8 matrix gives a lane two elements.";
  return `T5: lane 5, a thread of the warp; ${own}. ${more}`;
}

// What the picture means, in words.
export function legendOf(f) {
  const half = f.bits === 32 ? "" : ", l and h its low and high half";
  const pair = f.bits === 32 ? "" : "; x0 and x1 are one register, and so on";
  const what = f.wmma ? `x3 is x[3] of its fragment${pair}` : `r the register${half}`;
  const measured = f.wmma
    ? " Not documented, but measured on an H200; the same for row_major and col_major." : "";
  const k = { A: " Columns are k.", B: " Rows are k." }[f.name.split(" ").at(-1)] ?? "";
  const address = f.addressed
    ? " Left of a row: the lane that gives its address in shared memory." : "";
  return `T is the lane, ${what}.${k}${measured}${address} A second click on a lane lets it go.`;
}

// The words that several names begin with, "mma.m16n8k16 "; none for one name.
export function sharedStart(names) {
  if (names.length < 2) return "";
  const words = names.map((name) => name.split(" "));
  const same = words[0].findIndex((word, i) => words.some((one) => one[i] !== word));
  return same > 0 && words.every((one) => one.length > same)
    ? `${words[0].slice(0, same).join(" ")} ` : "";
}

function mount(root, config, initial, changed) {
  let state = initial;
  let drawn = "";
  const layout = () => config.layouts.find((f) => f.name === state.which);
  const narrow = () => root.clientWidth < NARROW;
  const update = (change) => {
    if (!("lane" in change)) play.stop();
    state = { ...state, ...change };
    render();
    changed(state);
  };
  const play = player(() => 12.8, () => ((state.lane ?? -1) + 1) / LANES, (part) => {
    const lane = Math.min(LANES - 1, Math.floor(part * LANES));
    if (lane !== state.lane) update({ lane });
  }, "Lanes 0 to 31");
  const choose = (lane) => update({ lane: state.lane === lane ? null : lane });
  const names = config.layouts.map((f) => [f.name, f.name]);
  const few = names.length <= 3;
  // What all names begin with is said once, before the choice: "mma.m16n8k16", then A, B, C/D.
  const common = few ? sharedStart(names.map(([name]) => name)) : "";
  const which = (few ? segmented : select)("Layout", names.map(([name]) =>
    [name, name.slice(common.length)]), state.which, (name) => update({ which: name }));
  if (common) which.el.querySelector(".gl-label").textContent = common.trim();
  const colour = segmented("Color", [["lane", "lane"], ["register", "register"],
    ["matrix", "8x8 matrix"]], state.colour, (one) => update({ colour: one }));
  const picture = h("div", {
    class: "gl-f-picture", role: "group", onpointerleave: () => show(REST),
    onpointerover: (event) => point(event), onfocusin: (event) => point(event),
    onclick: (event) => {
      const cell = event.target.closest(".gl-f-cell");
      if (cell) choose(Number(cell.dataset.lane));
    },
    "aria-label": "The elements of the fragment. Arrow keys move, Enter chooses the lane.",
  });
  const reading = h("div", { class: "gl-hint", "aria-live": "polite" }, REST);
  const held = h("div", { class: "gl-hint gl-f-held", "aria-live": "polite" });
  const legend = h("div", { class: "gl-legend" });
  const letters = h("div", { class: "gl-legend" });
  const lanes = h("div", {
    class: "gl-f-lanes", role: "group", "aria-label": "The 32 lanes. Arrow keys move.",
  });
  roving(picture);
  roving(lanes);

  function show(words) {
    reading.textContent = words;
  }
  function point(event) {
    const cell = event.target.closest(".gl-f-cell");
    if (cell) show(cell.getAttribute("aria-label"));
  }

  // The lanes in as many columns as fit, and the elements.
  function draw() {
    const f = layout();
    const key = [state.which, state.colour, narrow()].join();
    if (key === drawn) return;
    drawn = key;
    const columns = narrow() ? 8 : 16;
    const parts = panels(f, narrow());
    const across = parts[0].columns * (parts[0].columns < 16 ? Math.min(2, parts.length) : 1);
    const room = narrow() || (root.clientWidth - 80) / across >= 58;
    const below = parts.reduce((sum, part) => sum + part.rows, 0) / (across / parts[0].columns);
    picture.classList.toggle("gl-f-small", !room);
    picture.classList.toggle("gl-f-low", !narrow() && below > 8);
    picture.replaceChildren(...parts.map((part) => panelView(f, part, state.colour, room)));
    picture.querySelector(".gl-f-cell").tabIndex = 0;
    const at = state.lane ?? 0;
    // A redrawn strip keeps the focus: the controls that redraw it are outside.
    lanes.style.setProperty("--cols", columns);
    lanes.replaceChildren(h("span", {
      class: "gl-f-head", style: `grid-row:span ${LANES / columns}`,
    }, "lanes"), ...Array.from({ length: LANES }, (_, lane) => h("button", {
      type: "button", tabindex: lane === at ? 0 : -1, class: "gl-f-cell", "data-lane": lane,
      style: state.colour === "lane" ? laneTint(lane) : "", "aria-label": `lane ${lane}`,
      "data-row": Math.floor(lane / columns), "data-col": lane % columns,
      onclick: () => choose(lane),
    }, `T${lane}`)));
    legend.textContent = legendOf(f);
    letters.textContent = keyOf(f);
    show(REST);
  }

  function render() {
    which.set(state.which);
    colour.set(state.colour);
    draw();
    const chosen = String(state.lane);
    root.classList.toggle("gl-f-chosen", state.lane !== null);
    for (const node of root.querySelectorAll("[data-lane]")) {
      node.classList.toggle("gl-hot", node.dataset.lane === chosen);
    }
    for (const node of lanes.querySelectorAll("button")) {
      node.setAttribute("aria-pressed", String(node.dataset.lane === chosen));
    }
    setText(held, state.lane === null ? NO_LANE : describeLane(layout(), state.lane));
  }

  root.append(h("div", { class: "gl-card gl-fragment" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, names.length > 1 ? which.el : h("b", {}, state.which),
      colour.el, play.el),
    picture, letters, lanes, held, h("div", { class: "gl-feet" }, reading,
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"), legend))));
  new ResizeObserver(() => render()).observe(root);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "FragmentMap", allows: {
  which: (value, config) => config.layouts.some((f) => f.name === value),
  colour: oneOf(["lane", "register", "matrix"]), lane: orNone(whole(0, LANES - 1)),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
