// Time that a reader can play, stop and move: a button and a slider.
import { h } from "./dom.js";

const reduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const PAUSE = 900; // ms that each stop shows where motion is reduced

// moved(time, done): the time has changed; done: it stands still again. set() says what there is:
// total; seconds to play all of it; stops: the times to show one by one where motion is reduced.
export function scrub(label, moved) {
  let now = { time: 0, total: 1, seconds: 8, stops: [0, 1], text: "" };
  let running = null;
  const button = h("button", { type: "button", class: "gl-scrub-play", onclick: () => toggle() });
  const slider = h("input", {
    type: "range", class: "gl-scrub-range", min: 0, step: "any", "aria-label": label,
    oninput: () => { stop(); moved(Number(slider.value), false); },
    onchange: () => moved(Number(slider.value), true),
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      stop();
      const next = by > 0 ? now.stops.find((at) => at > now.time + 1e-6)
        : now.stops.findLast((at) => at < now.time - 1e-6);
      if (next !== undefined) moved(next, true);
    },
  });
  const face = () => {
    button.textContent = running === null ? "▶ Play" : "❚❚ Pause";
    button.setAttribute("aria-label", `${running === null ? "Play" : "Pause"}: ${label}`);
  };
  const halt = () => {
    if (running !== null) clearInterval(running);
    if (running !== null) cancelAnimationFrame(running);
    running = null;
    face();
  };
  const stop = () => {
    if (running === null) return;
    halt();
    moved(now.time, true);
  };
  function toggle() {
    if (running !== null) return void stop();
    if (now.time >= now.total - 1e-6) moved(0, false);
    if (reduced()) {
      running = setInterval(() => {
        const next = now.stops.find((at) => at > now.time + 1e-6);
        if (next === undefined || !button.isConnected) stop();
        else moved(next, false);
      }, PAUSE);
    } else {
      let before = performance.now();
      const frame = (at) => {
        if (!button.isConnected) return void halt();
        const next = Math.min(now.total, now.time + ((at - before) / 1000) * now.total / now.seconds);
        before = at;
        moved(next, false);
        if (next >= now.total) stop();
        else running = requestAnimationFrame(frame);
      };
      running = requestAnimationFrame(frame);
    }
    face();
  }
  face();
  const set = (next) => {
    now = { ...now, ...next };
    slider.max = String(now.total);
    slider.value = String(now.time);
    slider.setAttribute("aria-valuetext", now.text);
  };
  return { el: h("div", { class: "gl-scrub" }, button, slider), set, stop };
}
