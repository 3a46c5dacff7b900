"""HeatMap in JavaScript names, colours and compares cells as Python does; needs node."""

import pytest

from gemmlab.experiments.subtiles import Configuration, Row, Subtiles, configurations
from gemmlab.widgets.heat_map import shade

LIGHT = [[0xF1, 0xF6, 0xFA], [0x4F, 0x9F, 0xD0]]


@pytest.fixture(scope="module", params=["article", "every"])
def widget(request):
    ones = [one for one in configurations() if request.param == "every" or one.article]
    rows = tuple(Row(one, 1000 / one.wavefronts, 20 / one.wavefronts) for one in ones)
    environment = {"gpu": "some GPU", "date": "2026"}
    return Subtiles(rows, "recorded", environment).heat_map()


def test_colours_agree(ask):
    parts = [i / 20 for i in range(21)]
    found = ask([("shade", {"part": part, "theme": LIGHT}) for part in parts])
    for part, (css, on) in zip(parts, found, strict=True):
        rgb, text = shade(part)
        drawn = [int(v) for v in css.removeprefix("rgb(").removesuffix(")").split(",")]
        assert drawn == pytest.approx([255 * v for v in rgb], abs=1)  # they round halves apart
        assert on == {"#000000": "#000", "#ffffff": "#fff"}[text]


def test_cells_agree(ask, widget):
    config, at = widget.config, [m["key"] for m in widget.config["metrics"]].index("wavefronts")
    places = [(r, c) for r, row in enumerate(config["cells"]) for c in range(len(row))]
    states = [{"metric": "wavefronts", "row": r, "col": c} for r, c in places]
    found = ask([("cell", {"config": config, "state": state}) for state in states])
    counts = [one.wavefronts for one in (row_of(config, r, c) for r, c in places) if one]
    for state, (name, told, good, same, groups) in zip(states, found, strict=True):
        widget.state = state
        cell = widget.chosen
        assert name == told[0] == cell["name"]
        if "reason" in cell:
            assert (told[1], same, good) == ([["no configuration", cell["reason"]]], [], None)
            continue
        count = cell["values"][at]
        assert len(same) == counts.count(count) - 1
        assert good == pytest.approx(1 - (count - 36) / (max(counts) - 36))
        assert ["wavefronts", f"{count} per k"] in told[1]
        assert sum(many for _, many in groups) == len(counts)
        assert [value for value, _ in groups] == sorted(set(counts))


def row_of(config, r, c):
    """The configuration of a cell, None for a hole."""
    keys = dict(zip(config["axes"][0], map(int, config["labels"][0][r].split(", ")), strict=True))
    keys |= dict(zip(config["axes"][1], map(int, config["labels"][1][c].split(", ")), strict=True))
    cell = config["cells"][r][c]
    if "reason" in cell:
        return None
    keys.setdefault("WNITER", int(cell.get("also", "WNITER 0").removeprefix("WNITER ")))
    return Configuration(**keys)


def test_what_is_said_of_a_cell(ask, widget):
    state = {"metric": "article", "row": 0, "col": 0}
    for row, cells in enumerate(widget.config["cells"]):
        for col, cell in enumerate(cells):
            if cell.get("values", [0])[2:3] == [28.70]:
                state |= {"row": row, "col": col}
    told = ask([("cell", {"config": widget.config, "state": state})])[0][1]
    assert told[0].startswith("TM 8, TN 4, WMITER 2")
    assert told[1][0] == ["measured, some GPU", "25.0 TFLOP/s"]
    assert told[1][2] == ["published, RTX 5070 Ti", "28.70 TFLOP/s"]
    assert "Also 40 wavefronts per k (published, RTX 5070 Ti, TFLOP/s): " in told[2]
    assert "28.73" in told[2]


@pytest.mark.parametrize(
    ("label", "unit", "beside"),
    [
        ("wavefronts", "wavefronts per k", "per k"),
        ("ratio to cuBLAS", "of cuBLAS", ""),
        ("of the fastest plan", "of the fastest plan", ""),
        ("measured, H200", "TFLOP/s", "TFLOP/s"),
        ("power", "W", "W"),
    ],
)
def test_a_unit_does_not_say_its_label_again(ask, label, unit, beside):
    assert ask([("unit_beside", {"label": label, "unit": unit})]) == [beside]


def test_ticks_are_round_and_reach_the_most(ask):
    values = [0.62, 1, 3, 8.1, 28.73, 45, 160, 999, 5585]
    for most, marks in zip(values, ask([("ticks", most) for most in values]), strict=True):
        assert marks[0] == 0
        assert marks[-2] < most <= marks[-1] * (1 + 1e-9)
        assert 3 <= len(marks) <= 5 + 1
        step = marks[1]
        assert f"{step:.1e}"[:3] in ("1.0", "2.0", "2.5", "5.0"), step
        assert marks == pytest.approx([i * step for i in range(len(marks))])
