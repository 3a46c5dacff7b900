"""The mbarrier of the PTX ISA, and what becomes of a ring of stages that it guards."""

import json
from itertools import pairwise, product

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.mbarrier.model import BOX, ENGINE, MODES, Mbarrier, Ring, mistakes
from gemmlab.layouts.mbarrier.run import run_ring
from gemmlab.layouts.mbarrier.words import outcome, tell
from gemmlab.widgets import MbarrierTimeline

# --- one barrier, by hand -------------------------------------------------------------------------


def test_a_new_barrier_is_in_phase_0_and_the_parity_before_it_is_over():
    bar = Mbarrier.init(2)
    assert (bar.count, bar.pending, bar.tx, bar.phase, bar.parity) == (2, 2, 0, 0, 0)
    assert bar.try_wait(1)
    assert not bar.try_wait(0)


def test_arrivals_end_a_phase_and_the_next_has_all_of_them_again():
    bar = Mbarrier.init(2).arrive()
    assert (bar.pending, bar.phase) == (1, 0)
    bar = bar.arrive()
    assert (bar.pending, bar.phase, bar.parity) == (2, 1, 1)
    assert bar.try_wait(0)
    assert not bar.try_wait(1)
    # Two phases on, parity 0 is that of the current phase: it is not over.
    assert not bar.arrive().arrive().try_wait(0)


def test_a_phase_needs_its_bytes_too():
    bar = Mbarrier.init(1).arrive_expect_tx(8192)
    assert (bar.pending, bar.tx, bar.phase) == (0, 8192, 0)
    bar = bar.complete_tx(4096)
    assert (bar.tx, bar.phase) == (4096, 0)
    bar = bar.complete_tx(4096)
    assert (bar.pending, bar.tx, bar.phase) == (1, 0, 1)


def test_bytes_may_come_before_they_are_expected():
    bar = Mbarrier.init(1).complete_tx(4096)
    assert (bar.tx, bar.phase) == (-4096, 0)
    assert bar.arrive_expect_tx(4096) == Mbarrier(1, 1, 0, 1)
    # expect_tx alone does not arrive.
    assert bar.expect_tx(4096) == Mbarrier(1, 1, 0, 0)


def test_one_expectation_too_few_ends_the_phase_early_and_leaves_a_debt():
    bar = Mbarrier.init(1).arrive_expect_tx(4096).complete_tx(4096)
    assert bar.phase == 1
    bar = bar.complete_tx(4096)
    assert (bar.tx, bar.phase) == (-4096, 1)
    assert bar.arrive_expect_tx(4096).phase == 2  # before anything of the next tile has come


def test_a_phase_has_no_room_for_one_arrival_more():
    bar = Mbarrier.init(1).arrive_expect_tx(4096)
    with pytest.raises(ArgumentError, match="all its arrivals"):
        bar.arrive()
    with pytest.raises(ArgumentError, match="all its arrivals"):
        bar.arrive_expect_tx(4096)


# --- a ring without a mistake ---------------------------------------------------------------------


def short(found):
    return [(e.time, e.actor, e.kind, e.tile) for e in found.events if e.kind != "init"]


def test_a_short_run_by_hand():
    found = run_ring(Ring(tiles=2, stages=2, consumers=2, latency=100))
    assert short(found) == [
        (0, "producer", "wait", 0), (0, "producer", "expect", 0),
        (0, "warp 1", "wait", 0), (0, "warp 2", "wait", 0),
        (20, "producer", "copy", 0), (20, "producer", "wait", 1), (20, "producer", "expect", 1),
        (40, "producer", "copy", 1),
        (120, ENGINE, "land", 0), (140, ENGINE, "land", 0),
        (140, "warp 1", "read", 0), (140, "warp 2", "read", 0),
        (140, ENGINE, "land", 1), (160, ENGINE, "land", 1),
        (340, "warp 1", "arrive", 0), (340, "warp 1", "wait", 1), (340, "warp 1", "read", 1),
        (380, "warp 2", "arrive", 0), (380, "warp 2", "wait", 1), (380, "warp 2", "read", 1),
        (540, "warp 1", "arrive", 1), (620, "warp 2", "arrive", 1),
    ]  # fmt: skip
    assert found.total == 620
    last = found.states[-1]
    assert all(bar.phase == 1 for bar in last.values())


