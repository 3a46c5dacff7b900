"""The widgets of Part IV without a browser: what they say, what they show, what they refuse."""

import pytest
from traced_lines import recorded

from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.layouts.warpgroups.model import SCHEDULES
from gemmlab.measurements.staleness import CHANGED, CURRENT
from gemmlab.widgets import (
    MulticastMap,
    WarpgroupSums,
    WarpgroupTimeline,
    WgmmaOperand,
    warpgroup_timeline,
)

ALL = [MulticastMap, WarpgroupSums, WarpgroupTimeline, WgmmaOperand]


@pytest.mark.parametrize("make", ALL)
def test_a_page_without_scripts_has_a_picture_and_its_words(make):
    widget = make(caption="What is it?")
    html = widget.to_html()
    assert widget.summary().split(":")[0] in html and len(widget.png()) < 12_000
    assert len(html) < 90_000


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_timeline_opens_in_a_gap_of_the_tensor_cores_if_there_is_one(name):
    widget = WarpgroupTimeline(name)
    if widget.run.gaps()[1]:
        assert widget.moment["tensor"].startswith("idle from")
    assert f"{widget.run.percent} %" in widget.summary()


@pytest.fixture
def traces(monkeypatch):
    """A function: from now on every traced step has a recorded trace of this state."""

    def there(state: str = CURRENT) -> None:
        monkeypatch.setattr(
            warpgroup_timeline, "recorded_trace", lambda step, gpu: recorded(step, state)
        )

    there()
    return there


@pytest.mark.parametrize(
    ("schedule", "percent", "said"),
    [
        ("persistent", "99.3", "468 cycles: most of it, consumer 0 stores tile 1."),
        ("deferred", "100.0", "without a gap."),
        ("ping-pong", "99.5", "180 cycles: most of it, consumer 0 waits for its turn."),
    ],
)
def test_a_recorded_trace_is_told_and_drawn(traces, schedule, percent, said):
    widget = WarpgroupTimeline(schedule, recorded=True, caption="What is it?")
    words = widget.summary()
    assert "on the H200, recorded on 2026-11-29 at M = N = K = 4096. In " in words
    assert f"2 tiles of 64 k tiles, products are under way for {percent} %" in words
    assert words.endswith(said), words
    lanes = [name for name, _ in widget.config["recorded"]["lanes"]]
    assert lanes == ["tensor", "producer", "consumer 0", "C of 0", "consumer 1", "C of 1"]
    if widget.recording.lanes[0][1][0].state != "both":
        assert widget.moment["tensor"].startswith("idle from")
    assert len(widget.png()) < 14_000 and len(widget.to_html()) < 95_000
    assert "0.4 % longer" in " ".join(widget.config["recorded"]["notes"])


def test_the_model_is_shown_by_the_side_of_a_recording(traces):
    widget = WarpgroupTimeline(recorded="wgmma_05_persistent")
    assert widget.state["view"] == "recorded"
    widget.state = {**widget.state, "view": "model"}
    assert "cycles of the model" in widget.summary() and "83 %" not in widget.moment["tensor"]


def test_a_trace_of_another_machine_code_says_so(traces):
    traces(CHANGED)
    assert "has changed since the recording." in WarpgroupTimeline(recorded=True).summary()


def test_without_a_recording_there_is_the_model_and_a_sentence(monkeypatch):
    def none(step, gpu):
        raise MeasurementError("traces: not recorded")

    monkeypatch.setattr(warpgroup_timeline, "recorded_trace", none)
    widget = WarpgroupTimeline("deferred", recorded=True)
    assert (widget.state["view"], widget.recording) == ("model", None)
    assert "recorded" not in widget.config and "`wgmma_08_order`" in widget.config["missing"]
    assert widget.summary().endswith("No trace of `wgmma_08_order` is shown: not recorded.")
    assert "missing" not in WarpgroupTimeline("deferred").config


def test_a_descriptor_is_the_right_one_unless_it_is_told_otherwise():
    assert "All 128 pieces" in WgmmaOperand(step=3, span=32).summary()
    assert "All 256 pieces" in WgmmaOperand(mn_major=True, rows=128).summary()
    wrong = WgmmaOperand(mn_major=True, rows=128, stride=512)
    assert "second time" in wrong.summary() and not all(piece.right for piece in wrong.pieces)
    assert wrong.descriptor.bits >> 32 & 0x3FFF == 32


def test_the_sums_and_the_cluster_say_what_the_chapters_say():
    assert "thread 74, register d[39]" in WarpgroupSums(row=42, column=77).summary()
    assert "asks for 48 of the 48 KB" in MulticastMap().summary()
    assert "reads 64 KB from L2" in MulticastMap(multicast=True).summary()
    assert "reads 80 KB from L2" in MulticastMap(1, 2, multicast=True).summary()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: MulticastMap(3, 1), "rows, columns"),
        (lambda: MulticastMap(tile=(64, 64)), "tile"),
        (lambda: MulticastMap(block=2), "block"),
        (lambda: WarpgroupSums(96), "columns"),
        (lambda: WarpgroupSums(row=64), "row"),
        (lambda: WarpgroupTimeline("alone"), "schedule"),
        (lambda: WarpgroupTimeline(depth=9), "depth"),
        (lambda: WarpgroupTimeline(caption=3), "caption"),
        (lambda: WarpgroupTimeline(recorded="wgmma_06_cluster"), "recorded"),
        (lambda: WarpgroupTimeline("barrier", recorded=True), "schedule"),
        (lambda: WgmmaOperand(span=8), "span"),
        (lambda: WgmmaOperand(stride=8), "stride"),
        (lambda: WgmmaOperand(piece=128), "piece"),
        (lambda: WgmmaOperand(step=4), "step"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, name):
    with pytest.raises(ArgumentError, match=name):
        make()
