// Playing: one button, and time that goes by.
import { h, still } from "./dom.js";

// A button that plays: `frame` is called with a part of the whole from 0 to 1, which takes
// `seconds()`, beginning where `from()` stands. Without motion it goes in twelve steps.
export function player(seconds, from, frame, label = "Play") {
  let running = 0;
  const face = () => { el.textContent = running ? "❚❚ Pause" : `▶ ${label}`; };
  function stop() {
    cancelAnimationFrame(running);
    running = 0;
    face();
  }
  function start() {
    const length = 1000 * seconds();
    const at = from();
    const begin = performance.now() - length * (at < 1 ? at : 0);
    const tick = (now) => {
      if (!el.isConnected) return stop();
      const part = Math.max(0, Math.min(1, (now - begin) / length));
      running = requestAnimationFrame(tick);
      frame(still() ? Math.floor(12 * part) / 12 : part);
      return part < 1 ? null : stop();
    };
    running = requestAnimationFrame(tick);
    face();
  }
  const el = h("button", {
    type: "button", class: "gl-player", onclick: () => (running ? stop() : start()),
  });
  face();
  return { el, stop, runs: () => running > 0 };
}
