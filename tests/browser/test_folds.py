"""What opens what the book folds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

EXERCISE = "#exercise-1-square-blocks"
FOLD = f"section{EXERCISE} > details"


@pytest.fixture
def naive(visit, address) -> Page:
    return visit(f"{address}/book/sgemm_naive.html", width=1440).page


def test_a_key_and_a_click_open_a_fold(naive):
    fold = naive.locator(FOLD)
    expect(fold.locator(".cell").first).to_be_hidden()
    fold.locator("summary").first.focus()
    naive.keyboard.press("Enter")
    expect(fold.locator(".cell").first).to_be_visible()
    naive.keyboard.press("Space")
    expect(fold.locator(".cell").first).to_be_hidden()
    fold.locator("h3").click()
    expect(fold.locator(".cell").first).to_be_visible()


def test_a_link_opens_what_it_leads_to(naive):
    for _ in range(2):  # the second time the address is the same already
        naive.locator(f'.bd-sidebar-secondary a[href="{EXERCISE}"]').click()
        expect(naive.locator(f"{FOLD} .cell").first).to_be_visible()
        expect(naive.locator(f"{FOLD} h3")).to_be_in_viewport()
        naive.locator(f"{FOLD} summary").first.click()
    naive.reload()
    expect(naive.locator(f"{FOLD} .cell").first).to_be_visible()


def test_a_link_to_a_widget_in_a_fold_opens_it(visit, address):
    page = visit(f"{address}/book/hgemm_mma.html#BankMap.2", width=1440).page
    expect(page.locator('[data-widget="BankMap"]').nth(1)).to_be_hidden()
    page.goto(f"{address}/book/hgemm_mma.html#BankMap.2?kind=pad")
    page.reload()
    expect(page.locator('[data-widget="BankMap"]').nth(1)).to_be_in_viewport()


def test_the_words_of_a_search_open_what_they_are_in(visit, address):
    page = visit(f"{address}/book/sgemm_naive.html?highlight=textbooks", width=1440).page
    expect(page.locator(f"{FOLD} .highlighted").first).to_be_visible()


def test_paper_has_what_is_folded(naive):
    cell = naive.locator(f"{FOLD} .cell").first
    naive.emulate_media(media="print")
    expect(cell).to_be_visible()
    naive.emulate_media(media="screen")
    expect(cell).to_be_hidden()
    naive.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(cell).to_be_visible()
    naive.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(cell).to_be_hidden()


def test_folds_work_without_scripts(visit, address):
    page = visit(f"{address}/book/sgemm_naive.html", java_script_enabled=False).page
    page.locator(f"{FOLD} summary").first.click()
    expect(page.locator(f"{FOLD} .cell").first).to_be_visible()


def test_a_long_listing_and_a_long_table_show_their_beginning(visit, address, naive):
    rest = naive.locator(".gl-code + details.gl-rest, .gl-code > details.gl-rest").first
    expect(rest.locator("pre")).to_be_hidden()
    rest.locator("summary").click()
    expect(rest.locator("pre")).to_be_visible()
    page = visit(f"{address}/book/hgemm_mma.html", width=1440).page
    table = page.locator("table:has(+ details.gl-rest)").first
    rows, more = table.locator("tbody tr"), table.locator("+ details summary")
    expect(rows.nth(7)).to_be_visible()
    expect(rows.nth(8)).to_be_hidden()
    expect(more).to_have_text(f"All {rows.count()} rows")
    more.click()
    expect(rows.last).to_be_visible()
