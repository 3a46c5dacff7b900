"""A kernel of one's own without a GPU: an estimated row among the recorded ones."""

from __future__ import annotations

from dataclasses import replace

import needs
import pytest

from gemmlab import bench, measurements
from gemmlab.bench import estimated
from gemmlab.core.errors import ArgumentError
from gemmlab.run.kernel import kernel
from gemmlab.widgets import Ladder

STEP = "sgemm_06_swizzled_a"


@pytest.fixture(scope="module")
def mine():
    """A step's text as if a reader had written it."""
    own = kernel(STEP)
    return replace(own, source=replace(own.source, label="mine", trusted=False))


@needs.gxx
def test_bench_shows_it_among_the_nearest_steps(mine, monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    found = bench(mine, sizes=[4096])
    (own,) = [row for row in found.rows if row.kernel == "mine"]
    low, high = own.estimated
    assert low < own.tflops < high
    steps = [row for row in found.rows if row.kernel.startswith("sgemm")]
    assert 2 <= len(steps) <= 4
    assert min(s.tflops for s in steps) < own.tflops < max(s.tflops for s in steps)
    assert own.ratio == pytest.approx(found.row("cublas").time_us / own.time_us)
    assert "estimated for an H200" in found.note
    assert f"about {own.tflops:.1f} (" in repr(found)


@needs.gxx
def test_its_bar_is_marked(mine, monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    rows = Ladder(bench(mine, sizes=[4096])).config["rows"]
    assert [row["kernel"] for row in rows if row["estimated"]] == ["mine"]


def test_nearest_are_on_both_sides():
    recorded = measurements.load(family="sgemm").bench().rows
    here = sorted(r.tflops for r in recorded if r.size == "4096" and r.kernel.startswith("sgemm_"))
    row = replace(recorded[0], kernel="x", M=4096, N=4096, K=4096, tflops=here[5] + 1e-6)
    names = estimated.nearest([row], recorded)
    speeds = [r.tflops for n in names for r in recorded if (r.kernel, r.size) == (n, "4096")]
    assert speeds == here[4:8]


def test_a_shape_without_recorded_steps_is_named():
    recorded = measurements.load(family="sgemm").bench().rows
    row = replace(recorded[0], kernel="x", M=100)
    with pytest.raises(ArgumentError, match="no step is recorded"):
        estimated.nearest([row], recorded)
