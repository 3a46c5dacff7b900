"""FragmentMap in a browser: layouts, elements and lanes, by mouse, keyboard and touch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gemmlab.layouts import FRAGMENTS
from gemmlab.widgets import FragmentMap

SEVERAL = ["mma.m16n8k16 A", "mma.m16n8k16 C/D", "ldmatrix.x4", "ldmatrix.x2.trans"]


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(which, width: int = 1280, theme: str = "light", **more) -> Page:
        touch = {"has_touch": True} if width < 1000 else {}
        path = tmp_path / "page.html"
        path.write_text(
            f'<!doctype html><html data-theme="{theme}"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(FragmentMap, which, **more)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce", **touch)
        assert opened.problems() == []
        return opened.page

    return open_


def element(page: Page, row: int, column: int):
    return page.locator(f".gl-f-picture [data-row='{row}'][data-col='{column}']")


def reading(page: Page):
    return page.locator(".gl-feet .gl-hint")


def held(page: Page):
    return page.locator(".gl-f-held")


def test_an_element_under_the_pointer(show):
    page = show(SEVERAL)
    expect(element(page, 1, 3)).to_have_text("T5 r0.h")
    element(page, 1, 3).hover()
    expect(reading(page)).to_have_text("Row 1 of A, column 3: lane 5, register 0, high half.")
    page.locator(".gl-f-lanes").hover()
    expect(reading(page)).to_contain_text("Point at an element")


def test_a_lane_and_what_it_holds(show):
    page = show(SEVERAL)
    expect(held(page)).to_contain_text("Choose a lane")
    lane = page.get_by_role("button", name="lane 5", exact=True)
    lane.click()
    expect(held(page)).to_contain_text("Lane 5 holds r0 row 1, columns 2 and 3; r1 row 9,")
    expect(page.locator(".gl-f-picture .gl-hot")).to_have_count(8)
    expect(lane).to_have_attribute("aria-pressed", "true")
    element(page, 15, 15).click()
    expect(held(page)).to_contain_text("Lane 31 holds")
    expect(lane).to_have_attribute("aria-pressed", "false")
    element(page, 15, 15).click()
    expect(held(page)).to_contain_text("Choose a lane")
    expect(page.locator(".gl-hot")).to_have_count(0)


def test_keyboard(show):
    page = show(SEVERAL)
    element(page, 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(reading(page)).to_have_text("Row 1 of A, column 2: lane 5, register 0, low half.")
    page.keyboard.press("Enter")
    expect(held(page)).to_contain_text("Lane 5 holds")
    expect(element(page, 1, 2)).to_be_focused()
    page.get_by_role("button", name="lane 5", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(held(page)).to_contain_text("Lane 21 holds")


def test_another_layout_keeps_the_lane(show):
    page = show(SEVERAL, lane=9)
    page.get_by_label("Layout").select_option("mma.m16n8k16 C/D")
    expect(element(page, 2, 3)).to_have_text("T9 r1")
    expect(held(page)).to_contain_text("Lane 9 holds r0 row 2, column 2; r1 row 2, column 3;")
    page.get_by_label("Layout").select_option("ldmatrix.x2.trans")
    expect(held(page)).to_contain_text("It gives the address of row 1 of matrix 1.")
    expect(page.locator(".gl-f-head.gl-hot")).to_have_text("1 T9")
    expect(page.locator(".gl-f-panel")).to_have_count(2)


def test_elements_of_wmma_are_named_as_in_cuda(show):
    page = show(["wmma.m8n32k16 B", *SEVERAL], lane=5)
    expect(held(page)).to_contain_text("Lane 5 holds x[0], x[1] rows 2 and 3, column 1; x[2], x[3]")
    expect(page.locator(".gl-f-picture .gl-hot")).to_have_count(16)
    expect(element(page, 11, 25)).to_have_text("T5 x15")
    element(page, 11, 25).hover()
    expect(reading(page)).to_have_text("Row 11 of B, column 25: lane 5, x[15].")
    expect(page.locator(".gl-legend").last).to_contain_text("Not documented, but measured")
    page.get_by_label("Layout").select_option("mma.m16n8k16 A")
    expect(page.locator(".gl-legend").last).not_to_contain_text("measured")


def test_parts_of_16_columns_stand_below_each_other(show):
    page = show("wmma.m8n32k16 C/D fp16")
    boxes = [panel.bounding_box() for panel in page.locator(".gl-f-panel").all()]
    assert [box["x"] for box in boxes] == [boxes[0]["x"]] * 2
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    element(page, 7, 15).focus()
    page.keyboard.press("ArrowRight")
    expect(reading(page)).to_have_text("Row 7 of C/D, column 16: lane 3, x[5].")


def test_few_layouts_are_side_by_side(show):
    page = show(SEVERAL[1:])
    page.locator(".gl-seg", has_text="ldmatrix.x4").click()
    expect(page.locator(".gl-f-panel")).to_have_count(4)
    element(page, 18, 5).hover()
    expect(reading(page)).to_have_text(
        "Row 2 of matrix 2, column 5: lane 10, register 2, high half. The row's address comes from "
        "lane 18."
    )


def test_colours_are_of_lanes_registers_or_matrices(show):
    page = show("mma.m16n8k16 A")
    for name, count in (("lane", 32), ("register", 4), ("matrix", 4)):
        page.locator(".gl-seg", has_text=name).click()
        colours = page.locator(".gl-f-picture .gl-f-cell").evaluate_all(
            "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"
        )
        assert len(set(colours)) == count


def test_what_all_names_begin_with_is_said_once(show):
    page = show(["mma.m16n8k16 A", "mma.m16n8k16 B", "mma.m16n8k16 C/D"])
    group = page.get_by_role("radiogroup", name="Layout")
    expect(group.locator(".gl-label")).to_have_text("mma.m16n8k16")
    expect(group.locator(".gl-seg")).to_have_text(["A", "B", "C/D"])
    page.locator(".gl-seg", has_text="C/D").click()
    expect(element(page, 2, 3)).to_have_text("T9 r1")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_lanes_of_a_row_can_be_told_apart(show, theme):
    """Beside a chosen lane too, in the colors of the strip of lanes."""
    page = show("mma.m16n8k16 A", lane=5, theme=theme)
    colours = page.locator(".gl-f-picture [data-row='4'][data-col]").evaluate_all(
        """(all) => all.filter((one, i) => i % 2 === 0 && i < 8).map((one) =>
             getComputedStyle(one).backgroundColor.match(/[\\d.]+/g).map(Number))"""
    )
    assert len(colours) == 4
    steps = [
        sum(abs(a - b) for a, b in zip(one, other, strict=True))
        for one, other in itertools.pairwise(colours)
    ]
    # color(srgb ...) counts from 0 to 1.
    assert min(steps) > 0.06, steps


def test_touch(show):
    page = show(SEVERAL, width=390)
    element(page, 9, 10).tap()
    expect(reading(page)).to_have_text("Row 9 of A, column 10: lane 5, register 3, low half.")
    expect(held(page)).to_contain_text("Lane 5 holds")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize(
    "name",
    [
        *("mma.m16n8k16 A", "mma.m16n8k16 C/D", "stmatrix.x4.trans"),
        *("wmma.m32n8k16 A", "wmma.m8n32k16 B", "wmma.m16n16k16 C/D fp32"),
    ],
)
def test_it_fits(show, name, width):
    page = show(list(dict.fromkeys([name, *FRAGMENTS])), width=width, lane=31)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    clipped = page.locator(".gl-f-cell").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth || "
        "one.scrollHeight > one.clientHeight).map((one) => one.textContent)"
    )
    assert clipped == []
    # With a mouse, rows may be lower than a finger, so that all of the picture is on one screen.
    for cells, least in ((".gl-f-picture", 24 if width < 1000 else 19), (".gl-f-lanes", 24)):
        sizes = page.locator(f"{cells} .gl-f-cell").evaluate_all(
            "(all) => all.map((one) => Math.min(one.clientHeight, one.clientWidth))"
        )
        assert min(sizes) >= least, cells


def test_nothing_moves_by_itself():
    """There is no animation to switch off for those who ask for less motion."""
    own = FragmentMap._css.split(".gl-f-picture")[1]
    assert "transition" not in own
    assert "animation" not in own
