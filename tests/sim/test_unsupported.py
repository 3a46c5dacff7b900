"""CUDA that the simulator does not have is named, with the line and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import BuildError
from gemmlab.core.paths import repository_root
from gemmlab.sim.unsupported import explain

HOST = repository_root() / "kernels" / "common" / "launch" / "host.cuh"
LAUNCH = """
cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {
  return launch(kernel, 1, 32, 0, stream, (float*)g.C);
}
"""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            'unsigned r;\n  asm volatile("fns.b32 %0, 7, 0, 1;" : "=r"(r));',
            r"mine\.cuh:4: fns\.b32 is PTX that the simulator does not execute.*smem\.cuh",
        ),
        (
            '/* asm("x;") */ asm("{ .reg .pred p;\\n"\n "  @p bar.red.popc.u32 %0, 1;}" ::);',
            r"mine\.cuh:3: bar\.red\.popc\.u32 is PTX",
        ),
        (
            "out[0] = __usad(1, 2, 3);",
            r"mine\.cuh:3: the simulator has no __usad; write it with what it has",
        ),
        ("cudaGridDependencySynchronize();", r"mine\.cuh:3: the simulator has no cudaGridDep"),
        ("out[threadIdx.x] = 1;\n#include <cufft.h>", r"no header cufft"),
        ("out[0] = mispelt;", r"could not compile it\n.*'mispelt' was not declared"),
    ],
)
def test_what_is_not_supported_is_named(tmp_path, body, says):
    path = tmp_path / "mine.cuh"
    text = f'#include "{HOST}"\n__global__ void kernel(float* out) {{\n  {body}\n}}\n{LAUNCH}'
    path.write_text(text)
    with pytest.raises(BuildError, match=rf"(?s){says}"):
        sim.compile_source(path, "launch_it")


def test_a_launch_by_three_brackets_is_named(tmp_path):
    path = tmp_path / "mine.cuh"
    path.write_text(
        f'#include "{HOST}"\n__global__ void kernel(float* out) {{ *out = 1; }}\n'
        "cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {\n"
        "  kernel<<<1, 32, 0, stream>>>((float*)g.C);\n  return cudaGetLastError();\n}\n"
    )
    with pytest.raises(BuildError, match=r"mine\.cuh:4: kernel<<<\.\.\.>>> is a syntax"):
        sim.compile_source(path, "launch_it")


def test_an_empty_asm_is_none_of_its_business(tmp_path):
    path = tmp_path / "mine.cuh"
    body = '  *out = 1.0f;  // asm("nanosleep.u32 20;")\n  asm volatile("" ::: "memory");\n'
    path.write_text(f'#include "{HOST}"\n__global__ void kernel(float* out) {{\n{body}}}\n{LAUNCH}')
    C = np.zeros(32, np.float32)
    sim.compile_source(path, "launch_it").launch(C, C, C, 1, 1, 1)
    assert C[0] == 1.0


@pytest.mark.parametrize("named", ["kernels/common/launch/host.cuh", "common/launch/host.cuh"])
def test_a_header_of_the_course_is_named_as_a_step_includes_it(named):
    log = f"mine.cuh:1:10: fatal error: {named}: No such file or directory"
    assert explain(log).endswith('write #include "../common/launch/host.cuh"\n')
    other = explain("mine.cuh:1:10: fatal error: cub/cub.cuh: No such file or directory")
    assert "the simulator has no header cub/cub.cuh" in other
