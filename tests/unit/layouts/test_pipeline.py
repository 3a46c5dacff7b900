"""The pipeline model: exact times worked by hand, what can never happen, and what it shows."""

import random
from itertools import pairwise

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.pipeline.model import SCHEMES, simulate
from gemmlab.layouts.pipeline.words import describe, moment
from gemmlab.widgets import PipelineTimeline


def times(run, block=0):
    return [(s.kind, s.tile, s.begin, s.end) for s in run.of(block)]


# --- by hand --------------------------------------------------------------------------------------


def test_a_single_buffer_by_hand():
    run = simulate("single", issue=10, latency=50, products=100, tiles=2)
    assert times(run) == [
        ("issue", 0, 0, 10), ("store", 0, 60, 70), ("products", 0, 70, 170),
        ("issue", 1, 170, 180), ("store", 1, 230, 240), ("products", 1, 240, 340),
    ]  # fmt: skip
    assert (run.total, run.percent, run.per_tile) == (340, 59, 170)
    assert [(bar.begin, bar.end) for bar in run.idle] == [(0, 70), (170, 240)]


def test_a_double_buffer_by_hand():
    run = simulate("double", issue=10, latency=50, products=100, tiles=3)
    assert times(run) == [
        ("issue", 0, 0, 10), ("store", 0, 60, 70),
        ("issue", 1, 70, 80), ("products", 0, 80, 180), ("store", 1, 180, 190),
        ("issue", 2, 190, 200), ("products", 1, 200, 300), ("store", 2, 300, 310),
        ("products", 2, 310, 410),
    ]  # fmt: skip
    late = simulate("double", issue=10, latency=150, products=100, tiles=2)
    assert times(late)[-2:] == [("store", 1, 330, 340), ("products", 1, 340, 440)]


def test_cp_async_by_hand():
    run = simulate("async", stages=3, issue=10, latency=150, products=100, tiles=4)
    assert times(run) == [
        ("issue", 0, 0, 10), ("issue", 1, 10, 20),
        ("issue", 2, 160, 170), ("products", 0, 170, 270),
        ("issue", 3, 270, 280), ("products", 1, 280, 380),
        ("products", 2, 380, 480), ("products", 3, 480, 580),
    ]  # fmt: skip
    two = simulate("async", stages=2, issue=10, latency=150, products=100, tiles=2)
    # The second copy is issued at 160 and arrives at 320, 50 cycles after the first products.
    assert times(two)[-1] == ("products", 1, 320, 420)


def test_two_blocks_take_turns_by_hand():
    run = simulate("single", issue=10, latency=50, products=100, tiles=2, blocks=2)
    assert times(run, 0)[:3] == [
        ("issue", 0, 0, 10),
        ("store", 0, 60, 70),
        ("products", 0, 70, 170),
    ]
    assert times(run, 1)[:3] == [
        ("issue", 0, 10, 20), ("store", 0, 70, 80), ("products", 0, 170, 270)
    ]  # fmt: skip
    assert times(run, 0)[3:] == [
        ("issue", 1, 170, 180), ("store", 1, 230, 240), ("products", 1, 270, 370)
    ]  # fmt: skip
    assert run.total == 470


def test_what_buffers_and_registers_hold_by_hand():
    run = simulate("double", issue=10, latency=50, products=100, tiles=3)
    held = [(b.state, b.tile, b.begin, b.end) for b in run.buffer(0, 0)]
    assert held == [
        ("store", 0, 60, 70), ("full", 0, 70, 80), ("read", 0, 80, 180), ("old", 0, 180, 300),
        ("store", 2, 300, 310), ("read", 2, 310, 410),
    ]  # fmt: skip
    assert [(b.state, b.tile, b.begin, b.end) for b in run.registers(0)][3:6] == [
        ("arrived", 1, 130, 180), ("store", 1, 180, 190), ("flight", 2, 190, 250)
    ]  # fmt: skip
    async_run = simulate("async", stages=2, issue=10, latency=50, products=100, tiles=3)
    assert async_run.registers(0) == ()
    assert [b.state for b in async_run.buffer(0, 1)] == ["flight", "full", "read", "old"]


