"""Programmatic dependent launch: what the grid before writes may be used after a wait only."""

from __future__ import annotations

import numpy as np
import pytest
from step_cases import StepCase, begun_behind

from gemmlab.core.precision import PRECISIONS
from gemmlab.steps import registry


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
    assert [f.kind for f in findings] == ["read-before-wait"] * bool(threads)
    if threads:
        assert (findings[0].line, findings[0].count) == (fixture.lines["here"], threads)
        assert "reads global memory that an earlier grid writes" in findings[0].message
    np.testing.assert_array_equal(C, 2 * A + 1)


@pytest.mark.parametrize("name", ["tma_08_any_shape", "hgemm_20_any_shape"])
def test_a_step_that_does_not_wait_for_its_copies(name):
    case, sizes = StepCase(registry.program(name), PRECISIONS["bf16"]), (64, 72, 72)
    for without, kinds in ((False, set()), (True, {"read-before-wait"})):
        changes = {"grid_dependency_wait();": "(void)0;"} if without else None
        A, B, C = map(begun_behind, case.matrices(*sizes), (1, 1, 0))
        findings = case.compiled(changes=changes).trace(A, B, C, *sizes).findings
        assert {finding.kind for finding in findings} == kinds
