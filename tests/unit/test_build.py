"""Building for a GPU, as far as it goes without one: what is missing, old, or does not compile."""

import shutil

import pytest
import torch

import gemmlab as lab
from gemmlab import build, registry, run
from gemmlab.errors import BackendError, BuildError

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")

NINJA_LOG = """[1/3] nvcc --generate-dependencies ... cuda.cu
FAILED: cuda.cuda.o
/checkout/kernels/sgemm/01_naive.cuh(26): error: identifier "flaot" is undefined
    flaot acc = 0.0f;
    ^

1 error detected in the compilation of "cuda.cu".
ninja: build stopped: subcommand failed.
"""


def test_missing_nvcc_says_what_still_works(monkeypatch):
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(build.shutil, "which", lambda *args, **kwargs: None)
    with pytest.raises(BackendError, match=r"nvcc: not found.*CPU tensors still run"):
        build.nvcc()


def test_no_gpu_points_to_the_simulator(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(build, "_toolchain", lambda: "")
    with pytest.raises(BackendError, match=r"no CUDA GPU is visible .* simulator"):
        build.load(registry.KERNELS[0])


def test_gpu_too_old(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (5, 2))
    with pytest.raises(BackendError, match=r"compute capability 7.0 or newer; this one has 5.2"):
        run._gpu_module(registry.KERNELS[0])


def test_the_compilers_message_keeps_the_kernels_own_line():
    text = build._compiler_lines(NINJA_LOG)
    assert '01_naive.cuh(26): error: identifier "flaot" is undefined' in text
    assert "flaot acc" in text
    assert "ninja" not in text


def test_headers_are_part_of_the_key():
    files = [path.name for path in build.included_files(registry.get("sgemm_06_swizzled_a").path)]
    assert files == ["06_swizzled_a.cuh", "epilogue.cuh", "vec.cuh", "host.cuh"]


@needs_nvcc
@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_every_step_compiles_for_hopper_without_spills(spec):
    used = build.resources(spec)
    assert used.shared_bytes == spec.shared_bytes
    assert used.spill_stores_bytes == used.spill_loads_bytes == 0
    assert used.registers * spec.threads <= 65536


@needs_nvcc
def test_a_broken_step_shows_its_line():
    broken = lab.variant("sgemm_01_naive", {"float acc = 0.0f;": "flaot acc = 0.0f;"})
    lines = broken.spec.path.read_text().splitlines()
    number = next(i for i, text in enumerate(lines, 1) if "flaot" in text)
    with pytest.raises(BuildError, match=rf"01_naive.cuh\({number}\): error"):
        build.resources(broken.spec)
