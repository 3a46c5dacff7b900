// WgmmaOperand: what a descriptor says, and which bytes of shared memory wgmma then reads.
import { bootWith, h, inline, liveWith, segmented, setText } from "../shared/dom.js";
import { isTruth, oneOf, whole } from "../shared/link.js";
import { player } from "../shared/play.js";
import {
  K_STEP, bytesOf, coreOf, descriptorBits, piecesOf, rightDescriptor
} from "../model/wgmma/operand.js";
import {
  descriptorFields, tellByte, tellCore, tellOperand, tellPiece
} from "../model/wgmma/operand_words.js";

const SPANS = [[128, "128 B"], [64, "64 B"], [32, "32 B"], [16, "none"]];
const OFFSETS = [16, 128, 256, 512, 1024, 2048, 4096, 8192];
const KIND = { false: "K-major", true: "MN-major" };
const GAP = 8;
const HEAD = 16; // above a block of 1 KB: its address
const PLAY_S = 10;

// The tile, the descriptor and the pieces of a state.
export function operandView(state) {
  const o = { mnMajor: state.mnMajor, span: state.span, rows: state.rows };
  const { start, leading, stride, reads } = state;
  const given = { start, leading, stride, span: reads };
  return { o, given, right: rightDescriptor(o, state.step), pieces: piecesOf(o, given, state.step) };
}

// Where the cells of the memory are in a picture `width` pixels wide.
export function memoryGeometry(o, width) {
  const blocks = bytesOf(o) / 1024;
  const across = width < 560 ? 4 : Math.min(8, blocks);
  const w = Math.min(17, Math.floor((width / across - GAP) / 8));
  const tall = Math.max(8, Math.min(w - 4, 10));
  const down = Math.ceil(blocks / across);
  const at = (offset) => {
    const [block, cell] = [Math.floor(offset / 1024), Math.floor(offset % 1024 / 16)];
    return [block % across * (8 * w + GAP) + cell % 8 * w,
      Math.floor(block / across) * (8 * tall + HEAD + 4) + HEAD + Math.floor(cell / 8) * tall];
  };
  return { blocks, w, tall, at, width: across * (8 * w + GAP) - GAP,
    height: down * (8 * tall + HEAD + 4) };
}

const rects = (places, w, tall) =>
  places.map(([x, y]) => `M${x} ${y}h${w}v${tall}h${-w}z`).join("");

function memoryPicture({ o, pieces }, chosen, width) {
  const g = memoryGeometry(o, width);
  const inside = (offset) => offset >= 0 && offset < bytesOf(o);
  const path = (name, offsets, inset = 1) => `<path class="gl-wo-${name}" d="${rects(
    [...new Set(offsets)].filter(inside).map(g.at).map(([x, y]) => [x, y]), g.w - inset,
    g.tall - inset)}"/>`;
  const core = coreOf(o, chosen).map((i) => pieces[i]);
  const read = new Set(pieces.map((one) => one.read));
  const texts = Array.from({ length: g.blocks }, (_, n) => {
    const [x, y] = g.at(1024 * n);
    return `<text class="gl-wo-text" x="${x}" y="${y - 4}">${(1024 * n).toLocaleString("en")}</text>`;
  });
  return `<svg viewBox="-2 0 ${g.width + 4} ${g.height}" width="${g.width + 4}" aria-hidden="true">` +
    path("slot", Array.from({ length: bytesOf(o) / 16 }, (_, i) => 16 * i)) +
    path("right", pieces.filter((one) => one.right).map((one) => one.read)) +
    path("wrong", pieces.filter((one) => !one.right).map((one) => one.read)) +
    path("core", core.filter((one) => one.right).map((one) => one.read)) +
    path("missed", pieces.map((one) => one.wanted).filter((offset) => !read.has(offset)), 2) +
    path("now", [pieces[chosen].read], 0) + texts.join("") + "</svg>";
}

const [SIDE, TOP] = [58, 16]; // of the operand: for the numbers of its k and of its rows

// The operand as the tensor cores get it: rows from left to right, k downwards.
export function operandGeometry(o, width) {
  const [pw, ph] = o.mnMajor ? [8, 1] : [1, 8];
  const unit = (Math.min(width, 708) - SIDE - 4) / o.rows;
  return { unit, tall: 4, pw, ph, width: SIDE + unit * o.rows + 4, height: TOP + K_STEP * 4 + 4,
    at: ({ row, k }) => [SIDE + row * unit, TOP + k % K_STEP * 4] };
}

function operandAxes(o, g, step) {
  const first = K_STEP * step;
  const rows = Array.from({ length: o.rows / 8 }, (_, i) => 8 * i)
    .filter((row) => g.unit * 8 > 26 || row % 16 === 0)
    .map((row) => `<text class="gl-wo-text" x="${(SIDE + row * g.unit).toFixed(1)}" y="12">${row}</text>`);
  const ks = [0, 8].map((k) => `<text class="gl-wo-text" x="0" ` +
    `y="${TOP + (k + 5) * g.tall}">k ${first + k}–${first + k + 7}</text>`);
  return rows.join("") + ks.join("");
}