def test_thread_0_refills_behind_a_barrier_by_hand():
    found = run_ring(Ring("syncthreads", tiles=3, stages=2, consumers=2, latency=100))
    of_0 = [(e.time, e.kind, e.tile) for e in found.events if e.actor == "warp 0"]
    assert of_0 == [
        (0, "expect", 0), (20, "copy", 0),
        (20, "sync", 0), (20, "expect", 1), (40, "copy", 1), (40, "wait", 0), (140, "read", 0),
        (340, "sync", 1), (380, "expect", 2), (400, "copy", 2), (400, "wait", 1), (400, "read", 1),
        (600, "sync", 2), (620, "wait", 2), (620, "read", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_without_a_mistake_every_read_finds_its_tile(mode):
    for tiles, stages, consumers in product((2, 5, 12), (2, 3, 4), (2, 3, 4)):
        for latency in (20, 300, 1000, 2000):
            found = run_ring(Ring(mode, "none", tiles, stages, consumers, latency))
            assert found.outcome == "ok"
            reads = [e for e in found.events if e.kind == "read"]
            assert len(reads) == tiles * consumers
            assert all(e.held == (e.tile, e.tile) and e.tile not in e.flying for e in reads)


def test_a_run_keeps_to_what_barriers_are():
    for mode in MODES:
        for mistake in mistakes(mode, 3):
            found = run_ring(Ring(mode, mistake, consumers=3, latency=400))
            assert [e.time for e in found.events] == sorted(e.time for e in found.events)
            for before, after in pairwise(found.states):
                for key, bar in after.items():
                    assert bar.phase - before[key].phase in (0, 1)
                    assert 0 <= bar.pending <= bar.count
                    assert bar.pending or bar.tx  # else the phase were over
            for _, bars in found.lanes:
                assert all(a.end <= b.begin for a, b in pairwise(bars))
                assert all(bar.begin <= bar.end <= found.total for bar in bars)


# --- mistakes -------------------------------------------------------------------------------------

# With 3 stages, 2 warps, 6 tiles: how it ends, and words of it.
ENDS = {
    "bytes_many": ("deadlock", "warps 1 and 2 wait for parity 0 at full[0], whose phase 0 lacks 4"),
    "bytes_few": ("stale", "warp 1 reads stage 0 for tile 0, and finds A of tile 0 and nothing of"),
    "full_count": ("deadlock", "at full[0], whose phase 0 lacks 1 arrival."),
    "consumer_parity": ("stale", "at 0: warp 1 reads stage 0 for tile 0, and finds nothing yet."),
    "producer_parity": ("deadlock", "at 0: the producer waits for parity 0 at empty[0], whose"),
    "consumer_no_flip": ("stale", "for tile 3, and finds tile 0, with tile 3 on its way."),
    "producer_no_flip": ("overrun", "arrives at full[0] for tile 3, but phase 0 has had its 1 arr"),
    "no_full_wait": ("stale", "at 0: warp 1 reads stage 0 for tile 0, and finds nothing yet."),
    "no_empty_wait": ("overrun", "arrives at full[0] for tile 3, but phase 0 has had its 1 arriva"),
    "early_release": (
        "overwritten",
        "the copy of tile 3 begins, though warp 1 need not yet have r",
    ),
    "empty_more": ("deadlock", "the producer waits for parity 0 at empty[0], whose phase 0 lacks"),
}


def test_every_mistake_is_in_the_table():
    assert {*ENDS, "none"} == set(mistakes("producer warp", 2))
    assert set(mistakes("producer warp", 3)) - set(ENDS) == {"none", "empty_fewer"}
    assert set(mistakes("syncthreads", 3)) < {*ENDS, "none"}


@pytest.mark.parametrize("mistake", ENDS)
def test_how_a_mistake_ends(mistake):
    kind, words = ENDS[mistake]
    found = run_ring(Ring(mistake=mistake))
    assert found.outcome == kind
    assert words in outcome(found)
    assert found.events[found.lesson].problem == kind


def test_a_parity_that_never_flips_passes_at_once_or_hangs_as_the_copies_are_slow_or_fast():
    slow, fast = (run_ring(Ring(mistake="consumer_no_flip", latency=n)) for n in (1000, 100))
    assert slow.outcome == "stale"
    assert fast.outcome == "deadlock"
    # The phase of the second round is over: the one of parity 0 is the third.
    assert "wait for parity 0 at full[0], whose phase 2 lacks 1 arrival" in outcome(fast)


def test_nothing_orders_a_refill_though_the_times_may_be_kind():
    ring = Ring(mistake="early_release", tiles=8, stages=3, consumers=3, latency=20)
    found = run_ring(ring)
    late = [i for i, e in enumerate(found.events) if any(not lasts for *_, lasts in e.victims)]
    assert "Warp 1 has read tile 3 there, but nothing orders that before it" in tell(found, late[0])


def test_one_arrival_too_few_needs_three_warps():
    assert "empty_fewer" not in mistakes("producer warp", 2)
    found = run_ring(Ring(mistake="empty_fewer", consumers=3))
    assert "though warp 3 need not yet have read tile 0" in outcome(found)
    assert "Warp 3 still reads tile 0 there" in tell(found, found.lesson)


def test_a_mistake_that_does_not_show():
    found = run_ring(Ring(mistake="consumer_no_flip", tiles=3, stages=4))
    assert outcome(found) == "The mistake does not show in this run: every read finds its tile."


def test_the_first_wait_of_the_producer_and_the_end_of_a_phase_in_words():
    found = run_ring(Ring())
    assert tell(found, 1) == (
        "The producer waits for parity 1 at empty[0], which is in phase 0, of parity 0. The "
        "hardware treats the phase before as complete, so the wait returns at once."
    )
    assert tell(found, found.lesson) == (
        f"complete_tx of {BOX:,} bytes at full[0]: box B of tile 0 has landed in stage 0, tx 4,096 "
        "→ 0. Pending is 0 and tx is 0: phase 0 is over, and the parity is 1 now; warps 1 and 2, "
        "waiting for parity 0, go on."
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "both"}, "mode: got 'both', allowed are 'producer warp', 'syncthreads'"),
        ({"mistake": "typo"}, "mistake: got 'typo', allowed here are 'none'"),
        ({"mode": "syncthreads", "mistake": "empty_more"}, "mistake: got 'empty_more'"),
        ({"mistake": "empty_fewer"}, "mistake: got 'empty_fewer'"),
        ({"tiles": 1}, "tiles: got 1, allowed is an integer from 2 to 12"),
        ({"stages": 5}, "stages: got 5, allowed is an integer from 2 to 4"),
        ({"consumers": True}, "consumers: got True"),
        ({"latency": 3.5}, "latency: got 3.5"),
        ({"event": 67}, "event: got 67, allowed is an integer from 0 to 66 in this run"),
        ({"caption": 3}, "caption: got int"),
    ],
)
def test_wrong_arguments(given, words):
    with pytest.raises(ArgumentError) as refused:
        MbarrierTimeline(**given)
    assert words in str(refused.value)


