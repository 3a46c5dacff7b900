"""nvcuda::wmma: results, which element is where, and how fragments are loaded and stored."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.layouts import FRAGMENTS

SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
LD = 64


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The upper halves of floats that are exact in bfloat16."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize("source", ["global", "shared", "columns"])
@pytest.mark.parametrize("m", [16, 32, 8])
@pytest.mark.parametrize("dtype", ["f16", "f16_half", "bf16"])
def test_products_are_exact_on_integers(kernel_file, dtype, m, source):
    M, N, K = 64, 32, 48
    A, B, _ = sim.integer_matrices(M, N, K)
    convert = bfloat16 if dtype == "bf16" else np.float16
    C = np.full((M, N), np.nan, np.float16 if dtype == "f16_half" else np.float32)
    module = kernel_file("gemm_wmma").module(f"{dtype}_{m}_{source}")
    trace = module.trace(convert(A), convert(B), C, M, N, K)
    np.testing.assert_array_equal(C, 2 * (A @ B))
    assert trace.findings == ()


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fragment", ["a_f16", "b_f16", "a_bf16", "b_bf16", "c_f32", "c_f16"])
def test_which_element_is_where(kernel_file, fragment, shape, columns):
    use, dtype = fragment.split("_")
    bits = np.uint32 if dtype == "f32" else np.uint16
    memory = np.arange(LD * LD, dtype=bits).reshape(LD, LD)
    out = np.zeros((32, 16), bits)
    kernel_file("wmma_map").module(f"{fragment}_{shape}").launch(
        memory, memory, out, int(columns), 1, 1
    )
    part = {"c_f32": "C/D fp32", "c_f16": "C/D fp16"}.get(fragment, use.upper())
    f = FRAGMENTS[f"wmma.{shape} {part}"]
    count = f.elements * (f.repeats if dtype == "f16" else 1)
    stored = memory.T if columns else memory
    elements = np.array([[stored[f.x(t, i)] for i in range(count)] for t in range(32)])
    np.testing.assert_array_equal(out[:, : elements.shape[1]], elements)
    assert not out[:, elements.shape[1] :].any()


# Requests for one fragment, from the machine code that nvcc makes: (op, bytes a lane, requests).
LOADS = {
    "f16_16_shared": (("ldmatrix", 16, 1), ("ldmatrix", 16, 1)),
    "f16_32_shared": (("ldmatrix", 16, 2), ("ldmatrix", 16, 1)),
    "f16_8_shared": (("ldmatrix", 16, 1), ("ldmatrix", 16, 2)),
    "f16_8_columns": (("ldmatrix", 16, 1), ("ldmatrix", 16, 2)),
    "f16_16_global": (("ld.global", 4, 4), ("ld.global", 4, 4)),
    "f16_32_global": (("ld.global", 4, 8), ("ld.global", 4, 2)),
    "bf16_16_shared": (("ld.shared", 4, 4), ("ld.shared", 4, 4)),
    "bf16_8_columns": (("ld.shared", 4, 2), ("ld.shared", 4, 8)),
}


@pytest.mark.parametrize("launch", LOADS)
def test_how_operands_are_loaded(kernel_file, launch):
    fixture = kernel_file("gemm_wmma")
    dtype, _, source = launch.split("_")
    A, B, C = sim.integer_matrices(32, 32, 32)
    convert = bfloat16 if dtype == "bf16" else np.float16
    trace = fixture.module(launch).trace(convert(A), convert(B), C, 32, 32, 32)
    where = "global" if source == "global" else "shared"
    M = int(launch.split("_")[1])
    loads = (32 // M) * (32 // {16: 16, 32: 8, 8: 32}[M]) * 2  # tiles of C, steps of k
    for name, (op, width, requests) in zip("ab", LOADS[launch], strict=True):
        lines = [x for x in trace.lines if x.line == fixture.lines[f"{name} {where}"]]
        assert [(x.op, x.width_bytes, x.requests) for x in lines] == [(op, width, requests * loads)]


@pytest.mark.parametrize(
    ("launch", "columns", "rows"),
    [
        ("f16_16_shared", (4, 8), (8, 4)),
        ("f16_32_shared", (4, 8), (8, 4)),
        ("f16_8_shared", (8, 4), (4, 8)),
        ("f16_half_16_shared", (4, 4), (4, 4)),
    ],
)
def test_how_accumulators_are_stored(kernel_file, launch, columns, rows):
    """(bytes a lane, requests) for a matrix that lies column by column, and row by row."""
    fixture = kernel_file("gemm_wmma")
    A, B, C = sim.integer_matrices(32, 32, 16)
    C = C.astype(np.float16 if "half" in launch else np.float32)
    trace = fixture.module(launch).trace(np.float16(A), np.float16(B), C, 32, 32, 16)
    tiles = 4
    for mark, op, (width, requests) in (
        ("c columns", "st.shared", columns),
        ("c rows", "st.global", rows),
    ):
        lines = [x for x in trace.lines if x.line == fixture.lines[mark]]
        assert [(x.op, x.width_bytes, x.requests) for x in lines] == [(op, width, requests * tiles)]


@pytest.mark.parametrize(("sums", "dtype"), [("float", np.float32), ("half", np.float16)])
def test_a_sum_that_nobody_has_filled_is_named(kernel_file, check_mistake, sums, dtype):
    fixture = kernel_file("wmma_unfilled")
    A, C = np.eye(16, dtype=np.float16), np.zeros((16, 16), dtype)
    trace = fixture.module(f"broken_{sums}").trace(A, A, C, 16, 16, 16)
    mistake = ("uninitialised-read", "here", None, "call wmma::fill_fragment(sum, 0.0f)", False)
    check_mistake(fixture, trace, mistake)
    assert np.isnan(C).all()
    assert fixture.module(f"fixed_{sums}").trace(A, A, C, 16, 16, 16).findings == ()
    np.testing.assert_array_equal(C, 2 * A)
