"""TmaBox and TensorMapFields in a browser: the box is moved, dragged and refused; fields open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.widgets import TensorMapFields, TmaBox


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(make=TmaBox, width: int = 1280, theme: str = "light", **more) -> Page:
        touch = {"has_touch": True} if width < 500 else {}
        path = tmp_path / "page.html"
        path.write_text(
            f'<!doctype html><html data-theme="{theme}"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(make, **more)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce", **touch)
        assert opened.problems() == []
        return opened.page

    return open_


def stats(page: Page) -> list[str]:
    """Bytes expected, zeros, wavefronts, chunks misread."""
    return page.locator(".gl-stat b").all_inner_texts()


def choose(page: Page, group: str, name: str) -> None:
    page.get_by_role("radiogroup", name=group).locator(".gl-seg").get_by_text(
        name, exact=True
    ).click()


def cell(page: Page, row: int, chunk: int) -> Locator:
    return page.locator(f"[data-at='{row},{chunk}']")


def frame(page: Page) -> tuple[float, float]:
    box = page.locator(".gl-t-frame").bounding_box()
    return box["x"], box["y"]


def reading(page: Page) -> Locator:
    return page.locator(".gl-reading")


def test_one_choice_solves_it(show):
    page = show()
    assert stats(page) == ["2,048", "1,472", "8", "0"]
    hint = page.locator(".gl-hint")
    expect(hint).to_contain_text("rows 0, 1, 2, 3, 4, 5, 6, 7 meet in banks 8 to 11: 8 wavefronts")
    choose(page, "Swizzle", "128B")
    assert stats(page) == ["2,048", "1,472", "1", "0"]
    expect(hint).to_contain_text("Row 5, chunk 2 → line 5, slot 7 (2 xor 5), banks 28 to 31.")
    expect(cell(page, 5, 2)).to_have_attribute("data-col", "7")
    expect(page.locator(".gl-t-grid .gl-used")).to_have_count(8)
    columns = page.locator(".gl-t-grid .gl-used").evaluate_all(
        "(all) => all.map((one) => one.dataset.col)"
    )
    assert len(set(columns)) == 8


def test_a_tile_that_begins_elsewhere(show):
    page = show(swizzle="128B")
    expect(page.get_by_label("Tile begins")).to_be_hidden()
    page.get_by_text("Elements, and where the tile begins").click()
    page.get_by_label("Tile begins").select_option("128")
    assert stats(page)[3] == "128"
    expect(page.locator(".gl-t-start")).to_contain_text("reads 128 of 128 chunks wrong")
    expect(page.locator(".gl-t-wanted")).to_have_attribute("data-at", "5,1")
    choose(page, "Swizzle", "64B")
    expect(reading(page)).to_contain_text("refuses it. box_columns: got 64 bf16: 128 bytes a row")
    choose(page, "Box columns (BK)", "32")
    assert stats(page)[3] == "64"
    page.get_by_label("Tile begins").select_option("512")
    assert stats(page)[3] == "0"
    expect(page.locator(".gl-t-wanted")).to_have_count(0)


def test_a_refusal_in_words_and_back(show):
    page = show(swizzle="128B")
    choose(page, "Box columns (BK)", "128")
    expect(reading(page)).to_contain_text("take 64, and load the tile as 2 boxes side by side")
    assert stats(page) == ["–"] * 4
    expect(page.locator(".gl-t-hint")).to_be_hidden()
    expect(page.locator(".gl-t-grid")).to_be_visible()  # the last one, dimmed
    choose(page, "Swizzle", "none")
    assert stats(page)[0] == "4,096"
    expect(page.locator(".gl-t-grid [data-at]")).to_have_count(16 * 16)


def test_it_may_open_refused(show):
    page = show(swizzle="32B")
    expect(reading(page)).to_contain_text("cuTensorMapEncodeTiled refuses it")
    expect(page.get_by_text("The box in shared memory")).to_be_hidden()
    page.get_by_text("Elements, and where the tile begins").click()
    page.get_by_label("Elements").select_option("uint8")
    expect(reading(page)).to_contain_text("got 64 uint8: 64 bytes a row, more than the 32")
    choose(page, "Box columns (BK)", "32")
    expect(page.locator(".gl-t-grid")).to_be_visible()


def test_the_box_by_keyboard(show):
    page = show(swizzle="128B", x=0, y=0)
    assert stats(page)[1] == "0"
    page.locator(".gl-t-area").focus()
    page.keyboard.press("ArrowLeft")
    expect(reading(page)).to_contain_text("begins at column -8 of row 0")
    assert stats(page)[1] == "256"
    expect(cell(page, 3, 0)).to_contain_class("gl-unused gl-t-outside")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    expect(reading(page)).to_contain_text("column -64 of row 0")
    expect(reading(page)).to_contain_text("all of them zeros")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(reading(page)).to_contain_text("begins at column 64 of row 15")
    expect(page.locator(".gl-t-area")).to_be_focused()


def test_the_box_by_single_elements(show):
    page = show(swizzle="128B", x=36, y=0)
    page.get_by_role("button", name="x, column of the matrix: more").click()
    expect(reading(page)).to_contain_text("column 37, byte 74 of a row and no multiple of 16")
    assert stats(page)[1] == "32"  # an element of 16 rows
    page.locator("[data-at='0,7']").click()
    expect(page.locator(".gl-hint")).to_contain_text("of which 93 to 99 exist: the rest is zeros")
    expect(cell(page, 0, 7)).to_contain_class("gl-used gl-t-partly gl-t-chosen")


def test_the_box_is_dragged(show):
    page = show(swizzle="128B", x=0, y=0)
    before = frame(page)
    area = page.locator(".gl-t-frame").bounding_box()
    middle = (area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - area["width"] / 4, middle[1] - area["height"] / 2, steps=5)
    page.mouse.up()
    expect(reading(page)).to_contain_text("begins at column -16 of row -8")
    after = frame(page)
    assert after[0] - before[0] == pytest.approx(-area["width"] / 4, abs=2)
    assert after[1] - before[1] == pytest.approx(-area["height"] / 2, abs=2)
    page.mouse.move(0, 0)
    expect(reading(page)).to_contain_text("begins at column -16 of row -8")


def test_chunks_by_pointer_and_keyboard(show):
    page = show(swizzle="128B", x=0, y=0)
    hint = page.locator(".gl-hint")
    cell(page, 9, 3).hover()
    expect(hint).to_contain_text("Row 9, chunk 3 → line 9, slot 2 (3 xor 1)")
    expect(hint).to_contain_text("ldmatrix, rows 8 to 15 of chunk 3: 8 groups")
    cell(page, 4, 4).click()
    expect(hint).to_contain_text("Row 4, chunk 4 → line 4, slot 0 (4 xor 4)")
    expect(cell(page, 4, 4)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(hint).to_contain_text("Row 4, chunk 5 → line 4, slot 1")
    page.keyboard.press("ArrowDown")
    expect(hint).to_contain_text("line 5, slot 1")
    assert page.locator(".gl-t-grid [tabindex='0']").count() == 1


def test_touch(show):
    page = show(width=390, swizzle="64B", box_columns=32, x=0, y=0)
    cell(page, 5, 2).tap()
    expect(page.locator(".gl-hint")).to_contain_text("line 2, slot 4 (6 xor 2), banks 16 to 19")
    page.get_by_role("button", name="y, row of the matrix: less").tap()
    expect(reading(page)).to_contain_text("column 0 of row -1")


def test_the_box_is_dragged_by_a_finger(show):
    page = show(width=390, swizzle="64B", box_columns=32, x=0, y=0)
    page.locator(".gl-t-area").scroll_into_view_if_needed()
    box = page.locator(".gl-t-frame").bounding_box()
    scrolled = page.evaluate("scrollY")
    finger = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for step in range(6):
        at = {"x": x + step * box["width"] / 10, "y": y + step * box["height"] / 10}
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(reading(page)).to_contain_text("begins at column 16 of row 8")
    assert page.evaluate("scrollY") == scrolled


# --- TensorMapFields ------------------------------------------------------------------------------


def field(page: Page, name: str) -> Locator:
    return page.locator(f".gl-f-field:has([data-field='{name}'])")


def test_fields_follow_what_is_typed(show):
    page = show(TensorMapFields)
    expect(field(page, "globalStrides")).to_contain_text("{8192}")
    page.get_by_label("Columns", exact=True).fill("100")
    expect(field(page, "globalDim")).to_contain_text("{100, 4096}")
    expect(field(page, "globalStrides")).to_contain_text("{208}")
    page.get_by_label("Row stride").fill("100")
    expect(field(page, "globalStrides")).to_contain_text("✗ refused")
    # The banner says which argument; why stands in the argument, once.
    expect(page.locator(".gl-hint")).to_contain_text("refuses it, because of globalStrides.")
    expect(page.get_by_text("copy the matrix into rows of 104 elements")).to_have_count(1)
    expect(page.get_by_label("Row stride")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Row stride").fill("")
    expect(page.locator(".gl-hint")).to_contain_text("Taken.")
    expect(page.get_by_label("Row stride")).to_have_attribute("aria-invalid", "false")
    page.get_by_label("Box rows").fill("x")
    expect(page.locator(".gl-hint")).to_contain_text('box_rows: got "x", expected a number')
    expect(page.get_by_label("Box rows")).to_have_value("x")
    page.get_by_label("Box rows").fill("300")
    expect(field(page, "boxDim")).to_contain_text("✗ refused")
    page.get_by_label("Matrix begins").select_option("2 bytes past it")
    expect(field(page, "globalAddress")).to_contain_text("0x7f0000000002")
    expect(page.locator(".gl-hint")).to_contain_text("because of globalAddress and boxDim")
    expect(field(page, "globalAddress")).to_contain_text("copy the matrix to an aligned address")


def test_what_was_no_number_is_put_back(show):
    page = show(TensorMapFields)
    page.get_by_label("Box rows").fill("x")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Box rows")).to_have_value("128")
    expect(page.locator(".gl-hint")).to_contain_text("Taken.")


def test_what_is_refused_is_not_explained_before_one_asks(show):
    page = show(TensorMapFields, columns=100, row_stride=100)
    expect(page.locator(".gl-f-field[open]")).to_have_count(0)
    why = page.get_by_text("copy the matrix into rows of 104 elements")
    expect(why).to_be_hidden()
    page.locator("[data-field='globalStrides']").click()
    expect(why).to_be_visible()


def test_one_field_is_open(show):
    page = show(TensorMapFields)
    opened = page.locator(".gl-f-field[open]")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("In elements instead of bytes")
    page.locator("[data-field='oobFill']").focus()
    page.keyboard.press("Enter")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("NONE means zeros")
    expect(page.locator("[data-field='oobFill']")).to_be_focused()
    page.locator("[data-field='oobFill']").click()
    expect(opened).to_have_count(0)
    choose(page, "Swizzle", "32B")
    expect(field(page, "boxDim")).to_contain_text("✗ refused")


# --- both -----------------------------------------------------------------------------------------

STATES = [
    (TmaBox, {}),
    (TmaBox, {"swizzle": "128B", "start": 256, "x": -8, "y": -4}),
    (TmaBox, {"dtype": "fp32", "box_columns": 128, "box_rows": 32, "chosen": (31, 31)}),
    (TmaBox, {"swizzle": "128B", "box_columns": 128}),
    (TensorMapFields, {}),
    (TensorMapFields, {"columns": 100, "row_stride": 100, "shown": "globalStrides"}),
]


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("make", "given"), STATES)
def test_it_fits(show, make, given, width, theme):
    page = show(make, width=width, theme=theme, **given)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    clipped = page.locator(".gl-cell, .gl-head, .gl-stat, .gl-f-value, .gl-f-unit").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1)"
        ".map((one) => one.className + one.textContent)"
    )
    assert clipped == []


def test_nothing_moves_by_itself():
    """There is no animation to switch off for those who ask for less motion."""
    for css, first in ((TmaBox._css, ".gl-t-two"), (TensorMapFields._css, ".gl-fields")):
        own = css.split(first, 1)[1]
        assert "transition" not in own
        assert "animation" not in own
