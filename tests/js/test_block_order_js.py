"""The orders and sentences of BlockOrder's JavaScript are those of the Python; needs node."""

import itertools
import random
import re

import pytest

from gemmlab.layouts import BlockOrder
from gemmlab.layouts.tiling.block_order import ORDERS, tenth


def random_order(rng):
    return BlockOrder(
        rng.randint(1, 40),
        rng.randint(1, 40),
        rng.choice(list(ORDERS)),
        rng.choice([1, 2, 3, 7, 8, 16, 50]),
        rng.choice([1, 4, 63, 264, 2000]),
    )


@pytest.mark.twin("tiling/block_order")
def test_random_orders_agree(ask):
    rng = random.Random(21)
    cases, expected = [], []
    for _ in range(150):
        order = random_order(rng)
        index = rng.randrange(order.waves)
        w = order.wave(index)
        cases.append(("order", {"o": vars(order), "index": index}))
        expected.append({
            "places": [list(order.place(t)) for t in range(order.tiles)],
            "waves": order.waves, "panels": order.panels(),
            "never": [list(at) for at in order.never_taken()],
            "wave": [w.first, w.last, list(w.rows), list(w.columns), w.outside, w.tiles, w.panels],
            "words": order.describe(index),
        })  # fmt: skip
    for (_, case), got, want in zip(cases, ask(cases), expected, strict=True):
        assert got == want, case
    said = " ".join(one["words"] for one in expected)
    for words in ("never taken", "outside C", "Every tile", ", block 0:", "1 tile in 1 row and"):
        assert words in said, words


def test_quotients_are_written_alike(ask):
    rng = random.Random(22)
    pairs = [(rng.randint(0, 5000), rng.randint(1, 300)) for _ in range(300)] + [(1, 20), (3, 20)]
    assert ask([("tenth", {"a": a, "b": b}) for a, b in pairs]) == [tenth(a, b) for a, b in pairs]


def test_a_click_finds_the_block_of_a_tile(ask):
    rng = random.Random(23)
    for _ in range(30):
        order = random_order(rng)
        t = rng.randrange(order.tiles)
        case = {"o": vars(order), "at": list(order.place(t))}
        assert ask([("block_of", case)]) == [t]
    wrong = BlockOrder(12, 12, "articles")
    assert ask([("block_of", {"o": vars(wrong), "at": list(wrong.never_taken()[0])})]) == [-1]


def test_the_picture_shows_each_kind_once(ask):
    """Squares of a path: one M for each tile."""
    order = BlockOrder(12, 12, "articles", 8, 100)
    svg = ask([("order_picture", {"o": vars(order), "index": 1, "width": 400})])[0]
    count = {
        kind: sum(d.count("M") for d in re.findall(rf'class="gl-o-{kind}"[^>]* d="([^"]*)"', svg))
        for kind in ("wave", "now", "never", "out")
    }
    assert count == {"wave": 100, "now": 44, "never": 24, "out": 24}
    w = order.wave(1)
    assert svg.count('class="gl-o-need"') == w.panels


def test_the_path_is_cut_where_it_turns_or_jumps(ask):
    rng = random.Random(24)
    orders = [random_order(rng) for _ in range(40)]
    places = [[list(order.place(t)) for t in range(order.tiles)] for order in orders]
    for at, runs in zip(places, ask([("runs_of", one) for one in places]), strict=True):
        assert [tile for run in runs for tile in run] == at
        for run in runs:
            steps = {(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(run)}
            assert steps <= {(0, 1)} or steps <= {(1, 0)}, run
    rows = next(i for i, order in enumerate(orders) if order.order == "rows" and order.columns > 1)
    runs = ask([("runs_of", places[rows])])[0]
    assert len(runs) == orders[rows].rows
