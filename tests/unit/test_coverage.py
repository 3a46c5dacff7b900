"""The coverage table: complete, true to the registry, and current where it is shown."""

from __future__ import annotations

import pytest

from gemmlab.steps.registry import KERNELS
from tools import coverage


def test_no_system_is_listed_twice():
    systems = coverage.systems()
    assert len(systems) == len(set(systems)) == 41


def test_every_seed_of_a_step_is_a_system():
    seeds = {seed for spec in KERNELS for seed in spec.seed}
    assert seeds <= set(coverage.systems())


def test_a_baseline_is_a_system_that_no_step_claims():
    steps = coverage.covered_by()
    assert all(not steps[name] for name in coverage.BASELINES)


def test_table_names_each_step_beside_its_system():
    lines = coverage.table().splitlines()
    row = next(line for line in lines if line.startswith("| `sgemm_at_tiling` |"))
    assert "[`sgemm_05_transposed_a`](kernels/sgemm/05_transposed_a.cuh)" in row


def test_documents_show_the_current_table():
    assert coverage.outdated() == {}, "python -m tools.coverage"


def test_a_lost_marker_is_an_error():
    with pytest.raises(ValueError, match="markers"):
        coverage.updated("no table here")
