"""kernels/probes/ring.cuh: right without a mistake, and with one it ends as the model says."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.paths import repository_root
from gemmlab.experiments import ring
from gemmlab.layouts.mbarrier.model import MODES, Ring, mistakes
from gemmlab.layouts.mbarrier.run import run_ring
from tools import ring_findings

MISTAKES = [(mode, m) for mode in MODES for m in mistakes(mode, 4) if m != "none"]


def probe(mode: str, mistake: str = "none") -> sim.SimModule:
    path = repository_root() / "kernels" / ring.PROBE
    return sim.compile_source(path, ring.LAUNCHERS[mode], changes=ring.RING_MISTAKES.get(mistake))


@pytest.mark.parametrize("mode", MODES)
def test_the_sums_are_right(mode):
    for stages, warps, tiles in product(ring.STAGES, ring.CONSUMERS, (1, 2, 5, 9)):
        A, B, _ = sim.integer_matrices(1, tiles, 1024)
        A = np.ascontiguousarray(np.resize(A, B.size).astype(np.float32))
        sums = np.full(32 * warps, np.nan, np.float32)
        assert probe(mode).trace(A, B, sums, stages, warps, tiles).findings == ()
        products = (A.ravel() * B.ravel()).reshape(tiles, 1024).sum(axis=0)
        expected = [products[i :: 32 * warps].sum() for i in range(32 * warps)]
        np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize(("mode", "mistake"), MISTAKES)
def test_the_simulator_finds_what_the_model_says(mode, mistake):
    for stages, consumers in product(ring.STAGES, ring.CONSUMERS):
        if mistake not in mistakes(mode, consumers):
            continue
        one = Ring(mode, mistake, ring.TILES, stages, consumers)
        kinds = {kind for found in ring.findings(one) for kind in ring.KINDS.get(found.kind, ())}
        assert run_ring(one).outcome in kinds, one


def test_with_two_warps_the_producer_may_miss_the_phase_of_one_arrival():
    """Why the model leaves this case out: here the second arrival comes before it looks."""
    sums = np.zeros(64, np.float32)
    ones = np.ones(1024 * ring.TILES, np.float32)
    found = probe("producer warp", "empty_fewer").trace(ones, ones, sums, 3, 2, ring.TILES).findings
    assert {finding.kind for finding in found} == {"deadlock"}


@pytest.mark.parametrize(("mode", "mistake"), MISTAKES)
def test_a_mistake_is_in_the_lines_that_are_shown(mode, mistake):
    changed = ring_findings.changed_lines(mode, mistake)
    assert changed
    assert all(old != new for _, old, new in changed)


def test_the_stored_sentences_are_the_simulator_s():
    stored = ring_findings.RECORD.read_text(encoding="utf-8")
    assert stored == ring_findings.written(ring_findings.record()), "python -m tools.ring_findings"
    json.loads(stored)
