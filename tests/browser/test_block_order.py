"""BlockOrder in a browser: orders, waves and grids, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gemmlab.widgets import BlockOrder

GRIDS = [(32, 32), (12, 12), (32, 4), (64, 64), (128, 128), (4, 128)]


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(*arguments, width: int = 1280, **more) -> Page:
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(BlockOrder, *arguments, **more)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def reading(page: Page):
    return page.locator(".gl-hint")


def counts(page: Page):
    """Under each picture: what the wave needs, and what all waves need."""
    return page.locator(".gl-o-said")


def test_another_order_needs_other_panels(show):
    page = show(GRIDS)
    rows, strips = counts(page).nth(0), counts(page).nth(1)
    expect(rows).to_contain_text("41 panels (9 of A + 32 of B) in this wave")
    expect(strips).to_contain_text("48 panels")
    expect(strips).to_contain_text("panels in all 4 waves")
    page.locator(".gl-seg", has_text="published").click()
    expect(page.locator(".gl-o-name")).to_have_text(
        ["row by row", "the published formula, 8 tiles wide"]
    )
    page.locator(".gl-seg", has_text="strips of rows").click()
    page.get_by_role("button", name="strip, in tiles: more").click()
    expect(strips).to_contain_text("39 panels (9 of A + 30 of B)")
    expect(page.locator(".gl-o-panel").last.locator(".gl-o-need")).to_have_count(39)


def test_waves_by_keyboard(show):
    page = show(GRIDS)
    page.get_by_role("slider", name="Wave").focus()
    for key, said in (
        ("ArrowRight", "Wave 2 of 4, blocks 264 to 527"),
        ("End", "Wave 4 of 4, blocks 792 to 1023: 232 tiles"),
        ("ArrowRight", "Wave 4 of 4"),
        ("Home", "Wave 1 of 4"),
    ):
        page.keyboard.press(key)
        expect(reading(page)).to_contain_text(said)
    page.locator(".gl-seg input").first.focus()
    page.keyboard.press("ArrowRight")
    expect(reading(page)).to_contain_text("The published formula, 8 tiles wide. Wave 1")


def test_a_click_chooses_the_wave_of_a_tile(show):
    page = show(GRIDS)
    box = page.locator(".gl-o-c").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.98)
    expect(reading(page)).to_contain_text("Wave 4 of 4")


def test_the_articles_formula_leaves_tiles_out(show):
    page = show(GRIDS)
    page.locator(".gl-seg", has_text="published").click()
    expect(reading(page)).to_contain_text("Every tile is taken once")
    page.get_by_label("C has").select_option("12 12")
    expect(reading(page)).to_contain_text("24 tiles of 144 never taken, 24 blocks outside C.")
    expect(page.locator(".gl-o-key")).to_contain_text("Striped: never taken")
    page.get_by_label("C has").select_option("32 4")
    expect(reading(page)).to_contain_text("64 tiles of 128 never taken")


def test_a_wave_that_is_no_more_becomes_the_last(show):
    page = show(GRIDS, wave=3)
    page.get_by_label("C has").select_option("12 12")
    expect(reading(page)).to_contain_text("Wave 1 of 1, blocks 0 to 143")
    expect(page.get_by_role("slider", name="Wave")).to_be_disabled()


def test_fewer_slots(show):
    page = show([(32, 32)], slots=[264, 132])
    page.get_by_label("Blocks at a time").select_option("132")
    expect(reading(page)).to_contain_text("Wave 1 of 8, blocks 0 to 131")


# The articles' order goes outside of C, which makes the picture wider.
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize(
    ("grid", "order"), [(GRIDS[0], "strips"), *((grid, "articles") for grid in GRIDS)]
)
def test_it_fits(show, grid, order, width):
    page = show([grid, (8, 8)], order, slots=[264, 132], width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    card = page.locator(".gl-card").bounding_box()
    for svg in page.locator(".gl-o-box svg").all():
        box = svg.bounding_box()
        assert box["x"] >= card["x"]
        assert box["x"] + box["width"] <= card["x"] + card["width"]


def test_two_orders_stand_side_by_side(show):
    """Both are in sight, so there is nothing to switch."""
    page = show([(64, 64)], orders=["rows", "strips"])
    expect(page.locator(".gl-o-count")).to_have_text(["69 panels", "41 panels"])
    expect(page.locator(".gl-o-name")).to_have_text(["row by row", "strips of rows, 8 tiles high"])
    expect(page.get_by_role("radio")).to_have_count(0)


def test_no_number_is_too_small_to_read(show):
    page = show([(12, 12), (32, 32)], "strips", orders=["strips"])
    expect(page.locator(".gl-o-box g text")).to_have_count(144)
    page.get_by_label("C has").select_option("32 32")
    expect(page.locator(".gl-o-box g text")).to_have_count(0)
    expect(page.locator(".gl-o-way:not(.gl-o-jump)")).to_have_count(1)
    expect(page.locator(".gl-o-jump")).to_have_count(1)


def test_nothing_moves_by_itself():
    """There is no animation to switch off for those who ask for less motion."""
    own = BlockOrder._css.split(".gl-o-box")[1]
    assert "transition" not in own
    assert "animation" not in own
