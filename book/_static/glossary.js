// The meaning of a term of the glossary: on hover, on focus, on the first touch. Escape hides it.
// Without this script a link's title says it, on hover.
(() => {
  const links = document.querySelectorAll("a.gl-term[title]");
  if (!links.length) return;
  const tip = document.createElement("div");
  tip.id = "gl-tip";
  tip.role = "tooltip";
  tip.hidden = true;
  document.body.append(tip);
  let shown = null;
  let leaving = 0;

  const hide = () => {
    clearTimeout(leaving);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };

  // The pointer may move from the word to its meaning.
  const hideSoon = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hide, 150);
  };

  const show = (link) => {
    clearTimeout(leaving);
    if (shown === link) return;
    hide();
    shown = link;
    tip.textContent = link.dataset.meaning;
    tip.hidden = false;
    link.setAttribute("aria-describedby", "gl-tip");
    const word = link.getClientRects()[0];
    const box = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth - box.width - 8;
    const above = word.top > box.height + 72;
    const top = above ? word.top - box.height - 6 : word.bottom + 6;
    tip.style.left = `${Math.max(8, Math.min(word.left, room)) + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
  };

  for (const link of links) {
    link.dataset.meaning = link.title;
    link.removeAttribute("title");
    link.addEventListener("pointerenter", (e) => e.pointerType === "touch" || show(link));
    link.addEventListener("pointerleave", (e) => e.pointerType === "touch" || hideSoon());
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
    // A touch shows the meaning; a second one follows the link.
    let before = null;
    link.addEventListener("pointerdown", () => { before = shown; });
    link.addEventListener("click", (e) => {
      if (e.pointerType === "touch" && before !== link) {
        e.preventDefault();
        show(link);
      }
    });
  }
  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", hideSoon);
  document.addEventListener("keydown", (e) => e.key === "Escape" && hide());
})();
