// Opens what is folded where a link or the search leads into it, and all of it for the printer.
// Without this script every fold still opens by click and key.
(() => {
  const opened = [];

  const openAround = (el) => {
    for (let up = el; up; up = up.parentElement) if (up.matches("details")) up.open = true;
  };

  // #section, or #Widget.2?its=state of a widget's link: the second such widget of the page.
  const target = (hash) => {
    const id = decodeURIComponent(hash.slice(1));
    const section = document.getElementById(id);
    if (section) return section.querySelector(":scope > details.gl-fold > summary") ?? section;
    const [, name, number = "1"] = id.match(/^(\w+)(?:\.(\d+))?\?/) ?? [];
    return name && document.querySelectorAll(`[data-widget="${name}"]`)[number - 1];
  };

  const follow = (hash) => {
    const el = hash.length > 1 ? target(hash) : null;
    if (!el?.closest("article details")) return;
    openAround(el);
    (el.closest("section") ?? el).scrollIntoView();
  };

  addEventListener("hashchange", () => follow(location.hash));
  // A link to where the address already is changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash && !event.defaultPrevented) follow(link.hash);
  });
  // The words of a search are marked when the page has loaded.
  addEventListener("load", () => {
    for (const word of document.querySelectorAll("article .highlighted")) openAround(word);
    follow(location.hash);
  });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details.gl-fold, details.gl-rest")) {
      if (!fold.open) opened.push(fold);
      fold.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of opened.splice(0)) fold.open = false;
  });
})();
