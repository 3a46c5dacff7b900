// Machine: the units of the GPU, the way that a step's data takes through them, and model time.
import { bootWith, h, inline, liveWith, roving } from "../shared/dom.js";
import { reading } from "../shared/guess.js";
import { scrub } from "../shared/scrub.js";

const BANKS = 32;
const NARROW = 640; // pixels of the card below which the units stand above each other
const path = (corners) => corners.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("");
const rect = (name, [x, y, w, tall], more = "") =>
  `<rect class="${name}" x="${x}" y="${y}" width="${w}" height="${tall}" rx="5" ${more}/>`;

// The corners of several ways in a row; "-name" is taken backwards.
export const corners = (g, ways) => ways.flatMap((way) =>
  (way.startsWith("-") ? [...g.ways[way.slice(1)]].reverse() : g.ways[way]));

// The point at a share `part` of the length of a row of corners.
export function along(points, part) {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let left = part * lengths.reduce((sum, one) => sum + one, 0);
  for (const [i, one] of lengths.entries()) {
    if (left <= one || i === lengths.length - 1) {
      const share = one ? Math.min(1, left / one) : 0;
      return [0, 1].map((axis) => points[i][axis] + share * (points[i + 1][axis] - points[i][axis]));
    }
    left -= one;
  }
  return points[0];
}

// What happens at a time: the events that run, and the tile in each buffer (or -1).
export function moment(config, time) {
  const running = config.events.filter(([, , begin, end]) => begin <= time && time < end);
  const slots = Array.from({ length: config.buffers }, () => -1);
  const filled = config.events.some(([kind]) => kind === "store") ? "store" : "load";
  for (const [kind, tile, , end] of config.events) {
    if (kind !== filled || end > time || !config.buffers) continue;
    const used = config.events.find(([other, t]) => other === "multiply" && t === tile);
    if (used[3] > time) slots[tile % config.buffers] = tile;
  }
  return { running, slots };
}

// The moment in words.
export function tell(config, time) {
  const { running, slots } = moment(config, time);
  const of = (kind) => running.filter(([other]) => other === kind).map(([, tile]) => tile);
  const tiles = (list) => (!config.buffers ? `the values for k = ${list.join(", ")}`
    : list.length > 1 ? `tiles ${list.join(", ")}` : `tile ${list[0]}`);
  const said = [];
  if (of("load").length) said.push(`${tiles(of("load"))} on the way from L2`);
  if (of("store").length) said.push(`${tiles(of("store"))} stored from registers to shared memory`);
  const pipe = config.tensor ? "tensor cores" : "FMA pipes";
  if (of("multiply").length) said.push(`the ${pipe} multiply ${tiles(of("multiply"))}`);
  if (of("write").length) said.push("the tile of C on its way to memory");
  else if (!of("multiply").length) said.push(`the ${pipe} wait`);
  const held = slots.filter((tile) => tile >= 0).length;
  if (config.buffers) said.push(`${held} of ${config.buffers} buffers full`);
  return `Cycle ${Math.floor(time).toLocaleString("en")}: ${said.join("; ")}.`;
}

// The inside of a unit: lanes of a pipe, lines of registers, cells of a tensor core.
function inside(name, [x, y, w, tall]) {
  const cells = (columns, rows, kind) => Array.from({ length: columns * rows }, (_, i) => {
    const [a, b] = [(w - 10) / columns, (tall - 10) / rows];
    return `M${x + 5 + (i % columns) * a + 0.7} ${y + 5 + Math.floor(i / columns) * b + 0.7}` +
      `h${a - 1.4}v${b - 1.4}h${1.4 - a}z`;
  }).join("");
  const grid = { scheduler: [1, 3], registers: [1, 6], fma: [8, 4], tensor: [4, 4] }[name];
  return grid ? `<path class="gl-m-cells" d="${cells(...grid)}"/>` : "";
}

// Buffers as rows across the 32 banks; a row of `place` holds the tile that it has.
function banks(config, [x, y, w, tall]) {
  const rows = config.buffers;
  const [left, top, width, height] = [x + 8, y + 26, w - 16, tall - 34];
  const each = height / rows;
  return Array.from({ length: rows }, (_, row) => {
    const cells = Array.from({ length: BANKS }, (_, b) =>
      `M${(left + b * width / BANKS + 0.5).toFixed(2)} ${(top + row * each + 1).toFixed(2)}` +
      `h${(width / BANKS - 1).toFixed(2)}v${(each - 3).toFixed(2)}h-${(width / BANKS - 1).toFixed(2)}z`);
    return `<path class="gl-m-slot" data-slot="${row}" d="${cells.join("")}"/>` +
      `<text class="gl-m-tile" data-slot-text="${row}" x="${left + width / 2}" ` +
      `y="${top + (row + 0.5) * each + 4}" text-anchor="middle"></text>`;
  }).join("");
}

