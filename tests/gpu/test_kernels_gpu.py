"""The steps on a GPU: right values, refused input, forced backends, a failed compile."""

import time

import pytest
import torch

import gemmlab as lab
from gemmlab import build, registry
from gemmlab.errors import ArgumentError, BuildError

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", registry.names())
def test_right_on_the_gpu(name):
    report = lab.check(name, device="cuda")
    assert report.backend == "gpu"
    assert report.ok, report


@pytest.mark.parametrize("name", registry.names())
def test_gpu_and_simulator_agree_exactly_on_small_integers(name):
    m, n, k = registry.get(name).multiple_of
    M, N, K = (m, 2 * n, k) if m > 1 else (40, 33, 17)
    A = torch.randint(-4, 5, (M, K)).float()
    B = torch.randint(-4, 5, (K, N)).float()
    step = lab.kernel(name)
    assert torch.equal(step(A.cuda(), B.cuda()).cpu(), step(A, B))


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
        i for i, text in enumerate(broken.spec.path.read_text().splitlines(), 1) if "flaot" in text
    )
    with pytest.raises(BuildError, match=rf"01_naive.cuh\({line}\): error"):
        broken(*lab.matrices(32, 32, 32, device="cuda"))


def test_built_once_then_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path))
    spec = registry.get("sgemm_01_naive")
    start = time.perf_counter()
    build.load(spec)
    cold = time.perf_counter() - start
    start = time.perf_counter()
    build.load(spec)
    assert time.perf_counter() - start < 0.1
    assert cold < 20
