"""The steps on a GPU: right values, refused input, forced backends, a failed compile.

Two minutes with 16 cores, most of them for compilers.
"""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import torch

import gemmlab as lab
from gemmlab import sim
from gemmlab.bench import protocol as live
from gemmlab.core.errors import ArgumentError, BuildError
from gemmlab.core.precision import PRECISIONS
from gemmlab.gpu import build
from gemmlab.gpu import requirements as needs
from gemmlab.steps import registry
from gemmlab.steps.program import Program

pytestmark = pytest.mark.gpu


# Every step that this GPU can run, in every precision that it is compiled for.
STEPS = [spec for spec in registry.KERNELS if not needs.lacking(Program(spec))]
CASES = [(spec.name, types) for spec in STEPS for types in spec.precisions]
HALVES = [(name, types) for name, types in CASES if types != "fp32"]
SHAPES = ((512, 768, 1280), (1024, 1024, 1024))
# Relative error of C in fp32 that is no mistake at these K: K / 16 sums that a tensor core cuts off
# to fp32, each from the last. cuBLAS may split K, and make half as many.
CUT_OFF = 2e-6


@pytest.fixture(scope="module", autouse=True)
def built():
    """Everything that the tests run, compiled by all cores: 90 times nvcc, 40 times g++."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(build.load, registry.program(name), types) for name, types in CASES]
        jobs += [pool.submit(sim.compile_step, spec) for spec in STEPS]
        for job in jobs:
            job.result()


@pytest.mark.parametrize(("name", "types"), CASES)
def test_right_on_the_gpu(name, types):
    report = lab.check(name, device="cuda", precisions=[types])
    assert report.backend == "gpu"
    assert report.ok, report


@pytest.mark.parametrize("name", [spec.name for spec in STEPS])
def test_gpu_and_simulator_agree_exactly_on_small_integers(name):
    spec = registry.get(name)
    # Two blocks side by side, or little tiles with edges, as far as the step takes them.
    wished = (1, 200, 1) if spec.multiple_of[0] > 1 else (40, 33, 17)
    M, N, K = (math.ceil(size / of) * of for size, of in zip(wished, spec.multiple_of, strict=True))
    dtype = getattr(torch, spec.dtypes[0])
    A = torch.randint(-4, 5, (M, K)).to(dtype)
    B = torch.randint(-4, 5, (K, N)).to(dtype)
    step = lab.kernel(name)
    assert torch.equal(step(A.cuda(), B.cuda()).cpu(), step(A, B))


@cache
def product(types: str, shape: tuple[int, int, int]) -> tuple:
    """A, B, their product in fp64, and the relative error of torch.matmul's."""
    A, B, C = live.random_operands(shape, types)
    right = A.double() @ B.double()
    live.launch_cublas(A, B, C)()
    return A, B, right, relative_error(C, right)


def relative_error(C: torch.Tensor, right: torch.Tensor) -> float:
    """In the Frobenius norm."""
    return float((C.double() - right).norm() / right.norm())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("name", "types"), HALVES)
def test_as_exact_as_cublas(name, types, shape):
    A, B, right, theirs = product(types, shape)
    made = getattr(torch, PRECISIONS[types].made)
    C = torch.full(shape[:2], float("nan"), dtype=made, device="cuda")
    ours = relative_error(lab.kernel(name)(A, B, out=C), right)
    assert ours <= max(1.5 * theirs, CUT_OFF if made == torch.float32 else 0), (ours, theirs)


def test_fp16_overflows_on_the_gpu_too():
    A, B = (torch.full(shape, 256.0, device="cuda") for shape in ((128, 32), (32, 128)))
    step = lab.kernel("hgemm_17_stages")
    assert step(A.half(), B.half()).isinf().all()
    assert torch.equal(step(A.bfloat16(), B.bfloat16()).float(), A @ B)


def test_a_wrong_kernel_fails_on_the_gpu():
    wrong = lab.variant("sgemm_06_swizzled_a", {"sA[k][swizzle(k, m)": "sA[k][(m)"})
    report = lab.check(wrong, shapes=[(128, 128, 32)], device="cuda")
    assert not report.ok


def test_backend_can_be_forced(monkeypatch):
    A, B = lab.matrices(64, 64, 32, device="cuda")
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    C = lab.kernel("sgemm_03_block_tiling")(A, B)
    assert C.is_cuda
    torch.testing.assert_close(C, A @ B)
    monkeypatch.setenv("GEMMLAB_BACKEND", "gpu")
    C = lab.kernel("sgemm_03_block_tiling")(A.cpu(), B.cpu())
    assert not C.is_cuda
    torch.testing.assert_close(C, (A @ B).cpu())


def test_tensors_on_two_devices_are_refused():
    A, B = lab.matrices(64, 64, 32, device="cuda")
    with pytest.raises(ArgumentError, match=r"B: is .* on cpu, but A"):
        lab.kernel("sgemm_02_coalesced")(A, B.cpu())


def test_failed_compile_shows_the_kernels_own_line():
    broken = lab.variant("sgemm_01_naive", {"float acc = 0.0f;": "flaot acc = 0.0f;"})
    line = next(
        i
        for i, text in enumerate(broken.source.path.read_text().splitlines(), 1)
        if "flaot" in text
    )
    with pytest.raises(BuildError, match=rf"01_naive.cuh\({line}\): error"):
        broken(*lab.matrices(32, 32, 32, device="cuda"))


def test_built_once_then_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path))
    step = registry.program("sgemm_01_naive")
    start = time.perf_counter()
    build.load(step)
    cold = time.perf_counter() - start
    start = time.perf_counter()
    build.load(step)
    assert time.perf_counter() - start < 0.1
    assert cold < 20
