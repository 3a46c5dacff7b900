"""Readers' kernels on a GPU: what fails does so in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import torch

import gemmlab as lab
from gemmlab.core.errors import BuildError, LaunchError, TrialError
from gemmlab.notebook.cell import make as compiled
from gemmlab.run.kernel import SANDBOX
from gemmlab.steps import registry

pytestmark = pytest.mark.gpu

LIKE = "sgemm_06_swizzled_a"
LOAD = """\
// [load]
for (int i = 0; i < BM; i += 64) {{
  const float4 a = load4({address});
  sA[a_col + 0][swizzle(a_col + 0, a_row + i)] = a.x;
  sA[a_col + 1][swizzle(a_col + 1, a_row + i)] = a.y;
  sA[a_col + 2][swizzle(a_col + 2, a_row + i)] = a.z;
  sA[a_col + 3][swizzle(a_col + 3, a_row + i)] = a.w;
}}
for (int i = 0; i < BK; i += 8) store4(&sB[b_row + i][b_col], load4(gB + (size_t)i * N));
{more}
__syncthreads();
// [/load]
"""
GOOD = LOAD.format(address="gA + (size_t)i * K", more="")
ILLEGAL = LOAD.format(address="gA + (size_t)i * K * 100000000", more="")
MISALIGNED = LOAD.format(address="gA + (size_t)i * K + 1", more="")
# A loop that the compiler cannot leave out: it reads memory each time.
ENDLESS = "while (*(volatile const float*)gA == *(volatile const float*)gA) {}"
HANGS = LOAD.format(address="gA + (size_t)i * K", more=ENDLESS)
GREEDY = LOAD.format(
    address="gA + (size_t)i * K",
    more="__shared__ volatile float big[80000];\nbig[tid * 312] = sB[0][tid % BN];",
)


def make(body: str, like: str | None = LIKE):
    return compiled("mine", body, like and registry.get(like), {}).kernel


@pytest.fixture(autouse=True)
def unharmed():
    """Whatever a test does, this process can use the GPU afterwards."""
    yield
    A, B = lab.matrices(128, 128, 16, device="cuda")
    torch.testing.assert_close(lab.kernel(LIKE)(A, B), A @ B, atol=1e-4, rtol=1e-4)
    torch.cuda.synchronize()


def test_a_good_kernel_is_right_and_tried_once_a_shape():
    built = compiled("mine", GOOD, registry.get(LIKE), {})
    mine = built.kernel
    assert built.backend == "gpu" and built.resources.registers > 32
    assert lab.check(mine, device="cuda").ok
    A, B = lab.matrices(1024, 1024, 1024, device="cuda")
    mine(A, B)
    before = len(SANDBOX._passed)
    start = time.perf_counter()
    for _ in range(20):
        mine(A, B)
    torch.cuda.synchronize()
    assert len(SANDBOX._passed) == before
    assert time.perf_counter() - start < 0.1


def test_the_trial_is_quick_once_its_process_runs():
    mine = make(GOOD)
    mine(*lab.matrices(128, 128, 16, device="cuda"))
    start = time.perf_counter()
    for K in range(32, 320, 16):
        mine(*lab.matrices(256, 128, K, device="cuda"))
    assert time.perf_counter() - start < 5
    assert SANDBOX._worker is not None


def test_a_good_kernel_is_benchmarked_and_judged():
    mine = make(GOOD)
    rows = lab.bench([mine, LIKE], sizes=[1024])
    assert rows.source == "live" and rows.row("mine").tflops > 0
    assert lab.exercises.judge(mine, conflicts=0, faster_than="sgemm_01_naive").solved
    verdict = lab.exercises.judge(mine, faster_than=LIKE, by=3.0)
    assert not verdict.solved and "3 times is required" in verdict.message


def test_a_kernel_that_hangs_is_stopped(monkeypatch):
    monkeypatch.setenv("GEMMLAB_TRIAL_S", "3")
    mine = make(HANGS)
    matrices = lab.matrices(256, 256, 64, device="cuda")
    start = time.perf_counter()
    with pytest.raises(TrialError, match="still running after 3 s: an endless loop"):
        mine(*matrices)
    assert time.perf_counter() - start < 30
    start = time.perf_counter()
    report = lab.check(mine, device="cuda")
    assert not report.ok and "still running" in repr(report)
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("body", "name"),
    [(ILLEGAL, "CUDA_ERROR_ILLEGAL_ADDRESS"), (MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS")],
)
def test_a_kernel_that_leaves_its_matrices_is_stopped(body, name):
    mine = make(body)
    with pytest.raises(
        TrialError, match=rf"mine: M=128 N=128 K=64, it failed on the GPU: .*{name}"
    ):
        mine(*lab.matrices(256, 256, 64, device="cuda"))
    verdict = lab.exercises.judge(mine)
    assert not verdict.solved and "line 4 of the cell" in repr(verdict)


def test_a_kernel_that_prints_does_not_disturb_its_trial(capfd):
    text = registry.get(LIKE).path.read_text().replace(LIKE, "mine")
    said = '    if (tid == 0) printf("{\\"failed\\": 1}\\n");'
    text = text.replace("    // [dot]\n", f"    // [dot]\n{said}\n", 1)
    mine = make("#include <cstdio>\n" + text)
    mine(*lab.matrices(128, 128, 16, device="cuda"))
    torch.cuda.synchronize()
    assert capfd.readouterr().out == '{"failed": 1}\n'  # of the launch here, not of the trials


def whole(old: str, new: str) -> str:
    """A step as a cell of its own, with a change."""
    text = registry.get("sgemm_02_coalesced").path.read_text()
    assert old in text
    return text.replace("sgemm_02_coalesced", "mine").replace(old, new)


def test_too_much_dynamic_shared_memory_is_refused():
    mine = make(whole("0, stream", "300 * 1024, stream"), like=None)
    with pytest.raises(LaunchError, match="mine: launch failed, invalid argument") as error:
        mine(*lab.matrices(64, 64, 64, device="cuda"))
    assert not isinstance(error.value, TrialError)


def test_too_much_static_shared_memory_shows_at_the_cell():
    with pytest.raises(BuildError, match=r"ptxas: .*too much shared data"):
        make(GREEDY)


def test_a_launch_function_that_crashes_ends_the_other_process():
    text = whole("  return launch(", "  *(volatile int*)8 = 1;\n  return launch(")
    with pytest.raises(TrialError, match="the process ended: SIGSEGV"):
        make(text, like=None)(*lab.matrices(64, 64, 64, device="cuda"))


LOSES = """
import gemmlab as lab
from gemmlab.notebook.cell import make
mine = make("mine", {body!r}, lab.registry.get({like!r}), {{}}).kernel
pair = lab.matrices(256, 256, 64, device="cuda")
for run in (lambda: mine(*pair), lambda: lab.check({like!r})):
    try:
        run()
    except Exception as error:
        print(type(error).__name__, "Kernel > Restart" in str(error))
"""


def test_a_context_that_is_lost_all_the_same_is_said_to_be_lost():
    code = LOSES.format(body=ILLEGAL, like=LIKE)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "GEMMLAB_TRIAL_S": "0", "GEMMLAB_PROGRESS": "0"},
    )
    assert done.stdout.splitlines() == ["ContextLostError True"] * 2, done.stderr
