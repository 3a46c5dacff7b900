// The pictures of TraceView beside the banks: the lanes, the sectors, and the table of addresses.
import { h, roving } from "../shared/dom.js";
import { BANKS, laneList, plural } from "../model/shared/banks.js";
import { bankStyle } from "../shared/bank_view.js";

const SECTOR = 32;
const WORD = 4;

const placeAt = (places, memory, address) => places.find((p) =>
  p.memory === memory && p.start <= address && address < p.start + p.bytes);

// "sA[4][17]": what lies at a byte of a memory; the same text as sim/places.py.
export function elementAt(places, memory, address) {
  const place = placeAt(places, memory, address);
  if (!place) return `${memory} + ${address} B`;
  const offset = address - place.start;
  if (!place.shape.length) return `${place.name} + ${offset} B`;
  const size = place.bytes / place.shape.reduce((a, b) => a * b, 1);
  let index = Math.floor(offset / size);
  let indices = "";
  for (const length of [...place.shape].reverse()) {
    indices = `[${index % length}]${indices}`;
    index = Math.floor(index / length);
  }
  return `${place.name}${indices}${offset % size ? ` + ${offset % size} B` : ""}`;
}

// [8224, "C"]: in global memory the byte of the matrix, in shared memory from the memory's start,
// which is what the banks go by.
function byteOf({ line, places }, address) {
  const place = line.memory === "global" && placeAt(places, "global", address);
  return place ? [address - place.start, place.name] : [address, `${line.memory} memory`];
}

// The sectors that a request touches, rising: {index, lanes, bytes, words: lanes by word 0 to 7}.
export function sectorsOf(addresses, width) {
  const found = new Map();
  addresses.forEach((address, lane) => {
    if (address === null) return;
    const index = Math.floor(address / SECTOR);
    if (!found.has(index)) {
      found.set(index, { index, lanes: [], bytes: 0, words: Array.from({ length: 8 }, () => []) });
    }
    const sector = found.get(index);
    if (!sector.lanes.some((other) => addresses[other] === address)) sector.bytes += width;
    sector.lanes.push(lane);
    const first = Math.floor((address % SECTOR) / WORD);
    for (let word = first; word < first + Math.max(1, width / WORD); word++) {
      sector.words[word].push(lane);
    }
  });
  return [...found.values()].sort((a, b) => a.index - b.index);
}

const many = (lanes) => (lanes.length === 1 ? String(lanes[0]) : `×${lanes.length}`);

const bankOf = (address) => Math.floor(address / WORD) % BANKS;

function laneCell(model, lane, [row, col], show) {
  const address = model.addresses[lane];
  if (address === null) {
    return h("span", { class: "gl-cell gl-idle", title: `lane ${lane} takes no part` }, "–");
  }
  const look = model.request ? { class: "gl-cell gl-word", style: bankStyle(bankOf(address)) }
    : { class: "gl-cell gl-asked" };
  const target = { lanes: [lane], lane };
  return h("button", {
    ...look, type: "button", tabindex: -1, "data-row": row, "data-col": col, "data-lanes": lane,
    "aria-label": `lane ${lane}`, onpointerenter: () => show(target), onfocus: () => show(target),
  }, String(lane));
}

// The 32 lanes, `columns` side by side; below each the (first) bank that it meets.
export function laneStrip(model, columns, show) {
  const strip = h("div", {
    class: "gl-grid gl-lanes", style: `--cols:${columns}`, role: "group",
    "aria-label": "The 32 lanes of the warp. Arrow keys move.",
  });
  for (let first = 0; first < model.addresses.length; first += columns) {
    const row = model.addresses.slice(first, first + columns);
    strip.append(h("span", { class: "gl-corner" }, "lane"),
      ...row.map((_, i) => laneCell(model, first + i, [first / columns, i], show)));
    if (!model.request || columns === 32) continue; // lines lead to the banks there
    strip.append(h("span", { class: "gl-corner" }, "bank"), ...row.map((address) =>
      h("span", { class: "gl-head" }, address === null ? "" : String(bankOf(address)))));
  }
  roving(strip);
  strip.querySelector("[data-row]").tabIndex = 0;
  return strip;
}

// A line from each lane to the bank of its first word; both stand in 32 columns of the same width.
export function laneLines({ addresses }, width) {
  const [head, gap, high] = [30, 2, 30];
  const column = (width - head - 32 * gap) / 32;
  const x = (at) => (head + gap + at * (column + gap) + column / 2).toFixed(1);
  const paths = addresses.map((address, lane) => (address === null ? "" : `<path data-lanes="${lane}" ` +
    `style="${bankStyle(bankOf(address))}" d="M${x(lane)} 0C${x(lane)} ${high / 2} ` +
    `${x(bankOf(address))} ${high / 2} ${x(bankOf(address))} ${high}"/>`));
  return `<svg viewBox="0 0 ${width} ${high}" width="${width}" height="${high}" ` +
    `aria-hidden="true">${paths.join("")}</svg>`;
}

