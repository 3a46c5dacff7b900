"""The products that `lab.check` has cut along k: stretches begin everywhere, by the Python twins."""

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
def test_stretches_begin_with_a_tile_and_inside_of_it(name):
    row = TWINS[name][1]
    begins = {
        plan.begin(block) % row(plan)
        for plan in plans(name)
        for block in range(plan.blocks)
        if 0 < plan.begin(block) < plan.split * row(plan)
    }
    assert 0 in begins and len(begins) > 1


@STEPS
def test_an_owner_that_is_off_by_one_is_asked_for(name):
    """Of the first and the last k tile of some tile, who has the neighbour is somebody else."""
    row = TWINS[name][1]
    before = behind = False
    for plan in plans(name):
        for tile in range(1, plan.split):
            first = tile * row(plan)
            before |= plan.owner(first) != plan.owner(first - 1)
            behind |= plan.owner(first - 1) == plan.owner(first)
    assert before and behind


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
