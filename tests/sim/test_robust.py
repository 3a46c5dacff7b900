"""Nothing that a kernel or a launcher does ends the process, and the runtime itself is clean."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FUZZ = ("-m", "tools.fuzz.malformed")
# Fibers switch stacks behind the sanitizer's back, so it leaves stacks alone: arrays on them are
# checked by -fsanitize=bounds, which is part of "undefined".
SANITIZED = (
    "-g1 -O0 -fsanitize=address,undefined -fno-sanitize-recover=all --param=asan-stack=0 "
    "-D_GLIBCXX_ASSERTIONS"
)
# Fixture, launcher, M, N, K: blocks that end in every way, and all mechanisms.
SAMPLES = (
    *((name, "broken", 8, 8, 8) for name in ("race_halves", "deadlock", "shared_pointer")),
    *((name, "broken", 8, 8, 8) for name in ("stack_overflow", "division_by_zero")),
    *(("endless", "endless", number, 2, 1) for number in range(5)),
    ("long_loop", "long_loop", 1, 3000, 1),
    ("gemm_cp_async", "gemm_cp_async", 64, 128, 48),
    ("gemm_ldmatrix_mma", "f16", 64, 64, 64),
    ("gemm_tma_pipeline", "gemm_tma_pipeline", 130, 136, 100),
    ("gemm_wgmma", "f16", 64, 128, 128),
    ("cluster_ring", "cluster_ring", 512, 1, 1),
    ("mbarrier_ring", "mbarrier_ring", 7, 32, 32),
    ("bar_ring", "bar_ring", 7, 32, 32),
)
RUN_SAMPLES = """
import numpy as np
from gemmlab import registry, sim

for name, launch, *problem in {samples!r}:
    A, C = np.full(1 << 15, 2, np.float32), np.zeros(1 << 15, np.float32)
    module = sim.compile_source(f"{folder}/{{name}}.cu", f"launch_{{launch}}")
    trace = module.trace(A, A, C, *problem, threads=2)
    print(name, [finding.kind for finding in trace.findings], len(trace.lines))
for name in ("sgemm_01_naive", "sgemm_03_block_tiling", "sgemm_06_swizzled_a"):
    M, N, K = 128, 128, 32
    A, B, C = sim.integer_matrices(M, N, K)
    module = sim.compile_step(registry.get(name))
    module.launch(A, B, C, M, N, K)
    print(name, np.array_equal(C, A @ B), len(module.trace(A, B, C, M, N, K).findings))
"""


def python(*command: str, **environment: str) -> str:
    """What a Python of its own prints; it must end well."""
    settings = {"GEMMLAB_PROGRESS": "0", "GEMMLAB_SIM_BUDGET_S": "1", **environment}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=HERE.parents[1],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def sanitizer() -> dict[str, str]:
    """The environment in which the runtime is built and run with sanitizers."""
    find = ["g++", "-print-file-name=libasan.so"]
    library = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("g++ has no address sanitizer")
    return {
        "GEMMLAB_SIM_FLAGS": SANITIZED,
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
    }


@pytest.mark.slow
def test_malformed_launches_and_random_operations():
    ends = ast.literal_eval(python(*FUZZ, "1", "1500"))
    assert sum(ends.values()) == 1500
    # The kernels do run, and fail in many ways.
    assert len(ends) > 12
    assert ends["out-of-bounds"] > 100 and ends["cudaErrorInvalidValue"] > 100


@pytest.mark.slow
def test_the_runtime_under_sanitizers():
    """The same ends as without them: nothing depends on what lies around in memory."""
    samples = RUN_SAMPLES.format(samples=SAMPLES, folder=HERE / "fixtures")
    environment = sanitizer()
    plain = python("-c", samples)
    assert plain.count("gemm") == 7 and plain.count("True 0") == 3
    assert python("-c", samples, **environment) == plain
    assert python(*FUZZ, "2", "100", **environment) == python(*FUZZ, "2", "100")
