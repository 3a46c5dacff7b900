"""The layouts and sentences of FragmentMap's JavaScript are those of the Python; needs node."""

import re

import pytest

from gemmlab.layouts import FRAGMENTS
from gemmlab.widgets.fragment_map import COLOURS, plain
from gemmlab.widgets.fragment_map.picture import tint


def white(style):
    """The colour on white of "--c:#rrggbb;--p:20%;--q:10%"; q is for the dark theme."""
    hue, part, dark = re.fullmatch(r"--c:#(\w{6});--p:(\d+)%;--q:(\d+)%", style).groups()
    assert 0 < int(dark) < int(part)
    return [1 + (int(hue[i : i + 2], 16) / 255 - 1) * int(part) / 100 for i in (0, 2, 4)]


@pytest.mark.twin("fragments")
def test_every_layout_agrees(ask):
    every = [(f, colour) for f in FRAGMENTS.values() for colour in COLOURS]
    answers = ask([("fragment", {"f": plain(f), "colour": c}) for f, c in every])
    for (f, colour), got in zip(every, answers, strict=True):
        places = [(row, column) for row in range(f.rows) for column in range(f.columns)]
        held = [f.holder(*at) for at in places]
        assert got["held"] == [[h.lane, h.register, h.half, h.short()] for h in held], f.name
        assert got["back"] == [list(at) for at in places], f.name
        assert got["matrices"] == [f.matrix(*at) for at in places], f.name
        assert got["words"] == [f.describe(*at) for at in places], f.name
        assert got["lanes"] == [f.describe_lane(lane) for lane in range(32)], f.name
        for style, at in zip(got["tints"], places, strict=True):
            assert white(style) == pytest.approx(tint(f, colour, *at))


@pytest.mark.parametrize("narrow", [False, True])
def test_the_picture_has_every_element_once(ask, narrow):
    cases = [("fragment_panels", {"f": plain(f), "narrow": narrow}) for f in FRAGMENTS.values()]
    for f, parts in zip(FRAGMENTS.values(), ask(cases), strict=True):
        found = [
            (row, column)
            for top, left, rows, columns in parts
            for row in range(top, top + rows)
            for column in range(left, left + columns)
        ]
        assert len(found) == len(set(found)) == f.rows * f.columns, f.name
        assert all(columns <= 8 for *_, columns in parts) or not narrow


def test_what_several_names_begin_with(ask):
    cases = {
        ("mma.m16n8k16 A", "mma.m16n8k16 B", "mma.m16n8k16 C/D"): "mma.m16n8k16 ",
        ("ldmatrix.x4", "ldmatrix.x2.trans"): "",
        ("mma.m16n8k16 A", "ldmatrix.x4"): "",
        ("a b", "a b c"): "",
        ("a b", "a c d"): "a ",
        ("ldmatrix.x4",): "",
    }
    assert ask([("shared_start", list(names)) for names in cases]) == list(cases.values())
