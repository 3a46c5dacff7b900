"""The widgets of Part IV without a browser: what they say, what they show, what they refuse."""

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.warpgroups.model import SCHEDULES
from gemmlab.widgets import MulticastMap, WarpgroupSums, WarpgroupTimeline, WgmmaOperand

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
        (lambda: WgmmaOperand(span=8), "span"),
        (lambda: WgmmaOperand(stride=8), "stride"),
        (lambda: WgmmaOperand(piece=128), "piece"),
        (lambda: WgmmaOperand(step=4), "step"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, name):
    with pytest.raises(ArgumentError, match=name):
        make()
