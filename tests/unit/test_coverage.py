"""The coverage table: complete, true to the registry, and current where it is shown."""

from __future__ import annotations

import pytest

from gemmlab.steps import articles
from gemmlab.steps.registry import KERNELS
from tools import coverage


def test_no_system_is_listed_twice():
    systems = articles.systems()
    assert len(systems) == len(set(systems)) == 41


def test_every_seed_of_a_step_is_a_system():
    seeds = {seed for spec in KERNELS for seed in spec.seed}
    assert seeds <= set(articles.systems())


def test_a_baseline_is_a_system_that_no_step_claims():
    steps = articles.covered_by()
    assert all(not steps[name] for name in coverage.BASELINES)


def test_table_names_each_step_beside_its_system():
    lines = coverage.table().splitlines()
    row = next(line for line in lines if line.startswith("| `sgemm_at_tiling` |"))
    assert "[`sgemm_05_transposed_a`](kernels/sgemm/05_transposed_a.cuh)" in row


def test_a_step_that_reproduces_a_system_says_in_what_it_departs():
    silent = [spec.name for spec in KERNELS if bool(spec.seed) != bool(spec.departs)]
    assert silent == []
    ends = [spec.name for spec in KERNELS if spec.departs != spec.departs.strip(" .;|\n")]
    assert ends == [], "fragments, without a full stop behind the last one"


def test_table_has_the_departures_of_each_system():
    rows = [line for line in coverage.table().splitlines() if line.startswith("| `")]
    assert len(rows) == 41
    said = dict(zip(articles.systems(), (row.split(" | ")[2] for row in rows), strict=True))
    assert all(cell.removesuffix(" |") for cell in said.values())
    steps = articles.covered_by()
    assert all(steps[name][0].departs in said[name] for name in said if steps[name])


def test_documents_show_the_current_table():
    assert coverage.outdated() == {}, "python -m tools.coverage"


def test_a_lost_marker_is_an_error():
    with pytest.raises(ValueError, match="markers"):
        coverage.updated("no table here")
