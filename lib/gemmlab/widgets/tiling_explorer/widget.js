// TilingExplorer: a block tile cut into warps, lanes and elements, and what the cut costs.
import { bootWith, flash, h, inline, liveWith, segmented, select } from "../shared/dom.js";
import { isTruth, whole } from "../shared/link.js";
import { corner, derive, number, owner, problems, repairs } from "../model/tiling/tiling.js";
import { describeThread, facts } from "../model/tiling/facts.js";
import { geometry, threadAt, threadPicture, tilePicture, zoomPicture } from "./picture.js";

const GROUPS = {
  block: ["BM", "BN", "BK"], warp: ["WM", "WN"], subtiles: ["WMITER", "WNITER"],
  thread: ["TM", "TN"],
};
const SIZES = Object.values(GROUPS).flat();
const MORE = {
  lanes: "Place of a lane among LM x LN", a: "A in shared memory", stages: "Buffers",
  min_blocks: "Blocks in __launch_bounds__", gpu: "GPU", size: "M = N",
};
// The costs that are always in sight; the others are folded.
const MAIN = /^(Threads|Shared|Registers|FLOP|Wavefronts|Cycles)/;
const HINT = "A warp repeats its lanes' tiles of TM x TN: WMITER times down, WNITER across. " +
  "Striped: what a thread copies.";

// The values that changed since the table before: name -> what it was.
export function changes(before, now) {
  const old = new Map((before ?? []).map((fact) => [fact.name, fact.value]));
  return new Map(now.filter(({ name, value }) => old.has(name) && old.get(name) !== value)
    .map(({ name }) => [name, old.get(name)]));
}

// A line a fact; its name opens how it comes about. What moved lights up.
function table(rows, was, moved, told, open) {
  const line = ({ name, value, how, bar, bad }) => {
    const more = name === told;
    const detail = h("dd", { class: "gl-how", hidden: !more }, how);
    return h("div", {
      class: `gl-fact${bad ? " gl-bad-fact" : ""}${was.has(name) ? " gl-moved" : ""}`,
    }, h("dt", {}, h("button", {
      type: "button", class: "gl-fact-name", "aria-expanded": String(more), title: how,
      onclick: () => open(name),
    }, name)),
    h("dd", {}, h("b", {}, value), was.has(name)
      ? h("span", { class: "gl-was" }, `was ${was.get(name)}`)
      : moved ? h("span", { class: "gl-same" }, "same") : null,
    bar === null ? null : h("span", { class: "gl-rail" },
      h("span", { class: "gl-meter", style: `--v:${bar}` }))), detail);
  };
  return [true, false].map((main) => {
    const lines = rows.filter((row) => main === (row.bad || MAIN.test(row.name))).map(line);
    lines.filter((one) => one.matches(".gl-moved")).forEach(flash);
    return h("dl", { class: "gl-facts" }, lines);
  });
}

