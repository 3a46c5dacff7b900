"""Operands that are transposed views: taken by the steps that have the layout, else refused."""

from __future__ import annotations

import needs
import pytest
import torch

import gemmlab as lab
from gemmlab.bench.bench import bench
from gemmlab.check.compare import problem
from gemmlab.check.plan import Run, default_runs
from gemmlab.core.errors import ArgumentError
from gemmlab.core.layout import LAYOUTS
from gemmlab.run import operands
from gemmlab.steps import registry
from gemmlab.steps.spec import LAYOUT_STEPS

LISTED = sorted(LAYOUT_STEPS.values())
TURNING = [spec.name for spec in registry.KERNELS if "nt" in spec.layouts]


def pair(M: int, N: int, K: int, dtype=torch.bfloat16) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    A, W = (torch.randn(size, generator=generator).to(dtype) for size in ((M, K), (N, K)))
    return A, W.t()


def test_the_steps_that_errors_name_have_the_layout():
    assert sorted(TURNING) == LISTED


def test_strides_say_the_layout():
    A, B = pair(4, 6, 5)
    turned = A.t().contiguous().t()
    found = [operands.layout(a, b) for a in (A, turned) for b in (B.contiguous(), B)]
    assert tuple(found) == LAYOUTS
    assert operands.layout(torch.zeros(3, 1), torch.zeros(1, 8)) == "nn"  # both ways at once
    assert operands.array(B.float()).shape == (6, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [spec.name for spec in registry.KERNELS if "tt" in spec.layouts])
@needs.gxx
def test_a_transposed_view_of_a_is_taken_as_it_lies(name):
    for shape in ((65, 70, 72), (17, 130, 33)):
        A, B = pair(*shape)
        right = (A.float() @ B.float()).bfloat16()
        A = A.t().contiguous().t()
        for b in (B, B.contiguous()):
            torch.testing.assert_close(lab.kernel(name)(A, b), right, rtol=0.02, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", TURNING)
@needs.gxx
def test_a_linear_layer_gets_its_weights_as_they_are(name):
    for shape in ((65, 70, 72), (17, 130, 33)):
        A, B = pair(*shape)
        C = lab.kernel(name)(A, B)
        torch.testing.assert_close(C, (A.float() @ B.float()).bfloat16(), rtol=0.02, atol=0.1)


def test_a_step_without_the_layout_names_one_that_has_it():
    A, B = pair(128, 128, 64)
    with pytest.raises(ArgumentError, match=r"B: .*use B.contiguous\(\), or hgemm_20_any_shape"):
        lab.kernel("hgemm_18_wide_tile")(A, B)
    with pytest.raises(
        ArgumentError, match=r"B: .*use B.contiguous\(\)$"
    ):  # no step of fp32 has it
        lab.kernel("sgemm_02_coalesced")(A.float(), B.float())
    A = A.t().contiguous().t()
    with pytest.raises(ArgumentError, match=r"A: .*a transposed view.*use A.contiguous\(\)$"):
        lab.kernel("hgemm_20_any_shape")(A, B)
    with pytest.raises(
        ArgumentError,
        match=r"A: .*contiguous\(\), or wgmma_14_any_shape, which takes A as \(K, M\)$",
    ):
        lab.kernel("wgmma_05_persistent")(A, B.contiguous())
    with pytest.raises(ArgumentError, match="out: is not contiguous"):
        lab.kernel("hgemm_20_any_shape")(*pair(8, 8, 8), out=torch.zeros(8, 8).bfloat16()[:, ::2])


def test_bench_refuses_what_a_step_or_a_recording_does_not_have():
    with pytest.raises(ArgumentError, match=r"layout: is nt .* tma_08_any_shape takes B as \(N, K"):
        bench("tma_01_load", layout="nt")
    with pytest.raises(ArgumentError, match=r"layout: .*nn, nt, tn, tt"):
        bench("tma_08_any_shape", layout="transposed")
    with pytest.raises(ArgumentError, match=r"takes nn or nt$"):
        bench("tma_08_any_shape", layout="tt")
    with pytest.raises(ArgumentError, match=r"takes nn; wgmma_14_any_shape takes it$"):
        bench("wgmma_05_persistent", layout="tn")


@pytest.mark.parametrize("name", TURNING)
def test_a_check_has_runs_of_each_layout_in_each_configuration(name):
    spec = registry.get(name)
    runs = default_runs(spec, spec.precisions, ["", *spec.configs], "sim")
    for layout in spec.layouts:
        assert {run.config for run in runs if run.layout == layout} == {"", *spec.configs}
    turned = [run for run in runs if run.layout == "nt"]
    assert any(any(run.offsets) for run in turned)
    assert {run.shape[2] % 8 > 0 for run in turned} == {True, False}


def test_a_turned_matrix_of_a_check_lies_turned_among_nan():
    given = problem(Run((4, 6, 5), (1.0, 0.0), "bf16", layout="nt", offsets=(0, 3, 0)), "cpu")
    plain = problem(Run((4, 6, 5), (1.0, 0.0), "bf16"), "cpu")
    assert operands.layout(given.A.matrix, given.B.matrix) == "nt"
    assert torch.equal(given.B.matrix, plain.B.matrix) and given.B.intact()
    assert given.B.matrix.data_ptr() % 16 == 6
