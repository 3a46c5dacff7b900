"""The widgets of Part IV in a browser: by mouse, by keyboard, in both themes, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from traced_lines import recorded

from gemmlab.widgets import (
    MulticastMap,
    WarpgroupSums,
    WarpgroupTimeline,
    WgmmaOperand,
    warpgroup_timeline,
)

MAKE = {
    "WgmmaOperand": lambda: WgmmaOperand(mn_major=True, rows=128, stride=512),
    "WarpgroupSums": WarpgroupSums,
    "WarpgroupTimeline": WarpgroupTimeline,
    "MulticastMap": MulticastMap,
}
# The time from a click to the next frame, in milliseconds.
REACTION = """(selector) => new Promise((done) => {
  const start = performance.now();
  document.querySelector(selector).click();
  requestAnimationFrame(() => done(performance.now() - start));
})"""


@pytest.fixture(scope="module")
def opened(windows, tmp_path_factory):
    path: Path = tmp_path_factory.mktemp("wgmma") / "page.html"
    path.write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>W</title>'
        '<meta name="viewport" content="width=device-width">'
        f"{''.join(make().to_html() for make in MAKE.values())}</html>"
    )
    found = windows.open(path.as_uri(), reduced_motion="reduce")
    yield found
    windows.close(found)


@pytest.fixture
def page(opened) -> Iterator[Page]:
    yield opened.page
    assert opened.problems() == []


def of(page: Page, name: str):
    return page.locator(f'.gl[data-widget="{name}"]')


def pick(page: Page, name: str, text: str) -> None:
    of(page, name).locator("label.gl-seg", has_text=text).first.click()


def test_a_wrong_stride_is_seen_and_mended(page):
    widget = of(page, "WgmmaOperand")
    words = widget.locator(".gl-wo-reading")
    expect(words).to_contain_text("128 of 256 pieces are the right ones")
    expect(widget.locator(".gl-wo-off")).to_have_count(1)
    expect(widget.locator(".gl-wo-bits")).to_have_text("0x4000002002000000")
    widget.get_by_role("button", name="The right descriptor").click()
    expect(words).to_contain_text("All 256 pieces")
    expect(widget.locator(".gl-wo-bits")).to_have_text("0x4000004002000000")
    widget.get_by_label("reads").select_option("64")
    expect(words).to_contain_text("No error")
    pick(page, "WgmmaOperand", "K-major")
    expect(words).to_contain_text("All 256 pieces")


def test_pieces_are_chosen_by_keyboard_and_by_mouse(page):
    widget = of(page, "WgmmaOperand")
    pick(page, "WgmmaOperand", "K-major")
    operand = widget.locator(".gl-wo-operand")
    operand.focus()
    words = widget.locator(".gl-wo-reading")
    before = words.inner_text()
    page.keyboard.press("ArrowRight")
    assert words.inner_text() != before
    widget.locator(".gl-wo-memory svg").click(position={"x": 8, "y": 20})
    expect(words).to_contain_text("row 0, k 0 to 7")


def test_the_thread_of_a_sum_is_found(page):
    widget = of(page, "WarpgroupSums")
    slider = widget.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(".gl-ws-words")).to_contain_text("thread 38")
    pick(page, "WarpgroupSums", "256")
    expect(widget.locator(".gl-ws-words")).to_contain_text("128 sums")
    widget.locator(".gl-ws-cell").nth(9).click()
    expect(widget.locator(".gl-ws-cell").nth(9)).to_have_attribute("aria-pressed", "true")
    widget.locator(".gl-ws-all").focus()
    page.keyboard.press("ArrowDown")
    expect(widget.locator(".gl-beside .gl-label").last).to_contain_text("rows 24 to 31")


def test_deferring_closes_the_gap(page):
    widget = of(page, "WarpgroupTimeline")
    expect(widget.locator(".gl-tl-reading")).to_contain_text("1,376 between products")
    expect(widget.locator(".gl-tl-main .gl-tl-idle")).to_have_count(4)
    widget.get_by_label("Schedule").select_option("deferred")
    expect(widget.locator(".gl-tl-reading")).to_contain_text("0 between products")
    expect(widget.locator(".gl-tl-main .gl-tl-idle")).to_have_count(2)
    chart = widget.get_by_role("slider", name="Time")
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert int(chart.get_attribute("aria-valuenow")) > 0


def test_k_tiles_are_numbered_within_their_tile_of_c(page):
    widget = of(page, "WarpgroupTimeline")
    widget.get_by_label("Schedule").select_option("persistent")
    numbers = widget.locator(".gl-tl-main .gl-tl-products").all_inner_texts()
    assert numbers == ["0", "1", "2", "3"] * 3
    expect(widget.locator(".gl-tl-name", has_text="C of")).to_have_count(0)
    expect(widget.locator(".gl-tl-name", has_text="stage")).to_have_count(0)
    widget.get_by_label("show the stages").check()
    expect(widget.locator(".gl-tl-name", has_text="stage")).to_have_count(4)
    expect(widget.locator(".gl-tl-key")).to_contain_text("may be overwritten")
    widget.get_by_label("show the stages").uncheck()
    # Deferred, a store lies beside products, so it has a lane; nothing is drawn twice.
    widget.get_by_label("Schedule").select_option("deferred")
    expect(widget.locator(".gl-tl-name", has_text="C of")).to_have_count(2)
    expect(widget.locator(".gl-tl-store")).to_have_count(1 + 2 * 3)


def test_a_short_gap_can_be_seen(page):
    widget = of(page, "WarpgroupTimeline")
    widget.get_by_label("Schedule").select_option("barrier")
    gaps = widget.locator(".gl-tl-main .gl-tl-idle")
    widths = [gap.bounding_box()["width"] for gap in gaps.all()]
    assert len(widths) == 13 and min(widths) >= 5


def test_multicast_shares_what_both_need(page):
    widget = of(page, "MulticastMap")
    now = widget.locator(".gl-figure-now b")
    expect(now.first).to_have_text("48 KB")
    pick(page, "MulticastMap", "multicast")
    expect(now.first).to_have_text("32 KB")
    widget.locator(".gl-mm-picture").focus()
    page.keyboard.press("ArrowDown")
    expect(widget.locator(".gl-words")).to_contain_text(
        "columns of B 128 to 255 for blocks 0 and 1"
    )
    pick(page, "MulticastMap", "2 x 2")
    expect(widget.locator(".gl-mm-block")).to_have_count(4)


def test_what_two_blocks_ask_for_is_drawn_twice(page):
    widget = of(page, "MulticastMap")
    pick(page, "MulticastMap", "2 x 1")
    pick(page, "MulticastMap", "each for itself")
    parts = widget.locator(".gl-mm-part")
    # The rows of A of either block, and the columns of B for each of them.
    assert parts.evaluate_all("all => all.map((e) => e.dataset.block)") == ["0", "0", "1", "1"]
    expect(widget.locator(".gl-mm-end")).to_have_count(4)
    pick(page, "MulticastMap", "multicast")
    expect(parts).to_have_count(4)
    expect(widget.locator(".gl-mm-end")).to_have_count(6)
    expect(widget.locator(".gl-key > span")).to_have_count(2)


def test_the_slider_says_which_thread_it_is_at(page):
    widget = of(page, "WarpgroupSums")
    widget.get_by_role("slider").focus()
    page.keyboard.press("Home")
    before = widget.locator(".gl-ws-now").inner_text()
    page.keyboard.press("ArrowRight")
    expect(widget.locator(".gl-ws-now")).not_to_have_text(before)
    expect(widget.locator(".gl-ws-all")).to_contain_text("8 columns")


def test_the_key_of_an_operand_has_only_what_occurs(page):
    widget = of(page, "WgmmaOperand")
    pick(page, "WgmmaOperand", "K-major")
    expect(widget.locator(".gl-wo-keys")).not_to_contain_text("another piece")
    widget.get_by_label("stride").select_option("512")
    expect(widget.locator(".gl-wo-keys")).to_contain_text("another piece")
    widget.get_by_role("button", name="The right descriptor").click()


@pytest.mark.parametrize(
    "selector",
    [
        "[data-widget=WgmmaOperand] input[value='1']",
        "[data-widget=WarpgroupSums] input[value='64']",
        "[data-widget=WarpgroupTimeline] [aria-label='k tiles of each'] button",
        "[data-widget=MulticastMap] input[value='4 x 1']",
    ],
)
def test_reaction_is_quick(page, selector):
    assert min(page.evaluate(REACTION, selector) for _ in range(3)) < 50


def test_it_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture(scope="module")
def recorded_page(windows, tmp_path_factory):
    """A page with recorded traces, at a phone's width; the second one stores beside products."""
    path: Path = tmp_path_factory.mktemp("recorded") / "page.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warpgroup_timeline, "recorded_trace", lambda step, gpu: recorded(step))
        made = [WarpgroupTimeline(name, recorded=True) for name in ("persistent", "deferred")]
        path.write_text(
            '<!doctype html><html lang="en" data-theme="dark">'
            '<meta charset="utf-8"><title>R</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{''.join(one.to_html() for one in made)}</html>"
        )
    found = windows.open(path.as_uri(), reduced_motion="reduce")
    found.page.set_viewport_size({"width": 390, "height": 900})
    yield found
    windows.close(found)


