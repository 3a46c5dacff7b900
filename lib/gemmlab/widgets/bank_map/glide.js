// Elements that glide from where they were to where they are.
import { still } from "../shared/dom.js";

// Redraws with `draw`, then lets the elements that carry the same data-key glide to their places.
export function glide(container, draw) {
  const before = new Map();
  if (!still() && container.isConnected) {
    for (const node of container.querySelectorAll("[data-key]")) {
      before.set(node.dataset.key, node.getBoundingClientRect());
    }
  }
  draw();
  if (!before.size) return;
  for (const node of container.querySelectorAll("[data-key]")) {
    const from = before.get(node.dataset.key);
    const to = node.getBoundingClientRect();
    if (!from || (from.left === to.left && from.top === to.top)) continue;
    const shift = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
    node.animate([{ transform: shift }, { transform: "none" }],
      { duration: 380, easing: "ease-out" });
  }
}
