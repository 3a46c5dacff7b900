"""The checker: right kernels pass, and each kind of wrong kernel fails."""

import re

import pytest
from sampling import sampled

import gemmlab as lab
from gemmlab.check.plan import ADDED, ALPHA_BETA, few_shapes, given_runs
from gemmlab.core.errors import ArgumentError, BackendError
from gemmlab.run import backend
from gemmlab.run.kernel import Kernel
from gemmlab.sim.trace import Findings, Trace
from gemmlab.steps import registry

TILED = "sgemm_03_block_tiling"
# What is changed, and what the report must say about it.
WRONG = {
    "forgets alpha": (TILED, {"acc, alpha, beta)": "acc, 1.0f, beta)"}, "alpha=0.5"),
    "forgets beta": (TILED, {"acc, alpha, beta)": "acc, alpha, 0.0f)"}, "beta=-2.0"),
    "always reads C": (
        TILED,
        {
            "write_c(&C[(size_t)row * N + col], acc, alpha, beta)": "C[(size_t)row * N + col] = "
            "alpha * acc + beta * C[(size_t)row * N + col]"
        },
        "NaN",
    ),
    "leaves a column out": (
        TILED,
        {"  write_c(": "  if (col != 7) write_c("},
        r"the first is C\[0, 7\].*\(0, 7\) of tile \(0, 0\)",
    ),
    "stops one tile early": (TILED, {"k_tile < K;": "k_tile + BK < K;"}, "elements wrong"),
    "confuses M and N": (
        "sgemm_02_coalesced",
        {"C[(size_t)row * N + col]": "C[(size_t)row * M + col]"},
        "elements wrong|out-of-bounds",
    ),
    "drops mantissa bits": (  # TF32 keeps 10 of them
        "sgemm_02_coalesced",
        {"acc += a * b;": "const float t = a * 8193.0f; acc += (t - (t - a)) * b;"},
        "elements wrong",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    sampled(
        registry.names(),
        of=8,
        always=lambda name: name == "sgemm_20_any_shape",
        dear=lambda name: registry.get(name).workspace,
    ),
)
def test_every_step_is_right(name):
    report = lab.check(name, device="cpu")
    assert report.ok, report
    assert "right in all" in repr(report)


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_kernels_fail(mistake):
    name, changes, says = WRONG[mistake]
    report = lab.check(lab.variant(name, changes), device="cpu")
    assert not report.ok
    assert re.search(says, repr(report)), report


# ---- how much error is allowed ----


def test_sums_of_twenty_bits_are_wrong():
    short = "acc += a * b; const float t = acc * 17.0f; acc = t - (t - acc);"  # 4 of 24 bits go
    narrow = lab.variant("sgemm_02_coalesced", {"acc += a * b;": short})
    report = lab.check(narrow, [(64, 64, 96)], device="cpu")
    assert not report.ok
    # They are off by less than eight times what is allowed: this holds the tolerance in place.
    assert 1 < max(case.error for case in report.cases) < 8


class OffBy(Kernel):
    """Gives the exact product, with one element off by `off` times |row of A| |column of B|."""

    off = 0.0

    def traced(self, matrices, factors, **_):
        (A, B, out), (alpha, beta) = matrices, factors
        wide = alpha * (A.double() @ B.double()) + (beta * out.double() if beta else 0)
        lengths = abs(alpha) * A[3].double().norm() * B[:, 5].double().norm()
        lengths += abs(beta * out[3, 5].double()) if beta else 0
        wide[3, 5] += self.off * lengths
        out.copy_(wide)
        return Trace(self.name, *out.shape, A.shape[1], (), Findings())


@pytest.mark.parametrize(
    ("name", "types", "allowed"),
    [
        ("sgemm_02_coalesced", "fp32", 8 * 2.0**-24),
        ("hgemm_01_naive", "bf16_fp32", 32 * 2.0**-24),
        ("hgemm_01_naive", "fp16_fp32", 32 * 2.0**-24),
    ],
)
def test_an_error_is_allowed_up_to_the_tolerance(name, types, allowed):
    spec, shapes = registry.get(name), [(8, 16, 32), (33, 65, 17)]
    for share, ok in ((0.5, True), (2.0, False)):
        kernel = type("Kernel", (OffBy,), {"off": share * allowed})(spec)
        report = lab.check(kernel, shapes, device="cpu", precisions=[types])
        assert report.ok == ok, report
        wrong = [case for case in report.cases if case.problem]
        assert len(wrong) == (0 if ok else len(report.cases)), report
        assert all("1 of" in case.problem and "C[3, 5]" in case.problem for case in wrong)


# ---- 16-bit types ----

HALF, FAST = "hgemm_01_naive", "hgemm_17_stages"
SUM = "acc += to_float(a) * to_float(b);"
TO_BF16, TO_FP16 = "__bfloat162float(__float2bfloat16_rn({}))", "__half2float(__float2half_rn({}))"
CUT_OFF = """__device__ float cut_off(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  bits &= 0xffff0000;
  memcpy(&x, &bits, 4);
  return x;
}
template <class T, class TC>
__global__"""
ALL = ("bf16", "fp16", "bf16_fp32", "fp16_fp32")
# What is changed in a step for 16-bit types, and in which of them that must be found.
WRONG_16_BIT = {
    "leaves out the last k": (HALF, {"k < K; ++k": "k + 1 < K; ++k"}, ALL),
    "sums in bf16": (HALF, {SUM: f"acc = {TO_BF16.format(SUM[7:-1] + ' + acc')};"}, ALL),
    # Of 16 bits, bf16 has too few to show it.
    "sums in fp16": (HALF, {SUM: f"acc = {TO_FP16.format(SUM[7:-1] + ' + acc')};"}, ALL[1:]),
    "rounds the sum once in the middle": (
        HALF,
        {SUM: f"{SUM} if (k == K / 2) acc = {TO_BF16.format('acc')};"},
        ALL,
    ),
    "rounds before it adds beta * C": (
        HALF,
        {"acc, alpha, beta)": "to_float(from_float<T>(acc)), alpha, beta)"},
        ALL,
    ),
    "takes fp16 for bf16": (
        HALF,
        {"to_float(b);": "__half2float(*(const __half*)&b);"},
        ("bf16", "bf16_fp32"),
    ),
    "cuts off C instead of rounding it": (  # what is left is all bf16 can hold
        HALF,
        {
            "acc, alpha, beta)": "cut_off(acc), alpha, beta)",
            "template <class T, class TC>\n__global__": CUT_OFF,
        },
        ("bf16", "bf16_fp32", "fp16_fp32"),
    ),
    "leaves out products of the last tile": (
        FAST,
        {"k_mma < BK;": "k_mma < (k_tile + BK < K ? BK : MMA_K);"},
        ALL,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_16_BIT)
def test_wrong_16_bit_kernels_fail(mistake):
    name, changes, found_in = WRONG_16_BIT[mistake]
    wrong = lab.variant(name, changes)
    shapes = few_shapes(wrong.spec)[-1:]
    for types in found_in[-2:]:
        assert not lab.check(wrong, shapes, "cpu", precisions=[types]).ok, types


def test_a_report_names_the_precision_that_is_wrong():
    name, changes, _ = WRONG_16_BIT["takes fp16 for bf16"]
    report = lab.check(lab.variant(name, changes), [(8, 8, 8)], device="cpu")
    lines = repr(report).splitlines()
    assert lines[0].endswith("WRONG on the simulator, 4 of 7 cases")
    assert lines[-1].startswith("  M=8 N=8 K=8 alpha=1.25 beta=-2.0 bf16_fp32: ")
    assert {case.precision for case in report.cases if case.problem} == {"bf16", "bf16_fp32"}


def test_every_precision_is_checked_the_first_with_all_factors():
    cases = lab.check(HALF, shapes=[(8, 8, 8)], device="cpu").cases
    assert [(c.precision, c.alpha, c.beta) for c in cases] == [
        *(("bf16", *factors) for factors in ALPHA_BETA),
        *((types, *ADDED) for types in ALL[1:]),
    ]
    report = lab.check(HALF, shapes=[(8, 8, 8)], device="cpu", precisions=["fp16_fp32"])
    assert {case.precision for case in report.cases} == {"fp16_fp32"}
    assert len(report.cases) == len(ALPHA_BETA)
    assert "on the simulator (fp16, C in fp32); largest error" in repr(report)
    assert report.to_dict()["cases"][0]["precision"] == "fp16_fp32"


def test_a_race_in_16_bits_is_found_in_the_precision_that_was_asked_for():
    careless = lab.variant(
        FAST, {"__syncthreads();              // everyone's is": "// everyone's is"}
    )
    for types in ("bf16", "fp16_fp32"):
        report = lab.check(careless, [(128, 128, 96)], device="cpu", precisions=[types])
        assert not report.ok and report.findings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "device: got 'gpu', allowed are 'cuda', 'cpu'"),
        ({"shapes": [(32, 32)]}, r"shapes: got \(32, 32\), expected a shape .* \(M, N, K\)"),
        ({"shapes": [(33, 32, 32)]}, "M: is 33, .* multiple of 32; pad to 64"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        lab.check(TILED, **options)


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(backend, "why_no_gpu", lambda: "no GPU here")
    with pytest.raises(BackendError, match="no GPU here; device='cpu' takes the simulator"):
        lab.check(TILED, device="cuda")


def test_right_values_with_a_race_fail_too():
    careless = lab.variant(
        TILED, {"__syncthreads();  // everyone has read": "// everyone has read"}
    )
    report = lab.check(careless, shapes=[(32, 32, 64)], device="cpu")
    assert not report.ok and report.findings


@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 1, 63), (16, 8, 0)])
def test_a_matrix_with_one_layout_runs_in_one(shape):
    """The transposed view of a column is contiguous, so the step is called for a plain one."""
    spec = registry.get("hgemm_20_any_shape")
    of = {run.layout for run in given_runs(spec, [shape], ["fp16"], [""])}
    assert of == {"nn"}
    wide = {run.layout for run in given_runs(spec, [(17, 2, 63)], ["fp16"], [""])}
    assert wide == set(spec.layouts) > of
