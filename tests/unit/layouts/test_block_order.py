"""Orders of tiles and their widget, without a browser."""

import base64
import json
import re

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.exercises.block_order import block_order
from gemmlab.layouts import BlockOrder as Order
from gemmlab.widgets import BlockOrder

GRIDS = [(r, c) for r in (1, 2, 7, 8, 9, 12, 16, 20) for c in (1, 2, 4, 8, 12, 13, 32)]


def places(order):
    return [order.place(t) for t in range(order.tiles)]


@pytest.mark.parametrize("name", ["rows", "strips"])
def test_every_tile_of_every_grid_is_taken_once(name):
    for rows, columns in GRIDS:
        order = Order(rows, columns, name)
        assert sorted(places(order)) == [(r, c) for r in range(rows) for c in range(columns)]
        assert order.never_taken() == []


def test_the_articles_formula_holds_if_8_divides_the_columns():
    for rows, columns in GRIDS:
        order = Order(rows, columns, "articles")
        outside = sum(order.wave(w).outside for w in range(order.waves))
        assert (order.never_taken() == []) == (columns % 8 == 0 or rows == 1)
        assert len(order.never_taken()) == outside
    assert len(Order(12, 12, "articles").never_taken()) == 24
    assert len(Order(32, 4, "articles").never_taken()) == 64


def test_panels_of_a_wave():
    assert [Order(n, n, "rows").wave(0).panels for n in (32, 64, 128)] == [41, 69, 131]
    assert [Order(n, n, "strips").wave(0).panels for n in (32, 64, 128)] == [48, 41, 41]
    assert [Order(32, 32, one).panels() for one in ("rows", "strips")] == [163, 181]
    last = Order(24, 24, "strips").wave(2)
    assert (last.first, last.last, last.tiles) == (528, 575, 48)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 4), "rows"), ((4, 129), "columns"), ((4, True), "columns"), ((4, 4, "x"), "order"),
        ((4, 4, "strips", 0), "height"), ((4, 4, "strips", 8, 0), "slots"),
    ],
)  # fmt: skip
def test_impossible_orders_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        Order(*arguments)
    with pytest.raises(ArgumentError, match=r"^wave:"):
        Order(4, 4).wave(1)


def test_the_judge_lets_only_right_orders_pass():
    def strips(t, rows, columns):
        return Order(rows, columns, "strips").place(t)

    assert block_order(strips, 700, (32, 32)).solved
    wrong = {
        "at most 170": strips,  # right, but 181 panels
        "outside C": lambda t, r, c: (t // 8 % r, t % 8 + t // (8 * r) * 8),
        "never taken": lambda t, r, c: (0, 0),
        "a pair": lambda t, r, c: (t / c, t % c),
        "1 x 2 tiles: block 1 goes to (1, 0)": lambda t, r, c: (t % c, t // c),
    }
    for said, order in wrong.items():
        verdict = block_order(order, 170, (32, 32))
        assert not verdict.solved
        assert said in str(verdict)


def test_a_bundle_has_four_faces_and_little_weight():
    widget = BlockOrder([(32, 32), (12, 12), (128, 128)], "articles", caption="Which panels?")
    bundle = widget._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"
    }  # fmt: skip
    html = bundle["text/html"]
    assert len(html) < 60_000
    data = json.loads(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1]))
    assert data == [widget.key(), widget.config, widget.state]
    module = base64.b64decode(re.search(r"text/javascript;base64,([^\"]+)", html)[1]).decode()
    assert not re.findall(r"https?://|^import |fetch\(", module, re.MULTILINE)


@pytest.mark.slow  # a picture of 16,384 tiles
def test_the_largest_grid_has_little_weight():
    assert len(BlockOrder([(128, 128)]).to_html()) < 60_000


def test_the_page_without_scripts_says_what_is_missing():
    html = BlockOrder([(12, 12)], "articles").fallback()
    assert "24 tiles of 144 never taken, 24 blocks outside C." in html
    assert "Every tile is taken once." in BlockOrder([(12, 12)], "strips").fallback()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"grids": []}, "grids"), ({"grids": "8x8"}, "grids"), ({"grids": [(0, 3)]}, "rows"),
        ({"order": "columns"}, "order"), ({"orders": ["rows"], "order": "strips"}, "order"),
        ({"orders": []}, "orders"), ({"slots": []}, "slots"), ({"slots": [264, 0]}, "slots"),
        ({"height": 0}, "height"), ({"wave": 4}, "wave"), ({"caption": 3}, "caption"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        BlockOrder(**arguments)
