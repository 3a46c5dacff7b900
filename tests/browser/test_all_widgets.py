"""What every widget has in common: size, contrast, names, targets, motion, links and phrases."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, expect

from gemmlab import sim
from gemmlab.widgets import (
    BankMap,
    BlockOrder,
    FragmentMap,
    HeatMap,
    Ladder,
    MbarrierTimeline,
    Metric,
    MulticastMap,
    PipelineTimeline,
    Predict,
    SwizzleWorkshop,
    TensorMapFields,
    TilingExplorer,
    TmaBox,
    TraceView,
    WarpgroupSums,
    WarpgroupTimeline,
    WgmmaOperand,
    replay,
)
from gemmlab.widgets.shared.base import Widget

TALLEST = 640
COLUMN = 744  # pixels of the book's column in a window of 1280
ROWS = [
    {"kernel": f"sgemm_0{n}_x", "M": size, "N": size, "K": size, "tflops": n, "ratio": n / 9}
    for size in (1024, 4096)
    for n in (1, 2, 3)
]
CELLS = [{"TM": m, "TN": 4, "WMITER": w, "WNITER": 2, "x": m} for m in (4, 8) for w in (2, 4)]
# Of each widget an example, and a state that a link asks for.
EXAMPLES: dict[str, tuple[Callable[[], Widget], str]] = {
    "BankMap": (
        lambda: BankMap(caption="In which layout does a column take one wavefront?"),
        "kind=swizzle&swizzle=[3,2,5]",
    ),
    "BlockOrder": (lambda: BlockOrder([(64, 64), (12, 12)]), "order=strips&height=4&wave=3"),
    "FragmentMap": (
        lambda: FragmentMap(["mma.m16n8k16 A", "ldmatrix.x4"]),
        "which=ldmatrix.x4&lane=9",
    ),
    "HeatMap": (
        lambda: HeatMap(CELLS, {"x": Metric("speed", "TFLOP/s", "Made up.", limit=5)}),
        "row=0&col=1",
    ),
    "Ladder": (lambda: Ladder(ROWS, "a test"), "size=1024&metric=ratio"),
    "MbarrierTimeline": (lambda: MbarrierTimeline(), "mistake=consumer_parity&event=4"),
    "MulticastMap": (lambda: MulticastMap(), "rows=1&columns=2&multicast=true&block=1"),
    "PipelineTimeline": (lambda: PipelineTimeline("async"), "scheme=double&time=900"),
    "Predict": (lambda: Predict("How many `wavefronts`?", 4, "x"), "guess=8&first=8"),
    "Replay": (lambda: replay("sgemm_06_swizzled_a", 128, 128, 32), "warp=1&tick=60"),
    "SwizzleWorkshop": (lambda: SwizzleWorkshop(), "swizzle=[1,3,3]&pairs=[[7,4]]"),
    "TensorMapFields": (lambda: TensorMapFields(), "rows=100&swizzle=64B&shown=boxDim"),
    "TilingExplorer": (lambda: TilingExplorer(), "BK=32&thread=5"),
    "TmaBox": (lambda: TmaBox(), "x=40&swizzle=128B"),
    "TraceView": (
        lambda: TraceView(sim.trace("sgemm_05_transposed_a", 128, 128, 16)),
        "step=2",
    ),
    "WarpgroupSums": (lambda: WarpgroupSums(), "columns=256&row=42&column=200"),
    "WarpgroupTimeline": (lambda: WarpgroupTimeline(), "schedule=deferred&stages=3&time=900"),
    "WgmmaOperand": (lambda: WgmmaOperand(rows=128, mn_major=True), "stride=512&piece=9"),
}  # fmt: skip
UNPACKED = ".gl-rp-body"  # in a Replay: a moment after it is live
FONT_FILE = "source-sans-3-latin-wght-normal.woff2"
FONT = (
    f"@font-face{{font-family:Book;font-weight:200 900;src:url({FONT_FILE})}}"
    "body{font:17.4px/1.62 Book}"
)
PHRASES = """<p>Switch to <a class="gemmlab-set" href="#BankMap?kind=pad&amp;pad=1">padded</a>, or
to <a class="gemmlab-set" href="#BankMap?kind=nonsense">nonsense</a>.</p>"""


@pytest.fixture(scope="module")
def site(root, serve, tmp_path_factory) -> str:
    """Where a page with one widget of each kind is served."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(root / "book" / "_static" / "fonts" / FONT_FILE, folder)
    parts = [make().to_html() for make, _ in EXAMPLES.values()]
    frames = [f'<iframe srcdoc="{escape(document(part))}" title="One"></iframe>' for part in parts]
    for name, body in (("all", PHRASES + "".join(parts)), ("alone", "".join(frames))):
        (folder / f"{name}.html").write_text(document(f"<h1>All</h1>{body}"), encoding="utf-8")
    return f"{serve(folder)}/all.html"


