"""The warpgroups' model in JavaScript is the one in Python, and keeps its own rules; needs node."""

import random
from dataclasses import astuple
from itertools import pairwise

import pytest
from traced_lines import recorded

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.warpgroups.model import SCHEDULES, Bar, share
from gemmlab.layouts.warpgroups.words import describe, moment, moment_of
from gemmlab.steps.traced import SCHEDULES as SCHEDULES_OF


def drawn(rng):
    cycles = [0, 1, 64, 500, 1024, 5000]
    return {
        "schedule": rng.choice(list(SCHEDULES)),
        "tiles": rng.randint(1, 4),
        "depth": rng.randint(1, 8),
        "stages": rng.randint(2, 6),
        "products": rng.choice([2, 64, 513, 1024]),
        "latency": rng.choice(cycles),
        "end": rng.choice(cycles[1:]),
    }


def ran(shape):
    return share(shape["schedule"], **{k: v for k, v in shape.items() if k != "schedule"})


def starts(shape):
    """Times at which something begins."""
    run = ran(shape)
    return sorted({b.begin for _, bars in run.lanes() for b in bars if b.begin < run.total})


def python_answer(shape, time):
    run = ran(shape)
    return {
        "lanes": [[name, [list(astuple(bar)) for bar in bars]] for name, bars in run.lanes()],
        "counts": [run.total, run.busy, run.percent, *run.gaps()],
        "reading": describe(run),
        "moment": [list(said) for said in moment(run, time)],
    }


@pytest.mark.twin("warpgroups/model", "warpgroups/words")
def test_random_runs_agree(ask):
    rng = random.Random(11)
    shapes = [drawn(rng) for _ in range(500)]
    cases = [{"shape": shape, "time": rng.choice(starts(shape))} for shape in shapes]
    expected = [python_answer(**case) for case in cases]
    found = ask([("warpgroups", case) for case in cases])
    for case, got, want in zip(cases, found, expected, strict=True):
        assert got == want, case
    moments = " ".join(text for answer in expected for _, text in answer["moment"])
    for words in ("waits with", "waits until", "packs", "stores tile", "asks for", "leaves", "done",
                  "nothing yet", "idle from", "consumer 1, until", "on its way", "there, read from",
                  "may be overwritten", "waits for its store"):  # fmt: skip
        assert words in moments, words


@pytest.mark.twin("warpgroups/words")
def test_the_words_of_recorded_lanes_agree(ask):
    rng = random.Random(13)
    cases, expected = [], []
    for step in SCHEDULES_OF:
        trace = recorded(step).trace
        begin, end = trace.window()
        lanes = trace.lanes(begin, end)
        shown = [[name, [list(astuple(bar)) for bar in bars]] for name, bars in lanes]
        for _ in range(100):
            time = rng.randrange(end - begin)
            cases.append({"lanes": shown, "time": time, "depth": trace.depth})
            expected.append([list(said) for said in moment_of(lanes, time, trace.depth)])
    assert ask([("recordedMoment", case) for case in cases]) == expected
    texts = " ".join(text for answer in expected for _, text in answer)
    for words in ("products of both consumers, until", "waits for its turn, until", "stores tile",
                  "idle from", "asks for k tile", "leaves, until"):  # fmt: skip
        assert words in texts, words
    data = [["consumer 0", [["data", 65, 0, 9]]]]
    said = moment_of([("consumer 0", (Bar("data", 65, 0, 9),))], 5, 64)
    (answer,) = ask([("recordedMoment", {"lanes": data, "time": 5, "depth": 64})])
    assert answer == [list(said[0])] and "the data of k tile 1 of tile 1" in answer[0][1]


def test_a_run_keeps_the_rules_that_it_states():
    rng = random.Random(12)
    for _ in range(300):
        run = ran(drawn(rng))
        for name, bars in run.lanes():
            for one, next_ in pairwise(bars):
                assert one.end <= next_.begin, (name, run)
        # Every product is done once, and no stage is filled before it has been released.
        assert sum(b.end - b.begin for b in run.cores if b.state != "idle") == run.busy
        for n, use in enumerate(run.uses):
            assert all(begin >= use.full for _, begin, _ in use.groups)
            assert use.released >= max(end for _, _, end in use.groups)
            if n >= run.stages:
                assert use.asked >= run.uses[n - run.stages].released
        stored = sorted(bar.tile for bars in run.stores for bar in bars)
        halves = [t for t in range(run.tiles) for _ in range(2)]
        assert stored == (list(range(2 * run.tiles)) if run.schedule == "ping-pong" else halves)


def test_the_schedules_rank_as_the_kernels_do():
    percent = {name: share(name, tiles=4, depth=8).percent for name in SCHEDULES}
    order = ["barrier", "blocks", "persistent", "deferred"]
    assert sorted(order, key=percent.get) == order
    assert percent["ping-pong"] > percent["persistent"]
    # One tile: nothing is left to hide its end behind.
    alone = [share(name, tiles=1).total for name in ("blocks", "persistent", "deferred")]
    assert len(set(alone)) == 1


def test_what_cannot_be_is_refused():
    for wrong, name in (("x", "schedule"), ("persistent", "stages")):
        with pytest.raises(ArgumentError, match=name):
            share(wrong, stages=1)
