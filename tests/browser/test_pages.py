"""Every page of the built book as a reader meets it: quiet, light, fast, narrow, in the dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sampling

from gemmlab.notebook.course import CHAPTERS as CHAPTERS_OF_THE_COURSE
from gemmlab.notebook.course import chapter
from gemmlab.steps.chapters import CHAPTERS as CHAPTERS_WITH_STEPS

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
CHAPTERS = sorted(str(path.relative_to(HTML)) for path in (HTML / "book").glob("*.html"))
# Every run opens these, the campaign the others, too.
OPENED = [f"book/{name}.html" for name in sampling.opened_pages()]
HEAVIEST_PAGE = 2_500_000
WIDGET = re.compile(r'data-widget="(\w+)"')
CORE = [name for name in CHAPTERS_OF_THE_COURSE if chapter(name).core]
TALLEST = 12_000  # pixels of a core chapter in a window of 1440x900
MOST_MINUTES = 25

# Bytes after decompression, whatever the server compresses.
TRANSFERRED = """() => performance.getEntriesByType("resource")
  .concat(performance.getEntriesByType("navigation"))
  .reduce((sum, entry) => sum + entry.decodedBodySize, 0)"""
FRAMES = """() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100))"""
# The elements that stick out to the right, unless something around them scrolls.
OVERFLOWING = """() => {
  const inside = (el) => {
    for (let up = el.parentElement; up; up = up.parentElement) {
      const { overflowX } = getComputedStyle(up);
      if (["auto", "scroll", "hidden", "clip"].includes(overflowX)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("article *")]
    .filter((el) => el.getBoundingClientRect().right > innerWidth + 1 && !inside(el))
    .map((el) => el.outerHTML.slice(0, 120));
}"""
# Characters in a line of each long paragraph that stands by itself.
LINES = """() => [...document.querySelectorAll("article section > p")]
  .filter((p) => p.textContent.length > 300 && !p.querySelector("mjx-container, img"))
  .map((p) => {
    const lines = Math.round(p.clientHeight / parseFloat(getComputedStyle(p).lineHeight));
    return p.textContent.length / lines;
  })"""
# Of each chart that shows: its width, that of the column, and the size of its smallest text.
CHARTS = """() => [...document.querySelectorAll(".gl-figure svg")]
  .filter((svg) => svg.clientWidth)
  .map((svg) => {
    const scale = svg.clientWidth / svg.viewBox.baseVal.width;
    const size = (text) => parseFloat(getComputedStyle(text).fontSize);
    const sizes = [...svg.querySelectorAll("text")].map(size);
    return [svg.clientWidth, svg.parentElement.clientWidth, Math.min(...sizes) * scale];
  })"""
# Each widget's name and its distance from the top of the page.
PLACES = """() => [...document.querySelectorAll("[data-widget]")]
  .map((e) => [e.dataset.widget, e.getBoundingClientRect().top + scrollY])"""
# [text, background] as rgb() strings; the background is that of the first opaque box.
COLOURS = """(selector) => {
  const el = document.querySelector(selector);
  for (let up = el; up; up = up.parentElement) {
    const colour = getComputedStyle(up).backgroundColor;
    if (!/rgba\\(.*, 0\\)/.test(colour)) return [getComputedStyle(el).color, colour];
  }
  return [getComputedStyle(el).color, getComputedStyle(document.body).backgroundColor];
}"""


def luminance(colour: str) -> float:
    channels = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colours: list[str]) -> float:
    dark, light = sorted(map(luminance, colours))
    return (light + 0.05) / (dark + 0.05)


def test_there_are_pages(book):
    assert CHAPTERS


def test_every_widget_is_on_a_page_that_every_run_opens(book):
    assert set(OPENED) < set(CHAPTERS)
    found = {name: set(WIDGET.findall((book / name).read_text())) for name in CHAPTERS}
    assert set().union(*found.values()) == set().union(*(found[name] for name in OPENED))


def cases():
    for name in CHAPTERS:
        yield pytest.param(name, marks=() if name in OPENED else pytest.mark.campaign)


@pytest.fixture(scope="module", params=cases())
def opened(request, windows, address):
    """Each chapter, opened once and scrolled to its end; tests of one chapter share it."""
    found = windows.open(f"{address}/{request.param}")
    # Lazy parts of a page are loaded, too.
    found.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    found.page.wait_for_load_state("networkidle")
    yield found
    windows.close(found)


def test_page_is_quiet_and_light_and_its_widgets_live(opened):
    page = opened.page
    assert opened.problems() == []
    assert page.evaluate(TRANSFERRED) <= HEAVIEST_PAGE
    assert page.locator("[data-gemmlab]:not([data-live])").count() == 0
    assert page.locator("[data-gemmlab] > img").count() == 0


def test_nothing_sticks_out_at_390_pixels(opened):
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 900})
    # Widgets draw themselves anew when their width has changed, in a frame or two.
    page.evaluate(FRAMES)
    try:
        assert page.evaluate(OVERFLOWING) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def test_text_is_legible_in_light_and_dark(opened):
    page = opened.page
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f'html[data-theme="{theme}"]')
        for selector in ("article h1", "article p"):
            colours = page.evaluate(COLOURS, selector)
            assert contrast(colours) >= 7, (theme, selector, colours)
            assert (luminance(colours[1]) < 0.2) == (theme == "dark")


def test_lines_of_prose_are_short(opened):
    page = opened.page
    page.set_viewport_size({"width": 1440, "height": 900})
    try:
        lengths = page.evaluate(LINES)
        assert all(50 <= length <= 76 for length in lengths)
        assert not lengths or 58 <= sum(lengths) / len(lengths) <= 72
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def test_a_core_chapter_is_short(opened):
    page, name = opened.page, Path(opened.page.url).stem
    if name not in CORE:
        return
    page.set_viewport_size({"width": 1440, "height": 900})
    try:
        page.evaluate(FRAMES)
        assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})
    assert chapter(name).reading.minutes <= MOST_MINUTES
    # Every exercise and every rung is there, under its own heading.
    folds = page.locator("details.gl-fold > summary :is(h2, h3)")
    titles = [title for title in folds.all_inner_texts() if title.startswith(("Exercise", "Your"))]
    assert len(titles) == chapter(name).reading.exercises + chapter(name).reading.rungs


@pytest.mark.parametrize("width", [1280, 390])
def test_charts_have_text_of_13_pixels(opened, width):
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    try:
        for chart, column, smallest in page.evaluate(CHARTS):
            assert chart <= column
            assert smallest >= 12.8  # a phone's column may be a few pixels narrower than the chart
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def test_a_kernel_chapter_has_a_strip_and_an_explorable_near_its_top(opened):
    page = opened.page
    name = Path(page.url).stem
    strips = page.locator(".gl-strip").count()
    if name not in CHAPTERS_WITH_STEPS:
        # It may say where it belongs; the page of all names shows what every one returns.
        assert strips <= 1
        return
    assert strips == 1
    assert page.locator(".gl-strip").bounding_box()["height"] <= 60
    assert page.locator(".gl-strip [aria-current]").count() >= 1
    widgets = page.evaluate(PLACES)
    assert "Machine" in [name for name, _ in widgets[:1]]
    own = [top for name, top in widgets if name not in ("Machine", "Predict", "Ladder")]
    assert own[0] < 3 * 900 - 100, own[:1]


def test_a_chapter_says_how_long_it_takes(opened):
    untimed = ("intro", "reference", "coverage", "glossary", "map", "departures")
    minutes = opened.page.locator("article p.book-minutes")
    assert minutes.count() == (Path(opened.page.url).stem not in untimed)


def test_no_widget_is_taller_than_640_pixels(opened):
    page = opened.page
    page.evaluate(FRAMES)
    tall = page.locator(".gl[data-live]").evaluate_all(
        "all => all.map((e) => [e.dataset.widget, e.getBoundingClientRect().height])"
        ".filter(([, height]) => height > 640)"
    )
    assert tall == []


def test_paper_has_the_colours(opened):
    page = opened.page
    page.emulate_media(media="print")
    try:
        exact = "(el) => getComputedStyle(el).printColorAdjust"
        assert page.locator("article section").first.evaluate(exact) == "exact"
        for widget in page.locator("[data-widget] *").all()[:1]:
            assert widget.evaluate(exact) == "exact"
        for play in page.locator(".gl-scrub").all():
            assert not play.is_visible()
    finally:
        page.emulate_media(media="screen")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_page_works_from_a_file(visit, book, chapter):
    found = visit((book / chapter).as_uri())
    assert found.problems() == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_widgets_are_pictures_without_scripts(visit, address, chapter):
    page = visit(f"{address}/{chapter}", java_script_enabled=False).page
    for folded in page.locator("details.gl-fold > summary").all():
        folded.click()
    for widget in page.locator("[data-gemmlab]").all():
        assert widget.inner_text().strip() or widget.locator("img[alt]").count()


def test_the_switch_makes_it_dark_and_it_stays_dark(visit, address):
    page = visit(f"{address}/{CHAPTERS[0]}").page
    switch = page.locator("button.theme-switch-button").first
    for _ in range(3):
        if page.locator("html").get_attribute("data-theme") == "dark":
            break
        switch.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_search_finds_a_word_and_leads_to_its_page(visit, address):
    opened = visit(f"{address}/index.html")
    page = opened.page
    page.wait_for_url("**/book/*.html")
    page.wait_for_load_state("networkidle")  # the script that listens to keys is there
    page.keyboard.press("Control+k")
    page.keyboard.type("coverage")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?*")
    result = page.locator("#search-results li a", has_text="Coverage").first
    result.wait_for()
    result.click()
    page.wait_for_url("**/book/coverage.html*")
    assert opened.problems() == []


def test_index_leads_to_the_first_page(visit, address):
    opened = visit(f"{address}/index.html")
    opened.page.wait_for_url("**/book/*.html")
    assert opened.page.locator("article h1").count() == 1
    assert opened.problems() == []


def test_index_asks_for_nothing(book):
    """Without an icon the browser asks for a favicon.ico that is not there, if it has the time."""
    text = (book / "index.html").read_text(encoding="utf-8")
    assert 'rel="icon" href="data:,"' in text
    assert re.search(r"<title>.+</title>", text)


def test_the_keyboard_reaches_the_text_first(visit, address):
    page = visit(f"{address}/{CHAPTERS[0]}").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