def document(body: str) -> str:
    """A page, or what an iframe has in it, with the book's font and the width of its column."""
    return (
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>All</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>'
        f"{FONT}html[data-theme=dark]{{background:#14181d}}main{{max-width:{COLUMN}px}}"
        "iframe{width:1200px;height:700px}</style>"
        f"<main>{body}</main></html>"
    )


@pytest.fixture(scope="module")
def opened(windows, site):
    """That page, opened once."""
    found = windows.open(
        site, reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    )
    yield found
    windows.close(found)


@pytest.fixture
def page(opened) -> Iterator[Page]:
    """That page as it was; nothing went wrong in it."""
    opened.page.evaluate("history.replaceState(null, '', location.pathname)")
    yield opened.page
    assert opened.problems() == []


def of(page: Page, name: str):
    return page.locator(f'.gl[data-widget="{name}"]')


def test_no_widget_is_taller_than_a_screen(page):
    heights = page.locator(".gl").evaluate_all(
        "all => all.map((e) => [e.dataset.widget, e.getBoundingClientRect().height])"
    )
    assert len(heights) == len(EXAMPLES)
    assert [one for one in heights if one[1] > TALLEST] == []


# Of each widget of a document the classes, sizes and looks of its parts.
LOOKS = """() => Object.fromEntries([document, ...[...document.querySelectorAll("iframe")]
    .map((frame) => frame.contentDocument)].flatMap((page) => [...page.querySelectorAll(".gl")])
  .map((root) => [root.dataset.widget, [...root.querySelectorAll("*")]
    .filter((el) => el.checkVisibility() && !el.closest("svg"))
    .map((el) => {
      const { width, height } = el.getBoundingClientRect();
      const { color, backgroundColor, fontSize, textDecorationLine } = getComputedStyle(el);
      return [el.className, Math.round(width), Math.round(height), color, backgroundColor, fontSize,
        textDecorationLine].join(" ");
    })]))"""


def test_a_widget_looks_the_same_beside_others(visit, site):
    together = visit(site).page
    of(together, "Replay").locator(UNPACKED).wait_for()
    alone = visit(site.replace("all.html", "alone.html")).page
    for name in EXAMPLES:
        live = UNPACKED if name == "Replay" else "[data-live]"
        alone.frame_locator(f'iframe[srcdoc*="{name}"]').locator(live).first.wait_for()
    assert alone.evaluate(LOOKS) == together.evaluate(LOOKS)


def test_every_widget_is_a_group_with_a_name(page):
    names = page.locator(".gl").evaluate_all(
        "all => all.map((e) => [e.getAttribute('role'), e.getAttribute('aria-label')])"
    )
    assert all(role == "group" and label for role, label in names)
    assert names[0][1] == "Bank Map: In which layout does a column take one wavefront?"


