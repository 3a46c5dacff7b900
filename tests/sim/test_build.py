"""Compiling: what is cached, and what is said when it fails."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import ArgumentError, BackendError, BuildError
from gemmlab.core.paths import repository_root
from gemmlab.sim import build
from gemmlab.steps import registry

HOST = repository_root() / "kernels" / "common" / "launch" / "host.cuh"
HEADER = f'#include "{HOST}"\n'
LAUNCH = """
cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {
  return launch(kernel, 1, 32, 0, stream, (float*)g.C);
}
"""


def write(folder, kernel, launch=LAUNCH):
    path = folder / "mine.cuh"
    path.write_text(HEADER + kernel + launch)
    return path


def test_compiled_once(tmp_path):
    path = write(tmp_path, "__global__ void kernel(float* out) { *out = 1.0f; }")
    first = build.kernel(path, "launch_it")
    before = first.library.stat().st_mtime_ns
    again = build.kernel(path, "launch_it")
    assert again == first
    assert again.library.stat().st_mtime_ns == before
    path.write_text(path.read_text().replace("1.0f", "2.0f"))
    assert build.kernel(path, "launch_it").library != first.library
    left = {p.name for p in first.library.parent.glob(f".{first.library.stem}*")}
    assert left == set()


def test_an_included_header_counts(tmp_path):
    (tmp_path / "value.cuh").write_text("constexpr float VALUE = 1.0f;\n")
    text = '#include "value.cuh"\n__global__ void kernel(float* out) { *out = VALUE; }'
    path = write(tmp_path, text)
    out = np.zeros(1, np.float32)
    sim.compile_source(path, "launch_it").launch(out, out, out, 1, 1, 1)
    assert out[0] == 1.0
    (tmp_path / "value.cuh").write_text("constexpr float VALUE = 2.0f;\n")
    sim.compile_source(path, "launch_it").launch(out, out, out, 1, 1, 1)
    assert out[0] == 2.0


def test_two_checkouts_that_share_a_cache_have_libraries_of_their_own(monkeypatch, tmp_path):
    """What a header does counts for the line that includes it: headers are known by their place."""
    path = write(tmp_path, "__global__ void kernel(float* out) { *out = 1.0f; }")
    one = build.kernel(path, "launch_it").library.stem, build.prelude().stem
    asked = []

    def get(name, kinds, make):
        asked.append(name)
        raise BackendError("it would be compiled")

    library, digest = build.runtime(), build._own_files(build.INCLUDE)
    monkeypatch.setattr(build, "runtime", lambda portable: library)
    monkeypatch.setattr(build, "_own_files", lambda *folders: digest)
    monkeypatch.setattr(build.STORE, "get", get)
    for make in (lambda: build.kernel(path, "launch_it"), build.prelude) * 2:
        with pytest.raises(BackendError, match="would be"):
            make()
        if len(asked) == 2:
            monkeypatch.setattr(build, "INCLUDE", tmp_path / "include")
    assert tuple(asked[:2]) == one
    assert not set(asked[2:]) & set(one)


def test_a_failed_compile_names_the_kernels_line(tmp_path):
    path = write(tmp_path, "__global__ void kernel(float* out) {\n  *out = wrong;\n}")
    with pytest.raises(BuildError, match=r"(?s)mine\.cuh:3:.*wrong.* was not declared"):
        sim.compile_source(path, "launch_it")


def test_a_missing_launcher(tmp_path):
    path = write(tmp_path, "__global__ void kernel(float* out) { *out = 1.0f; }")
    with pytest.raises(BuildError, match="launch_other"):
        sim.compile_source(path, "launch_other")


def test_no_compiler(tmp_path, monkeypatch):
    build._compiler_identity.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(BackendError, match=r"g\+\+: not found.*apt install g\+\+"):
            sim.compile_step(registry.get("sgemm_01_naive"))


def test_too_much_static_shared_memory(tmp_path):
    text = """
__global__ void kernel(float* out) {
  __shared__ float s[12289];
  s[threadIdx.x] = 1.0f;
  out[0] = s[threadIdx.x];
}"""
    with pytest.raises(BuildError, match="49156 bytes of static __shared__ arrays, at most 49152"):
        sim.compile_source(write(tmp_path, text), "launch_it")


def test_same_names_in_two_files_are_two_kernels(tmp_path):
    """Templates of one name would share their shared memory if the linker had its way."""
    results = []
    for folder, size in ((tmp_path / "a", 32), (tmp_path / "b", 64)):
        folder.mkdir()
        text = f"""
template <int X> __global__ void kernel_of(float* out) {{
  __shared__ float s[{size}];
  s[threadIdx.x] = {size};
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}}
constexpr auto kernel = kernel_of<0>;"""
        out = np.zeros(32, np.float32)
        trace = sim.compile_source(write(folder, text), "launch_it").trace(out, out, out, 1, 1, 1)
        results.append((out[0], trace.findings, "ld.shared" in trace.totals()))
    assert results == [(32.0, (), True), (64.0, (), True)]


def test_what_a_library_says_about_its_kernels(kernel_file):
    step = registry.get("sgemm_03_block_tiling")
    table = build.kernel(step.path, f"launch_{step.name}").table
    assert [(k.max_threads, k.static_bytes) for k in table.kernels] == [(1024, 2 * 32 * 32 * 4)]
    assert table.plain_order
    assert not build.kernel(kernel_file("shuffles").path, "launch_shuffles").table.plain_order


def test_matrices_must_be_contiguous_arrays():
    module = sim.compile_step(registry.get("sgemm_01_naive"))
    A, B, C = sim.integer_matrices(8, 8, 8)
    with pytest.raises(ArgumentError, match="B: is not contiguous"):
        module.launch(A, B.T, C, 8, 8, 8)
    with pytest.raises(ArgumentError, match="A: got list, expected a NumPy array"):
        module.launch(A.tolist(), B, C, 8, 8, 8)
    C.flags.writeable = False
    with pytest.raises(ArgumentError, match="C: is read-only"):
        module.launch(A, B, C, 8, 8, 8)


def test_matrices_that_do_not_fit():
    module = sim.compile_step(registry.get("sgemm_01_naive"))
    small = np.zeros(1, np.float32)
    big = np.empty(2**29 + 1, np.float32)  # never touched
    with pytest.raises(ArgumentError, match=r"A, B and C take 2 GiB \(A 2 GiB, B 4 bytes, C 4 b"):
        module.launch(big, small, small, 1, 1, 1)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ((2**31, 1, 1), "M: got 2147483648, expected a whole number of 32 bits"),
        ((1, 1.5, 1), "N: got 1.5"),
        ((1, 1, -(2**31) - 1), "K: got -2147483649"),
        ((1, 1, 1, "1"), "alpha: got '1', expected a number"),
        ((1, 1, 1, 1.0, None), "beta: got None"),
    ],
)
def test_a_problem_that_is_none(problem, says):
    module = sim.compile_step(registry.get("sgemm_01_naive"))
    A, B, C = sim.integer_matrices(1, 1, 1)
    with pytest.raises(ArgumentError, match=re.escape(says)):
        module.launch(A, B, C, *problem)
