"""Matrices that are views begin where they begin for the caller, also for the kernel."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from sampling import sampled
from step_cases import StepCase, begun_behind, is_untouched_around

import gemmlab as lab
from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.core.precision import HALF, PRECISIONS
from gemmlab.run import operands
from gemmlab.steps import registry

# Elements that A, B and C begin behind an aligned address.
PLACES = [(1, 0, 0), (0, 3, 1), (2, 4, 3), (8, 8, 8)]
# Sizes at which only the addresses keep rows from 16-byte alignment.
SIZES = (136, 72, 200)
ANY_ADDRESS = [
    (name, precision, config)
    for name, precisions in (
        ("sgemm_20_any_shape", ("fp32",)),
        ("hgemm_20_any_shape", HALF),
        ("tma_08_any_shape", HALF),
    )
    for precision in precisions
    # All ways in one precision, in the others the one that the step chooses.
    for config in (range(len(registry.get(name).configs)) if precision == precisions[0] else (-1,))
]


def right_at(case: StepCase, sizes: tuple, places: tuple, config: int = -1) -> tuple:
    """Findings of a traced launch on views; that the values are right is asserted."""
    plain = sim.integer_matrices(*sizes)
    A, B, C = map(begun_behind, case.matrices(*sizes), places)
    trace = case.module().trace(A, B, C, *sizes, 2.0, 1.0, config=config)
    expected = case.rounded(2.0 * (plain[0] @ plain[1]) + plain[2])
    np.testing.assert_array_equal(C, expected)
    assert all(is_untouched_around(view) for view in (A, B, C))
    return trace.findings


@pytest.mark.parametrize("how", sampled(list(product(ANY_ADDRESS, PLACES)), of=8))
def test_steps_of_any_address_take_every_one(how):
    (name, precision, config), places = how
    few = registry.get(name).configs[config] if config >= 0 else ""
    sizes = {"thin": (5, *SIZES[1:]), "narrow": (SIZES[0], 5, SIZES[2])}.get(few, SIZES)
    case = StepCase(registry.program(name), PRECISIONS[precision])
    assert right_at(case, sizes, places, config) == ()


@pytest.mark.parametrize("precision", HALF)
def test_16_bytes_are_enough_for_a_step_that_asks_for_them(precision):
    """No step has more, where its matrices are views."""
    case = StepCase(registry.program("hgemm_19_stream_k"), PRECISIONS[precision])
    assert right_at(case, (128, 256, 128), (8, 24, 8)) == ()


@pytest.mark.parametrize("which", [0, 1])
def test_fewer_are_not(which):
    case = StepCase(registry.program("hgemm_19_stream_k"), PRECISIONS["bf16"])
    sizes = (128, 256, 64)
    places = [4 * (i == which) for i in range(3)]
    A, B, C = map(begun_behind, case.matrices(*sizes), places)
    findings = case.module().trace(A, B, C, *sizes).findings
    assert "misaligned" in {finding.kind for finding in findings}


@pytest.mark.parametrize("behind", [0, 1, 2, 63])
def test_a_view_has_the_bounds_of_its_elements(kernel_file, behind):
    """The memory that it is a view of has neighbours on both sides, and they are not the view's."""
    for name, message in (
        ("global_past_end", "4 bytes past the end of A"),
        ("global_before_start", "4 bytes before the start of C"),
    ):
        A, C = (begun_behind(np.zeros(64, np.float32), behind + extra) for extra in (0, 1))
        (found,) = kernel_file(name).module("broken").trace(A, A, C, 8, 8, 8).findings
        assert message in found.message
        assert kernel_file(name).module("fixed").trace(A, A, C, 8, 8, 8).findings == ()


def test_a_load_that_only_happens_to_be_aligned(kernel_file):
    fixture = kernel_file("misaligned_view")
    A, C = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for launch in ("broken", "fixed"):
        assert fixture.module(launch).trace(A, A, C, 8, 8, 8).findings == ()
    view = begun_behind(A, 1)
    (found,) = fixture.module("broken").trace(view, view, C, 8, 8, 8).findings
    assert (found.kind, found.line) == ("misaligned", fixture.lines["here"])
    assert "4 past a multiple of 16" in found.message
    C[:] = 0
    assert fixture.module("fixed").trace(view, view, C, 8, 8, 8).findings == ()
    np.testing.assert_array_equal(C, A)


def test_a_reshaped_array_is_no_less_aligned_than_a_new_one(kernel_file):
    A, C = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros(64, np.float32)
    assert kernel_file("misaligned_view").module("broken").trace(A, A, C, 8, 8, 8).findings == ()


def test_tensors_keep_their_place_in_their_storage():
    """A view of a tensor reaches the kernel where it begins in the memory that it shares."""
    M, N, K = 32, 40, 24
    A, B = (
        torch.arange(3 + rows * columns).remainder(7).float()[3:].view(rows, columns)
        for rows, columns in ((M, K), (K, N))
    )
    out = torch.zeros(5 + M * N)
    C = lab.kernel("sgemm_20_any_shape")(A, B, out=out[5:].view(M, N))
    assert torch.equal(C, A @ B) and not out[:5].any()


def test_a_handle_passes_on_where_a_tensor_begins():
    """A way of the step that forgets to ask for B's address."""
    thoughtless = lab.variant("sgemm_20_any_shape", {" && divides(16, g.B)": ""})
    A, whole = torch.ones(8, 24), torch.ones(1 + 24 * 40)
    given = [operands.array(t) for t in (A, whole[1:].view(24, 40), torch.zeros(8, 40))]
    config = thoughtless.spec.config_index("thin")
    (found,) = sim.compile_step(thoughtless).trace(*given, 8, 40, 24, config=config).findings
    assert found.kind == "misaligned" and "4 past a multiple of 16" in found.message
    given[1] = operands.array(whole[:-1].view(24, 40))
    assert sim.compile_step(thoughtless).trace(*given, 8, 40, 24, config=config).findings == ()


def test_what_a_step_cannot_take_is_refused_by_its_handle():
    A = torch.zeros(1 + 128 * 128, dtype=torch.bfloat16)[1:].view(128, 128)
    B = torch.zeros(128, 256, dtype=torch.bfloat16)
    with pytest.raises(ArgumentError, match="A: its address is 2 bytes past a multiple of 16"):
        lab.kernel("hgemm_19_stream_k")(A, B)
