"""The ring of stages in JavaScript is the one in Python, sentences included; needs node."""

import random
from dataclasses import asdict, astuple

import pytest

from gemmlab.layouts.mbarrier.model import MODES, Mbarrier, Ring, mistakes
from gemmlab.layouts.mbarrier.run import run_ring
from gemmlab.layouts.mbarrier.words import outcome, tell
from gemmlab.widgets import MbarrierTimeline


def python_answer(ring):
    found = run_ring(ring)
    each = range(len(found.events))
    return {
        "events": [asdict(event) for event in found.events],
        "states": [{f"{n}[{s}]": asdict(b) for (n, s), b in now.items()} for now in found.states],
        "waiting": [[event.actor for event in found.waiting(i)] for i in each],
        "lanes": [[name, [list(astuple(bar)) for bar in bars]] for name, bars in found.lanes],
        "counts": [found.total, found.lesson, found.problems],
        "said": [tell(found, i) for i in each],
        "outcome": outcome(found),
    }


def plain(value):
    """As JSON has it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def rings():
    """Every mistake of every mode, several times; one run in which warps wait for each other."""
    yield Ring("syncthreads", "consumer_parity", tiles=4, stages=2, latency=200)
    rng = random.Random(7)
    for mode in MODES:
        for mistake in mistakes(mode, 4):
            for _ in range(12):
                few = 3 if mistake == "empty_fewer" else 2
                yield Ring(
                    mode,
                    mistake,
                    tiles=rng.randint(2, 9),
                    stages=rng.randint(2, 4),
                    consumers=rng.randint(few, 4),
                    latency=rng.choice([20, 50, 100, 190, 400, 1000, 1700]),
                )


@pytest.mark.slow
@pytest.mark.twin("mbarrier/run", "mbarrier/words")
def test_random_runs_agree(ask):
    cases = list(rings())
    found = ask([("ring", asdict(ring)) for ring in cases])
    expected = [plain(python_answer(ring)) for ring in cases]
    for ring, got, want in zip(cases, found, expected, strict=True):
        for part in want:
            assert got[part] == want[part], (ring, part)
    # The draw is worth something: every kind of end is there, and every sentence is said.
    ends = " ".join(answer["outcome"] for answer in expected)
    for words in ("Stale", "Overwritten", "Overrun", "Deadlock", "does not show", "Every read",
                  "need not yet have read", "in __syncthreads()", "nothing of B yet"):  # fmt: skip
        assert words in ends, words
    said = " ".join(text for answer in expected for text in answer["said"])
    for words in ("phase before as complete", "of that parity", "someone who expects", "goes on",
                  "go on", "its stage is free", "may get either", "only the times do",
                  "phase cannot take another arrival", "Nobody can go on"):  # fmt: skip
        assert words in said, words


def test_the_quotes_and_the_event_are_those_of_the_widget(ask):
    for mode in MODES:
        shown = [MbarrierTimeline(mistake=m, mode=mode, consumers=3) for m in mistakes(mode, 3)]
        cases = [("ring_widget", {"config": w.config, "state": w.state}) for w in shown]
        for widget, (said, changes, index, lesson) in zip(shown, ask(cases), strict=True):
            assert said == widget.quotes
            assert bool(changes) == bool(widget.quotes)
            assert lesson == widget.run.lesson
            # Nothing is given away: without a mistake it opens at the first event.
            assert index == widget.state["event"] == (lesson if widget.run.problems else 0)


@pytest.mark.twin("mbarrier/model")
def test_random_operations_agree(ask):
    rng, cases, expected = random.Random(11), [], []
    for _ in range(60):
        count = rng.randint(1, 5)
        bar, operations, after = Mbarrier.init(count), [], []
        for _ in range(30):
            name = rng.choice(["arrive", "arrive_expect_tx", "complete_tx"])
            if name != "complete_tx" and bar.pending == 0:
                continue  # refused here; the ring of the widget says so before it comes to that
            given = [] if name == "arrive" else [rng.choice([0, 16, 4096, 8192])]
            bar = getattr(bar, name)(*given)
            operations.append([name, *given])
            after.append([asdict(bar), [bar.try_wait(parity) for parity in (0, 1)]])
        cases.append(("barrier", {"count": count, "operations": operations}))
        expected.append(after)
    assert ask(cases) == expected
    reached = [state for after in expected for state, _ in after]
    assert any(state["tx"] < 0 for state in reached)  # bytes before they are expected
    assert any(state["phase"] > 3 for state in reached)


@pytest.mark.twin("mbarrier/model")
def test_what_is_set_up_agrees(ask):
    cases = list(rings())
    for ring, found in zip(cases, ask([("ring_set_up", asdict(r)) for r in cases]), strict=True):
        barriers = {f"{name}[{s}]": asdict(bar) for (name, s), bar in ring.barriers().items()}
        programs = [[asdict(op) for op in program] for program in ring.programs()]
        assert found == [list(ring.actors), barriers, programs], ring
