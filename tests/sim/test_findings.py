"""Each kernel in fixtures/ has one mistake: that is found, and nothing in its fixed twin."""

from __future__ import annotations

import numpy as np
import pytest

import gemmlab as lab
from gemmlab import sim
from gemmlab.core.errors import LaunchError
from gemmlab.core.paths import repository_root
from gemmlab.steps import registry

# name -> kind, marks of the lines, what the message tells to do, stops the kernel.
MISTAKES = {
    "race_missing_barrier": ("race", "here", "there", "put __syncthreads() between them", False),
    "race_loop_barrier": ("race", "here", "there", "at the end of a loop", False),
    "race_write_write": ("race", "there", "here", "elements of its own", False),
    "race_same_line": ("race", "here", "there", "read into a register", False),
    "race_warp": ("race", "here", "there", "put __syncthreads() between them", False),
    "race_other_warp": ("race", "here", "there", "put __syncthreads() between them", False),
    "race_halves": ("race", "here", "there", "elements of its own", False),
    "race_sum": ("race", "here", "there", "read into a register", False),
    "uninitialised": ("uninitialised-read", "here", None, "write it first", False),
    "uninitialised_late": ("uninitialised-read", "here", None, "write it first", False),
    "global_past_end": ("out-of-bounds", "here", None, "4 bytes past the end of A", True),
    "global_before_start": ("out-of-bounds", "here", None, "4 bytes before the start of C", True),
    "shared_index": ("out-of-bounds", "here", None, "index 16 in an array of", True),
    "shared_pointer": ("out-of-bounds", "here", None, "outside of every __shared__", True),
    "shared_dynamic": ("out-of-bounds", "here", None, "outside of every __shared__", True),
    "misaligned_global": ("misaligned", "here", None, "4 past a multiple of 16", True),
    "misaligned_shared": ("misaligned", "here", None, "4 past a multiple of 16", True),
    "misaligned_swizzle": ("misaligned", "here", None, "4 floats or 8 halves move together", True),
    "divergent_return": ("divergent-barrier", "here", None, "32 threads of a block", False),
    "divergent_branch": ("divergent-barrier", "here", "there", "out of the branch", False),
    "divergent_shuffle": ("divergent-collective", "here", "there", "reach the same call", True),
    "inactive_source": ("divergent-collective", "here", None, "let every lane reach", False),
    "not_in_mask": ("divergent-collective", "here", None, "pass 0xffffffff", True),
    "shuffle_width": ("bad-argument", "here", None, "24 as the width; let it be", True),
    "deadlock": ("deadlock", "here", "there", "16 lanes of a warp wait in __syncwarp", True),
    "wild_address": ("out-of-bounds", "here", None, "correct the index", True),
    "stack_overflow": ("stack-overflow", "here", None, "make them smaller", True),
    "division_by_zero": ("division-by-zero", "here", None, "check the divisor", True),
}
# The checks of an untraced run are the barriers, the machine's own and those of array indices.
UNSEEN_UNTRACED = ("global_past_end", "shared_pointer", "shared_dynamic")
UNSEEN_UNTRACED += ("misaligned_global", "misaligned_shared", "misaligned_swizzle")


def matrices():
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


# Those whose way out leads through a switch, a signal or a collective.
PORTABLE = ("deadlock", "wild_address", "stack_overflow", "shared_pointer", "inactive_source")


@pytest.mark.parametrize(
    ("name", "portable"), [*((n, False) for n in MISTAKES), *((n, True) for n in PORTABLE)]
)
def test_the_mistake_is_found(kernel_file, name, portable):
    kind, here, there, advice, fatal = MISTAKES[name]
    fixture = kernel_file(name)
    A, C = matrices()
    trace = fixture.module("broken", portable).trace(A, A, C, 8, 8, 8)
    assert [f.kind for f in trace.findings] == [kind]
    finding = trace.findings[0]
    assert finding.file == f"tests/sim/fixtures/{name}.cu"
    assert finding.line == fixture.lines[here]
    assert finding.other_line == (fixture.lines[there] if there else None)
    assert finding.other_file == (finding.file if there else None)
    assert advice in finding.message
    assert finding.fatal is fatal


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, C = matrices()
    module = kernel_file(name).module("fixed")
    assert module.trace(A, A, C, 8, 8, 8).findings == ()
    module.launch(A, A, C, 8, 8, 8)


@pytest.mark.parametrize(
    "name", [n for n, m in MISTAKES.items() if m[4] and n not in UNSEEN_UNTRACED]
)
def test_an_untraced_run_stops_too(kernel_file, name):
    A, C = matrices()
    with pytest.raises(LaunchError, match=f"{name}.cu:"):
        kernel_file(name).module("broken").launch(A, A, C, 8, 8, 8)


def test_findings_do_not_depend_on_the_number_of_threads(kernel_file):
    A, C = matrices()
    module = kernel_file("race_loop_barrier").module("broken")
    first, second = (module.trace(A, A, C, 8, 8, 8, threads=n) for n in (1, 4))
    assert first.findings == second.findings
    # 64 threads, 3 rounds that overwrite what the round before still reads.
    assert first.findings[0].count == 3 * 64


def test_a_missing_barrier_in_a_real_kernel(tmp_path):
    """Both barriers of the tiled kernel, one after the other: stores of sA and sB, their loads."""
    spec = registry.get("sgemm_05_transposed_a")
    common = repository_root() / "kernels" / "common"
    text = spec.path.read_text().replace('"../common/', f'"{common}/')
    lines = text.splitlines()
    barriers = [i for i, line in enumerate(lines) if "__syncthreads();" in line]
    stores = {i + 1 for i, line in enumerate(lines) if "sA[a_col" in line or "store4(&sB" in line}
    loads = {i + 1 for i, line in enumerate(lines) if "load4(&s" in line and i + 1 not in stores}
    assert len(barriers) == 2
    A, B, C = sim.integer_matrices(128, 128, 32)
    for barrier in barriers:
        broken = [line if i != barrier else "" for i, line in enumerate(lines)]
        path = tmp_path / f"without_{barrier}.cuh"
        path.write_text("\n".join(broken))
        trace = sim.compile_source(path, f"launch_{spec.name}").trace(A, B, C, 128, 128, 32)
        assert {f.kind for f in trace.findings} == {"race"}
        assert {f.line for f in trace.findings} == stores
        assert {f.other_line for f in trace.findings} == loads


def test_an_array_that_is_never_written_is_found():
    """The compiler must not take what no code writes for zeros."""
    store = "    sB[ty][tx] = B[(size_t)(k_tile + ty) * N + col];\n"
    without = lab.variant("sgemm_03_block_tiling", {store: ""})
    findings = sim.trace(without, 64, 64, 64).findings
    assert {finding.kind for finding in findings} == {"uninitialised-read"}
    source = without.source.path.read_text().splitlines()
    reads = {i for i, line in enumerate(source, start=1) if "* sB[k" in line}
    assert len(reads) == 4 and {finding.line for finding in findings} == reads
