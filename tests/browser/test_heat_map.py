"""HeatMap in a browser: metrics, cells and reasons, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.experiments.subtiles import Row, Subtiles, configurations


def article(every: bool = False) -> Subtiles:
    rows = [Row(one) for one in configurations() if every or one.article is not None]
    return Subtiles(tuple(rows))


@pytest.fixture
def show(visit, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one map and nothing else."""

    def open_(found: Subtiles | None = None, width: int = 1280) -> Page:
        path = tmp_path / "page.html"
        widget = (found or article()).heat_map()
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            f'<meta name="viewport" content="width=device-width">{widget.to_html()}</html>'
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'.gl-hm-cell[aria-label^="{name}: "]')


def pick(page: Page, metric: str) -> None:
    page.get_by_role("radiogroup", name="Show").locator("label", has_text=metric).click()


def test_it_opens_at_the_best_and_marks_what_costs_the_same(show):
    page = show()
    best = page.locator('.gl-hm-cell[aria-pressed="true"]')
    expect(page.locator(".gl-hm-detail")).to_have_text(re.compile("^Choose a cell or a dot"))
    best.click()
    expect(page.locator(".gl-hm-detail b")).to_have_text("TM 4, TN 4, WMITER 4, WNITER 2")
    expect(page.locator(".gl-hm-detail")).to_contain_text("28.73 TFLOP/s")
    expect(page.locator(".gl-hm-detail")).to_contain_text("wavefronts40 per k")
    expect(page.locator(".gl-hm-same")).to_have_count(1)
    expect(page.locator(".gl-hm-same")).to_have_text("28.70")


def test_a_cell_is_chosen_by_mouse(show):
    page = show()
    cell(page, "TM 8, TN 4, WMITER 4, WNITER 1").click()
    detail = page.locator(".gl-hm-detail")
    expect(detail).to_contain_text("21.53 TFLOP/s")
    expect(detail).to_contain_text("A: 32 loads of 1 wavefront each. B: 1 load of 4 wavefronts.")
    expect(detail).to_contain_text("TM 4, TN 4, WMITER 8, WNITER 1: 21.52")


def test_a_dot_is_a_cell(show):
    page = show()
    page.locator(".gl-hm-line").nth(3).locator(".gl-hm-dot").first.click()
    chosen = page.locator('.gl-hm-cell[aria-pressed="true"]')
    expect(chosen).to_be_focused()
    expect(chosen).to_have_text("19.99")
    expect(page.locator(".gl-hm-detail")).to_contain_text("64 per k")
    expect(page.locator(".gl-hm-scale span")).to_have_text(["0", "10", "20", "30"])


def test_axes_are_named_in_words(show):
    corner = show().locator(".gl-hm-corner")
    expect(corner).to_contain_text("tile of a thread: TM, TN")
    expect(corner).to_contain_text("times a warp repeats its tile: WMITER, WNITER")


def test_the_same_cell_shows_its_other_metrics(show):
    page = show()
    pick(page, "wavefronts")
    expect(cell(page, "TM 8, TN 4, WMITER 2, WNITER 2")).to_have_text("40")
    expect(page.locator(".gl-legend").first).to_contain_text("less is better")
    expect(page.locator(".gl-hm-line")).to_have_count(0)
    pick(page, "loads")
    expect(cell(page, "TM 8, TN 4, WMITER 4, WNITER 1")).to_have_text("33")
    expect(page.locator(".gl-hm-group")).to_have_count(5)


def test_arrow_keys_move_over_cells_and_holes_say_why(show):
    page = show()
    page.locator('.gl-hm-cell[aria-pressed="true"]').focus()
    page.keyboard.press("ArrowLeft")
    name = page.locator(".gl-hm-detail b")
    expect(name).to_have_text("TM 4, TN 4, WMITER 4, WNITER 1")
    expect(page.locator(".gl-hm-detail")).to_contain_text(
        "4 * 4 * 4 * 1 = 64 elements a thread, not 128"
    )
    page.keyboard.press("ArrowDown")
    expect(name).to_have_text("TM 4, TN 8, WMITER 4, WNITER 1")
    expect(page.locator('.gl-hm-cell[aria-pressed="true"]')).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(name).to_have_text("TM 4, TN 4, WMITER 4, WNITER 2")


def test_values_are_readable_on_their_colours(show):
    page = show()
    cells = page.locator(".gl-hm-cell:not(.gl-hm-none)")
    ratios = cells.evaluate_all("""cells => cells.map((cell) => {
      const style = getComputedStyle(cell);
      const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map(Number).map((v) => {
        const c = v / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      }).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    })""")  # fmt: skip
    assert len(ratios) == 14
    assert min(ratios) >= 4.5


@pytest.mark.parametrize("width", [390, 768])
@pytest.mark.parametrize("every", [False, True])
def test_it_fits(show, width, every):
    page = show(article(every), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    clipped = page.locator(".gl-hm-cell").evaluate_all(
        "cells => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length"
    )
    assert clipped == 0
