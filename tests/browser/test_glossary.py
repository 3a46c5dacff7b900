"""A term's meaning shows on hover, on focus and on a touch, and Escape hides it."""

from __future__ import annotations

from playwright.sync_api import expect

TERM = "a.gl-term >> nth=0"


def test_the_meaning_shows_for_the_pointer_and_for_the_keyboard(visit, address):
    page = visit(f"{address}/book/sgemm_naive.html").page
    tip, term = page.locator("#gl-tip"), page.locator(TERM)
    expect(tip).to_be_hidden()
    term.hover()
    expect(tip).to_have_text(term.get_attribute("data-meaning"))
    tip.hover()  # the pointer may go to the meaning
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    term.focus()
    expect(tip).to_be_visible()
    expect(term).to_have_attribute("aria-describedby", "gl-tip")
    page.keyboard.press("Tab")
    expect(term).not_to_have_attribute("aria-describedby", "gl-tip")


def test_a_touch_shows_the_meaning_and_a_second_one_leads_to_the_glossary(visit, address):
    page = visit(f"{address}/book/sgemm_naive.html", width=390, has_touch=True).page
    term, tip = page.locator(TERM), page.locator("#gl-tip")
    term.scroll_into_view_if_needed()
    term.tap()
    expect(tip).to_be_visible()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    term.tap()
    page.wait_for_url("**/glossary.html#term-*")


def test_the_map_fits_a_phone_and_its_chapters_are_reached_by_keyboard(visit, address):
    page = visit(f"{address}/book/map.html", width=390).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    links = page.locator(".gl-map li a")
    links.nth(3).focus()
    page.keyboard.press("Tab")
    expect(links.nth(4)).to_be_focused()
    on = page.locator(".gl-map .to-sgemm_register_tiling").evaluate(
        "(line) => getComputedStyle(line).strokeWidth"
    )
    assert on == "3px"
