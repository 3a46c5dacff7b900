"""PipelineTimeline in a browser: the scheme, the times and the cursor, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.widgets import PipelineTimeline


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(width: int = 1280, **arguments) -> Page:
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(PipelineTimeline, **arguments)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def said(page: Page, lane: str) -> Locator:
    rows = page.locator(".gl-tl-words div")
    return rows.filter(has=page.locator("dt", has_text=lane)).locator("dd")


def pick(page: Page, scheme: str) -> None:
    page.get_by_role("radiogroup", name="Scheme").locator("label", has_text=scheme).click()


def test_it_opens_at_an_idle_pipe_and_a_second_buffer_fills_the_gap(show):
    page = show()
    expect(said(page, "FMA pipe")).to_have_text("idle from 3,104 to 4,160")
    expect(page.locator(".gl-tl-reading")).to_contain_text("busy 66 %")
    expect(page.locator(".gl-tl-main .gl-tl-idle")).to_have_count(6)
    pick(page, "double buffer")
    expect(said(page, "FMA pipe")).to_have_text("products of tile 1, until 5,536")
    expect(page.locator(".gl-tl-reading")).to_contain_text("busy 84 %")
    expect(said(page, "buffer 1")).to_contain_text("tile 1 (1 mod 2 = 1, phase 0)")


def test_a_shorter_run_is_shorter_in_the_picture(show):
    page = show()
    end = page.locator(".gl-tl-end")
    right = [end.bounding_box()["x"] + end.bounding_box()["width"]]
    pick(page, "double buffer")
    right.append(end.bounding_box()["x"] + end.bounding_box()["width"])
    assert right[1] < right[0] - 100


def test_the_cursor_follows_the_mouse(show):
    page = show()
    bar = page.locator(".gl-tl-main .gl-tl-products").nth(2)
    bar.hover()
    expect(said(page, "FMA pipe")).to_contain_text("products of tile 2")
    expect(said(page, "copy path")).to_have_text("idle")
    page.locator(".gl-tl-main .gl-tl-idle").nth(3).hover()
    expect(said(page, "FMA pipe")).to_contain_text("idle from")
    expect(said(page, "registers")).to_contain_text("tile 3, on its way")


def test_the_cursor_goes_from_change_to_change_by_keyboard(show):
    page = show()
    slider = page.get_by_role("slider", name="Time")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuenow", "0")
    expect(said(page, "copy path")).to_have_text("issue of the copy of tile 0, until 128")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "128")
    expect(said(page, "registers")).to_have_text("tile 0, on its way until 928")
    page.keyboard.press("Shift+ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "129")
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuenow", "128")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuenow", "18623")
    assert "FMA pipe: products of tile 5" in slider.get_attribute("aria-valuetext")


def test_stages_and_blocks_are_stepped(show):
    page = show(scheme="async")
    expect(
        page.locator(".gl-tl-lane:not(.gl-tl-ghost) .gl-tl-name", has_text="buffer")
    ).to_have_count(3)
    group = page.get_by_role("group", name="stages: shared-memory buffers")
    group.get_by_role("button").last.click()
    expect(
        page.locator(".gl-tl-lane:not(.gl-tl-ghost) .gl-tl-name", has_text="buffer")
    ).to_have_count(4)
    expect(page.get_by_text("registers", exact=True)).to_have_count(0)
    # A block that is alone has no lane: it does what the copy path and the pipe do.
    expect(page.locator(".gl-tl-name", has_text="block")).to_have_count(0)
    page.get_by_role("group", name="blocks on the SM").get_by_role("button").last.click()
    expect(page.locator(".gl-tl-name", has_text="block")).to_have_count(2)
    other = page.get_by_role("radiogroup", name="Registers and buffers of")
    other.locator("label", has_text="block 1").click()
    expect(said(page, "buffer 0")).not_to_be_empty()
    pick(page, "single buffer")
    expect(group).to_be_hidden()


def test_times_that_were_moved_are_not_the_page_s_any_more(show):
    page = show(issue=100, latency=700, products=1500, origin="Counted in a test.")
    origin = page.locator(".gl-tl-origin")
    expect(origin).to_contain_text("Counted in a test.")
    times = page.locator("summary", has_text="Times: issue 100, latency 700, products 1,500 cycles")
    times.click()
    latency = page.get_by_role("slider", name="latency, cycles")
    latency.focus()
    page.keyboard.press("ArrowRight")
    expect(latency).to_have_attribute("aria-valuetext", "800 cycles")
    expect(origin).to_contain_text("not the page's")
    expect(page.locator(".gl-tl-field", has_text="latency")).to_contain_text("800 cycles")
    expect(page.locator(".gl-tl-reading")).to_contain_text("latency 800")
    page.get_by_role("button", name="Back to the page's times").click()
    expect(origin).to_contain_text("Counted in a test.")
    expect(page.locator(".gl-tl-reading")).to_contain_text("latency 700")


def test_the_key_has_what_the_picture_has(show):
    page = show()
    key = page.locator(".gl-tl-key")
    expect(key).to_contain_text("FMA pipe idle")
    expect(key).not_to_contain_text("the scheme before")
    pick(page, "cp.async")
    expect(key).to_contain_text("the scheme before")
    expect(key).not_to_contain_text("store to shared memory")


def test_no_cursor_strikes_through_a_number(show):
    """A number lies above the cursor, and has a ground of its own."""
    page = show()
    on_top = """(e) => { const style = getComputedStyle(e);
      return [style.zIndex > getComputedStyle(document.querySelector(".gl-tl-cursor")).zIndex,
        style.backgroundColor !== "rgba(0, 0, 0, 0)"]; }"""
    for number in page.locator(".gl-tl-bar b").all():
        assert number.evaluate(on_top) == [True, True], number.inner_text()


def test_the_model_is_stated(show):
    page = show()
    page.get_by_text("The model", exact=True).click()
    expect(page.get_by_text("Times are cycles of a model, not of a GPU.")).to_be_visible()


@pytest.mark.parametrize("width", [390, 768])
def test_it_fits(show, width):
    page = show(width=width, scheme="async", stages=6, blocks=4, tiles=16)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_tensor_cores_are_named_in_every_place(show, width):
    page = show(width, tensor=True, blocks=2)
    expect(page.locator(".gl-tl-main .gl-tl-name")).to_have_text("tensor cores")
    expect(page.locator(".gl-tl-main .gl-tl-bar").first).to_be_attached()
    assert "FMA" not in page.locator(".gl-timeline").text_content()
    name = page.locator(".gl-tl-main .gl-tl-name")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth")
