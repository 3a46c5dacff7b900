"""Replay in a browser: it unpacks its run from a file, and each step is drawn within a frame."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import needs
import pytest
from playwright.sync_api import Page, expect

from gemmlab.widgets import replay

pytestmark = needs.gxx
STEP, LONG = "sgemm_06_swizzled_a", "sgemm_09_thread_coarsening"
FRAME_MS = 1000 / 60
SLOWER = 3  # a machine than a laptop, which draws a step in 2 to 5 ms
# The time that each of some ticks takes to draw, in ms, without what the browser does between them.
TIMES = """(count) => {
  const range = document.querySelector(".gl-rp-scrub input");
  const last = Number(range.max);
  const times = [];
  for (let n = 0; n < count; ++n) {
    const begin = performance.now();
    range.value = String(Math.floor(last * n / (count - 1)));
    range.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect(); // with its layout
    times.push(performance.now() - begin);
  }
  return times;
}"""


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one replay and nothing else, from a file."""

    def open_(*arguments, script: str = "", **more) -> Page:
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            f'<meta name="viewport" content="width=device-width"><script>{script}</script>'
            f"{rendered(replay, *arguments, **more)}</html>"
        )
        opened = visit(path.as_uri(), reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def test_a_warp_and_a_tick_show_lanes_values_and_banks(show):
    page = show(STEP, warp=1, tick=60)
    expect(page.locator(".gl-reading")).to_contain_text("Warp 1, line")
    expect(page.locator(".gl-rp-lane")).to_have_count(32)
    expect(page.locator(".gl-rp-lane").first).to_have_text(re.compile(r"^0s[AB].*\d$"))
    expect(page.locator(".gl-rp-banks")).to_be_visible()
    page.get_by_role("button", name="warp 5").click()
    expect(page.locator(".gl-reading")).to_contain_text("Warp 5")
    before = page.get_by_role("slider", name="Tick").input_value()
    page.get_by_role("button", name="This warp's next step").click()
    assert page.get_by_role("slider", name="Tick").input_value() == str(int(before) + 1)


def test_a_link_sets_it(show):
    page = show(STEP)
    expect(page.locator(".gl-reading")).to_contain_text("Warp 0")
    page.evaluate("location.hash = 'Replay.1?warp=3&tick=100'")
    expect(page.locator(".gl-reading")).to_contain_text("Warp 3")
    page.evaluate("location.hash = 'Replay.1?warp=8'")
    expect(page.locator(".gl-note")).to_contain_text("warp=8")
    expect(page.locator(".gl-reading")).to_contain_text("Warp 3")


def test_each_step_is_drawn_within_a_frame(show):
    """Of the longest run: the best of some times, as the machine does other work, too."""
    page = show(LONG)
    expect(page.locator(".gl-rp-lane").first).to_be_attached()
    rounds = [page.evaluate(TIMES, 400) for _ in range(5)]
    assert max(map(min, zip(*rounds, strict=True))) < SLOWER * FRAME_MS


def test_a_browser_that_cannot_inflate_says_so(show):
    page = show(STEP, script="delete window.DecompressionStream")
    expect(page.locator(".gl-note")).to_contain_text("no DecompressionStream")
