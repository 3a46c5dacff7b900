"""ldmatrix, stmatrix and mma.sync: what goes where, what it costs, and each mistake found."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import LaunchError

# name -> kind, mark of the line, mark of the other line, part of the message, stops the kernel.
MISTAKES = {
    "ldmatrix_misaligned": ("misaligned", "here", None, "8 past a multiple of 16", True),
    "ldmatrix_past_end": ("out-of-bounds", "here", None, "outside of every __shared__", True),
    "ldmatrix_not_shared": ("out-of-bounds", "here", None, "outside of every __shared__", True),
    "ldmatrix_uninitialised": ("uninitialised-read", "here", None, "write it first", False),
    "ldmatrix_race": ("race", "here", "there", "put __syncthreads() between them", False),
    "ldmatrix_overwritten": ("race", "here", "there", "at the end of a loop", False),
    "ldmatrix_divergent": ("divergent-collective", "here", "there", "wait in ldmatrix", True),
    "ldmatrix_returned": ("divergent-collective", "here", None, "only 16 are there", True),
    "stmatrix_race": ("race", "here", "there", "no barrier orders the two", False),
    "stmatrix_overlap": ("race", "here", "there", "elements of its own", False),
    "mma_divergent": ("divergent-collective", "here", "there", "wait in mma.sync", True),
    "wmma_divergent": ("divergent-collective", "here", "there", "store_matrix_sync", True),
    "setmaxnreg_partial": ("divergent-collective", "here", None, "1 of the 4 warps", False),
    "race_atomic": ("race", "here", "there", "elements of its own", False),
}


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The upper halves of floats that are exact in bfloat16."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def operands(M: int, N: int, K: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and B as `dtype`, and their product."""
    A, B, _ = sim.integer_matrices(M, N, K)
    convert = {"f16": np.float16, "bf16": bfloat16, "tf32": np.float32}[dtype]
    return convert(A), convert(B), A @ B


def small_matrices() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


