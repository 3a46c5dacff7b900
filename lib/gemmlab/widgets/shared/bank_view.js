// The two pictures of BankMap: the 32 banks with a row per wavefront, and the tile itself.
import { h, roving } from "./dom.js";
import { BANKS, laneList, plural, uniqueLanes } from "../model/shared/banks.js";

const ANCHORS = ["0072b2", "56b4e9", "009e73", "f0e442", "e69f00", "d55e00", "cc79a7"];
const channel = (hex, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16);

// One colour a bank, going round the Okabe-Ito hues, and black or white for the text on it.
const COLOURS = Array.from({ length: BANKS }, (_, bank) => {
  const at = (bank / BANKS) * ANCHORS.length;
  const [from, to] = [ANCHORS[Math.floor(at)], ANCHORS[(Math.floor(at) + 1) % ANCHORS.length]];
  const rgb = [0, 1, 2].map((i) =>
    Math.round(channel(from, i) + (channel(to, i) - channel(from, i)) * (at % 1)));
  const linear = rgb.map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return `--c:rgb(${rgb});--on:${light > 0.18 ? "#000" : "#fff"}`;
});

export const bankStyle = (bank) => COLOURS[bank];
export const SHOWN_ROWS = 8; // of either picture, unless all are asked for

// What a cell stands for; one listener a picture looks it up.
const targets = new WeakMap();
const meaning = (node, target) => {
  targets.set(node, target);
  return node;
};

function listen(picture, show) {
  const look = (event) => {
    const target = targets.get(event.target.closest("[data-bank], [data-lanes]"));
    if (target) show(target);
  };
  picture.addEventListener("pointerover", look);
  picture.addEventListener("focusin", look);
  return picture;
}

// The rows of the bank picture: one per wavefront, in the order of the phases.
export function wavefrontRows(request) {
  return request.phases.flatMap((phase, p) =>
    Array.from({ length: phase.wavefronts }, (_, w) => ({
      phase: p, lanes: phase.lanes, words: phase.words.filter((word) => word.wavefront === w),
      wavefront: w,
    })));
}

function wordCell(model, word, row) {
  const { lanes, bank, index } = word;
  const part = index - Math.floor(model.addresses[lanes[0]] / 4);
  const label = lanes.length === 1 ? String(lanes[0]) : `×${lanes.length}`;
  return meaning(h("button", {
    type: "button", tabindex: -1, class: "gl-cell gl-word",
    style: bankStyle(bank), "data-row": row, "data-col": bank, "data-key": `${lanes[0]}.${part}`,
    "data-lanes": lanes.join(" "), "data-bank": bank,
    "aria-label": `wavefront ${row}: bank ${bank}, word ${index}, for ${laneList(lanes)}`,
  }, label), { lanes, word });
}

function bankHeader(bank) {
  return meaning(h("button", {
    type: "button", tabindex: -1, class: "gl-head", "data-row": 0, "data-col": bank,
    "data-bank": bank, "aria-label": `bank ${bank}`,
  }, String(bank)), { bank });
}

function bankBlock(model, rows, top, first, count) {
  const inBlock = (bank) => bank >= first && bank < first + count;
  if (count < BANKS && !rows.some((row) => row.words.some((word) => inBlock(word.bank)))) {
    return h("div", { class: "gl-legend" }, `Banks ${first} to ${first + count - 1} are idle.`);
  }
  const grid = h("div", { class: "gl-grid", style: `--cols:${count}` },
    h("span", { class: "gl-corner" }, "bank"));
  for (let bank = first; bank < first + count; bank++) grid.append(bankHeader(bank));
  rows.forEach((row, i) => {
    const r = top + i;
    if (i && row.wavefront === 0) grid.append(h("span", { class: "gl-phase" }));
    const kind = row.wavefront ? "gl-corner gl-late" : "gl-corner";
    const title = `phase ${row.phase + 1}: ${laneList(row.lanes)}`;
    grid.append(h("span", { class: kind, "data-wave": r + 1, title }, String(r + 1)));
    const words = new Map(row.words.map((word) => [word.bank, word]));
    for (let bank = first; bank < first + count; bank++) {
      const cell = words.has(bank)
        ? wordCell(model, words.get(bank), r + 1)
        : h("span", { class: "gl-cell gl-idle" });
      cell.dataset.wave = r + 1;
      grid.append(cell);
    }
  });
  return grid;
}

// The banks as columns, a row per wavefront; `columns` banks side by side (32, or 16 if narrow).
// Of the rows those from `top` on, `most` of them.
export function bankPicture(model, columns, show, top = 0, most = Infinity) {
  const rows = wavefrontRows(model.request).slice(top, top + most);
  const picture = listen(h("div", {
    class: rows.length > 10 ? "gl-banks gl-dense" : "gl-banks", role: "group",
    "aria-label": "The 32 banks, one row per wavefront. Arrow keys move.",
  }), show);
  for (let first = 0; first < BANKS; first += columns) {
    picture.append(bankBlock(model, rows, top, first, columns));
  }
  roving(picture);
  (picture.querySelector(".gl-word") ?? picture.querySelector(".gl-head")).tabIndex = 0;
  return picture;
}

