"""SwizzleWorkshop in a browser: toggles, the triple, phases, by mouse, keyboard and touch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.widgets import SwizzleWorkshop
from gemmlab.widgets.swizzle_workshop import TILES


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(*arguments, width: int = 1280, theme: str = "light", **more) -> Page:
        touch = {"has_touch": True} if width < 500 else {}
        path = tmp_path / "page.html"
        path.write_text(
            f'<!doctype html><html data-theme="{theme}"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(SwizzleWorkshop, *arguments, **more)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce", **touch)
        assert opened.problems() == []
        return opened.page

    return open_


def stats(page: Page) -> list[str]:
    """Wavefronts, minimum, too many."""
    return page.locator(".gl-stat b").all_inner_texts()


def toggle(page: Page, source: int, target: int) -> Locator:
    return page.locator(f"[data-pair='{source},{target}']")


def cell(page: Page, row: int, chunk: int) -> Locator:
    return page.locator(f".gl-w-grid [data-row='{row}'][data-col='{chunk}']")


def other_ways(page: Page) -> None:
    """Opens the fold with B, M and S, the known swizzles and the choice of an ldmatrix."""
    page.get_by_text("Swizzle by B, M and S").click()


def step(page: Page, name: str, by: str = "more") -> None:
    page.get_by_role("group", name=f"{name}:").get_by_role("button", name=by).click()


def bits(page: Page, which: str) -> str:
    return "".join(page.locator(f".gl-w-{which}").all_inner_texts())


def test_one_toggle_solves_it(show):
    page = show()
    assert stats(page) == ["8", "4", "4"]
    phase = page.locator(".gl-w-phase")
    expect(phase).to_contain_text("Phase 1: rows 0, 4 meet in banks 0 to 3")
    expect(page.locator(".gl-w-groups .gl-word")).to_have_count(8)
    expect(page.locator(".gl-w-groups .gl-late")).to_have_count(1)
    toggle(page, 7, 4).click()
    assert stats(page) == ["4", "4", "0"]
    expect(phase).to_contain_text("its 8 rows stand in 8 groups of banks: 1 wavefront.")
    expect(page.locator(".gl-w-groups .gl-late")).to_have_count(0)
    expect(page.locator(".gl-workshop")).to_contain_text("chunk → chunk ^ (row >> 2 & 1)")
    expect(page.locator(".gl-workshop")).to_contain_text("Swizzle<1,3,3> on elements, <1,4,3>")
    expect(toggle(page, 7, 4)).to_have_attribute("aria-pressed", "true")
    toggle(page, 7, 4).click()
    assert stats(page)[0] == "8"


def test_one_step_of_s_mends_article_001(show):
    page = show("B, BN = 128", swizzle="Swizzle<3,3,3>")
    other_ways(page)
    assert stats(page) == ["4", "2", "2"]
    step(page, "S")
    assert stats(page) == ["2", "2", "0"]
    expect(page.locator(".gl-workshop")).to_contain_text("chunk ^ (row & 7)")
    pressed = page.locator("[aria-pressed='true'][data-pair]")
    assert pressed.evaluate_all("(all) => all.map((one) => one.dataset.pair)") == [
        "10,6", "9,5", "8,4"
    ]  # fmt: skip
    named = page.get_by_role("button", name="HGEMM with cp.async")
    expect(named).to_have_attribute("aria-pressed", "true")


def test_what_is_known_comes_when_asked_for(show):
    page = show()
    other_ways(page)
    expect(page.locator(".gl-w-start")).to_have_text(["no swizzle"])
    page.get_by_role("button", name="Show known swizzles").click()
    for name, (_, _, known) in TILES.items():
        page.locator(".gl-seg", has_text=name).click()
        before = int(stats(page)[2])
        assert before > 0
        page.get_by_role("button", name=list(known)[-1], exact=True).click()
        assert stats(page)[2] == "0"
        page.get_by_role("button", name="no swizzle").click()
        assert int(stats(page)[2]) == before


def test_toggles_by_keyboard(show):
    page = show()
    toggle(page, 7, 4).focus()
    for key in ("ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    expect(toggle(page, 8, 5)).to_be_focused()
    page.keyboard.press("Space")
    expect(toggle(page, 8, 5)).to_have_attribute("aria-pressed", "true")
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(toggle(page, 7, 4)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".gl-workshop")).to_contain_text("Swizzle<2,3,3> on elements")
    assert stats(page)[2] == "0"
    # One toggle and one chunk are reached by Tab.
    assert page.locator("[data-pair][tabindex='0']").count() == 1
    assert page.locator(".gl-w-grid [data-row][tabindex='0']").count() == 1


def test_bits_of_a_chunk(show):
    page = show("A, BK = 32", swizzle="Swizzle<2,3,3>")
    other_ways(page)
    cell(page, 6, 1).click()
    hint = page.locator(".gl-hint")
    expect(hint).to_have_text(
        "Row 6, chunk 1: byte 400 goes to byte 416 (row 6, chunk 2 of memory), in banks 8 to 11. "
        "Lane 22 points to it: phase 3."
    )
    assert (bits(page, "before"), bits(page, "after")) == ("00110010000", "00110100000")
    expect(page.locator(".gl-w-after.gl-w-changed")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(hint).to_contain_text("Row 6, chunk 0: byte 384")
    expect(hint).to_contain_text("Lane 6 points to it: phase 1.")
    # The chosen chunk stays while bits change.
    step(page, "B", "less")
    expect(hint).to_contain_text("Row 6, chunk 0: byte 384")


def test_phases(show):
    page = show("B, BN = 128", reader="ldmatrix.x4.trans", swizzle="Swizzle<3,3,3>")
    other_ways(page)
    tabs = page.get_by_role("radiogroup", name="Phase")
    assert tabs.locator("label").all_inner_texts() == [
        f"phase {n}: 2 wavefronts" for n in (1, 2, 3, 4)
    ]
    tabs.locator("label").nth(3).click()
    expect(page.locator(".gl-w-phase")).to_contain_text("Phase 4: rows 8, 12 meet in banks")
    strong = page.locator("[role=group].gl-w-grid .gl-used")
    assert strong.evaluate_all("(all) => all.map((one) => one.dataset.row + one.dataset.col)") == [
        f"{row}1" for row in range(8, 16)
    ]
    expect(page.locator("[role=group].gl-w-grid .gl-w-other")).to_have_count(8)
    page.get_by_label("Read by").select_option("ldmatrix.x1")
    expect(tabs.locator("label")).to_have_count(1)
    expect(page.locator(".gl-w-phase")).to_contain_text("Phase 1")


def test_a_map_that_is_not_one_to_one(show):
    page = show("A, BK = 32")
    toggle(page, 5, 4).click()
    toggle(page, 4, 5).click()
    said = page.locator(".gl-w-said")
    expect(said).to_have_text(
        "Not one-to-one: row 0, chunk 1 and row 0, chunk 2 have the same place."
    )
    expect(page.locator(".gl-w-write")).to_be_empty()
    expect(page.locator(".gl-workshop")).to_contain_text("No single Swizzle<B,M,S> does this")
    toggle(page, 4, 5).click()
    expect(said).to_contain_text("One-to-one")


def test_chunks_that_are_torn(show):
    page = show("A, BK = 64", swizzle="Swizzle<3,3,3>")
    other_ways(page)
    step(page, "M", "less")
    expect(page.locator(".gl-w-said")).to_contain_text(
        "The 16 bytes of a chunk do not stay together"
    )
    assert stats(page) == ["–"] * 3
    expect(page.locator("[role=group].gl-w-grid")).to_be_visible()
    step(page, "M")
    assert stats(page) == ["4", "4", "0"]
    step(page, "M")
    expect(page.locator(".gl-w-bits")).to_contain_text("7 =")


def test_it_may_open_torn(show):
    page = show("A, BK = 64", swizzle="Swizzle<3,2,3>")
    other_ways(page)
    expect(page.locator(".gl-w-said")).to_contain_text("bit 3 takes part")
    page.get_by_role("button", name="Show known swizzles").click()
    page.get_by_role("button", name="three bits").click()
    assert stats(page)[2] == "0"


def test_an_exercise_says_when_it_is_solved(show):
    page = show("A, BK = 32", exercise=True)
    other_ways(page)
    goal = page.locator(".gl-goal")
    expect(goal).to_contain_text("Goal")
    expect(page.locator(".gl-w-start").first).to_be_hidden()
    step(page, "B")
    expect(goal).to_contain_text("Goal")
    step(page, "B")
    expect(goal).to_contain_text("✓ Solved")
    assert page.locator(".gl-solved").count() == 1


def test_touch(show):
    page = show("A, BK = 64", width=390)
    for source, target in ((7, 4), (8, 5), (9, 6)):
        toggle(page, source, target).tap()
    assert stats(page) == ["4", "4", "0"]
    cell(page, 3, 2).tap()
    expect(page.locator(".gl-hint")).to_contain_text("Row 3, chunk 2: byte 416 goes to byte 400")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits(show, name, width, theme):
    page = show(list(dict.fromkeys([name, *TILES])), width=width, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    clipped = page.locator(".gl-cell, .gl-head, .gl-w-value, .gl-w-bit, .gl-w-span").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1)"
        ".map((one) => one.className + one.textContent)"
    )
    assert clipped == []
    small = page.locator(".gl-w-toggle").evaluate_all(
        "(all) => all.filter((one) => one.clientHeight < 24 || one.clientWidth < 24).length"
    )
    assert small == 0


def test_nothing_moves_by_itself():
    """There is no animation to switch off for those who ask for less motion."""
    own = SwizzleWorkshop._css.split(".gl-w-table")[1]
    assert "transition" not in own
    assert "animation" not in own