function operandPicture({ o, pieces }, chosen, width, step) {
  const g = operandGeometry(o, width);
  const core = coreOf(o, chosen);
  const path = (name, some, inset = 0.8) => `<path class="gl-wo-${name}" d="${rects(
    some.map(g.at).map((at) => at.map((v) => Number(v.toFixed(2)))),
    Number((g.pw * g.unit - inset).toFixed(2)), g.ph * g.tall - inset)}"/>`;
  return `<svg viewBox="0 0 ${g.width} ${g.height}" width="${g.width}" aria-hidden="true">` +
    operandAxes(o, g, step) +
    path("right", pieces.filter((one, i) => one.right && !core.includes(i))) +
    path("core", core.map((i) => pieces[i]).filter((one) => one.right)) +
    path("wrong", pieces.filter((one) => !one.right)) + path("now", [pieces[chosen]]) + "</svg>";
}

// A field of the descriptor: its bits, a choice, and what it says.
function field(label, changed) {
  const input = h("select", { class: "gl-select", "aria-label": label,
    onchange: () => changed(Number(input.value)) });
  const [bits, said] = [h("small", {}), h("small", {})];
  const el = h("label", { class: "gl-wo-field" }, bits, h("span", {}, input, said));
  const set = ([where, name, value, says], now, values, right) => {
    bits.textContent = `bits ${where}: ${name}`;
    input.replaceChildren(...values.map(([key, text]) => h("option", { value: key }, text)));
    input.value = now;
    said.textContent = `= ${value}`;
    el.title = `${name}: ${says}`;
    el.classList.toggle("gl-wo-off", !right);
  };
  return { el, set };
}

const offered = (now, right) => [...new Set([...OFFSETS, now, right])].sort((a, b) => a - b)
  .map((value) => [value, `${value.toLocaleString("en")} bytes`]);

