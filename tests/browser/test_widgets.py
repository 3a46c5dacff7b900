"""The widgets move by mouse and by keyboard, and what they say in words follows."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.widgets import BankMap, Ladder, Predict
from gemmlab.widgets._base import Widget

COLUMN = {"width": 4, "row_length": 32, "pattern": "column"}
ROWS = [
    {"kernel": kernel, "M": n, "N": n, "K": n, "tflops": tflops, "ratio": ratio}
    for n, rows in {
        1024: (("sgemm_01_naive", 1.5, 0.1), ("cublas", 15.0, 1.0)),
        4096: (("sgemm_01_naive", 2.5, 0.05), ("cublas", 50.0, 1.0)),
    }.items()
    for kernel, tflops, ratio in rows
]


@pytest.fixture
def show(visit, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of some widgets and nothing else."""

    def open_(*widgets: Widget | str, width: int = 1280) -> Page:
        parts = "\n".join(w if isinstance(w, str) else w.to_html() for w in widgets)
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widgets</title>'
            f'<meta name="viewport" content="width=device-width">{parts}</html>'
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def choice(page: Page, group: str, name: str) -> Locator:
    return page.get_by_role("radiogroup", name=group).locator("label", has_text=name)


def test_bank_map_swizzles_by_mouse(show):
    page = show(BankMap(**COLUMN))
    reading = page.locator(".gl-reading")
    expect(reading).to_contain_text("32 wavefronts")
    choice(page, "Layout", "swizzled").click()
    expect(reading).to_contain_text("1 wavefront")
    expect(reading).to_contain_text("no conflict")


def test_bank_map_pads_by_keyboard(show):
    page = show(BankMap(**COLUMN))
    page.get_by_role("radio", name="as is").focus()
    press(page, "ArrowRight")
    expect(page.locator(".gl-reading")).to_contain_text("no conflict")
    pad = page.get_by_role("group", name="unused elements after each row")
    pad.get_by_role("button").first.focus()
    press(page, "ArrowUp")
    expect(pad.locator("output")).to_have_text("2")
    expect(page.locator(".gl-reading")).to_contain_text("2 wavefronts")


def test_bank_map_steps_through_a_request(show):
    page = show(BankMap(**COLUMN))
    walk = page.locator(".gl-walk").first
    shown = walk.locator(".gl-walk-text")
    before = shown.inner_text()
    walk.get_by_role("button").last.click()
    expect(shown).not_to_have_text(before)
    walk.get_by_role("button").last.focus()
    press(page, "ArrowLeft")
    expect(shown).to_have_text(before)


def test_bank_map_tells_about_a_lane_under_the_pointer(show):
    page = show(BankMap(**COLUMN))
    page.locator(".gl-word").nth(5).hover()
    expect(page.locator(".gl-hint")).to_contain_text("bank 0")


def test_bank_map_tells_about_the_bank_that_has_the_focus(show):
    page = show(BankMap(**COLUMN))
    page.locator('.gl-head[data-bank="3"]').focus()
    expect(page.locator(".gl-hint")).to_contain_text("Bank 3")
    press(page, "ArrowLeft")
    expect(page.locator(".gl-hint")).to_contain_text("Bank 2")


def test_bank_map_says_what_is_wrong_with_a_formula(show):
    page = show(BankMap(**COLUMN))
    choice(page, "Layout", "formula").click()
    page.get_by_role("textbox", name="column =").fill("col ^ (")
    expect(page.locator(".gl-error .gl-reading")).not_to_be_empty()


def test_two_widgets_of_one_kind_are_independent(show):
    page = show(BankMap(**COLUMN), BankMap(**COLUMN))
    choice(page, "Layout", "swizzled").first.click()
    expect(page.locator(".gl-reading").first).to_contain_text("no conflict")
    expect(page.locator(".gl-reading").last).to_contain_text("32 wavefronts")


def test_widgets_whose_module_is_loaded_twice_are_independent(show):
    """As in JupyterLab, which loads the module once for each widget."""
    html = BankMap(**COLUMN).to_html()
    module = base64.b64encode(BankMap._esm.encode()).decode()
    copy = base64.b64encode(f"{BankMap._esm}\n// copy".encode()).decode()
    page = show(html, html.replace(module, copy))
    choice(page, "Layout", "swizzled").first.click()
    assert page.locator(".gl-reading").last.inner_text().startswith("32 wavefronts")
    assert page.get_by_role("radio", name="as is").last.is_checked()


def test_predict_takes_a_number_by_keyboard(show):
    page = show(Predict("How many `wavefronts`?", 4, "wavefronts", explain="One per row."))
    assert "One per row." not in page.locator(".gl").inner_text()
    page.get_by_role("textbox").focus()
    page.keyboard.type("8")
    press(page, "Enter")
    verdict = page.locator(".gl-verdict")
    expect(verdict.locator(".gl-bad")).to_contain_text("4 wavefronts")
    expect(verdict).to_contain_text("You said 8 wavefronts")
    expect(verdict).to_contain_text("One per row.")
    page.get_by_role("button", name="again").click()
    page.keyboard.type("4")
    press(page, "Enter")
    expect(verdict.locator(".gl-good")).to_contain_text("4 wavefronts")
    expect(verdict).to_contain_text("first prediction was 8")


def test_predict_asks_again_for_what_is_no_number(show):
    page = show(Predict("How many?", 4))
    page.get_by_role("textbox").fill("many")
    page.get_by_role("button", name="Commit").click()
    expect(page.locator(".gl-bad")).to_contain_text("Type a number")


def test_predict_takes_a_choice_by_mouse(show):
    page = show(Predict("Which line?", "the store", choices=["the load", "the store"]))
    page.locator("label", has_text="the store").click()
    page.get_by_role("button", name="Commit").click()
    expect(page.locator(".gl-verdict .gl-good")).to_contain_text("the store")


def test_ladder_changes_size_by_mouse_and_metric_by_keyboard(show):
    page = show(Ladder(ROWS, environment="a test", size=4096))
    naive = page.locator(".gl-rung").first
    expect(naive).to_contain_text("2.50")
    choice(page, "M = N = K", "1024").click()
    expect(naive).to_contain_text("1.50")
    page.get_by_role("radio", name="TFLOP/s").focus()
    press(page, "ArrowRight")
    expect(naive).to_contain_text("10 %")


def test_ladder_tells_about_a_bar(show):
    page = show(Ladder(ROWS, environment="a test", size=4096))
    detail = page.locator(".gl-detail")
    page.locator(".gl-rung").last.hover()
    expect(detail).to_contain_text("50.0 TFLOP/s")
    page.locator(".gl-rung").last.focus()
    press(page, "ArrowUp")
    expect(detail).to_contain_text("2.50 TFLOP/s")
    expect(page.locator(".gl-origin")).to_contain_text("a test")


WIDE = {
    "bank map": BankMap(width=16, row_length=128, pattern="row"),
    "predict": Predict("How many wavefronts does a column of a tile of 128 floats take?", 32, "x"),
    "ladder": Ladder(ROWS, environment="a test"),
}


@pytest.mark.parametrize("width", [390, 768])
@pytest.mark.parametrize("name", WIDE)
def test_widget_fits(show, name, width):
    page = show(WIDE[name], width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
