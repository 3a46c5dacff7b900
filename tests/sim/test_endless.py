"""Loops without end, and Ctrl-C: a run stops, says where it was, and leaves the process usable."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import ArgumentError, LaunchError
from gemmlab.steps import registry


def matrices(size=128):
    return np.zeros(size, np.float32), np.zeros(size, np.float32)


KERNELS = ("poll", "count", "one_lane", "together", "apart", "halves")
ENDLESS = ("count", "one_lane", "apart")


@pytest.fixture
def short_budget(monkeypatch):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.3")


def run(module, traced: bool, *problem) -> list[str]:
    """Kinds and lines of what stopped it."""
    A, C = matrices()
    if traced:
        return [str(finding) for finding in module.trace(A, A, C, *problem).findings]
    with pytest.raises(LaunchError) as caught:
        module.launch(A, A, C, *problem)
    return str(caught.value).splitlines()[1:]


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_given_up(kernel_file, short_budget, name, traced, portable):
    fixture = kernel_file("endless")
    module = fixture.module("endless", portable)
    (found,) = run(module, traced, KERNELS.index(name), 4, 1)
    line = fixture.lines[name]
    assert found.startswith(f"tests/sim/fixtures/endless.cu:{line}: endless-loop: Thread ")
    assert f"is in a loop without end at line {line}: for 0.3 s no thread" in found
    A, C = matrices()
    A[0] = 1.0
    module.launch(A, A, C, 0, 1, 1)
    assert C[0] == 2.0


@pytest.mark.parametrize(
    ("name", "traced", "kind"),
    [
        ("poll", False, "deadlock"),
        ("poll", True, "deadlock"),
        ("together", False, "endless-loop"),  # plain reads are not seen
        ("together", True, "deadlock"),
        ("halves", False, "deadlock"),
        ("halves", True, "deadlock"),
    ],
)
def test_polling_what_nobody_writes(kernel_file, short_budget, name, traced, kind):
    fixture = kernel_file("endless")
    (found,) = run(fixture.module("endless"), traced, KERNELS.index(name), 4, 1)
    assert found.startswith(f"tests/sim/fixtures/endless.cu:{fixture.lines[name]}: {kind}: ")
    if kind == "deadlock":
        memory = "shared" if name == "halves" else "global"
        assert f"waits in a loop that polls {memory} memory" in found


def test_headway_is_no_endless_loop(kernel_file, monkeypatch):
    """The whole takes longer than the budget, but threads return one after the other."""
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.5")
    A, B, C = sim.integer_matrices(256, 512, 512)
    start = time.monotonic()
    trace = sim.compile_step(registry.get("sgemm_01_naive")).trace(
        A, B, C, 256, 512, 512, threads=1
    )
    assert time.monotonic() - start > 0.5
    assert trace.findings == ()
    assert np.array_equal(C, A @ B)


@pytest.mark.parametrize("text", ["no", "-1", "0", "nan", "inf"])
def test_a_wrong_budget(kernel_file, monkeypatch, text):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", text)
    A, C = matrices()
    with pytest.raises(ArgumentError, match=r"GEMMLAB_SIM_BUDGET_S: is .*, expected seconds"):
        kernel_file("grid").module("grid").launch(A, A, C, 1, 1, 1)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_stops_a_run(kernel_file, ctrl_c, monkeypatch, name, traced):
    fixture = kernel_file("endless")
    module = fixture.module("endless")
    A, C = matrices()
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "60")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()

    def interrupted():
        timer.start()
        (module.trace if traced else module.launch)(A, A, C, KERNELS.index(name), 4, 1)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 30
    timer.join()
    A[0] = 1.0
    assert module.trace(A, A, C, 0, 1, 1).findings == ()
    assert C[0] == 2.0


def test_signal_handlers_are_ours_only_while_a_launch_runs(kernel_file):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGURG)
    A, C = matrices()
    kernel_file("stops").module("kernel").launch(A, A, C, 0, 32, 1)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGURG)) == before
    os.kill(os.getpid(), signal.SIGURG)  # ignored, as it was before
