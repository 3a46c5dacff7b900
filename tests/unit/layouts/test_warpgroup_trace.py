"""Recorded events as lanes: what is known of products, stores and waits, and what is not."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from gemmlab.core.errors import MeasurementError
from gemmlab.layouts.warpgroups import events
from gemmlab.layouts.warpgroups.events import KINDS, Event, numbered, of_words, read, written
from gemmlab.layouts.warpgroups.model import Bar
from gemmlab.layouts.warpgroups.trace import WarpgroupTrace
from gemmlab.steps import traced

GROUP = 500


def line(text: str):
    """Events "full 0 at 100, ..."."""
    found = re.findall(r"(\w+) (\d+) at (\d+)", text)
    return tuple(Event(kind, int(number), int(cycle)) for kind, number, cycle in found)


def trace(first: str, second: str = "", producer: str = "", schedule="persistent", depth=2):
    lines = numbered([line(first), line(second), line(producer)], schedule, depth)
    return WarpgroupTrace(schedule, depth, GROUP, lines)


def words_of(*lines) -> np.ndarray:
    words = np.zeros((len(lines), 8, 2), np.uint32)
    for i, events_ in enumerate(lines):
        for j, (kind, number, clock) in enumerate(events_):
            words[i, j] = [*KINDS].index(kind) + 1 + 256 * number, clock % 2**32
    return words


def test_the_kinds_are_those_of_the_header_in_its_order():
    body = re.search(r"enum EventKind[^{]*\{(.*?)\};", traced.header().read_text(), re.DOTALL)
    names = re.findall(r"EVENT_(\w+)", re.sub(r"//.*", "", body[1]))
    assert [name.lower() for name in names] == [*KINDS] and "EVENT_EMPTY = 1" in body[1]


def test_a_clock_that_passes_2_to_the_32_goes_on():
    near = 2**32 - 100
    found = of_words(
        words_of(
            [("full", 0, near + 50), ("started", 0, near + 250)],
            [("full", 0, near + 150)],
            [("empty", 0, near), ("asked", 0, near + 120)],
        )
    )
    assert [[event.cycle for event in one] for one in found] == [[50, 250], [150], [0, 120]]
    assert found[0][1] == Event("started", 0, 250) and all(map(events.in_order, found))


def test_a_warpgroup_that_has_filled_its_places_is_refused():
    with pytest.raises(MeasurementError, match="warpgroup 1"):
        of_words(words_of([], [("full", 0, 1)] * 8))


def test_a_line_is_read_as_it_was_written():
    one = line("full 128 at 5, started 128 at 66, done 127 at 900, store 1 at 900")
    assert written(one) == "f128+5 s128+61 d127+834 w1+0" and read(written(one)) == one
    with pytest.raises(MeasurementError, match="z1"):
        read("f0+5 z1+2")


def test_tiles_are_counted_and_a_piece_beside_products_is_of_the_tile_before():
    run = (
        "full 0 at 0, started 0 at 1, store 0 at 2, stored 0 at 3, "
        "full 1 at 4, started 1 at 5, done 0 at 6, done 1 at 7, pack 0 at 8, packed 0 at 9, "
    )
    (found, _, _) = numbered([line(run + run), (), ()], "deferred", 2)
    numbers = {kind: [e.number for e in found if e.kind == kind] for kind in KINDS}
    assert numbers["full"] == numbers["done"] == [0, 1, 2, 3]
    assert numbers["store"] == [0] and numbers["pack"] == [0, 1]  # of the first tile, in the second


def test_consumers_that_take_turns_have_every_second_tile():
    run = "awaits 0 at 0, turn 0 at 1, full 0 at 2, passed 0 at 3, done 0 at 4, store 0 at 5, "
    first, second, asked = numbered(
        [line(run * 2), line(run * 2), line("empty 0 at 0")], "ping-pong", 3
    )
    assert [e.number for e in first if e.kind in ("turn", "passed", "store")] == [0, 0, 0, 2, 2, 2]
    assert [e.number for e in second if e.kind in ("turn", "passed", "store")] == [1, 1, 1, 3, 3, 3]
    assert [e.number for e in second if e.kind == "full"] == [3, 9] and asked[0].number == 0


def test_products_run_until_a_wait_has_found_them_finished():
    found = trace(
        "full 0 at 100, started 0 at 160, full 1 at 250, started 1 at 300, done 0 at 700, "
        "done 1 at 1200, store 0 at 1200, stored 0 at 1900, "
        "full 0 at 2000, started 0 at 2050, full 1 at 2100, started 1 at 2150, done 0 at 2600, "
        "done 1 at 3100"
    )
    assert found.products[0] == (
        Bar("products", 0, 100, 700),
        Bar("products", 1, 700, 1200),
        Bar("products", 2, 2000, 2600),
        Bar("products", 3, 2600, 3100),
    )
    assert found.own(0)[2:4] == (Bar("store", 0, 1200, 1900), Bar("data", 2, 1900, 2000))
    assert found.cause(found.cores[2]) == (0, Bar("store", 0, 0, 700))
    assert found.cores[2] == Bar("idle", -1, 1200, 2000)
    assert found.stores(0) == (Bar("store", 0, 1200, 1900),)


def test_an_end_that_no_wait_has_seen_is_the_earliest_that_it_can_be():
    # Data of k tile 1 come late: the products of k tile 0 are long over when they are waited for.
    late = trace("full 0 at 0, started 0 at 60, full 1 at 3000, started 1 at 3050, done 0 at 3070, "
                 "done 1 at 3600")  # fmt: skip
    assert late.products[0] == (Bar("products", 0, 0, GROUP), Bar("products", 1, 3000, 3600))
    assert late.own(0)[1] == Bar("data", 1, GROUP, 3000)
    # Data that are there at once are not waited for, whatever else has kept the consumer.
    stored = line(
        "full 0 at 0, started 0 at 60, full 1 at 90, started 1 at 95, store 0 at 96, "
        "stored 0 at 2990, done 0 at 3000, full 2 at 3010, started 2 at 3020, done 1 at 3040, "
        "done 2 at 3600"
    )
    busy = WarpgroupTrace("deferred", 3, GROUP, (stored, (), ()))
    assert busy.own(0)[2:] == (Bar("none", -1, 2 * GROUP, 3010), Bar("products", 2, 3010, 3600))
    assert busy.cause(busy.cores[-2]) == (0, Bar("store", 0, 0, 1990))
    # The other consumer's were started earlier, so these ended behind them.
    both = trace(
        "full 0 at 0, started 0 at 60, full 1 at 3000, started 1 at 3050, done 0 at 3070",
        "full 0 at 0, started 0 at 20, full 1 at 400, started 1 at 450, done 0 at 800",
    )
    assert both.products[0][0].end == 800 + GROUP


def test_an_end_beside_the_start_of_the_next_products_was_seen():
    # The start of k tile 1 takes until those of k tile 0 have ended: the tensor cores were busy.
    slow = trace("full 0 at 0, started 0 at 60, full 1 at 90, started 1 at 680, done 0 at 700, "
                 "done 1 at 1250")  # fmt: skip
    assert slow.products[0] == (Bar("products", 0, 0, 700), Bar("products", 1, 700, 1250))


def test_a_gap_that_is_shorter_than_events_are_apart_is_not_told():
    def with_gap(cycles: int):
        at = 1000 + cycles
        second = f"full 1 at {at}, started 1 at {at + 50}, done 1 at {at + 600}"
        return trace(f"full 0 at 0, started 0 at 60, done 0 at 1000, {second}").cores

    assert with_gap(63) == (Bar("products", 0, 0, 1063), Bar("products", 1, 1063, 1663))
    assert with_gap(64)[1] == Bar("idle", -1, 1000, 1064)


def test_the_tensor_cores_are_busy_while_either_has_products_under_way():
    found = trace(
        "full 0 at 0, started 0 at 50, full 1 at 60, started 1 at 90, done 0 at 600, "
        "done 1 at 1000",
        "full 0 at 400, started 0 at 450, full 1 at 500, started 1 at 550, done 0 at 1300, "
        "done 1 at 1800",
    )
    assert found.cores == (
        Bar("products", 0, 0, 400),
        Bar("both", -1, 400, 1000),
        Bar("second", 0, 1000, 1300),
        Bar("second", 1, 1300, 1800),
    )


def test_the_producer_asks_or_waits():
    found = trace("", "", "empty 0 at 5, asked 0 at 55, empty 1 at 60, asked 1 at 100, "
                  "empty 0 at 400, asked 0 at 450")  # fmt: skip
    assert found.asking == (
        Bar("issue", 0, 5, 55),
        Bar("wait", 1, 55, 60),
        Bar("issue", 1, 60, 100),
        Bar("wait", 2, 100, 400),
        Bar("issue", 2, 400, 450),
    )


def ping_pong(tiles: int = 8):
    """Each tile takes 2,000 cycles of products, a gap of 100 lies between, a store takes 900."""
    lines = ["", ""]
    for t in range(tiles):
        at = 10_000 + 2100 * t
        lines[t % 2] += (
            f"awaits 0 at {at - 1000}, turn 0 at {at - 40}, full 0 at {at}, "
            f"started 0 at {at + 50}, "
            f"full 1 at {at + 60}, started 1 at {at + 110}, done 0 at {at + 1000}, "
            f"passed 0 at {at + 1010}, done 1 at {at + 2000}, store 0 at {at + 2000}, "
            f"stored 0 at {at + 2900}, "
        )
    return trace(*lines, schedule="ping-pong")


def test_the_middle_of_a_blocks_work_is_cut_out_whole():
    part = ping_pong().middle(2)
    assert (part.end - part.begin, part.begin) == (4200, 8 * GROUP)
    assert part.percent == pytest.approx(100 * 4000 / 4200)
    assert [gap.end - gap.begin for gap in part.idle()] == [100, 100]
    assert part.begin_of(4) - part.begin == 2100
    assert part.cause(part.idle()[0]) == (0, Bar("turn", 4, 0, 60))
    begin, end = part.window()
    lanes = dict(part.lanes(begin, end))
    assert begin < part.begin_of(4) < end <= part.end
    assert {bar.state for bar in lanes["tensor"]} == {"products", "second", "idle"}
    for bars in lanes.values():
        assert all(0 <= bar.begin < bar.end <= end - begin for bar in bars)
        assert all(a.end <= b.begin for a, b in itertools.pairwise(bars))


def test_a_block_with_few_tiles_has_no_middle():
    with pytest.raises(MeasurementError, match="3 tiles"):
        ping_pong(3).middle(2)
