"""axe finds nothing in the widgets of sampled chapters, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampling import sampled

BOOK = Path(__file__).resolve().parents[2] / "_build" / "html"
CHAPTERS = sorted(str(path.relative_to(BOOK)) for path in (BOOK / "book").glob("*.html"))
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="no axe-playwright-python"
)


@pytest.mark.parametrize("chapter", sampled(CHAPTERS, of=6))
def test_axe_finds_nothing(visit, address, chapter):
    page = visit(f"{address}/{chapter}").page
    if not page.locator(".gl").count():
        return
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f'html[data-theme="{theme}"]')
        found = axe.Axe().run(page, context=".gl").response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], theme
