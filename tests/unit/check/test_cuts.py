"""The products that `lab.check` has cut along k: stretches begin anywhere in a tile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gemmlab.layouts.schedules.evenly import Schedule
from gemmlab.layouts.schedules.last_wave import LastWave
from gemmlab.layouts.schedules.owners import Owners
from gemmlab.layouts.schedules.stream_k import StreamK
from gemmlab.sim.module import SMS
from gemmlab.steps import registry

# The twin of each step's schedule, and how many k tiles of a cut tile it shares out.
TWINS: dict[str, tuple[Callable[..., StreamK], Callable]] = {
    "sgemm_19_stream_k": (Schedule, lambda plan: plan.k_tiles),
    "sgemm_20_any_shape": (Schedule, lambda plan: plan.k_tiles),
    "hgemm_19_stream_k": (LastWave, lambda plan: plan.k_tiles),
    "tma_07_stream_k": (Owners, lambda plan: plan.cut),
    # Low tiles on the usual GPU: light ones, of half the price.
    "tma_08_any_shape": (lambda *shape: Owners(*shape, price=3), lambda plan: plan.cut),
}
STEPS = pytest.mark.parametrize("name", TWINS)


def plans(name: str) -> list[StreamK]:
    """What the step makes of each of its cuts."""
    spec = registry.get(name)
    twin, _ = TWINS[name]
    cuts = ((tiles, k_tiles, sms or SMS) for tiles, k_tiles, sms in spec.cuts)
    return [twin(tiles, k_tiles, sms * spec.blocks_per_sm) for tiles, k_tiles, sms in cuts]


@STEPS
def test_tiles_are_cut(name):
    assert all(plan.split for plan in plans(name))


@STEPS
def test_an_owner_that_is_off_by_one_shows(name):
    """Who has the first or the last k tile of a tile is asked: a neighbour has another owner."""
    row = TWINS[name][1]
    shown = {
        (which, step)
        for plan in plans(name)
        for tile in range(plan.split)
        for which, x in (("first", tile * row(plan)), ("last", (tile + 1) * row(plan) - 1))
        for step in (-1, 1)
        if 0 <= x + step < plan.split * row(plan) and plan.owner(x + step) != plan.owner(x)
    }
    every = {(which, step) for which in ("first", "last") for step in (-1, 1)}
    # Of up to 5 blocks with 32 k tiles or more, none begins with the last one of a tile.
    assert every - shown == ({("last", -1)} if name == "hgemm_19_stream_k" else set())


@STEPS
def test_tiles_have_two_pieces_and_more(name):
    row = TWINS[name][1]
    counts = set()
    for plan in plans(name):
        for tile in range(plan.split):
            ends = plan.owner(tile * row(plan)), plan.owner((tile + 1) * row(plan) - 1)
            counts.add(ends[1] - ends[0] + 1 + isinstance(plan, Owners))
    assert 2 in counts
    assert max(counts) > 2 or name == "hgemm_19_stream_k"  # whose stretches are 32 k tiles long


def test_stretches_have_two_lengths():
    lengths = {
        name: {
            len({plan.begin(b + 1) - plan.begin(b) for b in range(plan.blocks)} - {0})
            for plan in plans(name)
        }
        for name in TWINS
    }
    assert all(max(of) == 2 for of in lengths.values()), lengths
