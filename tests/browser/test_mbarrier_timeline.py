"""MbarrierTimeline in a browser: events, mistakes and barriers, by mouse, touch and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gemmlab.widgets import MbarrierTimeline


@pytest.fixture
def show(visit, rendered, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page that holds the static HTML of one widget and nothing else."""

    def open_(width: int = 1280, **arguments) -> Page:
        path = tmp_path / "page.html"
        path.write_text(
            '<!doctype html><html data-theme="light"><meta charset="utf-8"><title>Widget</title>'
            '<meta name="viewport" content="width=device-width">'
            f"{rendered(MbarrierTimeline, **arguments)}</html>"
        )
        opened = visit(path.as_uri(), width=width, reduced_motion="reduce")
        assert opened.problems() == []
        return opened.page

    return open_


def words(page: Page) -> Locator:
    return page.locator(".gl-mb-event p")


def row(page: Page, barrier: str) -> Locator:
    return page.locator(".gl-mb-table tbody tr", has=page.get_by_text(barrier, exact=True))


def verdict(page: Page) -> Locator:
    return page.locator(".gl-mb-verdict")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def pick(page: Page, mistake: str) -> None:
    page.get_by_label("Mistake").select_option(mistake)


def test_it_opens_at_its_first_event(show):
    page = show()
    expect(page.locator(".gl-mb-event b")).to_have_text("Event 1 of 67, at 0")
    expect(page.locator(".gl-tl-key")).not_to_contain_text("goes wrong")
    pick(page, "bytes_few")
    expect(page.locator(".gl-tl-key")).to_contain_text("goes wrong")


def test_the_end_of_the_first_phase(show):
    page = show(event=14)
    expect(words(page)).to_contain_text("complete_tx of 4,096 bytes at full[0]: box B of tile 0")
    expect(page.locator(".gl-mb-event b")).to_have_text("Event 15 of 67, at 1,040")
    cells = row(page, "full[0]").locator("td")
    expect(cells.nth(0)).to_have_text("0 → 1 (1)")
    expect(cells.nth(1)).to_have_text("0 → 1 of 1")
    expect(cells.nth(2)).to_have_text("4,096 → 0")
    expect(row(page, "full[0]").locator(".gl-mb-new")).to_have_count(3)
    expect(page.locator(".gl-mb-new")).to_have_count(3)
    expect(row(page, "empty[0]").locator("td").last).to_have_text("producer (0)")
    expect(verdict(page)).to_contain_text("✓ Every read finds its tile: 12 reads")
    expect(page.get_by_text("The simulator, running this")).to_have_count(0)


def test_one_event_forward_and_back(show):
    page = show(event=14)
    button(page, "one event back").click()
    expect(words(page)).to_contain_text("box A of tile 0 has landed")
    expect(row(page, "full[0]").locator("td").last).to_have_text("warps 1, 2 (0)")
    button(page, "one event forward").click()
    button(page, "one event forward").click()
    expect(words(page)).to_have_text("Warp 1 reads stage 0: tile 0, both boxes have landed.")
    expect(page.locator(".gl-mb-acts .gl-tl-name")).to_have_text("warp 1")


def test_an_arrival_that_ends_a_phase_goes_through_0(show):
    page = show(event=14)
    expect(words(page)).not_to_be_empty()
    for _ in range(10):
        button(page, "one event forward").click()
    expect(words(page)).to_contain_text("Warp 2 arrives at empty[0]")
    expect(row(page, "empty[0]").locator("td").nth(1)).to_have_text("1 → 0 → 2 of 2")


def test_the_arrow_keys_and_the_slider(show):
    page = show()
    slider = page.get_by_role("slider", name="event")
    slider.focus()
    page.keyboard.press("Home")
    expect(words(page)).to_contain_text("Thread 0 has initialized the barriers")
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_contain_text("The hardware treats the phase before as complete")
    assert "phase before as complete" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    expect(page.locator(".gl-mb-event b")).to_contain_text("Event 67 of 67")
    button(page, "▶ Play").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".gl-mb-event b")).to_contain_text("Event 66 of 67")


def test_play_goes_on_by_itself_and_pauses(show):
    page = show(event=14)
    button(page, "▶ Play").click()
    # Without motion the run goes on in twelve steps.
    expect(page.locator(".gl-mb-event b")).not_to_contain_text("Event 15 of 67")
    button(page, "❚❚ Pause").click()
    expect(button(page, "▶ Play")).to_be_visible()


