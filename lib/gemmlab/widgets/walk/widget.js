// Walk: every step of the course as a bar that leads to its chapter; cuBLAS as a line.
import { bootWith, h, inline, liveWith, roving } from "../shared/dom.js";

// With a decimal where it is small, and where rounding would say that cuBLAS is reached.
const percent = (share) =>
  `${(100 * share).toFixed(share < 0.1 || (share >= 0.995 && share < 1) ? 1 : 0)} %`;

// Where a chapter is: a page of the book, or a notebook of JupyterLab.
function address(root, chapter) {
  if (root.hasAttribute("data-gemmlab")) return `${chapter}.html`;
  const lab = document.getElementById("jupyter-config-data");
  const base = lab && !location.pathname.includes("/tree/") && JSON.parse(lab.textContent).baseUrl;
  return `${base ? `${base}lab/tree/` : ""}${chapter}.ipynb`;
}

export const tell = (bar) =>
  `${bar.label}: ${percent(bar.share)} of cuBLAS, ${bar.tflops} TFLOP/s. ${bar.idea}`;

function mount(root, config) {
  const top = Math.max(1, ...config.parts.flatMap((part) => part.bars.map((bar) => bar.share)));
  const detail = h("div", { class: "gl-w-detail", "aria-live": "polite" });
  const show = (bar) => detail.replaceChildren(h("b", {}, `${bar.label}  `),
    `${percent(bar.share)} of cuBLAS: ${bar.idea}.`);
  let index = 0;
  const parts = config.parts.map((part) => h("section", {
    class: "gl-w-part", style: `--n:${part.bars.length}`, "aria-label": part.title,
  },
  h("div", { class: "gl-w-bars", style: `--cublas:${1 / top}` },
    h("span", { class: "gl-w-line", "aria-hidden": "true" },
      index ? "" : h("span", {}, "cuBLAS = 100 %")),
    part.bars.map((bar, i) => h(bar.chapter ? "a" : "span", {
      class: "gl-w-bar", style: `--v:${bar.share / top};--i:${index}`,
      href: bar.chapter ? address(root, bar.chapter) : null, role: bar.chapter ? null : "img",
      tabindex: index ? -1 : 0, "data-row": 0, "data-col": index++, "aria-label": tell(bar),
      onpointerenter: () => show(bar), onfocus: () => show(bar),
    }, h("i", {}), i === part.bars.length - 1
      ? h("em", { "aria-hidden": "true" }, percent(bar.share)) : null))),
  h("div", { class: "gl-w-title" }, h("b", {}, part.title), " ", part.words)));
  const rest = h("span", {}, ...inline(config.caption));
  detail.append(rest);
  const chart = h("div", { class: "gl-w-chart" }, parts);
  chart.addEventListener("pointerleave", () => detail.replaceChildren(rest));
  roving(chart);
  root.append(h("div", { class: "gl-whole" },
    h("div", { class: "gl-caption" }, "How near does each kernel come to cuBLAS?"), chart, detail,
    h("div", { class: "gl-legend gl-w-origin" }, "A bar is a kernel, its height the speed in " +
      "percent of cuBLAS with the same types; the one in a strong color is the last of its part. ",
      h("details", {}, h("summary", {}, "Where the numbers come from"), config.origin))));
  return () => {};
}

const RULES = { name: "Walk" };

export const boot = bootWith(mount, RULES);
export default liveWith(mount, RULES);