// Where the tiles' ways end, with heads that say in which direction: the way of C only where no
// tile goes.
export function heads(config, g) {
  const { write = [], ...tiles } = config.moves;
  const taken = new Set(Object.values(tiles).flat());
  for (const way of write) {
    const [name, back] = [way.replace(/^-/, ""), `-${way}`];
    if (!taken.has(name) && !taken.has(back)) taken.add(way);
  }
  return [...taken].map((way) => {
    const points = corners(g, [way]);
    const [[x0, y0], [x, y]] = points.slice(-2);
    const turn = Math.round(Math.atan2(y - y0, x - x0) * 180 / Math.PI);
    return `<path class="gl-m-head" data-way="${way.replace(/^-/, "")}" ` +
      `d="M0 0L-10 -6.5V6.5z" transform="translate(${x} ${y}) rotate(${turn})"/>`;
  });
}

// A frame around what each of the four partitions has: a way that ends there serves all four.
function columns(g) {
  return Object.values(g.units).filter((boxes) => boxes.length > 1).map((boxes) => {
    const [x, y, w] = boxes[0];
    const [, last, , tall] = boxes.at(-1);
    return rect("gl-m-column", [x - 2.5, y - 2.5, w + 5, last + tall - y + 5]);
  }).join("");
}

function units(config, g) {
  const used = new Set(config.units.filter(([, , on]) => on).map(([name]) => name));
  return config.units.map(([name, title], index) => {
    const boxes = g.units[name];
    const [x, y, w] = boxes[0];
    const column = boxes.length > 1;
    const label = name === "shared" ? `<text x="${x + 6}" y="${y + 18}">${title}</text>`
      : column ? `<text x="${Math.min(x + w / 2, g.sm[0] + g.sm[2] - 6 - 3.4 * title.length)}" ` +
        `y="${y - 7}" text-anchor="middle">${title}</text>`
        : `<text x="${x + w / 2}" y="${y + boxes[0][3] / 2 + 4.5}" text-anchor="middle">${title}</text>`;
    return `<g class="gl-m-unit${used.has(name) ? "" : " gl-m-unused"}" data-unit="${name}" ` +
      `role="button" tabindex="${index ? -1 : 0}" data-row="0" data-col="${index}" ` +
      `aria-label="${title}">` + boxes.map((box) => rect("gl-m-box", box) + inside(name, box)).join("") +
      (name === "shared" ? banks(config, boxes[0]) : "") + label + "</g>";
  }).join("");
}

export function picture(config, g) {
  const [width, height] = g.size;
  const all = Object.entries(g.ways).map(([name, points]) => {
    const on = config.ways.includes(name);
    const about = config.about.includes(name);
    return `<path class="gl-m-way${on ? " gl-m-on" : ""}${about ? " gl-m-about" : ""}" ` +
      `data-way="${name}" d="${path(points)}"/>`;
  }).join("");
  const tokens = Array.from({ length: 8 }, (_, i) =>
    `<g class="gl-m-token" data-token="${i}" visibility="hidden"><rect x="-9" y="-9" width="18" ` +
    `height="18" rx="4"/><text y="4.5" text-anchor="middle"></text></g>`).join("");
  const [x, y, , tall] = g.sm;
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" role="group" ` +
    `aria-label="The machine">${rect("gl-m-sm", g.sm)}<text class="gl-m-name" x="${x + 12}" ` +
    `y="${width < 400 ? y + 18 : y + tall - 10}">one SM</text>${all}${columns(g)}` +
    `${units(config, g)}${heads(config, g).join("")}${tokens}</svg>`;
}

// Bytes, and beside them what each of these bytes serves.
const pairs = (list) => list.flatMap((one, i) => (i % 2 ? [] : [list.slice(i, i + 2)]));

