// RegisterTile: the elements of C in a thread's registers, and what each value read serves.
import { bootWith, h, inline, liveWith, segmented } from "../shared/dom.js";
import { guess, reading, waits } from "../shared/guess.js";
import { scrub } from "../shared/scrub.js";
import { element, threadTile } from "../model/traffic/thread_tile.js";
import { quotient } from "../model/traffic/words.js";

const px = (value) => Number(value.toFixed(2));
const rect = (name, x, y, w, tall) =>
  `<rect class="${name}" x="${px(x)}" y="${px(y)}" width="${px(w)}" height="${px(tall)}" rx="2"/>`;

// A's values at the left, B's above, the sums between them; `count` instructions are done.
export function picture(m, n, count, width) {
  const loads = m + n;
  const fmas = Math.max(0, count - loads);
  const [bar, gap, size] = [Math.min(34, width / 9), 14, Math.max(m, n)];
  const s = Math.min(72, (width - bar - gap) / size, (336 - bar - gap) / size);
  const o = bar + gap;
  const [row, col] = fmas ? element(n, fmas - 1) : [-1, -1];
  const running = count > loads && count < loads + m * n;
  const kind = (i, done, hit) => (running && hit ? "gl-rt-hit" : i < done ? "gl-rt-value" : "gl-rt-empty");
  const a = Array.from({ length: m }, (_, i) =>
    rect(kind(i, count, i === row), 0, o + i * s, bar, s - 2)).join("");
  const b = Array.from({ length: n }, (_, j) =>
    rect(kind(m + j, count, j === col), o + j * s, 0, s - 2, bar)).join("");
  const sums = Array.from({ length: m * n }, (_, i) => {
    const [r, c] = element(n, i);
    const name = i === fmas - 1 && running ? "gl-rt-hit-sum" : i < fmas ? "gl-rt-sum" : "gl-rt-empty";
    return rect(name, o + c * s, o + r * s, s - 2, s - 2);
  }).join("");
  const names = `<text x="${bar / 2}" y="${o - 5}" text-anchor="middle" class="gl-rt-name">A</text>` +
    `<text x="${o - 7}" y="${bar / 2 + 5}" text-anchor="end" class="gl-rt-name">B</text>`;
  return `<svg viewBox="0 0 ${px(o + n * s)} ${px(o + m * s)}" width="${px(o + n * s)}" ` +
    `aria-hidden="true">${names}${a}${b}${sums}</svg>`;
}

// Instructions of one kind in their order, those that are done in full color.
function stream(kind, all, done, room) {
  const w = all > 120 ? 6 : all > 40 ? 9 : 14;
  const per = Math.floor(room / w);
  return `<svg viewBox="0 0 ${per * w} ${Math.ceil(all / per) * (w + 1)}" width="${per * w}" ` +
    `aria-hidden="true">${Array.from({ length: all }, (_, i) =>
      rect(`gl-rt-${kind}${i < done ? "" : " gl-rt-later"}`,
        (i % per) * w, Math.floor(i / per) * (w + 1), w - 1.5, w - 1)).join("")}</svg>`;
}

// The instruction that was done last, as a line of the unrolled loops.
export function line(m, n, count) {
  if (count === 0) return "";
  if (count <= m) return `rA[${count - 1}] = sA[m + ${count - 1}][k];`;
  if (count <= m + n) return `rB[${count - m - 1}] = sB[k][n + ${count - m - 1}];`;
  const [i, j] = element(n, count - m - n - 1);
  return `acc[${i}][${j}] += rA[${i}] * rB[${j}];`;
}

function mount(root, config, initial, changed) {
  let state = initial;
  let was = null;
  const isOpen = () => !config.ask || state.guess !== null;
  // Before the guess it stands at the first FMA, with all of them still to play.
  if (!isOpen()) state = { ...state, count: state.m + state.n + 1 };
  const all = () => threadTile(state.m, state.n).registers; // instructions: a load a value, the FMAs
  const update = (change, done = true) => {
    const before = threadTile(state.m, state.n);
    state = { ...state, ...change };
    if (change.m || change.n) {
      state.count = all();
      const after = threadTile(state.m, state.n);
      was = quotient(before.fmas, before.values);
      if (was === quotient(after.fmas, after.values)) was = null;
    }
    render();
    if (done) changed(state);
  };
  const ask = guess(config.ask, state.guess, (value) => update({ guess: value, ...config.shown }));
  const [rows, columns] = [["m", "Rows of C"], ["n", "Columns of C"]].map(([name, label]) =>
    segmented(label, config.sizes.map((size) => [size, String(size)]), state[name], (size) => {
      walk.stop();
      update({ [name]: size });
    }));
  const walk = scrub("instructions of one k", (count, done) =>
    update({ count: Math.round(count) }, done));
  const tools = waits([rows, columns], "after your guess");
  const box = h("div", {});
  const [loads, fmas] = ["gl-rt-stream", "gl-rt-stream"].map((name) => h("div", { class: name }));
  const order = [["load", "loads of one k, in order", loads], ["fma", "then its FMAs", fmas]]
    .map(([kind, text, el]) => h("div", { class: "gl-rt-part" },
      h("div", { class: "gl-legend gl-key" },
        h("span", {}, h("i", { class: `gl-rt-k-${kind}`, "aria-hidden": "true" }), text)), el));
  const code = h("code", { class: "gl-rt-code" });
  const numbers = h("div", { class: "gl-numbers-now" });
  const words = h("div", { class: "gl-words", "aria-live": "polite" });
  let width = 340;

  function render() {
    const { m, n } = state;
    const found = threadTile(m, n);
    const open = isOpen();
    state.count = Math.min(state.count, all());
    ask.set(state.guess);
    rows.set(m);
    columns.set(n);
    tools.open(open);
    box.innerHTML = picture(m, n, state.count, Math.min(width, 360));
    const room = loads.clientWidth || 260;
    loads.innerHTML = stream("load", m + n, state.count, room);
    fmas.innerHTML = stream("fma", m * n, state.count - m - n, room);
    code.textContent = line(m, n, state.count) || "for one k:";
    walk.set({
      time: state.count, total: all(), seconds: Math.min(9, 2 + all() / 24),
      stops: Array.from({ length: all() + 1 }, (_, i) => i), text: line(m, n, state.count),
    });
    const reuse = quotient(found.fmas, found.values);
    numbers.replaceChildren(
      reading("FMAs for each value", open ? reuse : "?", open ? was : null),
      reading("registers", open ? String(found.registers) : "?"));
    words.textContent = open ? found.words
      : "Left and above: the values that the thread reads for one k. Square: its elements of C.";
    words.classList.toggle("gl-bad", open && !found.fits);
  }

  root.append(h("div", { class: "gl-card gl-registers" },
    config.caption ? h("div", { class: "gl-caption" }, inline(config.caption)) : null,
    ask.el, tools.el,
    h("div", { class: "gl-pair" }, box,
      h("div", { class: "gl-beside" }, numbers,
        order, code, words)),
    walk.el));
  let seen = 0;
  new ResizeObserver(() => {
    if (seen === root.clientWidth) return;
    seen = root.clientWidth;
    width = box.clientWidth;
    render();
  }).observe(root);
  render();
  return (next) => {
    state = next;
    render();
  };
}

const RULES = { name: "RegisterTile" };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
