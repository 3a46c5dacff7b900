"""axe finds nothing on sampled pages, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "_build" / "html"
CHAPTERS = sorted(str(path.relative_to(BOOK)) for path in (BOOK / "book").glob("*.html"))
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="no axe-playwright-python"
)


# Colors are read when none of them is on its way from one theme to the other.
SETTLED = "() => document.getAnimations().every((one) => one.playState !== 'running')"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_axe_finds_nothing(visit, address, chapter):
    page = visit(f"{address}/{chapter}", reduced_motion="reduce").page
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f'html[data-theme="{theme}"]')
        page.wait_for_function(SETTLED)
        found = axe.Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], theme
