"""The mistakes that are tried on a GPU, on the simulator: those that leave no finding."""

from __future__ import annotations

import pytest
from step_cases import StepCase

from gemmlab.core.errors import LaunchError
from gemmlab.core.precision import PRECISIONS
from gemmlab.experiments.faults.kernels import FAULTS, fault

SIZES = (256, 128, 456)  # more tiles than stages, the last one ragged


def runs(name: str):
    """The trace of a launch, and whether C is right."""
    return StepCase(fault(name), PRECISIONS["bf16"]).traced(SIZES)


@pytest.mark.parametrize(
    "name",
    ["01, array aligned to 1024, 128 bytes in front", "01, rows of a box 64 bytes"],
)
def test_what_is_no_mistake_is_right(name):
    trace, right = runs(name)
    assert right and trace.findings == ()


@pytest.mark.parametrize("name", [name for name in FAULTS if name.startswith(("04", "05", "08"))])
def test_what_only_a_gpu_shows_leaves_no_finding(name):
    """The simulator's ldmatrix has read when it returns, and its registers are no pool."""
    trace, right = runs(name)
    assert right and trace.findings == ()


def test_tiles_between_multiples_of_1024_give_wrong_values():
    trace, right = runs("01, tiles 128 bytes further")
    assert not right and trace.findings == ()


def test_a_box_that_is_too_wide_is_refused():
    with pytest.raises(LaunchError, match=r"boxDim\[0\] is 256 bytes, more than the swizzle's 128"):
        runs("01, rows of a box 256 bytes")


@pytest.mark.parametrize("fewer", ["16 bytes fewer", "16 bytes more"])
def test_a_phase_ends_with_exactly_its_bytes(fewer):
    trace, _ = runs(f"01, {fewer} expected")
    assert {finding.kind for finding in trace.findings} == {"transaction-bytes"}
