// The bits of a byte offset as columns; for each bit that may change, which bits are XORed onto it.
import { h, roving } from "../shared/dom.js";
import { LOW, bitsOf, roleOf, rowBit } from "../model/shared/ldmatrix.js";

const GROUP_BITS = [6, 5, 4]; // choose one of 8 groups of four banks
const down = (from, to) => Array.from({ length: Math.max(0, from - to + 1) }, (_, i) => from - i);
const long = (text) => h("span", { class: "gl-w-long" }, text);

// Targets are the bits of the group, and what else a Swizzle changes.
const targetsOf = (pairs) =>
  [...new Set([...GROUP_BITS, ...pairs.map((pair) => pair[1])])].sort((a, b) => b - a);

function heads(tile, top) {
  const row = rowBit(tile);
  const span = (count, text, kind) => h("span", {
    class: `gl-w-span gl-w-${kind}`, style: `grid-column: span ${count}`,
  }, text);
  return [
    h("span"), span(top - row + 1, "row", "row"), span(row - LOW, "chunk", "chunk"),
    span(1, "byte", "byte"),
    h("span", { class: "gl-w-name" }, "bit"),
    ...down(top, LOW).map((bit) => h("span", {
      class: `gl-w-bit${GROUP_BITS.includes(bit) ? " gl-w-bank" : ""}`,
      title: `bit ${bit}: ${roleOf(tile, bit).join(" ")}`,
    }, String(bit))),
    h("span", { class: "gl-w-bit" }, "3–0"),
  ];
}

function values(name, top, kind) {
  return [
    h("span", { class: "gl-w-name" }, name),
    ...down(top, LOW).map((bit) => h("span", { class: `gl-w-value ${kind}`, "data-bit": bit })),
    h("span", { class: `gl-w-value gl-w-low ${kind}` }),
  ];
}

function toggleRow(tile, target, top, flip) {
  const cells = down(top, LOW).map((source) => {
    if (source === target) return h("span", { class: "gl-w-self", title: "the bit itself, always" }, "old");
    return h("button", {
      type: "button", class: "gl-w-toggle", tabindex: -1, "data-row": 100 - target,
      "data-col": 100 - source, "data-pair": `${source},${target}`,
      "aria-label": `bit ${source} (${roleOf(tile, source).join(" ")}) onto bit ${target}`,
      onclick: () => flip([source, target]),
    }, h("span", { class: "gl-w-plus" }, "+"), h("span", { class: "gl-w-xor" }, "⊕"));
  });
  return [h("span", { class: "gl-w-name" }, long("new "), `${target} =`), ...cells, h("span")];
}

// {el, set(tile, pairs), show(offset, moved)}; flip is called with a [source, target].
export function bitTable(flip) {
  const table = h("div", { class: "gl-w-bits", role: "group",
    "aria-label": "Which bits are XORed onto which. Arrow keys move, Enter switches." });
  let drawn = "";
  roving(table);

  function draw(tile, targets) {
    const top = bitsOf(tile) - 1;
    const had = table.contains(document.activeElement);
    table.style.setProperty("--bits", top - LOW + 1);
    table.replaceChildren(...heads(tile, top), ...values("offset", top, "gl-w-before"),
      ...targets.flatMap((target) => toggleRow(tile, target, top, flip)),
      ...values("goes to", top, "gl-w-after"));
    const first = table.querySelector(`[data-pair="${Math.min(7, top)},4"]`);
    first.tabIndex = 0;
    if (had) first.focus();
  }

  function set(tile, pairs) {
    const targets = targetsOf(pairs).filter((target) => target < bitsOf(tile));
    const key = `${bitsOf(tile)} ${rowBit(tile)} ${targets}`;
    if (key !== drawn) draw(tile, targets);
    drawn = key;
    const on = new Set(pairs.map(String));
    for (const node of table.querySelectorAll("[data-pair]")) {
      node.setAttribute("aria-pressed", String(on.has(node.dataset.pair)));
    }
  }

  function show(offset, moved) {
    for (const node of table.querySelectorAll(".gl-w-value")) {
      const [bit, count] = node.dataset.bit ? [Number(node.dataset.bit), 1] : [0, LOW];
      const part = (value) => ((value >> bit) % (1 << count)).toString(2).padStart(count, "0");
      node.textContent = part(node.classList.contains("gl-w-after") ? moved : offset);
      node.classList.toggle("gl-w-changed", part(offset) !== part(moved));
    }
    // The bits that this offset brings into the XOR.
    for (const node of table.querySelectorAll("[data-pair]")) {
      const source = Number(node.dataset.pair.split(",")[0]);
      node.classList.toggle("gl-w-live", ((offset >> source) & 1) === 1);
    }
  }
  return { el: table, set, show };
}
