"""TilingExplorer in a browser: sizes, threads and repairs, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.layouts import Tiling
from gemmlab.widgets import TilingExplorer

COURSE = ("sgemm_04_register_tiling", "sgemm_07_coalesced_c", "sgemm_12_warp_subtiles")


@pytest.fixture
def show(visit, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(presets=COURSE, width: int = 1280, **arguments) -> Page:
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{TilingExplorer(presets, **arguments).to_html()}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def choose(page: Page, name: str, value: str) -> None:
    control = page.get_by_label(name, exact=True)
    fold = page.locator("details:not([open])", has=control)
    if fold.count():
        fold.locator("summary").click()
    control.select_option(value)


def fact(page: Page, name: str) -> Locator:
    return page.locator(".gl-fact", has=page.locator("dt", has_text=re.compile(f"^{name}")))


def picture(page: Page) -> Locator:
    return page.get_by_role("slider", name="Thread of the block")


def reading(page: Page) -> Locator:
    return page.locator(".gl-views .gl-hint")


def point(page: Page, row: int, col: int, of: int = 128) -> tuple[float, float]:
    """Where element (row, col) of C is in the window."""
    box = page.locator(".gl-tile-box svg").bounding_box()
    tile = page.locator(".gl-t-warp").first.bounding_box()
    width, height = box["x"] + box["width"] - tile["x"], box["y"] + box["height"] - tile["y"]
    return tile["x"] + (col + 0.5) / of * width, tile["y"] + (row + 0.5) / of * height


def test_moving_bk_leaves_the_intensity(show):
    page = show()
    choose(page, "BK", "32")
    expect(fact(page, "Shared memory")).to_contain_text("32 KB")
    expect(fact(page, "Shared memory")).to_contain_text("was 16 KB")
    expect(fact(page, "FLOP per byte").locator("b")).to_have_text("32")
    expect(fact(page, "FLOP per byte")).to_contain_text("same")
    expect(fact(page, "FLOP per byte")).to_contain_text("BK cancels")
    page.get_by_label("what it copies").check()
    page.mouse.click(*point(page, 100, 70))  # another thread costs the same, and the note stays
    expect(fact(page, "Shared memory")).to_contain_text("was 16 KB")


def test_what_is_folded_tells_that_it_changed(show):
    page = show()
    more = page.locator("summary", has_text="more costs")
    expect(more).to_have_text("5 more costs")
    expect(fact(page, "Waves").locator("b")).to_be_hidden()
    choose(page, "BN", "64")
    expect(more).to_have_text(re.compile(r"^5 more costs, \d changed$"))
    more.click()
    expect(fact(page, "Blocks of the grid")).to_contain_text("was 1,024")
    name = fact(page, "Waves").locator("button")
    name.click()
    expect(name).to_be_focused()
    expect(fact(page, "Waves").locator(".gl-how")).to_be_visible()
    sizes = page.locator("summary", has_text="Warp 64 x 32, thread 8 x 8")
    expect(sizes).to_have_count(1)


def test_a_size_is_chosen_by_keyboard(show):
    page = show()
    page.get_by_label("BK", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(fact(page, "Shared memory")).to_contain_text("32 KB")


def test_an_impossible_size_is_said_and_one_click_mends_it(show):
    page = show()
    choose(page, "TM", "4")
    error = page.locator(".gl-wrong")
    expect(error).to_contain_text("takes 64 lanes, and a warp has 32: 2 times too many.")
    # The last possible picture stays, dimmed and out of reach.
    assert (
        page.locator(".gl-views").evaluate("e => e.inert && getComputedStyle(e).opacity") == "0.3"
    )
    expect(page.locator(".gl-t-warp")).to_have_count(8)
    expect(reading(page)).to_contain_text("rows 8 to 15")
    error.get_by_role("button", name="WM = 32").click()
    expect(error).to_be_hidden()
    expect(page.locator(".gl-t-warp")).to_have_count(16)
    expect(fact(page, "Threads")).to_contain_text("was 256")
    assert page.locator(".gl-views").evaluate("e => getComputedStyle(e).opacity") == "1"


def test_two_steps_through_an_impossible_size(show):
    page = show()
    choose(page, "TM", "16")
    expect(page.locator(".gl-wrong")).to_contain_text("16 of them have nothing to do")
    choose(page, "WM", "128")
    expect(page.locator(".gl-wrong")).to_be_hidden()
    expect(fact(page, "FMAs per value")).to_contain_text("5.3")


def test_a_thread_is_found_by_the_pointer_and_kept_by_a_click(show):
    page = show()
    page.mouse.move(*point(page, 100, 70))
    expect(reading(page)).to_contain_text("Thread 208 (warp 6, lane 16): rows 96 to 103")
    page.mouse.move(5, 5)
    expect(reading(page)).to_contain_text("Thread 37 ")
    page.mouse.click(*point(page, 2, 2))
    page.mouse.move(5, 5)
    expect(reading(page)).to_contain_text("Thread 0 (warp 0, lane 0)")
    expect(page.locator(".gl-t-mine")).to_have_count(1)


def test_the_arrows_go_from_lane_to_lane_and_from_warp_to_warp(show):
    page = show()
    picture(page).focus()
    for key, said in (
        ("ArrowRight", "Thread 38 (warp 1, lane 6): rows 8 to 15, columns 48 to 55"),
        ("ArrowDown", "Thread 42 (warp 1, lane 10): rows 16 to 23, columns 48 to 55"),
        ("ArrowRight", "Thread 43 (warp 1, lane 11)"),
        ("ArrowRight", "Thread 72 (warp 2, lane 8): rows 16 to 23, columns 64 to 71"),
        ("ArrowLeft", "Thread 43 (warp 1, lane 11)"),
        ("ArrowUp", "Thread 39 "),
        ("ArrowUp", "Thread 35 "),
        ("ArrowUp", "Thread 35 "),
    ):
        page.keyboard.press(key)
        expect(reading(page)).to_contain_text(said)
    expect(picture(page)).to_have_attribute("aria-valuenow", "35")


def test_the_arrows_stay_in_the_first_subtile_of_a_warp(show):
    page = show(start="12 warp subtiles", thread=15)
    picture(page).focus()
    page.keyboard.press("ArrowRight")
    expect(reading(page)).to_contain_text(
        "Thread 15 "
    )  # the last column; there is one warp in a row
    page.keyboard.press("ArrowDown")
    expect(reading(page)).to_contain_text("Thread 31 ")
    page.keyboard.press("ArrowDown")
    expect(reading(page)).to_contain_text("Thread 47 (warp 1, lane 15)")
    page.keyboard.press("ArrowUp")
    expect(reading(page)).to_contain_text("Thread 31 ")
    expect(page.locator(".gl-t-mine")).to_have_count(4)


def test_the_slider_goes_through_the_threads(show):
    page = show()
    page.get_by_role("slider", name="Thread", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(reading(page)).to_contain_text("Thread 38 ")
    page.keyboard.press("End")
    expect(reading(page)).to_contain_text("Thread 255 (warp 7, lane 31)")


def test_what_a_thread_copies_is_shown_on_demand(show):
    page = show()
    expect(page.locator(".gl-t-copy")).to_have_count(0)
    expect(reading(page)).not_to_contain_text("Copies")
    page.get_by_label("what it copies").check()
    expect(page.locator(".gl-t-copy")).to_have_count(4)
    expect(reading(page)).to_contain_text("Copies A[9][4..7]".replace("][", "]\u2060["))
    expect(page.locator(".gl-feet .gl-legend").last).to_contain_text("Striped")


def test_a_preset_brings_its_sizes_and_its_order(show):
    page = show()
    page.locator(".gl-seg", has_text="07 coalesced C").click()
    expect(page.get_by_label("WNITER", exact=True)).to_have_value("2")
    expect(fact(page, "Sectors of a store")).to_contain_text("was 32")
    expect(page.locator(".gl-t-store-text").nth(1)).to_have_text("2")
    choose(page, "BK", "8")
    expect(page.locator(".gl-seg input:checked")).to_have_count(0)


def test_lanes_buffers_and_gpu(show):
    page = show()
    choose(page, "GPU", "A100")
    expect(fact(page, "Cycles")).to_contain_text("64 FMAs, 2 a cycle")
    choose(page, "A in shared memory", "km")
    expect(fact(page, "Wavefronts")).to_contain_text("was 24")
    choose(page, "Buffers", "4")
    expect(fact(page, "Shared memory")).to_contain_text("above 48 KB the launch must ask")
    choose(page, "Place of a lane among LM x LN", "columns")
    expect(reading(page)).to_contain_text("Thread 37 (warp 1, lane 5): rows 40 to 47")
    choose(page, "M = N", "512")
    expect(fact(page, "Waves")).to_contain_text("92 SMs have no block at all")


ODD = {
    "wide": Tiling(BM=16, BN=256, WM=16, WN=32, TM=4, TN=4, BK=4),
    "tall": Tiling(BM=256, BN=16, WM=32, WN=16, TM=4, TN=4, BK=4),
    "deep": Tiling(BM=32, BN=32, WM=32, WN=32, TM=8, TN=4, BK=64),
    "fine": Tiling(BM=32, BN=32, WM=4, WN=8, TM=1, TN=1),
    "many": Tiling(BM=128, BN=128, WM=128, WN=128, TM=2, TN=2, WMITER=8, WNITER=16),
}


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("name", [None, *ODD])
def test_it_fits(show, name, width):
    page = show({name: ODD[name]} if name else COURSE, width=width, thread=0, copies=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    card = page.locator(".gl-card").bounding_box()
    for inner in (".gl-tile-box svg", ".gl-zoom svg", ".gl-numbers"):
        box = page.locator(inner).first.bounding_box()
        assert box["x"] >= card["x"]
        assert box["x"] + box["width"] <= card["x"] + card["width"]
    if width == 390:  # the picture first, then the controls
        tile, first = page.locator(".gl-tile-box"), page.locator(".gl-sizes").first
        assert tile.bounding_box()["y"] < first.bounding_box()["y"]


def test_nothing_moves_by_itself():
    """There is no animation to switch off for those who ask for less motion."""
    assert "transition" not in TilingExplorer._css.split(".gl-two")[1]
    assert "animation" not in TilingExplorer._css


# More columns a thread than the picture has pixels for, in a few long runs and in many short ones.
@pytest.mark.parametrize(("width", "subtiles"), [(1280, 1), (1280, 16), (1280, 64), (390, 128)])
def test_a_thread_with_256_columns_fits_in_the_picture(show, width, subtiles):
    tiling = Tiling(BM=32, BN=256, BK=8, WM=32, WN=256, WNITER=subtiles, TM=1, TN=256 // subtiles)
    page = show({"256 columns": tiling}, width=width)
    sizes = page.locator(".gl-zoom rect").evaluate_all(
        "all => all.map((e) => [e.width.baseVal.value, e.height.baseVal.value])"
    )
    assert len(sizes) > 256
    assert all(wide > 0 and high > 0 for wide, high in sizes)
    assert page.locator(".gl-zoom").evaluate(
        "(e) => e.querySelector('svg').clientWidth <= e.clientWidth + 1"
    )