# --- the widget -----------------------------------------------------------------------------------


def test_the_widget_opens_at_the_mistake_or_at_the_start():
    shown = MbarrierTimeline()
    assert shown.words.startswith("Thread 0 has initialized the barriers")
    assert shown.quotes == []
    assert MbarrierTimeline(event=14).words.startswith(
        "complete_tx of 4,096 bytes at full[0]: box B of tile 0"
    )
    wrong = MbarrierTimeline(mistake="bytes_few")
    assert wrong.words.startswith("Warp 1 reads stage 0, where tile 0 should be")


def test_the_widget_quotes_the_simulator():
    said = MbarrierTimeline(mistake="full_count").quotes
    assert len(said) == 2
    assert all(text.startswith("Nobody can go on: thread ") for text in said)


def test_the_bundle_has_every_face_and_is_the_same_every_time():
    bundles = [MbarrierTimeline(mistake="early_release")._repr_mimebundle_() for _ in range(2)]
    assert {"text/plain", "text/html", "image/png"} <= set(bundles[0])
    assert bundles[0]["text/html"] == bundles[1]["text/html"]
    assert bundles[0]["image/png"] == bundles[1]["image/png"]
    assert "http://" not in bundles[0]["text/html"]
    assert "https://" not in bundles[0]["text/html"]
    json.dumps(bundles[0]["text/plain"])


@pytest.mark.parametrize("mode", MODES)
def test_every_mistake_has_a_picture_and_a_quote(mode):
    for consumers in (2, 4):
        for mistake in mistakes(mode, consumers):
            widget = MbarrierTimeline(mistake=mistake, mode=mode, consumers=consumers)
            assert bool(widget.quotes) == (mistake != "none")
            assert widget.summary()
    assert widget.png().startswith(b"\x89PNG")
