"""The widgets move by mouse and by keyboard, and what they say in words follows."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab import sim
from gemmlab.core.paths import repository_root
from gemmlab.widgets import BankMap, Ladder, Predict, TraceView
from gemmlab.widgets.shared.base import Widget

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
    expect(page.locator(".gl-stat b")).to_have_text(["32", "1", "31", "1"])
    expect(page.locator(".gl-reading")).to_contain_text("meet in bank 0")
    choice(page, "Layout", "swizzled").click()
    expect(page.locator(".gl-stat b")).to_have_text(["1", "1", "0", "32"])
    expect(page.locator(".gl-reading")).to_have_text("No conflict.")


def test_bank_map_pads_by_keyboard(show):
    page = show(BankMap(**COLUMN))
    page.get_by_role("radio", name="as is").focus()
    press(page, "ArrowRight")
    expect(page.locator(".gl-reading")).to_contain_text("No conflict")
    pad = page.get_by_role("group", name="unused elements after each row")
    pad.get_by_role("button").first.focus()
    press(page, "ArrowUp")
    expect(pad.locator("output")).to_have_text("2")
    expect(page.locator(".gl-stat b").first).to_have_text("2")


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
    expect(page.locator(".gl-reading").first).to_contain_text("No conflict")
    expect(page.locator(".gl-stats").last.locator("b").first).to_have_text("32")


def test_widgets_whose_module_is_loaded_twice_are_independent(show):
    """As in JupyterLab, which loads the module once for each widget."""
    html = BankMap(**COLUMN).to_html()
    module = base64.b64encode(BankMap._esm.encode()).decode()
    copy = base64.b64encode(f"{BankMap._esm}\n// copy".encode()).decode()
    page = show(html, html.replace(module, copy))
    choice(page, "Layout", "swizzled").first.click()
    assert page.locator(".gl-stats").last.locator("b").first.inner_text() == "32"
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
    check = page.get_by_role("button", name="Check my guess")
    expect(check).to_have_attribute("aria-disabled", "true")
    check.click(force=True)
    expect(page.locator(".gl-bad")).to_contain_text("Type a number")
    page.get_by_role("textbox").fill("many")
    expect(check).to_have_attribute("aria-disabled", "false")
    check.click()
    expect(page.locator(".gl-bad")).to_contain_text("Type a number")


@pytest.mark.parametrize(
    ("text", "bold"),
    [
        ("How many?", "How many?"),
        ("A warp stores rows 0 to 7. Banks have 4 bytes: how many?", "how many?"),
        ("Two rows meet. How many `wavefronts. Or so` does 1.5 x take?",
         "How many wavefronts. Or so does 1.5 x take?"),
        ("Is it fast? Guess the rate.", "Is it fast? Guess the rate."),
    ],
)  # fmt: skip
def test_only_the_question_is_bold(show, text, bold):
    page = show(Predict(text, 4))
    expect(page.locator(".gl-p-question > b")).to_have_text(bold)
    expect(page.get_by_role("textbox", name=bold[:8])).to_have_count(1)


def test_predict_takes_a_choice_by_mouse(show):
    page = show(Predict("Which line?", "the store", choices=["the load", "the store"]))
    page.locator("label", has_text="the store").click()
    page.get_by_role("button", name="Check my guess").click()
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


def test_ladder_changes_the_gpu(show):
    others = {"small": ([{**row, "tflops": row["tflops"] / 4} for row in ROWS[1:]], "a small one")}
    page = show(Ladder(ROWS, environment="a test", size=4096, gpu="big", others=others))
    cublas = page.locator(".gl-rung").last
    expect(cublas).to_contain_text("50.0")
    page.get_by_role("radio", name="big").focus()
    press(page, "ArrowRight")
    expect(cublas).to_contain_text("12.5")
    expect(page.locator(".gl-origin")).to_contain_text("a small one")
    choice(page, "GPU", "big").click()
    expect(cublas).to_contain_text("50.0")
    expect(page.locator(".gl-origin")).to_contain_text("a test")


def test_ladder_tells_about_a_bar(show):
    page = show(Ladder(ROWS, environment="a test", size=4096))
    detail = page.locator(".gl-detail")
    page.locator(".gl-rung").last.hover()
    expect(detail).to_contain_text("50.0 TFLOP/s")
    page.locator(".gl-rung").last.focus()
    press(page, "ArrowUp")
    expect(detail).to_contain_text("2.50 TFLOP/s")
    expect(page.locator(".gl-origin")).to_contain_text("a test")


def test_ladder_shows_five_steps_and_all_when_asked(show):
    steps = [{**ROWS[2], "kernel": f"sgemm_{n:02}_step"} for n in range(1, 9)]
    page = show(Ladder([*steps, ROWS[-1]], environment="a test", size=4096))
    rungs = page.locator(".gl-rung")
    expect(rungs).to_have_count(6)
    expect(rungs.first).to_contain_text("04 step")
    more = page.get_by_role("button", name="Show all 8 steps")
    more.focus()
    press(page, "Enter")
    expect(rungs).to_have_count(9)
    page.get_by_role("button", name="Show the last 5 steps").click()
    expect(rungs).to_have_count(6)


@pytest.fixture(scope="module")
def traces() -> dict[str, sim.Trace]:
    """Traces of the naive step and of the transposed one."""
    names = ("sgemm_01_naive", "sgemm_05_transposed_a")
    return {name: sim.trace(name, 128, 128, 16) for name in names}


def test_trace_view_chooses_a_line_by_mouse(show, traces):
    page = show(TraceView(traces["sgemm_05_transposed_a"]))
    reading = page.locator(".gl-reading")
    expect(reading).to_contain_text("4 wavefronts, the minimum is 1")
    line = page.locator(".gl-srcline", has_text="store4(&sB")
    line.locator(".gl-chip", has_text="st.shared").click()
    expect(reading).to_contain_text("4 wavefronts, the minimum is 4")
    line.locator(".gl-chip", has_text="ld.global").click()
    expect(reading).to_contain_text("16 sectors")
    expect(page.locator(".gl-sector")).to_have_count(16)
    expect(page.get_by_role("slider")).to_be_hidden()


def test_trace_view_is_moved_by_keyboard(show, traces):
    page = show(TraceView(traces["sgemm_05_transposed_a"], "store4(&sB", op="ld.global"))
    page.locator(".gl-chip input:checked").focus()
    press(page, "ArrowDown")
    expect(page.locator(".gl-what")).to_contain_text("st.shared, 16 bytes a lane")
    press(page, "ArrowDown")
    expect(page.locator(".gl-what")).to_contain_text("ld.shared, 16 bytes a lane")
    page.get_by_role("slider").focus()
    press(page, "ArrowRight", "ArrowRight")
    expect(page.locator(".gl-walk-text")).to_have_text(
        "phase 2 of 2, wavefront 1 of 1: lanes 16 to 31"
    )
    assert page.locator(".gl-lanes .gl-hot").all_inner_texts() == [str(n) for n in range(16, 32)]
    press(page, "Home")
    expect(page.locator(".gl-walk-text")).to_have_text("all 2 wavefronts")


def test_trace_view_keeps_the_focus_while_a_request_is_chosen(show):
    trace = sim.trace("sgemm_06_swizzled_a", 128, 128, 16)
    page = show(TraceView(trace, "load4(&sA[k][swizzle(k, m)])"))
    page.get_by_role("radio", name="warp 0, 1st").focus()
    press(page, "ArrowRight", "ArrowRight")
    expect(page.get_by_role("radio", name="warp 0, 9th")).to_be_focused()
    expect(page.locator(".gl-what")).to_contain_text("the 9th time")
    page.locator("summary", has_text="Addresses").click()
    expect(page.locator(".gl-lane-table tbody tr").first).to_contain_text("sA[8][16]")


def test_trace_view_tells_about_lanes_words_and_sectors(show, traces):
    page = show(TraceView(traces["sgemm_05_transposed_a"]), TraceView(traces["sgemm_01_naive"]))
    hint = page.locator(".gl-hint")
    page.locator(".gl-traceview").first.locator(".gl-lanes button").nth(9).hover()
    expect(hint.first).to_contain_text("Lane 9 stores 4 bytes at sA[4][2]")
    page.locator(".gl-banks .gl-word").nth(9).focus()
    expect(hint.first).to_contain_text("Lane 5 stores sA[4][1]: word")
    naive = page.locator(".gl-traceview").last
    naive.locator(".gl-sectors [data-row]").first.focus()
    press(page, "ArrowDown")
    expect(hint.last).to_contain_text("Lane 2 asks for 4 of the 32 bytes")
    expect(naive.locator(".gl-sectors .gl-hot")).to_have_text(["2"])
    # Sectors have no banks to lead to, so no strip of lanes stands above them.
    expect(naive.locator(".gl-lanes")).to_have_count(0)


def test_trace_view_says_which_lines_are_out_of_sight(show, traces):
    page = show(TraceView(traces["sgemm_05_transposed_a"]))
    head = page.locator(".gl-list-head")
    lines = page.locator(".gl-srcline").count()
    shown = page.locator(".gl-lines").evaluate(
        """(list) => [...list.children].filter((e) => e.offsetTop + e.offsetHeight / 2
             <= list.clientHeight).length"""
    )
    assert 0 < shown < lines
    expect(head).to_contain_text(f"▼ {lines - shown} more below")
    page.locator(".gl-lines").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
    expect(head).not_to_contain_text("below")
    expect(head).to_contain_text("more above")


def test_trace_view_numbers_a_group_of_words_once(show, traces):
    page = show(TraceView(traces["sgemm_05_transposed_a"], "store4(&sB", op="ld.global"))
    numbers = page.locator(".gl-sector .gl-asked").all_inner_texts()
    assert numbers == [str(lane) for lane in range(32)]


def test_a_trace_links_both_sides_of_a_finding(show):
    path = repository_root() / "tests/sim/fixtures/race_loop_barrier.cu"
    A, C = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    trace = sim.compile_source(path, "launch_broken").trace(A, A, C, 8, 8, 8)
    page = show(trace._repr_html_())
    first, second = (page.locator(".gl-bad").nth(i) for i in (0, 1))
    first.locator("a").click()
    assert second.evaluate("row => row.matches(':target')")
    second.locator("a").click()
    assert first.evaluate("row => row.matches(':target')")


WIDE = {
    "trace of the banks": lambda traces: TraceView(traces["sgemm_05_transposed_a"]),
    "trace of the sectors": lambda traces: TraceView(traces["sgemm_01_naive"]),
    "table of a trace": lambda traces: traces["sgemm_05_transposed_a"]._repr_html_(),
    "bank map": lambda _: BankMap(width=16, row_length=128, pattern="row"),
    "predict": lambda _: Predict("How many wavefronts does a column of 128 floats take?", 32, "x"),
    "ladder": lambda _: Ladder(ROWS, environment="a test"),
}


@pytest.mark.parametrize("width", [390, 768])
@pytest.mark.parametrize("name", WIDE)
def test_widget_fits(show, traces, name, width):
    page = show(WIDE[name](traces), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
