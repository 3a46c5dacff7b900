"""Kernels that are not the course's own run in a process of its own, which comes and goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import needs
import numpy as np
import pytest

import gemmlab as lab
from gemmlab import sim
from gemmlab.core.errors import ArgumentError, LaunchError, SlowRunError
from gemmlab.sim import apart, limits
from gemmlab.sim.trace import Trace

pytestmark = needs.gxx
STEP = "sgemm_03_block_tiling"


def matrices(M=64, N=64, K=32):
    return sim.integer_matrices(M, N, K)


@pytest.fixture(scope="module")
def mine():
    """A copy of a step, which is the same but for a comment."""
    text = lab.kernel(STEP).source.path.read_text()
    first = text.splitlines()[0]
    return lab.variant(STEP, {first: first + " "})


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_it_finds_counts_and_computes_what_a_run_here_does(mine):
    here, there = sim.compile_step(STEP), sim.compile_step(mine)
    assert type(here) is not type(there)
    results, traces = [], []
    for module in (here, there):
        A, B, C = matrices()
        traces.append(module.trace(A, B, C, 64, 64, 32))
        results.append(C)
    assert np.array_equal(*results) and np.array_equal(results[0], A @ B)
    ours, theirs = traces
    assert theirs.totals() == ours.totals() and theirs.launches == ours.launches
    assert theirs.samples and [s.elements for s in theirs.samples] == [
        s.elements for s in ours.samples
    ]
    assert Trace.from_plain(theirs.plain()) == theirs


def test_matrices_that_begin_anywhere():
    """A view begins there where it does here."""
    step = "sgemm_20_any_shape"
    text = lab.kernel(step).source.path.read_text().splitlines()[0]
    module = sim.compile_step(lab.variant(step, {text: text + " "}))
    A, B, C = matrices(33, 17, 19)
    views = [np.zeros(m.size + 3, np.float32)[3:].reshape(m.shape) for m in (A, B, C)]
    for view, matrix in zip(views, (A, B, C), strict=True):
        view[...] = matrix
    module.launch(*views, 33, 17, 19)
    assert np.array_equal(views[2], A @ B)


def test_numbers_of_numpy_arrive(mine):
    A, B, C = matrices()
    sizes, alpha = np.array((64, 64, 32)), np.float32(0.5)
    how = {"order": np.int64(1), "allow_slow": np.True_, "threads": np.int32(2)}
    sim.compile_step(mine).launch(A, B, C, *sizes, alpha, np.int8(0), **how)
    assert np.array_equal(C, (A @ B) / 2)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"order": -1}, "order: got -1, allowed is an integer from 0 to"),
        ({"threads": 0}, "threads: got 0, allowed is an integer from 1 to"),
        ({"allow_slow": 1}, "allow_slow: got 1, expected True or False"),
    ],
)
def test_a_launch_refuses_what_a_trace_does(mine, how, says):
    for run in (sim.compile_step(mine).launch, sim.compile_step(STEP).trace):
        with pytest.raises(ArgumentError, match=says):
            run(*matrices(), 64, 64, 32, **how)


def test_errors_come_back_as_they_are(mine, monkeypatch):
    module = sim.compile_step(mine)
    A, B, C = matrices()
    C.flags.writeable = False
    with pytest.raises(ArgumentError, match=r"C: is read-only"):
        module.launch(A, B, C, 64, 64, 32)
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "no")
    with pytest.raises(ArgumentError, match="GEMMLAB_SIM_BUDGET_S"):
        module.launch(A, B, matrices()[2], 64, 64, 32)


def test_the_same_process_serves_a_kernel_and_another_one_the_next(mine):
    A, B, C = matrices()
    module = sim.compile_step(mine)
    module.launch(A, B, C, 64, 64, 32)
    worker, first = apart.PROCESS._worker, apart.PROCESS._pid
    module.launch(A, B, C, 64, 64, 32)
    assert apart.PROCESS._pid == first and alive(first)
    file = sim.compile_source("tests/sim/fixtures/language.cu", "launch_language", apart=True)
    file.launch(A, B, C, 1, 1, 3)
    assert apart.PROCESS._worker is worker and apart.PROCESS._pid != first and not alive(first)


def test_a_process_that_ended_while_it_was_idle_is_replaced(mine):
    """As by the system, which takes its memory first."""
    module = sim.compile_step(mine)
    file = sim.compile_source("tests/sim/fixtures/language.cu", "launch_language", apart=True)
    for _ in range(2):
        A, B, C = matrices()
        module.launch(A, B, C, 64, 64, 32)
        assert np.array_equal(C, A @ B)
        os.kill(pid := apart.PROCESS._pid, signal.SIGKILL)
        while alive(pid):
            time.sleep(0.01)
        C[...] = 0
        module.launch(A, B, C, 64, 64, 32)
        assert np.array_equal(C, A @ B)
        file.launch(A, B, C, 1, 1, 3)


@pytest.fixture
def endless():
    """A module whose kernel is in a loop without end if M is 1."""
    return sim.compile_source("tests/sim/fixtures/endless.cu", "launch_endless", apart=True)


def test_ctrl_c_ends_the_process_and_nothing_else(endless, ctrl_c):
    A, C = np.zeros(128, np.float32), np.zeros(128, np.float32)
    A[0] = 1.0
    endless.launch(A, A, C, 0, 1, 1)
    A[0], pid = 0.0, apart.PROCESS._pid
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.launch(A, A, C, 1, 4, 1)
    timer.join()
    assert not alive(pid)
    A[0] = 1.0
    endless.launch(A, A, C, 0, 1, 1)
    assert C[0] == 2.0


@pytest.mark.parametrize(
    ("who", "sent", "says"),
    [
        ("copy", signal.SIGSTOP, r"for 3 s it has said nothing\. It was stopped by a signal; look"),
        ("both", signal.SIGKILL, r"copied from has ended \(SIGKILL\)\. Look for kill\(\) in"),
        ("copy", signal.SIGTERM, r"was ended by SIGTERM"),
        ("copy", signal.SIGKILL, r"was ended by SIGKILL, which nothing here has sent: look for"),
    ],
)
def test_of_a_process_that_gives_no_answer_it_says_what_is_known(
    endless, monkeypatch, who, sent, says
):
    """Not that memory is damaged: of that nothing is known."""
    A, C = np.zeros(128, np.float32), np.zeros(128, np.float32)
    A[0] = 1.0
    endless.launch(A, A, C, 0, 1, 1)
    A[0], copy = 0.0, apart.PROCESS._pid
    pids = [copy] if who == "copy" else [apart.PROCESS._worker._process.pid, copy]
    timer = threading.Timer(0.4, lambda: [os.kill(pid, sent) for pid in pids])
    timer.start()
    with monkeypatch.context() as now:
        now.setattr(apart, "_SILENCE", 3.0)
        with pytest.raises(LaunchError, match=says) as caught:
            endless.launch(A, A, C, 1, 4, 1)
    timer.join()
    assert "damaged" not in str(caught.value)
    A[0] = 1.0
    endless.launch(A, A, C, 0, 1, 1)
    assert C[0] == 2.0


def test_an_endless_loop_is_not_called_slow(endless, monkeypatch):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "3")  # an estimate would come after 2 s
    A, C = np.zeros(128, np.float32), np.zeros(128, np.float32)
    start = time.monotonic()
    with pytest.raises(LaunchError, match="endless-loop") as caught:
        endless.launch(A, A, C, 1, 4000, 1)
    assert not isinstance(caught.value, SlowRunError) and time.monotonic() - start < 30


def test_check_keeps_what_it_found_before_an_endless_loop(monkeypatch):
    """The loop is one at the deep products only: those before it have been right."""
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.5")
    text = lab.kernel("sgemm_01_naive").source.path.read_text()
    line = next(line for line in text.splitlines() if "for (int k" in line)
    loop = "for (volatile int z = 0; K > 40 && !z;) z = 0;"
    broken = lab.variant("sgemm_01_naive", {line: loop + line})
    report = lab.check(broken, [(4, 4, 4), (4, 4, 64)], "cpu")
    assert not report.ok and "endless-loop" in repr(report)
    *right, last = report.cases
    assert right and not any(case.problem for case in right) and last.problem


SCRIPT = """
import numpy as np
from gemmlab import sim
from gemmlab.sim import apart
module = sim.compile_source("tests/sim/fixtures/endless.cu", "launch_endless", apart=True)
A, C = np.zeros(128, np.float32), np.zeros(128, np.float32)
A[0] = 1.0
module.launch(A, A, C, 0, 1, 1)
print(apart.PROCESS._pid, apart.PROCESS._worker._process.pid, flush=True)
A[0] = 0.0
module.launch(A, A, C, 1, 4, 1)
"""


def test_it_dies_with_the_notebook():
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in child.stdout.readline().split()]
    time.sleep(0.3)
    assert all(map(alive, pids))
    child.kill()
    child.wait()
    end = time.monotonic() + 10
    while any(map(alive, pids)):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_progress_of_a_run_there_is_shown(mine, monkeypatch):
    seen = []
    monkeypatch.setattr(limits.Bar, "__call__", lambda self, done, blocks: seen.append(blocks))
    A, B, C = matrices(512, 512, 64)
    sim.compile_step(mine).trace(A, B, C, 512, 512, 64)
    assert seen and seen[-1] > 1