# --- what can never happen ------------------------------------------------------------------------


def runs(count, seed=1):
    rng = random.Random(seed)
    for _ in range(count):
        yield simulate(
            rng.choice(list(SCHEMES)),
            stages=rng.randint(2, 6),
            issue=rng.choice([0, 1, 13, 200, 900]),
            latency=rng.choice([0, 5, 300, 1000, 4000]),
            products=rng.choice([1, 40, 300, 2000]),
            tiles=rng.randint(2, 10),
            blocks=rng.randint(1, 4),
        )


def overlapping(bars):
    bars = sorted(bars, key=lambda bar: (bar.begin, bar.end))
    return [(a, b) for a, b in pairwise(bars) if b.begin < a.end]


def test_no_lane_does_two_things_at_a_time():
    for run in runs(150):
        for block in range(run.blocks):
            for name, bars in run.lanes(block):
                assert not overlapping(bars), (run, name)


def test_the_pipe_is_busy_or_idle_from_the_first_to_the_last_cycle():
    for run in runs(100, seed=2):
        assert run.pipe[0].begin == 0
        assert run.pipe[-1].end == run.total
        assert all(a.end == b.begin for a, b in pairwise(run.pipe))
        assert sum(bar.end - bar.begin for bar in run.idle) == run.total - run.busy


def test_products_begin_when_their_tile_is_there_and_end_before_it_is_overwritten():
    for run in runs(150, seed=3):
        for block in range(run.blocks):
            for number in range(run.buffers):
                states = [bar for bar in run.buffer(block, number) if bar.state != "old"]
                filled = {b.tile: b.end for b in states if b.state in ("flight", "store")}
                begun = {b.tile: b.begin for b in states if b.state in ("flight", "store")}
                for bar in (b for b in states if b.state == "read"):
                    assert bar.begin >= filled.get(bar.tile, 0)
                    assert bar.end <= begun.get(bar.tile + run.buffers, run.total)


def test_who_asks_first_is_served_first_by_either_unit():
    for run in runs(100, seed=4):
        for unit in (("products",), ("issue", "store")):
            used = [s for s in run.steps if s.kind in unit]
            assert all((a.ready, a.end) <= (b.ready, b.end) for a, b in pairwise(used))
            assert all(b.begin == max(b.ready, a.end) for a, b in pairwise(used))


def test_further_tiles_cost_the_largest_round_each():
    for run in runs(400, seed=5):
        ahead = run.stages - 1  # cp.async: where the copies pace, so many tiles arrive together
        same = {n: getattr(run, n) for n in ("stages", "issue", "latency", "products", "blocks")}
        few, many = 6, 6 + 10 // ahead * ahead
        more = [simulate(run.scheme, tiles=tiles, **same).total for tiles in (few, many)]
        each, least = (more[1] - more[0]) / (many - few), run.rounds()[run.pace]
        # Blocks that meet at the copy path can cost a little more; one block never does.
        assert least <= each <= (1 if run.blocks == 1 else 1.15) * least, run


# --- what it shows --------------------------------------------------------------------------------


def test_each_scheme_and_each_block_helps_in_the_default_case():
    single, double, triple = (simulate(scheme) for scheme in SCHEMES)
    assert (single.percent, double.percent, triple.percent) == (66, 84, 90)
    assert single.total > double.total > triple.total
    # A second resident block hides the copies of a single buffer, too.
    two = simulate("single", blocks=2)
    assert two.percent == 96
    assert two.pace == "pipe"
    assert simulate("double", blocks=2).per_tile >= two.per_tile - 20


