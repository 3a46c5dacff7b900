"""The simulator's correct fixture kernels give the same results, to the last bit, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from gemmlab import sim
from gemmlab.gpu import build

pytestmark = pytest.mark.gpu

FIXTURES = Path(__file__).parents[1] / "sim" / "fixtures"
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Maker = Callable[[], Arrays]

# bfloat16, which NumPy does not have, is kept as its bits.
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "tf32": np.float32}


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """Small integers as a kernel takes them."""
    if dtype == "bf16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(TYPES[dtype])


def numbers(values: np.ndarray, dtype: str) -> np.ndarray:
    """What a result stands for, so that any NaN equals any other."""
    if dtype == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values


def product(M: int, N: int, K: int, dtype: str, out: str = "f32") -> Maker:
    """Integer matrices for C = A @ B. C holds ones before."""

    def make() -> Arrays:
        A, B, _ = sim.integer_matrices(M, N, K)
        return stored(A, dtype), stored(B, dtype), stored(np.ones((M, N), np.float32), out)

    return make


def integers(dtype: type, result: int, of: type) -> Maker:
    """32 small integers, and room for a result."""
    A = np.random.default_rng(4).integers(-40, 40, 32).astype(dtype)
    return lambda: (A, A, np.zeros(result, of))


def indices(dtype: type) -> Maker:
    """A matrix of indices, and room for a warp's 16 elements a lane."""
    A = np.arange(64 * 64, dtype=dtype)
    return lambda: (A, A, np.zeros((32, 16), dtype))


def rows_and_places() -> Arrays:
    random = np.random.default_rng(3)
    rows = random.integers(1 << 16, size=(32, 8)).astype(np.uint16)
    place = random.permutation(40)[:32].astype(np.int32)
    return rows, place, np.zeros(32 * 14 * 2 + 6 * 40 * 8, np.uint16)


def fragment_operands(dtype: str) -> Maker:
    """Registers of A, B and C of one mma: small integers."""

    def make() -> Arrays:
        random = np.random.default_rng(7)
        a, b = (random.integers(-9, 10, (32, n)).astype(np.float32) for n in (8, 4))
        C = random.integers(-9, 10, (32, 4)).astype(np.float32)
        return stored(a, dtype), stored(b, dtype), C

    return make


def fragment_rows(store: bool) -> Maker:
    """256 different elements, a place for each row, and room for registers or rows."""
    A = np.arange(1, 257, dtype=np.uint16)
    place = np.random.default_rng(6).permutation(40)[:32].astype(np.int32)
    return lambda: (A, place, np.zeros(40 * 8 if store else 32 * 4 * 2, np.uint16))


def every_pattern() -> Arrays:
    A = np.arange(1 << 16, dtype=np.uint16)
    return A, A, np.zeros(A.size, np.float32)


def many_floats(out: str) -> Maker:
    """Any patterns, and as many from 2^-15 to 2^16, where __half has its values."""

    def make() -> Arrays:
        A = np.random.default_rng(1).integers(1 << 32, size=1 << 20, dtype=np.uint32)
        A[::2] = 0x38000000 + A[::2] % 0x0F800000
        return A, A, np.zeros(A.size, TYPES[out])

    return make


def halves(rows: int, out: str) -> Maker:
    """8192 pairs of numbers around 1, and room for `rows` results of each."""

    def make() -> Arrays:
        random = np.random.default_rng(2)
        A, B = (random.integers(0x3000, 0x4800, 8192).astype(np.uint16) for _ in range(2))
        A ^= (random.integers(2, size=A.size) << 15).astype(np.uint16)
        return A, B, np.zeros((rows, A.size), TYPES[out])

    return make


def copied_bytes() -> Arrays:
    A = np.random.default_rng(5).integers(1, 200, (32, 16)).astype(np.uint8)
    return A, A, np.zeros((84, 32, 16), np.uint8)


def multiplication(fixture: str, launch: str, size: tuple[int, int, int], *dtypes: str) -> tuple:
    return fixture, launch, product(*size, *dtypes), size, dtypes[-1]


