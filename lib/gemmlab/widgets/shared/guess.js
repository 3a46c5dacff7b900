// A question whose answer a widget shows only after the reader has committed to one.
import { h, inline, segmented } from "./dom.js";

// ask: {question, choices, answer, unit}, or null; picked(value) is called once.
export function guess(ask, given, picked) {
  const said = h("span", { class: "gl-foretell-said", role: "status" });
  const choices = ask && segmented("Your guess", ask.choices.map((one) =>
    [one, one.toLocaleString("en")]), given, (value) => picked(value));
  const el = ask && h("div", { class: "gl-foretell" },
    h("div", {}, h("b", {}, "Predict. "), inline(ask.question)),
    h("div", { class: "gl-row" }, choices.el, said));
  const set = (value) => {
    if (!ask || value === null) return;
    choices.set(value);
    for (const input of choices.el.querySelectorAll("input")) {
      const right = Number(input.value) === ask.answer;
      input.disabled = true;
      input.parentElement.classList.toggle("gl-right", right);
    }
    const right = value === ask.answer;
    said.textContent = right ? `Yes: ${ask.answer.toLocaleString("en")} ${ask.unit}.`
      : `You said ${value.toLocaleString("en")}. It is ${ask.answer.toLocaleString("en")} ${ask.unit}.`;
    said.classList.toggle("gl-good", right);
    said.classList.toggle("gl-bad", !right);
  };
  set(given);
  return { el, set };
}

// A row of choices that waits for the guess: in sight, but out of reach until then.
export function waits(choices, note) {
  const said = h("span", { class: "gl-dim" }, note);
  return { el: h("div", { class: "gl-row gl-waits" }, choices.map((one) => one.el), said),
    open(is) {
      said.hidden = is;
      for (const { el } of choices) {
        for (const input of el.querySelectorAll("input")) input.disabled = !is;
      }
    } };
}

// A number with its label; `was` is the one before, struck out, if it was another.
export function reading(label, value, was = null) {
  return h("div", { class: "gl-number" }, h("span", { class: "gl-label" }, label),
    h("span", { class: `gl-figure-now${was === null ? "" : " gl-flash"}` },
      was === null ? null : h("s", { title: `before: ${was}` }, was), h("b", {}, value)));
}
