"""16-bit types: which there are, what a step takes and refuses, and what comes out (simulator)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

import gemmlab as lab
from gemmlab import sim
from gemmlab.core import precision
from gemmlab.core.errors import ArgumentError
from gemmlab.core.precision import HALF, PRECISIONS
from gemmlab.run import operands
from gemmlab.steps import registry

NAIVE = "hgemm_01_naive"
TILED = "hgemm_03_vectorized"  # 128x128x16
FAST = "hgemm_17_stages"  # tensor cores; 128x128x32
DTYPES = {name: getattr(torch, name) for name in ("float32", "float16", "bfloat16")}


def pair(M=128, N=128, K=32, dtype="bfloat16"):
    return lab.matrices(M, N, K, device="cpu", dtype=dtype)


# ---- names and types ----


@pytest.mark.parametrize("types", PRECISIONS.values(), ids=lambda p: p.name)
def test_facts_are_those_of_torch(types):
    made = torch.finfo(DTYPES[types.made])
    assert types.roundoff == made.eps / 2
    assert types.bytes == (DTYPES[types.given].itemsize, DTYPES[types.made].itemsize)
    assert precision.precision(types.name) is types
    assert precision.of_types(types.given, types.made) is types


def test_words_and_template_arguments():
    assert PRECISIONS["bf16"].words == "bf16"
    assert PRECISIONS["fp16_fp32"].words == "fp16, C in fp32"
    assert PRECISIONS["bf16"].template_arguments == "<__nv_bfloat16, __nv_bfloat16>"
    assert PRECISIONS["fp16_fp32"].template_arguments == "<__half, float>"
    assert precision.of_types("float16", "bfloat16") is None


def test_an_unknown_precision_is_refused_with_those_there_are():
    known = r"precision: got 'int8'; there are fp32, bf16, fp16, bf16_fp32, fp16_fp32"
    with pytest.raises(ArgumentError, match=known):
        precision.precision("int8")
    for ask in (
        lambda: lab.bench(FAST, precision="int8"),
        lambda: sim.trace(FAST, precision="int8"),
        lambda: lab.check(FAST, precisions=["int8"]),
    ):
        with pytest.raises(ArgumentError, match=known):
            ask()


def test_a_precision_that_the_step_is_not_compiled_for_is_refused_with_those_it_has():
    has = "precision: got 'fp32'; hgemm_17_stages is compiled for bf16, fp16, bf16_fp32, fp16_fp32"
    for ask in (
        lambda: lab.bench(FAST, precision="fp32"),
        lambda: sim.trace(FAST, precision="fp32"),
        lambda: lab.check(FAST, precisions=["bf16", "fp32"]),
    ):
        with pytest.raises(ArgumentError, match=has):
            ask()
    with pytest.raises(ArgumentError, match=r"sgemm_01_naive is compiled for fp32$"):
        sim.compile_step(registry.get("sgemm_01_naive"), "bf16")


@pytest.mark.parametrize("asked", ["bf16", []])
def test_precisions_to_check_are_a_list(asked):
    with pytest.raises(
        ArgumentError, match=r"precisions: (got .*|is empty), expected a list such as \['bf16"
    ):
        lab.check(NAIVE, precisions=asked)


def test_families_and_types_of_steps():
    for spec in registry.KERNELS:
        assert spec.family == spec.file.split("/")[0] == spec.name.split("_")[0]
        half = spec.family != "sgemm"
        assert spec.precisions == (HALF if half else ("fp32",))
        assert spec.dtypes == (("bfloat16", "float16") if half else ("float32",))
        assert spec.template_arguments() == ("<__nv_bfloat16, __nv_bfloat16>" if half else "")
    assert registry.family_of("fp32") == "sgemm"
    assert {registry.family_of(name) for name in HALF} == {"hgemm"}


def test_a_kernel_of_a_notebook_has_the_family_of_what_it_is_like():
    like = registry.get(FAST)
    assert replace(like, name="mine", file="hgemm/mine.cuh").family == "hgemm"
    assert replace(like, name="mine", file="tma/mine.cuh").family == "tma"
    assert replace(like, name="mine", file="notebook/mine.cuh").family == "hgemm"
    plain = registry.get("sgemm_01_naive")
    assert replace(plain, name="mine", file="notebook/mine.cuh").family == "sgemm"


# ---- calls ----


@pytest.mark.parametrize("name", [NAIVE, FAST])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("into_fp32", [False, True])
def test_products_on_the_simulator(name, dtype, into_fp32):
    A, B = pair(dtype=dtype)
    right = A.double() @ B.double()
    out = torch.full((128, 128), math.nan) if into_fp32 else None
    C = lab.kernel(name)(A, B, out=out)
    assert C.dtype == (torch.float32 if into_fp32 else A.dtype)
    assert out is None or C is out
    roundoff = torch.finfo(C.dtype).eps / 2
    assert float(((C.double() - right).abs() - roundoff * right.abs()).max()) < 1e-5


@pytest.mark.parametrize("types", HALF)
def test_alpha_and_beta_are_applied_before_the_one_rounding(types):
    given, made = (DTYPES[t] for t in (PRECISIONS[types].given, PRECISIONS[types].made))
    A, B = (t.to(given) for t in (torch.full((1, 2), 1.5), torch.full((2, 1), 2.0)))
    C = lab.kernel(NAIVE)(A, B, alpha=0.25, beta=-2.0, out=torch.tensor([[0.75]], dtype=made))
    assert float(C) == 0.25 * 6 - 2 * 0.75 == 0
    # 257 is none of bf16's numbers: C is 256 only if the sum was not rounded before.
    A, B = (t.to(given) for t in (torch.tensor([[256.0, 1.0]]), torch.ones(2, 1)))
    C = lab.kernel(NAIVE)(A, B, beta=-1.0, out=torch.tensor([[1.0]], dtype=made))
    assert float(C) == 256


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_no_inner_dimension_leaves_beta_c(dtype):
    made = DTYPES[dtype]
    for name, M, N in ((NAIVE, 5, 3), (FAST, 128, 128)):
        A, B = torch.empty(M, 0, dtype=made), torch.empty(0, N, dtype=made)
        C = lab.kernel(name)(A, B, beta=3.0, out=torch.ones(M, N, dtype=made))
        assert torch.equal(C, torch.full((M, N), 3.0, dtype=made))
        assert torch.equal(lab.kernel(name)(A, B), torch.zeros(M, N, dtype=made))


def test_fp16_overflows_to_infinity_and_bf16_does_not():
    for name in (NAIVE, FAST):
        A, B = torch.full((128, 32), 256.0), torch.full((32, 128), 16.0)  # sums of 2**17
        B[:, 64:] *= -1
        half, bfloat = (lab.kernel(name)(A.to(t), B.to(t)) for t in (torch.half, torch.bfloat16))
        assert (half[:, :64] == math.inf).all() and (half[:, 64:] == -math.inf).all()
        assert torch.equal(bfloat.float(), A @ B)
        wide = lab.kernel(name)(A.half(), B.half(), out=torch.empty(128, 128))
        assert torch.equal(wide, A @ B)


def test_the_largest_half_is_reached_and_rounding_decides_what_is_beyond():
    A = torch.tensor([[65504.0, 1.0]]).half()
    below, above = (torch.tensor([[1.0], [x]]).half() for x in (15.0, 16.0))
    assert float(lab.kernel(NAIVE)(A, below)) == 65504
    assert float(lab.kernel(NAIVE)(A, above)) == math.inf


# ---- what is refused ----


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int8])
def test_other_types_are_refused_with_the_remedy(dtype):
    A, B = (t.to(dtype) for t in pair())
    name = str(dtype).removeprefix("torch.")
    takes = rf"A: is {name}, hgemm_17_stages takes bfloat16 or float16; use A.to\(torch.bfloat16\)"
    with pytest.raises(ArgumentError, match=takes):
        lab.kernel(FAST)(A, B)


def test_16_bits_are_refused_by_a_step_for_fp32():
    with pytest.raises(ArgumentError, match=r"A: is bfloat16, sgemm_02_coalesced takes float32;"):
        lab.kernel("sgemm_02_coalesced")(*pair())


def test_a_and_b_of_two_types_are_refused():
    A, B = pair(dtype="float16")
    mixed = r"B: is torch.bfloat16 on cpu, but A is torch.float16 .* use B.to\(A.device, A.dtype\)"
    with pytest.raises(ArgumentError, match=mixed):
        lab.kernel(FAST)(A, B.bfloat16())


def test_c_has_the_type_of_a_or_fp32():
    A, B = pair(dtype="float16")
    takes = r"takes float16 or float32; use out.to\(torch.float16\)"
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float64, "float64")):
        with pytest.raises(ArgumentError, match=f"out: is {name}, .*{takes}"):
            lab.kernel(FAST)(A, B, out=torch.empty(128, 128, dtype=dtype))
    ones = torch.ones(4, 4)
    with pytest.raises(ArgumentError, match=r"out: is float16, .* takes float32; use"):
        lab.kernel("sgemm_02_coalesced")(ones, ones, out=ones.half())


@pytest.mark.parametrize("name", [TILED, FAST])
def test_an_address_that_is_not_aligned_is_refused_with_the_reason(name):
    A, B = pair()
    shifted = torch.empty(A.numel() + 1, dtype=A.dtype)[1:].view(A.shape)
    loads = rf"A: its address is 2 bytes past a multiple of 16, and {name} loads 16 bytes at a time"
    with pytest.raises(ArgumentError, match=rf"{loads}; use A.clone\(\)"):
        lab.kernel(name)(shifted, B)
    out = torch.empty(128 * 128 + 1)[1:].view(128, 128)
    with pytest.raises(ArgumentError, match="out: its address is 4 bytes past a multiple of 16"):
        lab.kernel(name)(A, B, out=out)


# A step with tensor maps: whole tiles of M and N, rows of A in multiples of 16 bytes.
COPIED = replace(
    registry.get(FAST),
    name="tma_01_load",
    file="tma/01_load.cuh",
    tile=(128, 128, 64),
    multiple_of=(128, 128, 8),
    min_arch=90,
)


def test_what_a_tensor_map_asks_for_is_said():
    A, B = pair(K=60)
    rows = (
        "K: is 60, tma_01_load needs a multiple of 8, as rows of A are multiples of 16 bytes in a"
    )
    with pytest.raises(ArgumentError, match=f"{rows} tensor map; pad to 64, or use"):
        lab.kernel(COPIED)(A, B)
    with pytest.raises(ArgumentError, match="M: is 60, tma_01_load needs a multiple of 128; pad"):
        COPIED.check_sizes(60, 128, 64)
    edges = replace(COPIED, multiple_of=(1, 8, 8))
    with pytest.raises(
        ArgumentError, match=r"N: is 100, .* as rows of B and C are multiples of 16"
    ):
        edges.check_sizes(60, 100, 64)
    A, B = pair(K=64)
    shifted = torch.empty(A.numel() + 1, dtype=A.dtype)[1:].view(A.shape)
    begins = "and the tensor maps and stores of tma_01_load begin at such multiples; use A.clone"
    with pytest.raises(ArgumentError, match=f"2 bytes past a multiple of 16, {begins}"):
        lab.kernel(COPIED)(shifted, B)


@pytest.mark.parametrize("columns", [124, 127])
def test_rows_that_are_not_aligned_are_refused(columns):
    """A row of B has N elements of 2 bytes: N = 124 would put every other row 8 bytes off."""
    A, B = pair(N=columns)
    padded = f"N: is {columns}, .* multiple of 128; pad to 128, or use hgemm_20_any_shape, which"
    with pytest.raises(ArgumentError, match=padded):
        lab.kernel(FAST)(A, B)
    C = lab.kernel(NAIVE)(A, B)
    assert float((C.double() - A.double() @ B.double()).abs().max()) < 0.2
    wide = torch.empty(128, 36, dtype=A.dtype)[:, :32]  # rows of 72 bytes
    with pytest.raises(ArgumentError, match=r"A: is not contiguous \(strides \(36, 1\)\)"):
        lab.kernel(FAST)(wide, B)


def test_operands_know_their_precision_and_their_memory():
    A, _ = pair(M=1, N=1, K=2)
    assert operands.precision(A, torch.empty(1)) == "bf16_fp32"
    assert operands.precision(A.half(), A.half()) == "fp16"
    assert operands.precision(A.float(), A.float()) == "fp32"
    bits = operands.array(torch.tensor([1.0, -2.0]).bfloat16())
    assert bits.dtype == "uint16" and bits.tolist() == [0x3F80, 0xC000]
    assert operands.array(torch.ones(1).half()).dtype == "float16"


# ---- traces ----


@pytest.mark.parametrize("types", HALF)
def test_a_trace_in_each_precision(types):
    found = sim.trace(NAIVE, 32, 32, 8, precision=types)
    made = PRECISIONS[types].bytes[1]
    totals = found.totals()
    assert found.findings == ()
    # A warp writes 32 neighbours; it reads one element of A and 32 neighbours of B for each k.
    assert totals["st.global"]["sectors"] == 32 * made
    assert totals["ld.global"]["sectors"] == 32 * 8 * (1 + 2)


def test_a_trace_is_in_the_first_precision_if_none_is_named():
    assert sim.trace(NAIVE, 32, 32, 8).totals() == (
        sim.trace(NAIVE, 32, 32, 8, precision="bf16").totals()
    )


@pytest.mark.parametrize("types", PRECISIONS.values(), ids=lambda p: p.name)
def test_integer_matrices_are_exact_in_every_type(types):
    A, B, C = sim.integer_matrices(8, 6, 4, types=types)
    plain = sim.integer_matrices(8, 6, 4)
    for stored, right, dtype in zip(
        (A, B, C), plain, (types.given, types.given, types.made), strict=True
    ):
        values = torch.from_numpy(stored)
        if dtype == "bfloat16":
            values = values.view(torch.bfloat16)
        assert values.dtype == DTYPES[dtype]
        assert torch.equal(values.float(), torch.from_numpy(right))


def test_the_remedy_leads_to_the_type_of_the_other_operand():
    A, B = lab.matrices(128, 256, 64, device="cpu", dtype="float16")
    with pytest.raises(ArgumentError, match=r"use B\.to\(torch\.float16\)"):
        lab.kernel("hgemm_18_wide_tile")(A, B.float())
    with pytest.raises(ArgumentError, match=r"use A\.to\(torch\.float16\)"):
        lab.kernel("hgemm_18_wide_tile")(A.float(), B)
