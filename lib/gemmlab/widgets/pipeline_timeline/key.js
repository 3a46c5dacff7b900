// The key above the lanes of a timeline.
import { h } from "../shared/dom.js";

// The key above the picture: of the looks [state, text] those that it has now.
export function keyOf(looks, lanes, ...more) {
  const seen = new Set(lanes.flatMap(([, bars]) => bars.map((bar) => bar.state)));
  return [...looks.filter(([state]) => seen.has(state)), ...more].map(([state, text]) =>
    h("span", {}, h("i", { class: `gl-tl-bar gl-tl-${state}` }), text));
}
