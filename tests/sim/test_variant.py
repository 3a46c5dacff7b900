"""A changed copy of a kernel file: it finds what it includes, and the original stays as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import ArgumentError

FILE = Path(__file__).parent / "fixtures" / "gemm_cp_async.cu"
LAUNCH = "launch_gemm_cp_async"
SIZE = (64, 64, 64)


def traced(changes):
    A, B, C = sim.integer_matrices(*SIZE)
    trace = sim.compile_source(FILE, LAUNCH, changes=changes).trace(A, B, C, *SIZE)
    return trace, np.array_equal(C, A @ B)


def test_a_change_is_compiled():
    before = FILE.read_text()
    trace, exact = traced({"cp_async_wait<STAGES - 2>": "cp_async_wait<STAGES - 1>"})
    assert not exact
    assert "read-before-wait" in {finding.kind for finding in trace.findings}
    assert FILE.read_text() == before


def test_a_harmless_change_keeps_the_kernel_right():
    trace, exact = traced({"STAGES = 3": "STAGES = 2"})
    assert exact and not trace.findings


def test_a_change_of_a_step_is_compiled():
    step = FILE.parents[3] / "kernels" / "sgemm" / "06_swizzled_a.cuh"
    A, B, C = sim.integer_matrices(128, 128, 16)
    changes = {"&acc[i][4], alpha": "&acc[i][4], 2.0f * alpha"}
    module = sim.compile_source(step, "launch_sgemm_06_swizzled_a", changes=changes)
    module.launch(A, B, C, 128, 128, 16)
    twice = np.arange(128) % 8 >= 4  # the columns that the changed line writes
    np.testing.assert_array_equal(C, A @ B * np.where(twice, 2, 1))


def test_text_that_is_not_there_is_refused():
    with pytest.raises(ArgumentError, match=r"'STAGES = 9' does not stand in gemm_cp_async\.cu"):
        traced({"STAGES = 9": "STAGES = 2"})