function mount(root, config, initial, changed) {
  let state = initial;
  let view = operandView(state);
  let width = 0;
  const update = (change) => {
    if (!("piece" in change)) play.stop();
    state = { ...state, ...change };
    render();
    changed(state);
  };
  // Another tile or step: its own right descriptor, and the piece as far as there is one.
  const other = (change) => {
    const next = { ...state, ...change };
    const right = rightDescriptor({ mnMajor: next.mnMajor, span: next.span, rows: next.rows },
      next.step);
    update({ ...change, start: right.start, leading: right.leading, stride: right.stride,
      reads: right.span, piece: Math.min(state.piece, 2 * next.rows - 1) });
  };
  const major = segmented("Operand", [[false, KIND.false], [true, KIND.true]], state.mnMajor,
    (value) => other({ mnMajor: value }));
  const span = segmented("Tile's swizzle", SPANS, state.span, (value) => other({ span: value }));
  const step = segmented("k step", [0, 1, 2, 3].map((n) => [n, String(n)]), state.step,
    (value) => other({ step: value }));
  const fields = ["start", "leading", "stride", "reads"].map((key) =>
    field(key, (value) => update({ [key]: value })));
  const back = h("button", { type: "button", class: "gl-plain", onclick: () => other({}) },
    "The right descriptor");
  const bits = h("span", { class: "gl-wo-bits" });
  const whole_ = h("b", {});
  const one = h("div", {});
  const memory = h("div", { class: "gl-wo-memory" });
  const keys = h("div", { class: "gl-legend gl-key gl-wo-keys" });
  const what = h("span", {});
  const mark = (name, text) => {
    const el = h("span", {});
    el.innerHTML = `<svg width="16" height="12" aria-hidden="true"><rect class="gl-wo-${name}" ` +
      `x="1" y="1" width="14" height="10"/></svg>${text}`;
    return el;
  };
  const operand = h("div", {
    class: "gl-wo-operand", tabindex: 0, role: "group",
    "aria-label": "The operand as the tensor cores get it. Arrow keys move from piece to piece.",
    onkeydown: (event) => {
      const [dr, dk] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
        ArrowDown: [0, 1] }[event.key] ?? [0, 0];
      if (!dr && !dk) return;
      event.preventDefault();
      const per = view.o.mnMajor ? K_STEP : 2; // pieces of the same rows follow each other
      const [group, k] = [Math.floor(state.piece / per) + dr, state.piece % per + dk];
      if (group >= 0 && group < view.pieces.length / per && k >= 0 && k < per) {
        update({ piece: group * per + k });
      }
    },
    onclick: (event) => {
      const box = operand.firstChild.getBoundingClientRect();
      const g = operandGeometry(view.o, width);
      const scale = g.width / box.width;
      const row = Math.floor(((event.clientX - box.left) * scale - SIDE) / g.unit / g.pw);
      const k = Math.floor(((event.clientY - box.top) * scale - TOP) / g.tall / g.ph);
      const per = view.o.mnMajor ? K_STEP : 2;
      const piece = Math.max(0, row) * per + Math.max(0, Math.min(per - 1, k));
      if (piece < view.pieces.length) update({ piece });
    },
  });
  memory.addEventListener("click", (event) => {
    const box = memory.firstChild.getBoundingClientRect();
    const g = memoryGeometry(view.o, width);
    const scale = (g.width + 4) / box.width;
    const [x, y] = [(event.clientX - box.left) * scale - 2, (event.clientY - box.top) * scale];
    const cells = Array.from({ length: bytesOf(view.o) / 16 }, (_, i) => 16 * i);
    const offset = cells.find((at) => {
      const [left, top] = g.at(at);
      return x >= left && x < left + g.w && y >= top && y < top + g.tall;
    });
    if (offset === undefined) return;
    const piece = view.pieces.findIndex((p) => p.read === offset);
    if (piece >= 0) update({ piece });
    else one.textContent = `${tellByte(view.o, offset)} These 16 k do not read it.`;
  });
  const play = player(() => PLAY_S, () => state.piece / view.pieces.length, (part) => {
    const last = view.pieces.length - 1;
    const piece = Math.min(last, Math.floor(part * (last + 1)));
    if (piece !== state.piece) update({ piece });
  }, "Piece by piece");

  function render() {
    view = operandView(state);
    const { o, given, right, pieces } = view;
    major.set(state.mnMajor);
    span.set(state.span);
    step.set(state.step);
    const said = descriptorFields(given);
    const starts = [0, 1, 2, 3].map((n) => rightDescriptor(o, n).start);
    const known = [...new Set([...starts, 16, given.start])].sort((a, b) => a - b)
      .map((value) => [value, `${value.toLocaleString("en")} bytes`]);
    fields[0].set(said[0], given.start, known, given.start === right.start);
    fields[1].set(said[1], given.leading, offered(given.leading, right.leading),
      given.leading === right.leading);
    fields[2].set(said[2], given.stride, offered(given.stride, right.stride),
      given.stride === right.stride);
    fields[3].set(said[3], given.span, SPANS, given.span === right.span);
    const wrong = JSON.stringify(given) !== JSON.stringify(right);
    back.hidden = !wrong;
    setText(bits, descriptorBits(given));
    setText(whole_, tellOperand(pieces));
    whole_.className = pieces.every((piece) => piece.right) ? "gl-good" : "gl-bad";
    one.textContent = `${tellPiece(o, pieces[state.piece])} ${tellCore(o, pieces, state.piece)}`;
    const some = pieces.every((piece) => piece.right);
    keys.replaceChildren(mark("core", "core matrix of the chosen piece"),
      mark("right", some ? "read" : "read, the right piece"),
      ...(some ? [] : [mark("wrong", "read, another piece"), mark("missed", "meant, not read")]));
    what.textContent = `What wgmma gets: ${o.rows} rows of A (or columns of B) to the right, ` +
      "16 k downwards";
    if (!width) return;
    memory.innerHTML = memoryPicture(view, state.piece, width);
    operand.innerHTML = operandPicture(view, state.piece, width, state.step);
  }

  root.append(h("div", { class: "gl-card gl-operand" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    h("div", { class: "gl-row" }, major.el, span.el, step.el),
    h("div", { class: "gl-wo-fields" }, fields.map((each) => each.el)),
    h("div", { class: "gl-row" }, play.el, h("span", { class: "gl-label" }, "descriptor"), bits, back),
    h("div", { class: "gl-wo-head" }, "Shared memory: a row is 128 bytes, a cell 16 bytes (a piece); " +
      "numbers are byte offsets"), keys, memory,
    h("div", { class: "gl-wo-head" }, what), operand,
    h("div", { class: "gl-wo-reading", "aria-live": "polite" }, whole_, " ", one),
    h("div", { class: "gl-feet" }, h("details", { class: "gl-more" },
      h("summary", {}, "How to read this"), h("div", { class: "gl-legend" },
        "A row of shared memory is all 32 banks. A piece is 16 bytes: 8 values along k (K-major) or " +
        "along the rows (MN-major). Eight pieces are a core matrix, which is read at once; the " +
        "leading and the stride offset say how far apart core matrices lie. Click on a piece, or " +
        "move with the arrow keys. The start is counted from the tile's own.")))));
  new ResizeObserver(() => {
    if (width === memory.clientWidth) return;
    width = memory.clientWidth;
    render();
  }).observe(memory);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const bytes16 = (value) => Number.isInteger(value) && value >= 0 && value < 262144 && value % 16 === 0;
const SPAN_VALUES = SPANS.map(([value]) => value);
const RULES = { name: "WgmmaOperand", allows: {
  mnMajor: isTruth, span: oneOf(SPAN_VALUES), rows: oneOf([64, 128]), step: whole(0, 3),
  start: bytes16, leading: bytes16, stride: bytes16, reads: oneOf(SPAN_VALUES),
  piece: (value, _, state) => whole(0, 2 * state.rows - 1)(value),
} };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