def test_enough_stages_hide_any_latency():
    percents = [
        simulate("async", stages=s, latency=6000, products=1500, tiles=16).percent
        for s in range(2, 7)
    ]
    assert percents == sorted(percents)
    assert simulate("async", stages=2, latency=6000, products=1500, tiles=16).pace == "steps"
    assert percents[0] < 30 < 70 < percents[-1]


def test_a_run_in_words():
    assert describe(simulate("single")) == (
        "Single buffer, 1 block on the SM: 6 tiles take 18,624 cycles of the model, 3,104 a tile, "
        "of which the products need 2,048. The FMA pipe is busy 66 % of the time: idle for 1,056 "
        "cycles before the first products and for 5,280 between them. The steps of a block pace, "
        "one after the other: issue 128 + latency 800 + store 128 + products 2,048 = 3,104 cycles "
        "a tile."
    )
    assert "The FMA pipe paces: 2 tiles, one from each block, keep it busy for 4,096" in describe(
        simulate("single", blocks=2)
    )


def test_tensor_cores_are_named_where_they_multiply():
    run = simulate("single", blocks=2)
    assert "The tensor cores pace: 2 tiles, one from each block, keep them busy" in describe(
        run, True
    )
    assert dict(moment(run, 0, tensor=True))["tensor cores"].startswith("idle from 0")
    widget = PipelineTimeline(blocks=2, tensor=True)
    assert "tensor cores" in widget.moment
    assert "its tensor cores for the product time" in " ".join(widget.config["model"])
    assert "FMA" not in widget.summary() + str(widget.config) + str(widget.moment)


def test_a_moment_in_words():
    said = dict(moment(simulate("async", stages=3), 4000))
    assert said["FMA pipe"] == "products of tile 1, until 5,280"
    assert said["buffer 0"] == "tile 3 (3 mod 3 = 0, phase 1), on its way until 4,032"
    assert said["buffer 2"] == "tile 2 (2 mod 3 = 2, phase 0), complete, read from 5,408 on"
    assert "registers" not in said


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"scheme": "triple"}, "scheme"),
        ({"stages": 1}, "stages"),
        ({"stages": 7}, "stages"),
        ({"issue": -1}, "issue"),
        ({"latency": 1.5}, "latency"),
        ({"latency": True}, "latency"),
        ({"products": 0}, "products"),
        ({"tiles": 1}, "tiles"),
        ({"blocks": 5}, "blocks"),
        ({"time": -1}, "time"),
        ({"time": 18_624}, "time"),
        ({"origin": None}, "origin"),
        ({"caption": 3}, "caption"),
        ({"tensor": "yes"}, "tensor"),
    ],
)
def test_bad_arguments_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        PipelineTimeline(**arguments)


# --- the widget -----------------------------------------------------------------------------------


def test_it_opens_where_the_pipe_is_idle():
    widget = PipelineTimeline()
    assert widget.moment["FMA pipe"] == "idle from 3,104 to 4,160"
    assert widget.moment["block 0"] == "waits for the copy of tile 1 until 4,032"
    widget.state = {**widget.state, "scheme": "double"}
    assert widget.moment["FMA pipe"].startswith("products of tile 1")
    assert widget.run.percent == 84


def test_it_says_where_its_times_come_from():
    assert "not measured" in PipelineTimeline().config["origin"]
    widget = PipelineTimeline(issue=96, latency=700, products=1024, origin="Counted there.")
    assert widget.config["origin"] == "Counted there."
    assert widget.config["given"] == {"issue": 96, "latency": 700, "products": 1024}


def test_a_state_that_is_out_of_date_is_shown_all_the_same():
    widget = PipelineTimeline(blocks=2)
    widget.state = {**widget.state, "blocks": 1, "watch": 1, "time": 10**6}
    assert "done" in widget.moment.values() or "FMA pipe" in widget.moment
    assert widget.png()[:4] == b"\x89PNG"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_its_page_is_small(scheme):
    assert len(PipelineTimeline(scheme, blocks=2, stages=4).to_html()) < 60 * 1024
