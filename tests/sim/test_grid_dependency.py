"""Programmatic dependent launch: what the grid before writes may be used after a wait only."""

from __future__ import annotations

import numpy as np
import pytest
from step_cases import StepCase, begun_behind, one_tile

from gemmlab.core.precision import PRECISIONS
from gemmlab.steps import registry

FOUND = "read-before-wait"


@pytest.mark.parametrize(
    ("launch", "threads"),
    [
        ("nobody", 128),
        ("late", 128),
        ("one_without_barrier", 126),
        ("one", 0),
        ("all", 0),
        ("in_order", 0),
    ],
)
def test_a_use_before_the_wait_is_found(kernel_file, launch, threads):
    fixture = kernel_file("grid_dependency")
    A, C = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    findings = fixture.module(launch).trace(A, np.zeros_like(A), C, 8, 8, 8).findings
    assert [f.kind for f in findings] == [FOUND] * bool(threads)
    if threads:
        assert (findings[0].line, findings[0].count) == (fixture.lines["here"], threads)
        assert "reads global memory that an earlier grid writes" in findings[0].message
    np.testing.assert_array_equal(C, 2 * A + 1)


@pytest.mark.parametrize(("name", "tile"), [("tma_08_any_shape", 4), ("hgemm_20_any_shape", 5)])
def test_a_step_that_does_not_wait_for_its_copies(name, tile):
    case, sizes = StepCase(registry.program(name), PRECISIONS["bf16"]), (64, 72, 72)
    small = one_tile(name, tile)
    for without, kinds in (({}, set()), ({"grid_dependency_wait();": "(void)0;"}, {FOUND})):
        A, B, C = map(begun_behind, case.matrices(*sizes), (1, 1, 0))
        module = case.compiled(changes=small | without)
        findings = module.trace(A, B, C, *sizes, config=tile).findings
        assert {finding.kind for finding in findings} == kinds