function mount(root, config, initial, changed) {
  let state = { ...initial, time: 0 }; // a run is watched from its start
  let g = null;
  const total = Math.max(...config.events.map((event) => event[3]));
  const time = scrub("model time", (next, done) => update({ time: next }, done));
  const box = h("div", { class: "gl-m-picture" });
  const now = h("div", { class: "gl-m-now" });
  const about = h("div", { class: "gl-m-unit-words", "aria-live": "polite" });
  const mark = (kind, text) => {
    const el = h("span", {});
    el.innerHTML = `<svg width="26" height="14" aria-hidden="true">${kind === "unused"
      ? `<g class="gl-m-unused">${rect("gl-m-box", [1, 1, 24, 12])}</g>`
      : `<path class="gl-m-way gl-m-${kind}" d="M1 7H25"/>`}</svg>${text}`;
    return el;
  };
  const key = h("div", { class: "gl-legend gl-key" }, mark("busy", "a tile moves"),
    config.about.length ? mark("about", "what this step is about") : null,
    mark("on", "other ways of this kernel"), mark("unused", "not used by this kernel"));
  const update = (change, done = true) => {
    state = { ...state, ...change };
    show();
    if (done) changed(state);
  };
  const pick = (event) => {
    const unit = event.target.closest?.("[data-unit]");
    if (unit) update({ unit: unit.dataset.unit });
  };
  box.addEventListener("click", pick);
  box.addEventListener("focusin", pick);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick(event);
  });
  roving(box);

  function show() {
    const { running, slots } = moment(config, state.time);
    const busy = new Set();
    const tokens = [];
    for (const [kind, tile, begin, end] of running) {
      const part = (state.time - begin) / (end - begin);
      const ways = config.moves[kind];
      const points = corners(g, ways);
      // The multiplication reads its tile again and again, k by k.
      const place = along(points, kind === "multiply" ? (part * 8) % 1 : part);
      tokens.push([kind, tile, place]);
      for (const way of ways) busy.add(way.replace(/^-/, ""));
    }
    for (const one of box.querySelectorAll("[data-way]")) {
      one.classList.toggle("gl-m-busy", busy.has(one.dataset.way));
    }
    const multiplies = running.some(([kind]) => kind === "multiply");
    for (const one of box.querySelectorAll("[data-unit]")) {
      const name = one.dataset.unit;
      const pipe = name === (config.tensor ? "tensor" : "fma") || name === "scheduler";
      one.classList.toggle("gl-m-works", multiplies && pipe);
      one.classList.toggle("gl-m-chosen", name === state.unit);
    }
    for (const [row, tile] of slots.entries()) {
      box.querySelector(`[data-slot="${row}"]`).classList.toggle("gl-m-full", tile >= 0);
      box.querySelector(`[data-slot-text="${row}"]`).textContent = tile < 0 ? "" : `tile ${tile}`;
    }
    for (const one of box.querySelectorAll("[data-token]")) {
      const found = tokens[Number(one.dataset.token)];
      one.setAttribute("visibility", found ? "visible" : "hidden");
      if (!found) continue;
      const [kind, tile, [x, y]] = found;
      one.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      one.dataset.kind = kind;
      one.lastChild.textContent = kind === "write" ? "C" : String(tile);
    }
    now.textContent = tell(config, state.time);
    const [, title, , words] = config.units.find(([name]) => name === state.unit);
    about.replaceChildren(h("b", {}, `${title}: `), ...inline(words));
    time.set({ time: state.time, total, seconds: 10, text: now.textContent,
      stops: [...new Set([0, ...config.events.flatMap((event) => event.slice(2))])].sort((a, b) => a - b) });
  }

  function draw() {
    const next = box.clientWidth < NARROW ? config.narrow : config.wide;
    if (next !== g) {
      g = next;
      box.innerHTML = picture(config, g);
    }
    show();
  }

  root.append(h("div", { class: "gl-card gl-machine" },
    h("div", { class: "gl-caption" }, inline(config.caption)),
    key, box, time.el, now,
    h("div", { class: "gl-m-numbers" }, pairs(config.numbers).map((pair) =>
      h("div", {}, pair.map(([label, ...values]) =>
        reading(label.replace(/(for each byte) .*/, "$1"), ...values))))),
    about, h("div", { class: "gl-feet" }, h("details", { class: "gl-more" },
      h("summary", {}, "The model"), h("div", { class: "gl-legend" }, config.model)))));
  new ResizeObserver(draw).observe(box);
  draw();
  return (next) => {
    state = next;
    draw();
  };
}

const RULES = { name: "Machine" };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
