"""Machine, the trilogy of the first chapters and Walk in a browser, by mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from gemmlab.report.parts import parts
from gemmlab.report.walk import course, here
from gemmlab.widgets import Coalescing, Machine, RegisterTile, TileTraffic

ASK = "How many sectors does its load take in one row?"
WIDGETS = {
    "Machine": lambda: Machine("tma_04_producer_warp"),
    "Coalescing": lambda: Coalescing(ask=ASK),
    "TileTraffic": lambda: TileTraffic(tile=4, ask="How many times fewer values?"),
    "RegisterTile": lambda: RegisterTile(4, 4, ask="How many times as many FMAs?"),
    "Walk": course,
}
# The time from an event to the next frame, in milliseconds.
REACTION = """(selector) => new Promise((done) => {
  const el = document.querySelector(selector);
  const start = performance.now();
  el.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  requestAnimationFrame(() => done(performance.now() - start));
})"""
# Characters of text whose contrast with the first opaque box behind them is below 4.5.
FAINT = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const low = (v) => v <= 0.04045;
  const channel = (c) => (low(c / 255) ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (el) => {
    for (let up = el; up; up = up.parentElement) {
      const colour = rgb(getComputedStyle(up).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return rgb(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  };
  return [...document.querySelectorAll(".gl *")].filter((el) => !el.closest("svg")
    && el.checkVisibility() && [...el.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .filter((el) => {
      const [a, b] = [light(rgb(getComputedStyle(el).color)), light(behind(el))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((el) => `${el.className}: ${el.textContent.slice(0, 40)}`);
}"""


@pytest.fixture(scope="module")
def page(windows, tmp_path_factory) -> Iterator[Page]:
    """One page with all of them, shared by the tests, motion reduced."""
    text = "".join(make().to_html() for make in WIDGETS.values())
    path: Path = tmp_path_factory.mktemp("machine") / "page.html"
    path.write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">'
        '<title>Widgets</title><meta name="viewport" content="width=device-width">'
        "<style>html[data-theme=dark] body { background: rgb(20, 24, 29) }"
        "body { background: rgb(255, 255, 255); margin: 16px }</style>"
        f"<body>{text}{here('sgemm_bank_conflicts')._repr_html_()}{parts()._repr_html_()}</html>"
    )
    opened = windows.open(path.as_uri(), reduced_motion="reduce")
    assert opened.problems() == []
    yield opened.page
    windows.close(opened)


@pytest.fixture
def found(page: Page) -> Callable:
    """found("Machine", ".gl-m-now"): an element of a widget on the shared page."""
    return lambda name, selector: page.locator(f"[data-widget={name}]").locator(selector)


def test_height_and_width(page):
    heights = page.evaluate(
        "() => [...document.querySelectorAll('[data-widget]')].map((e) => e.clientHeight)"
    )
    assert len(heights) == len(WIDGETS) and max(heights) <= 640
    assert page.locator(".gl-strip").bounding_box()["height"] <= 60
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_legible(page, theme):
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
    assert page.evaluate(FAINT) == []


def test_the_machine_runs_through_its_events(found):
    slider, now = found("Machine", "input"), found("Machine", ".gl-m-now")
    slider.press("Home")
    said = []
    for _ in range(30):
        slider.press("ArrowRight")
        said.append(now.inner_text())
    assert any("tiles 0, 1 on the way" in text for text in said)
    assert any("the tensor cores multiply tile 3" in text for text in said)
    assert any("the tile of C on its way" in text for text in said)
    cycles = [int(re.sub(r"\D", "", text.split(":")[0])) for text in said]
    assert cycles == sorted(cycles) and cycles[-1] > cycles[0]


def test_a_unit_of_the_machine_tells_what_it_does(found, page):
    found("Machine", "[data-unit=tma]").click()
    assert "32 KB a k tile" in found("Machine", ".gl-m-unit-words").inner_text()
    page.keyboard.press("ArrowRight")
    assert "not used by this step" in found("Machine", ".gl-m-unit-words").inner_text()


def test_sectors_show_after_the_guess(found):
    numbers = found("Coalescing", ".gl-figure-now")
    assert numbers.all_inner_texts() == ["?", "?"]
    assert found("Coalescing", ".gl-co-sector").count() == 0
    found("Coalescing", ".gl-foretell input[value='8']").click(force=True)
    assert "It is 5 sectors" in found("Coalescing", ".gl-foretell-said").inner_text()
    assert numbers.nth(0).locator("b").inner_text() == "5"
    found("Coalescing", ".gl-co-memory").press("ArrowRight")
    for _ in range(4):
        found("Coalescing", ".gl-co-memory").press("ArrowRight")
    assert numbers.nth(0).locator("b").inner_text() == "4"  # column 8 begins a sector


def test_the_warp_can_be_dragged(found, page):
    box = found("Coalescing", ".gl-co-memory").bounding_box()
    before = found("Coalescing", ".gl-words").inner_text()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 60, box["y"] + box["height"] / 2 + 20, steps=4)
    page.mouse.up()
    assert found("Coalescing", ".gl-words").inner_text() != before


def test_traffic_falls_as_the_tile_grows(found):
    rows = found("TileTraffic", ".gl-tt-row")
    assert {row.split()[-1] for row in rows.all_inner_texts()} == {"?"}
    # The size can be seen, and comes after the guess.
    sizes = found("TileTraffic", "[aria-label='Tile of C'] input")
    assert sizes.count() == 6
    assert all(one.is_disabled() for one in sizes.all())
    assert "after your guess" in found("TileTraffic", ".gl-waits").inner_text()
    found("TileTraffic", ".gl-foretell input[value='32']").click(force=True)
    assert "Yes" in found("TileTraffic", ".gl-foretell-said").inner_text()
    values = [int(row.split()[-1].replace(",", "")) for row in rows.all_inner_texts()]
    assert all(one.is_enabled() for one in sizes.all())
    assert values == [2 * 64**3 // tile for tile in (1, 2, 4, 8, 16, 32)]


def test_reuse_rises_and_registers_run_out(found):
    found("RegisterTile", ".gl-foretell input[value='2']").click(force=True)
    assert found("RegisterTile", ".gl-figure-now b").first.inner_text() == "4"
    for name in ("Rows of C", "Columns of C"):
        group = found("RegisterTile", f"[aria-label='{name}']")
        group.locator("input[value='16']").click(force=True)
    assert "spills" in found("RegisterTile", ".gl-words").inner_text()


def test_each_bar_has_a_name_and_a_chapter(found, page):
    bars = found("Walk", "a.gl-w-bar")
    assert bars.count() >= 40
    swizzled = found("Walk", "a[aria-label^='SGEMM 06']")
    swizzled.hover()
    assert "06 swizzled A" in found("Walk", ".gl-w-detail").inner_text()
    assert swizzled.get_attribute("href") == "sgemm_bank_conflicts.html"
    bars.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert "02 coalesced" in found("Walk", ".gl-w-detail").inner_text()


@pytest.mark.parametrize(
    "selector",
    [
        "[data-widget=Machine] [data-unit=l2]",
        "[data-widget=Coalescing] input[value='16']",
        "[data-widget=TileTraffic] [aria-label='Tile of C'] input[value='1']",
        "[data-widget=RegisterTile] [aria-label='Rows of C'] input[value='8']",
    ],
)
def test_reaction_is_quick(page, selector):
    assert min(page.evaluate(REACTION, selector) for _ in range(3)) < 50
