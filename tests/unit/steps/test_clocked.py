"""The text of the second build: where a clock is put, and that a step's own text is not touched."""

from __future__ import annotations

import pytest

from gemmlab.gpu import block_clock, build
from gemmlab.steps import registry
from gemmlab.steps.clocked import clocked
from gemmlab.steps.program import Program

LINE = " block_clock_begin"


def test_every_kernel_gets_a_clock_of_its_own_and_nothing_else_does():
    copy = clocked(
        """
template <int N>
__global__ void __launch_bounds__(N * (2 + 1), 1) first(const float* a, int (*f)(int)) { use(a); }
__global__ void later(int n);
// __global__ void gone() { }
__device__ int helper() { return 1; }
__global__ void
second() { if (helper()) { return; } }
"""
    )
    assert copy.kernels == 2
    assert f"int (*f)(int)) {{{LINE}(0); use(a);  block_clock_end(0); }}" in copy.text
    assert f"second() {{{LINE}(1); if (helper()) {{ return; }}  block_clock_end(1); }}" in copy.text
    assert copy.text.count(f"{LINE}(") == 3  # and where it is declared


def test_a_header_stands_in_the_text_once():
    copy = clocked('#include "common/elements/vec.cuh"\n#include "common/elements/vec.cuh"\n')
    assert copy.text.count("float4 load4(") == 1
    assert "#include <cuda_runtime.h>" in copy.text


@pytest.mark.parametrize("name", ["sgemm_16_packed_a", "hgemm_20_any_shape", "tma_06_persistent"])
def test_a_step_has_a_clock_in_each_of_its_kernels_and_its_own_text_has_none(name):
    program = Program(registry.get(name))
    plain = build.texts(program)
    cpp, cuda = block_clock.texts(*plain)
    kernels = cuda.count("__global__")
    assert kernels == cuda.count(f"{LINE}(") - 1 == cuda.count(" block_clock_end(") - 1 >= 1
    assert f"int clocks() {{ return {kernels}; }}" in cuda
    assert 'm.def("clock_into", &clock_into);' in cpp and 'm.def("launch", &launch' in cpp
    assert (
        "block_clock" not in "".join(plain) and "block_clock" not in program.source.path.read_text()
    )