@pytest.mark.parametrize("portable", [False, True])
def test_where_ldmatrix_and_stmatrix_move_elements(kernel_file, portable):
    random = np.random.default_rng(1)
    rows = random.integers(1 << 16, size=(32, 8)).astype(np.uint16)
    place = random.permutation(40)[:32].astype(np.int32)
    registers, dump = np.zeros((32, 14), np.uint32), np.zeros((2, 3, 40, 8), np.uint16)
    out = np.concatenate([registers.view(np.uint16).ravel(), dump.ravel()])
    trace = kernel_file("matrices").module("matrices", portable).trace(rows, place, out, 1, 1, 1)
    assert trace.findings == ()
    registers = out[: 32 * 14 * 2].reshape(32, 14, 2)
    dump = out[32 * 14 * 2 :].reshape(2, 3, 40, 8)

    lane = np.arange(32)[:, None]
    matrix = np.array([0, 0, 1, 0, 1, 2, 3])  # of x1, x2 and x4, in this order
    first, second = lane % 4 * 2, lane % 4 * 2 + 1
    plain = [rows[8 * matrix + lane // 4, column] for column in (first, second)]
    transposed = [rows[8 * matrix + column, lane // 4] for column in (first, second)]
    np.testing.assert_array_equal(registers[:, :7], np.stack(plain, axis=2))
    np.testing.assert_array_equal(registers[:, 7:], np.stack(transposed, axis=2))
    for form, count in enumerate((8, 16, 32)):  # rows that x1, x2 and x4 store
        expected = np.zeros((40, 8), np.uint16)
        expected[place[:count]] = rows[:count]
        np.testing.assert_array_equal(dump[0, form], expected)
        np.testing.assert_array_equal(dump[1, form], expected)


FORMS = ("f16_k16", "f16_k8", "bf16_k16", "bf16_k8", "tf32_k8")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_mma_is_exact_on_integers(kernel_file, form):
    M, N, K = 32, 24, 48
    A, B, product = operands(M, N, K, form.split("_")[0])
    C = np.full((M, N), np.nan, np.float32)
    trace = kernel_file("gemm_mma_forms").module(form).trace(A, B, C, M, N, K)
    np.testing.assert_array_equal(C, product)
    assert trace.findings == ()


def test_tf32_operands_are_rounded_by_the_conversion_half_away_from_zero(kernel_file):
    """10 bits of mantissa: 1 + 2^-11 is halfway between neighbours, and goes up."""
    step = 2.0**-10
    values = np.array([1, 1 + step / 2, 1 + step / 2 - 2.0**-23, -1 - step / 2], np.float32)
    A, B, C = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32), np.zeros((16, 8))
    A[:4, 0], B[0] = values, 1.0
    C = C.astype(np.float32)
    kernel_file("gemm_mma_forms").module("tf32_k8").launch(A, B, C, 16, 8, 16)
    np.testing.assert_array_equal(C[:4, 0], [1, 1 + step, 1, -1 - step])


@pytest.mark.parametrize("launch", ["f16", "bf16", "plain"])
@pytest.mark.parametrize("traced", [False, True])
def test_tiles_through_ldmatrix_are_exact(kernel_file, launch, traced):
    M, N, K = 128, 192, 96
    A, B, product = operands(M, N, K, "bf16" if launch == "bf16" else "f16")
    C = np.full((M, N), np.nan, np.float32)
    module = kernel_file("gemm_ldmatrix_mma").module(launch)
    result = (module.trace if traced else module.launch)(A, B, C, M, N, K)
    np.testing.assert_array_equal(C, product)
    if traced:
        assert result.findings == ()


def test_infinity_and_nan_go_through(kernel_file):
    A, B = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16)
    C = np.zeros((16, 8), np.float32)
    A[0, 0], A[1, 0], B[0, 0], B[1, 1] = np.inf, 2, 1, np.nan
    kernel_file("gemm_mma_forms").module("f16_k16").launch(A, B, C, 16, 8, 16)
    assert C[0, 0] == np.inf and C[1, 0] == 2
    assert np.isnan(C[:, 1]).all() and np.isnan(C[0, 2])


# A matrix of 8 rows is one wavefront. Rows of A are 64 bytes apart without a swizzle: 8 of them
# meet in 2 of 8 groups of banks, 4 wavefronts. Rows of B, 128 bytes apart, all meet: 8.
@pytest.mark.parametrize(("launch", "a", "b"), [("f16", 1, 1), ("plain", 4, 8)])
def test_what_ldmatrix_costs(kernel_file, launch, a, b):
    fixture = kernel_file("gemm_ldmatrix_mma")
    A, B, _ = operands(64, 64, 64, "f16")
    trace = fixture.module(launch).trace(A, B, np.zeros((64, 64), np.float32), 64, 64, 64)
    counted = {line.line: line for line in trace.lines if line.op == "ldmatrix"}
    requests = 4 * 2 * 2 * 2  # warps, tiles, steps of k, loads of 4 matrices
    for mark, per_matrix in (("a", a), ("b", b)):
        line = counted[fixture.lines[mark]]
        assert (line.requests, line.width_bytes, line.lanes) == (requests, 16, 32)
        assert line.wavefronts == requests * 4 * per_matrix
        assert line.wavefronts_min == requests * 4


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, check_mistake, name):
    fixture, (A, C) = kernel_file(name), small_matrices()
    check_mistake(fixture, fixture.module("broken").trace(A, A, C, 8, 8, 8), MISTAKES[name])


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, C = small_matrices()
    module = kernel_file(name).module("fixed")
    assert module.trace(A, A, C, 8, 8, 8).findings == ()
    module.launch(A, A, C, 8, 8, 8)


@pytest.mark.parametrize("name", [name for name, mistake in MISTAKES.items() if mistake[4]])
def test_an_untraced_run_stops_too(kernel_file, name):
    A, C = small_matrices()
    with pytest.raises(LaunchError, match=f"{name}.cu:"):
        kernel_file(name).module("broken").launch(A, A, C, 8, 8, 8)


def test_a_block_that_is_no_multiple_of_a_warp(kernel_file, tmp_path):
    text = kernel_file("ldmatrix_race").path.read_text()
    common = kernel_file("grid").path.parents[3] / "kernels"
    path = tmp_path / "short.cu"
    path.write_text(text.replace("../../../kernels", str(common)).replace("1, 64, 0", "1, 56, 0"))
    A, C = small_matrices()
    sim.compile_source(path, "launch_fixed").trace(A, A, C, 8, 8, 8)
    path.write_text(path.read_text().replace("tid < 32", "tid >= 32"))
    trace = sim.compile_source(path, "launch_fixed").trace(A, A, C, 8, 8, 8)
    assert "only 24 are there" in str(trace.findings)