function sectorCell(model, sector, at, [row, col], show) {
  if (!sector) return h("span", { class: "gl-sector gl-untouched" });
  const name = elementAt(model.places, "global", at * SECTOR);
  const target = { lanes: sector.lanes, sector };
  return h("button", {
    type: "button", tabindex: -1, class: "gl-sector", "data-row": row, "data-col": col,
    "aria-label": `sector from ${name} on, for ${laneList(sector.lanes)}`,
    onpointerenter: () => show(target), onfocus: () => show(target),
  }, groupsOf(sector.words).map(([lanes, words]) => h("span", { style: `grid-column:span ${words}`,
    ...(lanes.length ? { class: "gl-cell gl-asked", "data-lanes": lanes.join(" ") }
      : { class: "gl-cell gl-along" }) }, lanes.length ? many(lanes) : "")));
}

// Words beside each other that the same lanes ask for are one group: [lanes, words].
export function groupsOf(words) {
  const groups = [];
  for (const lanes of words) {
    if (groups.length && groups.at(-1)[0].join() === lanes.join()) groups.at(-1)[1] += 1;
    else groups.push([lanes, 1]);
  }
  return groups;
}

// Global memory in rows of `across` sectors, as far as it is touched.
export function sectorPicture(model, across, show, most = Infinity) {
  const bySector = new Map(model.sectors.map((sector) => [sector.index, sector]));
  const every = [...new Set(model.sectors.map((sector) => Math.floor(sector.index / across)))];
  const rows = every.slice(0, most);
  const picture = h("div", {
    class: rows.length > 10 ? "gl-sectors gl-dense" : "gl-sectors", role: "group",
    style: `--across:${across}`, "data-rows": every.length,
    "aria-label": `The touched sectors, ${across} in a row. Arrow keys move.`,
  });
  rows.forEach((row, r) => {
    const first = row * across;
    const seen = [...Array(across).keys()].map((i) => bySector.get(first + i));
    const start = seen.findIndex(Boolean);
    picture.append(h("span", { class: "gl-corner" },
      elementAt(model.places, "global", (first + start) * SECTOR)));
    seen.forEach((sector, i) =>
      picture.append(sectorCell(model, sector, first + i, [r, i], show)));
  });
  roving(picture);
  picture.querySelector("[data-row]").tabIndex = 0;
  return picture;
}

// What every lane asks for, as a table: element, address, and its banks and wavefronts.
export function laneTable(model) {
  const { line, request, addresses, places } = model;
  const head = ["lane", "element", "byte", ...(request ? ["banks", "phase", "wavefront"] : [])];
  const rows = addresses.map((address, lane) => {
    if (address === null) return [lane, "takes no part", ...head.slice(2).map(() => "–")];
    const place = [lane, elementAt(places, line.memory, address), byteOf(model, address)[0].toLocaleString("en-US")];
    if (!request) return place;
    const phase = request.phases.findIndex((p) => p.lanes.includes(lane));
    const words = request.phases[phase].words.filter((word) => word.lanes.includes(lane));
    const list = (values) => [...new Set(values)].join(", ");
    return [...place, list(words.map((word) => word.bank)), phase + 1,
      list(words.map((word) => word.wavefront + 1))];
  });
  return h("div", { class: "gl-table-box", tabindex: 0 }, h("table", { class: "gl-lane-table" },
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, String(cell))))))));
}

const VERBS = { ld: ["load", "loads"], st: ["store", "stores"], cp: ["copy", "copies"] };

// The lane, word or sector that is under the pointer or has the focus, in words.
export function tell(model, { lane, lanes, word, sector }) {
  const { line, request, places, addresses } = model;
  const list = laneList(lanes);
  const who = list[0].toUpperCase() + list.slice(1);
  const does = `${who} ${VERBS[line.op.slice(0, 2)][lanes.length === 1 ? 1 : 0]}`;
  const at = (address) => elementAt(places, line.memory, address);
  if (sector) {
    return `${who} ask${lanes.length === 1 ? "s" : ""} for ${sector.bytes} of the 32 ` +
      `bytes of the sector that starts at ${at(sector.index * SECTOR)}.`;
  }
  if (word) return `${does} ${at(word.index * WORD)}: word ${word.index}, bank ${word.bank}.`;
  const [byte, whole] = byteOf(model, addresses[lane]);
  const what = `${does} ${plural(line.width, "byte")} at ${at(addresses[lane])}, byte ` +
    `${byte.toLocaleString("en-US")} of ${whole}`;
  if (!request) return `${what}.`;
  const p = request.phases.findIndex((phase) => phase.lanes.includes(lane));
  const words = request.phases[p].words.filter((w) => w.lanes.includes(lane));
  const banks = words.map((w) => w.bank);
  const where = banks.length > 1 ? `banks ${banks[0]} to ${banks[banks.length - 1]}`
    : `bank ${banks[0]}`;
  const waves = [...new Set(words.map((w) => w.wavefront + 1))].sort((a, b) => a - b);
  const when = `wavefront${waves.length > 1 ? "s" : ""} ${waves.join(", ")}`;
  return `${what}: ${where}, ${when}${request.phases.length > 1 ? ` of phase ${p + 1}` : ""}.`;
}