def test_each_barrier_has_a_lane_with_its_parity_dots_and_bytes(show):
    page = show()
    lane = page.locator("[data-barrier='full[0]']")
    expect(lane.locator(".gl-mb-parity0").first).to_contain_text("phase 0")
    expect(lane.locator(".gl-mb-parity1")).to_have_count(1)
    page.get_by_role("slider", name="event").focus()
    page.keyboard.press("Home")
    expect(lane.locator(".gl-mb-dots")).to_have_text("○")
    expect(lane.locator(".gl-mb-tx-now")).to_have_text("0")
    expect(page.locator("[data-barrier='empty[0]'] .gl-mb-dots")).to_have_text("○○")


def test_a_click_into_the_lanes_goes_to_that_time(show):
    page = show()
    page.locator(".gl-tl-lane", has_text="warp 2").locator(".gl-tl-read").nth(3).click()
    expect(page.locator(".gl-mb-event b")).to_contain_text("at 2,")


# What is chosen: the verdict, and the simulator's words.
MISTAKES = {
    "bytes_many": ("Deadlock at", "its tx-count is 4096 bytes short: expected 12288, 8192 arrived"),
    "bytes_few": ("Stale read at 1,020", "reads shared memory that tma_load_2d at line"),
    "full_count": ("Deadlock at", "which lacks 1 arrival; let every wait have its arrival."),
    "no_empty_wait": ("Overrun at 60", "whose phase already has its 1 arrival"),
    "early_release": ("Overwritten at 1,060", "let the users of a buffer release it"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_shows_where_it_goes_wrong_and_what_the_simulator_says(show, mistake):
    page = show()
    pick(page, mistake)
    ends, said = MISTAKES[mistake]
    expect(verdict(page)).to_contain_text(f"✕ {ends}")
    expect(words(page)).to_contain_text("✕ ")
    expect(page.locator(".gl-mb-said")).to_contain_text(said)
    expect(page.locator(".gl-mb-said")).to_contain_text("running this with 6 tiles, 3 stages")
    where = button(page, "Show where")
    expect(where).to_be_hidden()
    button(page, "one event back").click()
    where.click()
    expect(words(page)).to_contain_text("✕ ")


def test_a_changed_line_is_shown_as_it_was_and_as_it_is(show):
    page = show(mistake="bytes_few")
    expect(page.locator(".gl-mb-old")).to_contain_text("expect_tx(full_addr, sizeof(Stage));")
    expect(page.locator(".gl-mb-now")).to_contain_text("expect_tx(full_addr, sizeof(Stage::A));")
    pick(page, "no_full_wait")
    expect(page.locator(".gl-mb-now")).to_contain_text("(left out)")


def test_what_waits_for_ever_is_marked_without_colour(show):
    page = show(mistake="full_count")
    expect(page.locator(".gl-mb-stuck")).to_have_text(["✕", "✕", "✕"])
    pick(page, "bytes_few")
    expect(page.locator(".gl-tl-track .gl-tl-bad").first).to_have_text("0!")


def test_fast_copies_turn_a_parity_that_never_flips_into_a_deadlock(show):
    page = show(mistake="consumer_no_flip")
    expect(verdict(page)).to_contain_text("Stale read")
    latency = page.get_by_role("slider", name="latency of a copy")
    latency.focus()
    page.keyboard.press("Home")
    expect(latency).to_have_attribute("aria-valuetext", "20")
    expect(verdict(page)).to_contain_text("✕ Deadlock")


def test_stages_are_stepped(show):
    page = show()
    page.get_by_role("group", name="stages").get_by_role("button").last.click()
    expect(page.locator(".gl-tl-name", has_text="stage")).to_have_count(4)
    expect(row(page, "empty[3]")).to_have_count(1)
    expect(verdict(page)).to_contain_text("done at 2,800")


def test_without_a_producer_there_are_no_empty_barriers(show):
    page = show(mode="syncthreads")
    expect(page.locator(".gl-mb-table")).to_have_count(1)
    expect(page.get_by_text("producer", exact=True)).to_have_count(0)
    pick(page, "no_empty_wait")
    expect(page.locator(".gl-mb-old")).to_contain_text("__syncthreads();")
    expect(verdict(page)).to_contain_text("Overwritten")


def test_the_model_is_stated(show):
    page = show()
    page.get_by_text("The model", exact=True).click()
    expect(page.get_by_text("Times are those of a model, not cycles of a GPU.")).to_be_visible()


def test_it_can_be_touched(visit, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        + MbarrierTimeline(event=14).to_html()
    )
    page = visit(path.as_uri(), width=390, has_touch=True, is_mobile=True).page
    button(page, "one event forward").tap()
    expect(words(page)).to_contain_text("Warp 1 reads stage 0")
    page.locator(".gl-tl-track").first.tap()
    expect(page.locator(".gl-mb-event b")).not_to_contain_text("Event 16")


@pytest.mark.parametrize("width", [390, 768])
def test_it_fits(show, width):
    page = show(width=width, tiles=12, stages=4, consumers=4, mistake="bytes_many")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
