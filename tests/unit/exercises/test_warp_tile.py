"""The judge of warp tiles: counts as the probes' roofs do, and says what is missing."""

from __future__ import annotations

import pytest

from gemmlab import exercises
from gemmlab.core.errors import ArgumentError
from gemmlab.experiments.tensor_cores.probes import PROBES


@pytest.mark.parametrize("tile", [(80, 80), (64, 128), (128, 64)])
def test_tiles_that_solve(tile):
    verdict = exercises.warp_tile(*tile, allows=5000, accumulators=256)
    assert verdict.solved, verdict


@pytest.mark.parametrize(
    ("tile", "hint"),
    [
        ((64, 64), "4,096 FLOP per clock; 128 accumulators a lane. At least 5,000"),
        ((96, 64), "4,915 FLOP per clock"),
        ((128, 64), "256 accumulators a lane. At most 200"),
    ],
)
def test_tiles_that_fail(tile, hint):
    verdict = exercises.warp_tile(*tile, allows=5000, accumulators=200)
    assert not verdict.solved
    assert hint in verdict.message


def test_it_agrees_with_the_probes():
    for probe in (probe for probe in PROBES if probe.launcher == "ldmatrix"):
        limit = probe.allowed - 0.001  # 8192 / 3 is no float
        assert exercises.warp_tile(*probe.tile, allows=limit, accumulators=256).solved
        assert not exercises.warp_tile(*probe.tile, allows=limit + 1, accumulators=256).solved


@pytest.mark.parametrize("side", [8, 40, 0, -16, 64.0, True])
def test_sides_that_ldmatrix_cannot_load(side):
    with pytest.raises(ArgumentError, match="WN"):
        exercises.warp_tile(64, side, allows=1, accumulators=256)
