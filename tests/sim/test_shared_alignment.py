"""__shared__ arrays begin where they have declared to, and at no better place."""

from __future__ import annotations

import time

import numpy as np
import pytest
from step_cases import StepCase

from gemmlab import sim
from gemmlab.core.precision import PRECISIONS
from gemmlab.sim import build
from gemmlab.sim.alignment import dynamic_alignment
from gemmlab.steps import registry
from gemmlab.steps.text import included_files

LOAD = "tma_01_load"
PATTERN = 1024  # bytes of the pattern of a 128-byte swizzle


@pytest.mark.parametrize(
    ("declaration", "alignment"),
    [
        ("extern __shared__ unsigned char smem[];", 16),
        ("extern __shared__ __align__(8) unsigned char smem[];", 16),
        ("extern __shared__ __align__(128) unsigned char smem[];", 128),
        ("extern __shared__ alignas(2 * 64) float4 smem[];", 128),
        ("alignas(256) extern __shared__ float smem[];", 256),
        ("extern __shared__ float smem[] __attribute__((aligned(512)));", 512),
        ("extern __shared__ __align__(128)  // __align__(1024)\n  float smem[];", 128),
        ("extern __shared__ alignas(Tile) unsigned char smem[];", 1024),
        ("extern __shared__ __align__(0) unsigned char smem[];", 1024),
        ("__shared__ __align__(1024) float sA[32]; extern __shared__ float smem[];", 16),
        ("extern __shared__ __align__(32) char smem[]; extern __shared__ float smem[];", 32),
    ],
)
def test_what_a_declaration_asks_for(declaration, alignment):
    assert dynamic_alignment([declaration]) == alignment


@pytest.mark.parametrize("name", ["hgemm_17_stages", LOAD])
def test_the_dynamic_array_is_aligned_as_declared_and_no_better(name):
    program = registry.program(name)
    asked = dynamic_alignment(f.read_text() for f in included_files(program.source.path))
    built = build.kernel(program.source.path, program.launch("bf16"))
    start = built.table.dynamic_offset
    assert start % asked == 0 and start % (2 * asked) == asked


def test_a_swizzle_needs_its_pattern_aligned():
    """The engine swizzles by address, the kernel by the place in its dynamic array."""
    case = StepCase(registry.program(LOAD), PRECISIONS["bf16"])
    trace, right = case.traced((128, 128, 72))
    assert right and trace.findings == ()
    _, right = case.traced((128, 128, 72), {f"__align__({PATTERN})": "__align__(128)"})
    assert not right


def test_a_pattern_in_a_static_array_is_not_aligned_by_luck():
    """Descriptors of tiles whose declaration lets their patterns begin anywhere."""
    path, launch = "tests/sim/fixtures/gemm_wgmma_registers.cu", "launch_f16"
    A, B, C = sim.integer_matrices(64, 64, 64, types=PRECISIONS["fp16_fp32"])
    declared = "__align__(PATTERN_BYTES)"
    for changes, kinds in ((None, set()), ({declared: "__align__(128)"}, {"bad-descriptor"})):
        module = sim.compile_source(path, launch, changes=changes)
        findings = module.trace(A, B, C, 64, 64, 64).findings
        assert {finding.kind for finding in findings} == kinds


def test_a_box_in_a_static_array_is_not_aligned_by_luck():
    """The first row of a box is as it was in memory only where a pattern begins with it."""
    path, launch = "tests/sim/fixtures/tma_copy.cu", "launch_half"
    A, shape = np.arange(1, 32 * 64 + 1, dtype=np.float16).reshape(32, 64), (32, 64)
    box = 3 | 128 // 16 << 2 | 32 - 1 << 6  # 32 rows of 128 bytes, in the 128-byte swizzle
    for alignment, kept in ((PATTERN, True), (128, False)):
        changes = {f"__align__({PATTERN})": f"__align__({alignment})"}
        module = sim.compile_source(path, launch, changes=changes)
        C = np.zeros(36 * 1024 + A.nbytes, np.uint8)
        assert module.trace(A, A, C, *shape, box, 0.0, 0.0).findings == ()
        assert np.array_equal(C[: A[0].nbytes], A[0].view(np.uint8)) == kept
        np.testing.assert_array_equal(C[36 * 1024 :].view(np.float16).reshape(shape), A)


def test_a_long_text_without_declarations_takes_no_time():
    text = "int twice(int value) , " * 3000
    start = time.process_time()
    assert dynamic_alignment([text + "{} extern __shared__ __align__(64) char smem[];"]) == 64
    assert time.process_time() - start < 1