function mount(root, config, initial, changed) {
  let state = initial;
  let valid = null; // the last state that is possible: what the pictures show
  let d = null;
  let g = null;
  let shown = null; // the table of that state
  let pointed = null; // the thread under the pointer
  let was = new Map(); // what the last change of the table changed
  let told = ""; // the line that says how it comes about
  const part = (name, more = {}) => h("div", { class: name, ...more });
  const now = () => Math.min(pointed ?? state.thread, d.threads - 1);

  function update(change) {
    Object.assign(state, change);
    pointed = null;
    render();
    changed(state);
  }

  const control = (name) => {
    const options = config.choices[name].map((one) => (Array.isArray(one) ? one
      : [one, number(one)]));
    return [name, select(MORE[name] ?? name, options, state[name], (value) =>
      update({ [name]: typeof state[name] === "number" ? Number(value) : value }))];
  };
  const selects = Object.fromEntries(Object.keys(config.choices).map(control));
  const presets = config.presets.length < 2 ? null : segmented("Tiling of",
    config.presets.map(([name], i) => [i, name]), -1, (i) => update({ ...config.presets[i][1] }));
  const copy = h("input", {
    type: "checkbox", onchange: () => update({ copies: copy.checked }),
  });
  const slider = h("input", {
    type: "range", class: "gl-range", min: 0, "aria-label": "Thread",
    oninput: () => update({ thread: Number(slider.value) }),
  });
  const picture = part("gl-tile-box", {
    tabindex: 0, role: "slider", "aria-label": "Thread of the block. Arrow keys move.",
    onkeydown: move, onpointermove: (event) => point(event), onpointerleave: () => point(null),
    onclick: (event) => { point(event); update({ thread: now() }); },
  });
  const zoom = part("gl-zoom");
  const reading = part("gl-hint", { "aria-live": "polite" });
  const error = part("gl-goal gl-wrong", { role: "status" });
  const [numbers, others] = [part("gl-numbers"), part("gl-numbers")];
  const [othersTitle, sizesTitle] = [h("summary"), h("summary")];

  function point(event) {
    const svg = picture.querySelector("svg");
    if (!d || root.classList.contains("gl-impossible")) return;
    const shownThread = now();
    pointed = null;
    if (event && event.pointerType !== "touch" || event?.type === "click") {
      const box = svg.getBoundingClientRect();
      const by = g.width / box.width;
      const [x, y] = [(event.clientX - box.left) * by, (event.clientY - box.top) * by];
      const inside = x >= 0 && y >= 0 && x < g.width && y < g.height;
      pointed = inside ? threadAt(d, g, x, y) : null;
    }
    if (now() !== shownThread) drawThread();
  }

  // To the neighbour in C: across the edge of a warp tile into the next warp.
  function move(event) {
    const [dm, dn] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
      ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!d || (!dm && !dn)) return;
    event.preventDefault();
    const [m, n] = corner(d, now());
    const along = (at, step, piece, warp, sub, size) => {
      const next = at + step * piece;
      const left = Math.floor(at / warp) * warp; // the first subtile of a warp stands for all
      if (next >= left && next < left + sub) return next;
      const over = step > 0 ? left + warp : left - warp + sub - piece;
      return over >= 0 && over < size ? over : at;
    };
    update({ thread: owner(d, along(m, dm, d.TM, d.WM, d.WM / d.WMITER, d.BM),
      along(n, dn, d.TN, d.WN, d.WN / d.WNITER, d.BN)) });
  }

  function drawThread() {
    const thread = now();
    picture.querySelector("g").innerHTML = threadPicture(d, g, thread, state.copies);
    zoom.innerHTML = zoomPicture(d, thread, zoom.clientWidth || 280);
    const text = describeThread(d, thread);
    const [place, copied] = text.replaceAll("][", "]\u2060[")
      .split(/(?<=\.) (?=Copies|Stores)/);
    reading.textContent = state.copies ? `${place} ${copied}` : place;
    slider.max = String(d.threads - 1);
    slider.value = String(thread);
    for (const [name, value] of [["now", thread], ["max", d.threads - 1], ["text", text]]) {
      picture.setAttribute(`aria-value${name}`, value);
    }
  }

  function draw() {
    d = derive(valid);
    g = geometry(d, Math.max(200, picture.clientWidth));
    picture.innerHTML = tilePicture(d, g);
    drawThread();
  }

  function drawTable(rows) {
    const [main, more] = table(rows, was, was.size, told, (name) => {
      told = told === name ? "" : name;
      drawTable(rows);
      [...side.querySelectorAll(".gl-fact-name")].find((one) => one.textContent === name).focus();
    });
    numbers.replaceChildren(main);
    others.replaceChildren(more);
    const moved = more.querySelectorAll(".gl-moved").length;
    othersTitle.textContent = `${more.children.length} more costs${moved ? `, ${moved} changed` : ""}`;
  }

  function wrong(found) {
    const mend = repairs(state, SIZES.map((name) => [name, config.choices[name]]));
    error.replaceChildren(h("span", {}, found.join(" ")), h("span", { class: "gl-row" },
      h("span", { class: "gl-label" },
        mend.length ? "One change does:" : "No single change does."),
      mend.map(([name, value]) => h("button", {
        type: "button", class: "gl-mend", onclick: () => update({ [name]: value }),
      }, `${name} = ${value}`))));
  }

  function render() {
    const found = problems(state);
    const impossible = found.length > 0;
    for (const [name, one] of Object.entries(selects)) one.set(state[name]);
    sizesTitle.textContent = `Warp ${state.WM} x ${state.WN}, thread ${state.TM} x ${state.TN}`;
    const same = ([, tiling]) => Object.keys(tiling).every((key) => state[key] === tiling[key]);
    presets?.el.querySelectorAll("input").forEach((input, i) => {
      input.checked = same(config.presets[i]);
    });
    copy.checked = state.copies;
    root.classList.toggle("gl-impossible", impossible);
    error.hidden = !impossible;
    if (impossible) wrong(found);
    else {
      valid = { ...state };
      state.thread = Math.min(state.thread, derive(valid).threads - 1);
      const rows = facts(valid, { ...config.limits, ...config.gpus[state.gpu] }, state.size);
      const moved = changes(shown, rows);
      if (moved.size || !shown) {
        was = moved;
        drawTable(rows);
      }
      shown = rows;
    }
    views.inert = impossible;
    if (valid) draw();
  }

  const field = (name) => selects[name].el;
  const views = part("gl-views");
  views.append(picture, h("div", { class: "gl-row" },
    h("label", { class: "gl-field" }, h("span", { class: "gl-label" }, "thread"), slider),
    h("label", { class: "gl-field gl-check" }, copy, "what it copies")), reading);
  const [block, ...finer] = Object.entries(GROUPS).map(([title, names]) =>
    h("div", { class: "gl-sizes" }, h("span", { class: "gl-label" }, title), names.map(field)));
  const side = h("div", { class: "gl-side" }, error, block,
    h("details", { class: "gl-more gl-finer" }, sizesTitle, h("div", { class: "gl-groups" }, finer)),
    numbers, h("details", { class: "gl-more" }, othersTitle, others));
  const own = h("details", { class: "gl-more", ontoggle: () => valid && drawThread() },
    h("summary", {}, "The thread's stores in their order"), zoom);
  root.append(h("div", { class: "gl-card gl-tiling" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    presets?.el, h("div", { class: "gl-two" }, views, side),
    h("div", { class: "gl-feet" },
      h("details", { class: "gl-more" }, h("summary", {}, "Lanes, buffers, GPU"),
        h("div", { class: "gl-row" }, Object.keys(MORE).map(field))), own,
      h("details", { class: "gl-more" }, h("summary", {}, "How to read this"), h("div", { class: "gl-legend" }, HINT)))));
  let width = 0;
  new ResizeObserver(() => {
    if (width === picture.clientWidth || !valid) return;
    width = picture.clientWidth;
    draw();
  }).observe(picture);
  render();
  return (next) => {
    state = next;
    render();
  };
}

// Any of what a control offers; whether the sizes go together is said in the widget.
const offered = Object.fromEntries([...SIZES, ...Object.keys(MORE)].map((name) => [name, (value, config) =>
  config.choices[name].some((one) => (Array.isArray(one) ? one[0] : one) === value)]));
const RULES = { name: "TilingExplorer", allows: {
  ...offered, thread: whole(0, 1023), copies: isTruth,
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