SMALL, TILES, WMMA = (32, 24, 48), (128, 192, 96), (64, 32, 48)
# fixture, launcher, makes A, B and C, (M, N, K), what C holds.
CASES = [
    *(
        multiplication("gemm_mma_forms", form, SMALL, form.split("_")[0], "f32")
        for form in ("f16_k16", "f16_k8", "bf16_k16", "bf16_k8", "tf32_k8")
    ),
    multiplication("gemm_ldmatrix_mma", "f16", TILES, "f16", "f32"),
    multiplication("gemm_ldmatrix_mma", "bf16", TILES, "bf16", "f32"),
    multiplication("gemm_ldmatrix_mma", "plain", TILES, "f16", "f32"),
    *(
        multiplication("gemm_wmma", f"{dtype}_{m}_{source}", WMMA, dtype, "f32")
        for dtype in ("f16", "bf16")
        for m, source in ((16, "global"), (16, "columns"), (32, "shared"), (8, "columns"))
    ),
    *(multiplication("gemm_wmma", f"f16_half_{m}_shared", WMMA, "f16", "f16") for m in (16, 32, 8)),
    *(
        ("wmma_map", f"{fragment}_{shape}", indices(dtype), (columns, 1, 1), "bits")
        for fragment, dtype in (("a_f16", np.uint16), ("b_bf16", np.uint16), ("c_f32", np.uint32))
        for shape in ("m16n16k16", "m32n8k16", "m8n32k16")
        for columns in (0, 1)
    ),
    ("matrices", "matrices", rows_and_places, (1, 1, 1), "bits"),
    *(
        ("fragments", f"{dtype}_k{k}", fragment_operands(dtype), (k, 1, 1), "f32")
        for dtype in ("f16", "bf16")
        for k in (16, 8)
    ),
    *(
        ("fragments", name, fragment_rows("store" in name), (count, 1, 1), "bits")
        for name in ("load", "load_trans", "store", "store_trans")
        for count in (1, 2, 4)
    ),
    ("half_ops", "widen_f16", every_pattern, (1 << 16, 1, 1), "f32"),
    ("half_ops", "widen_bf16", every_pattern, (1 << 16, 1, 1), "f32"),
    ("half_ops", "narrow_f16", many_floats("f16"), (1 << 20, 1, 1), "f16"),
    ("half_ops", "narrow_bf16", many_floats("bf16"), (1 << 20, 1, 1), "bf16"),
    ("half_ops", "arithmetic_f16", halves(10, "f16"), (8192, 1, 1), "f16"),
    ("half_ops", "arithmetic_bf16", halves(10, "bf16"), (8192, 1, 1), "bf16"),
    ("half_ops", "pairs_f16", halves(7, "f16"), (4096, 1, 1), "f16"),
    ("half_ops", "pairs_bf16", halves(7, "bf16"), (4096, 1, 1), "bf16"),
    ("warp_ops", "warp_ops", integers(np.int32, 14 * 32, np.int32), (1, 1, 1), "bits"),
    ("warp_ops", "trade", integers(np.int32, 256, np.int32), (1, 1, 1), "bits"),
    ("atomic_ops", "atomics", integers(np.int32, 48, np.uint64), (1, 1, 1), "bits"),
    ("copies", "copies", copied_bytes, (1, 1, 1), "bits"),
    # Fewer tiles than stages, and more.
    multiplication("gemm_cp_async", "gemm_cp_async", (64, 128, 16), "f32", "f32"),
    multiplication("gemm_cp_async", "gemm_cp_async", (128, 64, 112), "f32", "f32"),
    multiplication("pipeline_cp_async", "pipeline_cp_async", (128, 64, 112), "f32", "f32"),
    multiplication("gemm_wgmma_cluster", "gemm_wgmma_cluster", (136, 200, 456), "f16", "f32"),
    multiplication(
        "gemm_pipeline_primitives", "gemm_pipeline_primitives", (33, 40, 50), "f32", "f32"
    ),
]
IDS = [f"{fixture}-{launch}-{size[0]}" for fixture, launch, _, size, _ in CASES]


def on_the_gpu(path: Path, launch: str, arrays: Arrays, size: tuple[int, int, int]) -> np.ndarray:
    """C after the launch."""
    module = build.load_source(path, f"launch_{launch}", f"fixture_{path.stem}_{launch}")
    given = [torch.from_numpy(array.reshape(-1).view(np.uint8)).cuda() for array in arrays]
    stream = torch.cuda.current_stream().cuda_stream
    code = module.launch(*(tensor.data_ptr() for tensor in given), *size, 1.0, 0.0, stream)
    assert code == 0, module.error_string(code)
    torch.cuda.synchronize()
    C = arrays[2]
    return given[2].cpu().numpy().view(C.dtype).reshape(C.shape)


@pytest.mark.parametrize(("fixture", "launch", "make", "size", "dtype"), CASES, ids=IDS)
def test_same_results(fixture, launch, make, size, dtype):
    path = FIXTURES / f"{fixture}.cu"
    A, B, C = make()
    measured = on_the_gpu(path, launch, (A, B, C), size)
    trace = sim.compile_source(path, f"launch_{launch}").trace(A, B, C, *size)
    assert trace.findings == ()
    np.testing.assert_array_equal(numbers(measured, dtype), numbers(C, dtype))