def test_a_recording_and_the_model_are_switched_by_keyboard_and_by_mouse(recorded_page):
    page = recorded_page.page
    stored, late = (page.locator(".gl[data-widget]").nth(i) for i in (0, 1))
    words = stored.locator(".gl-tl-reading")
    expect(words).to_contain_text("wgmma_05_persistent on the H200, recorded on 2026-11-29")
    expect(stored.locator(".gl-tl-stat").first).to_contain_text("99.3 %")
    expect(stored.locator(".gl-tl-main .gl-tl-both").first).to_be_visible()
    expect(stored.locator(".gl-tl-main .gl-tl-idle")).to_have_count(1)
    expect(stored.get_by_label("Schedule")).to_be_hidden()
    expect(stored.locator(".gl-tl-words")).to_contain_text("stores tile 1")
    chosen = stored.get_by_role("radio", name="recorded, H200")
    chosen.focus()
    page.keyboard.press("ArrowLeft")
    expect(words).to_contain_text("cycles of the model")
    expect(stored.get_by_label("Schedule")).to_be_visible()
    expect(stored.locator("summary", has_text="The recording")).to_be_hidden()
    stored.locator("label.gl-seg", has_text="recorded").click()
    expect(words).to_contain_text("recorded on")
    chart = stored.get_by_role("slider", name="Time")
    chart.focus()
    page.keyboard.press("End")
    assert chart.get_attribute("aria-valuenow") == chart.get_attribute("aria-valuemax")
    # Deferred: the pieces have a lane, beside products that never stop.
    expect(late.locator(".gl-tl-name", has_text="C of")).to_have_count(2)
    expect(late.locator(".gl-tl-main .gl-tl-idle")).to_have_count(0)
    expect(late.locator(".gl-tl-lane .gl-tl-store")).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    heights = [one.bounding_box()["height"] for one in (stored, late)]
    assert max(heights) < 900
    assert recorded_page.problems() == []


def test_without_a_recording_there_is_no_switch(page):
    expect(of(page, "WarpgroupTimeline").get_by_role("radio")).to_have_count(0)