# [text, contrast] of what is written on a plain background; disabled and inert parts do not count.
FAINT = """() => {
  const channels = (colour) => {
    const numbers = colour.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number);
    const scale = colour.startsWith("color(") ? 1 : 255;
    return [...numbers.slice(0, 3).map((v) => v / scale), numbers[3] ?? 1];
  };
  const light = (rgb) => rgb.slice(0, 3).map((v) =>
    (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const under = (el) => {
    for (let up = el; up; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.backgroundImage !== "none") return null;
      if (channels(style.backgroundColor)[3] === 1) return channels(style.backgroundColor);
    }
    return [1, 1, 1];
  };
  const skipped = "[inert] *, [inert], :disabled, [aria-disabled=true], svg *, option";
  const found = [];
  for (const el of document.querySelectorAll(".gl *")) {
    const own = [...el.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || el.matches(skipped) || !el.checkVisibility({ opacityProperty: true })) continue;
    const colour = channels(getComputedStyle(el).color);
    const ground = under(el);
    if (!ground || colour[3] === 0) continue;
    let opacity = 1;
    for (let up = el; up; up = up.parentElement) opacity *= getComputedStyle(up).opacity;
    const seen = colour.slice(0, 3).map((v, i) => v * opacity + ground[i] * (1 - opacity));
    const [a, b] = [light(seen), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push([el.className, el.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_legible(page, theme):
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    of(page, "FragmentMap").locator(".gl-f-lanes button").nth(13).click()
    assert page.evaluate(FAINT) == []
    # What is pointed at dims backgrounds of all else, not letters.
    of(page, "BankMap").locator(".gl-word").first.hover()
    assert page.evaluate(FAINT) == []
    of(page, "FragmentMap").locator(".gl-f-lanes button").nth(13).click()


# Cells of a picture are one target: keys move over them, and whole rows are as high as a finger.
SMALL = """() => [...document.querySelectorAll(
    ".gl :is(button, select, summary, input, a):not([data-row])")]
  .filter((el) => el.checkVisibility() && !el.matches(".gl-cell, .gl-head"))
  .map((el) => (el.matches("input[type=radio], input[type=checkbox]") ? el.closest("label") : el))
  .map((el) => [el.className, el.textContent.slice(0, 20), el.getBoundingClientRect()])
  .filter(([, , box]) => box.width < 23.9 || box.height < 23.9)
  .map(([name, text, box]) => [name, text, box.width, box.height])"""


def test_controls_are_large_enough_for_a_finger(page):
    assert page.evaluate(SMALL) == []


def test_nothing_moves_where_motion_is_not_wanted(page):
    of(page, "BankMap").locator("label", has_text="padded").click()
    of(page, "TilingExplorer").get_by_label("BK", exact=True).select_option("32")
    of(page, "TmaBox").get_by_role("button", name="Load the box").click()
    assert page.evaluate("document.getAnimations().map((a) => a.animationName)") == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_link_brings_a_state_and_copies_it_again(page, name):
    wanted = EXAMPLES[name][1]
    page.evaluate(f"location.hash = '{name}.1?{wanted}'")
    expect(of(page, name).locator(".gl-note")).to_have_count(0)
    of(page, name).get_by_role("button", name="Copy link").click()
    expect(of(page, name).locator(".gl-link-said")).to_have_text("Link copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    address, _, fragment = copied.partition("#")
    assert address == page.url.partition("#")[0]
    assert fragment.startswith(f"{name}.1?")
    plain = {key: value.replace(" ", "") for key, value in parse_qsl(fragment.split("?", 1)[1])}
    assert plain == dict(parse_qsl(wanted))


def test_a_link_opens_the_page_with_the_state(visit, site):
    page = visit(f"{site}#PipelineTimeline.1?scheme=single&blocks=2").page
    widget = of(page, "PipelineTimeline")
    expect(widget.get_by_role("radio", name="single buffer")).to_be_checked()
    expect(widget.locator(".gl-tl-reading")).to_contain_text("2 blocks")
    expect(widget).to_be_in_viewport()


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("BankMap.1?kind=sideways", "kind=sideways, which this widget cannot show"),
        ("BlockOrder.1?rows=1000000", "rows=1000000"),
        ("TmaBox.1?box_rows=7&nothing=1", "box_rows=7, nothing=1"),
        ("SwizzleWorkshop.1?tile=none", "tile=none"),
        ("BankMap.7?kind=pad", "Bank Map 7, which this page does not have"),
    ],
)
def test_a_bad_link_is_left_out_with_a_sentence(visit, site, fragment, said):
    opened = visit(f"{site}#{fragment}")
    name = re.match(r"\w+", fragment)[0]
    expect(of(opened.page, name).locator(".gl-note")).to_contain_text(said)
    assert opened.problems() == []


def test_a_phrase_of_the_prose_sets_the_widget_by_keyboard(page):
    phrase = page.get_by_role("button", name="padded")
    for key in ("Enter", " "):
        of(page, "BankMap").get_by_role("radio", name="as is").check(force=True)
        phrase.focus()
        page.keyboard.press(key)
        expect(of(page, "BankMap").get_by_role("radio", name="padded")).to_be_checked()
        expect(phrase).to_be_focused()
    page.get_by_role("button", name="nonsense").click()
    expect(of(page, "BankMap").locator(".gl-note")).to_contain_text("kind=nonsense")
    phrase.click()
    expect(of(page, "BankMap").locator(".gl-note")).to_have_count(0)


def test_a_phrase_is_plain_text_without_scripts(visit, site):
    page = visit(site, java_script_enabled=False).page
    phrase = page.locator("a.gemmlab-set").first
    assert phrase.get_attribute("role") is None
    style = "(e) => [getComputedStyle(e).color, getComputedStyle(e).textDecorationLine]"
    colour = page.locator("p").first.evaluate("(e) => getComputedStyle(e).color")
    assert phrase.evaluate(style) == [colour, "none"]


def test_phrases_of_chapters_ask_for_what_widgets_allow(root: Path):
    """Each phrase names a widget of its chapter and keys of its state."""
    found = 0
    for path in sorted((root / "book").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        for name, given in re.findall(r'gemmlab-set\\" href=\\"#(\w+)\?([^\\]*)\\"', text):
            state = EXAMPLES[name][0]().state
            assert set(dict(parse_qsl(given.replace("&amp;", "&")))) <= set(state), (
                path.name,
                given,
            )
            assert f"{name}(" in text, path.name
            found += 1
    assert found >= 8