// Which rows of the tile are drawn: all, or `most` of those that the lanes touch.
function shownRows({ tile, elements }, lanes, most) {
  if (tile.rows <= most) return Array.from({ length: tile.rows }, (_, row) => row);
  const touched = [...new Set(lanes.map((lane) => elements[lane][0]))].sort((a, b) => a - b);
  for (let row = 0; touched.length < Math.min(most, SHOWN_ROWS); row++) {
    if (!touched.includes(row)) touched.push(row);
  }
  return touched.slice(0, most).sort((a, b) => a - b);
}

// The lanes that want each element, by "row,column".
function usersOf({ tile, elements, access }) {
  const n = Math.max(1, access.width / tile.element);
  const users = new Map();
  elements.forEach(([row, col], lane) => {
    for (let j = 0; j < n; j++) {
      const key = `${row},${col + j}`;
      users.set(key, [...(users.get(key) ?? []), lane]);
    }
  });
  return users;
}

// The tile, each element in the colour of its bank, strong if the request wants it. With `most`
// rows it is a small picture. Each element has the number of its bank.
export function tilePicture(model, first, columns, show, lanes, most = Infinity) {
  const { tile, place } = model;
  const users = usersOf(model);
  const last = Math.min(tile.row_length, first + columns);
  const all = most === Infinity;
  const rows = shownRows(model, lanes, all && tile.rows > 16 ? 64 : most);
  const grid = listen(h("div", {
    class: `gl-grid gl-tile${all ? rows.length > 16 ? " gl-dense" : "" : " gl-small"}`,
    style: `--cols:${columns}`, role: "img",
    "aria-label": `Tile rows ${rows[0]} to ${rows[rows.length - 1]}, columns ${first} to ` +
      `${last - 1}, each element in the color of its bank.`,
  }, h("span", { class: "gl-corner" }, "col")), show);
  for (let col = first; col < first + columns; col++) {
    grid.append(h("span", { class: "gl-head gl-quiet" }, col < last ? String(col) : ""));
  }
  for (const row of rows) {
    grid.append(h("span", { class: "gl-corner" }, String(row)));
    for (let col = first; col < first + columns; col++) {
      if (col >= last) {
        grid.append(h("span"));
        continue;
      }
      const bank = Math.floor((place(row, col) * tile.element) / 4) % BANKS;
      const wanted = users.get(`${row},${col}`);
      grid.append(meaning(h("span", {
        class: wanted ? "gl-cell gl-used" : "gl-cell gl-unused", style: bankStyle(bank),
        "data-bank": bank, "data-lanes": wanted ? wanted.join(" ") : "",
      }, String(bank)), { lanes: wanted ?? [], at: [row, col], bank }));
    }
  }
  return grid;
}

// What is under the pointer or has the focus, in words.
export function readout(model, { lanes, word, bank, at }) {
  const verb = model.access.store ? "store" : "load";
  const who = (list) => laneList(list)[0].toUpperCase() + laneList(list).slice(1);
  if (word) {
    const [row, col] = model.elements[lanes[0]];
    const s = lanes.length === 1 ? "s" : "";
    const origin = lanes.length === 1 ? ` (from row ${row}, column ${col})` : "";
    return `${who(lanes)} ${verb}${s} word ${word.index}${origin}: bank ${word.bank}.`;
  }
  if (at) {
    const use = lanes.length ? `wanted by ${laneList(lanes)}` : "not part of this request";
    return `Row ${at[0]}, column ${at[1]} is in bank ${bank}, ${use}.`;
  }
  const parts = model.request.phases.map((phase) => phase.words.filter((w) => w.bank === bank));
  const words = parts.flat();
  if (!words.length) return `Bank ${bank} has nothing to do in this request.`;
  const depth = parts.reduce((sum, part) => sum + part.length, 0);
  return `Bank ${bank}: ${laneList(uniqueLanes(words))}, ${plural(words.length, "word")}, ` +
    `busy in ${plural(depth, "wavefront")} of ${model.request.wavefronts}.`;
}

// Marks everything that belongs to the lanes or to the bank; nothing marked means no dimming.
export function highlight(root, { lanes = [], bank, at }) {
  const wanted = new Set(lanes.map(String));
  const byBank = bank !== undefined && !(at && lanes.length);
  root.classList.toggle("gl-focus", wanted.size > 0 || byBank);
  for (const node of root.querySelectorAll("[data-bank], [data-lanes]")) {
    const hit = byBank
      ? node.dataset.bank === String(bank)
      : (node.dataset.lanes ?? "").split(" ").some((lane) => wanted.has(lane));
    node.classList.toggle("gl-hot", hit);
  }
}
