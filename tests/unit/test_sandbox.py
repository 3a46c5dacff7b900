"""The trial of a reader's kernel, with scripts in place of the process that has a GPU."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
import torch

import gemmlab as lab
from gemmlab.core.errors import (
    ArgumentError,
    ContextLostError,
    LaunchError,
    RefusedError,
    TrialError,
)
from gemmlab.gpu import sandbox
from gemmlab.gpu import worker as sandbox_process
from gemmlab.run import kernel as run
from gemmlab.run import sandbox_process as _trial
from gemmlab.steps import registry

SPEC = replace(
    registry.get("sgemm_06_swizzled_a"), label="mine", written_to="/mine.cuh", untrusted=True
)
MINE = run.Kernel(SPEC)

# A child that says it is ready and answers each request by the Python expression in ANSWER.
CHILD = """
import json, os, sys, time
if {ready}: print(json.dumps({{"ready": True}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    with open({log!r}, "a") as log: log.write(json.dumps(request["shape"]) + "\\n")
    {answer}
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Puts a script in the child's place; `child.asked()` are the shapes it was asked for."""
    log = tmp_path / "log"

    def make(answer: str, ready: bool = True) -> None:
        script = tmp_path / "child.py"
        script.write_text(CHILD.format(ready=ready, answer=answer, log=str(log)))
        monkeypatch.setattr(sandbox_process, "COMMAND", (sys.executable, str(script)))

    make.asked = lambda: log.read_text().splitlines() if log.exists() else []
    yield make
    sandbox.end()
    sandbox._passed.clear()
    sandbox._stopped.clear()


def matrices(M=128, N=128, K=16):
    device = SimpleNamespace(index=0, type="cuda")
    shapes = ((M, K), (K, N), (M, N))
    return tuple(
        SimpleNamespace(shape=shape, dtype=torch.float32, device=device, data_ptr=lambda: 0)
        for shape in shapes
    )


def try_first(kernel=MINE, beta=0.0, **sizes):
    sandbox.try_first(kernel, matrices(**sizes), (1.0, beta))


OK = 'print(json.dumps({"ok": True}), flush=True)'


def test_a_small_product_goes_first_and_what_passed_is_not_tried_again(child):
    child(OK)
    try_first(M=1024, N=256, K=512)
    assert child.asked() == ["[128, 128, 64]", "[1024, 256, 512]"]
    try_first(M=1024, N=256, K=512)
    try_first(M=1024, N=256, K=1024)
    assert child.asked()[2:] == ["[1024, 256, 1024]"]
    try_first(M=1024, N=256, K=1024, beta=1.0)
    assert len(child.asked()) == 5  # reading C is another way to fail


def test_the_process_is_the_same_for_the_next_kernel(child):
    child(OK)
    try_first()
    (worker,) = sandbox._worker
    try_first(run.Kernel(replace(SPEC, written_to="/other.cuh")))
    assert sandbox._worker == [worker] and len(child.asked()) == 2


@pytest.mark.parametrize("sizes", [(1, 1, 1), (63, 64, 65), (4096, 100, 1)])
def test_the_small_product_is_one_that_the_step_takes(sizes):
    for multiple in ((1, 1, 1), (128, 128, 16), (32, 64, 96)):
        spec = replace(SPEC, multiple_of=multiple)
        asked = tuple(size * of for size, of in zip(sizes, multiple, strict=True))
        small = sandbox.small_shape(spec, asked)
        assert spec.fits(*small)
        assert all(0 < s <= a for s, a in zip(small, asked, strict=True))


def test_a_kernel_that_does_not_end_is_stopped(child, monkeypatch):
    monkeypatch.setenv("GEMMLAB_TRIAL_S", "0.5")
    child("time.sleep(60)")
    sandbox.warm()
    process = sandbox._worker[0]._process
    start = time.monotonic()
    with pytest.raises(
        TrialError, match=r"mine: M=128 N=128 K=16, still running after 0\.5 s: an endless loop, or"
    ) as error:
        try_first()
    assert time.monotonic() - start < 10
    assert process.returncode == -signal.SIGKILL
    assert "notebook is unharmed; lab.trace(mine) on the simulator names" in str(error.value)
    with pytest.raises(TrialError, match="It is not tried again before its cell is run again"):
        try_first(M=256)
    assert len(child.asked()) == 1
    child(OK)
    sandbox.forget(SPEC)
    try_first()


def test_a_lost_context_is_the_childs_alone(child):
    stopped = "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
    child(f'print(json.dumps({{"stopped": {stopped!r}}}), flush=True)')
    with pytest.raises(TrialError) as error, sandbox.context_watch():
        try_first()
    text = str(error.value)
    assert f"mine: M=128 N=128 K=16, it failed on the GPU: {stopped}. It ran in a" in text
    assert "restart" not in text.lower()
    assert not sandbox._worker  # the next kernel gets a process with a context


@pytest.mark.parametrize(("early", "error"), [(True, RefusedError), (False, LaunchError)])
def test_a_refused_launch_is_no_crash(child, early, error):
    said = "mine: launch failed, too many resources"
    child(f'print(json.dumps({{"refused": {said!r}, "early": {early}}}), flush=True)')
    with pytest.raises(LaunchError) as raised:
        try_first()
    assert type(raised.value) is error and str(raised.value) == said
    assert sandbox._worker and not sandbox._stopped


def test_without_memory_for_a_second_set_the_small_product_will_do(child):
    child('print(json.dumps({"short": request["shape"][0] > 128} | {"ok": True}), flush=True)')
    try_first(M=1024)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("os.abort()", "the process ended: SIGABRT. It ran in a process of its own"),
        ("raise SystemExit('no such thing')", "the process ended: no such thing"),
        ("sys.exit(3)", "the process ended: exit status 3"),
        ("print('rubbish', flush=True)", "gave an answer that is none"),
        ("print([1], flush=True)", "gave an answer that is none"),
        (r"sys.stdout.buffer.write(b'\xff\n'); sys.stdout.flush()", "an answer that is none"),
    ],
)
def test_a_process_that_goes_wrong(child, answer, message):
    child(answer)
    with pytest.raises(TrialError, match=message):
        try_first()
    assert not sandbox._worker


def test_an_answer_in_pieces(child):
    child("""for part in json.dumps({"ok": True}) + "\\n": print(part, end="", flush=True)""")
    try_first()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('no GPU')", "could not be tried .* ended: no GPU.*TRIAL_S=0"),
        ('print(\'{"failed": "busy"}\')', r"could not be tried in a process of its own \(busy\)"),
        ("import time; time.sleep(60)", r"no answer within 0\.5 s"),
    ],
)
def test_a_process_that_does_not_start_is_no_fault_of_the_kernel(child, monkeypatch, code, message):
    monkeypatch.setattr(sandbox_process, "COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr(sandbox_process, "START_SECONDS", 0.5 if "sleep" in code else 30)
    monkeypatch.setattr(sandbox, "START_SECONDS", 0.5)
    with pytest.raises(TrialError, match=message):
        try_first()
    assert not sandbox._worker and not sandbox._stopped


def test_ctrl_c_ends_the_trial_and_says_nothing_of_the_kernel(child):
    child("time.sleep(60)")
    sandbox.warm()
    process = sandbox._worker[0]._process
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        try_first()
    assert process.returncode is not None
    assert not sandbox._stopped and not sandbox._worker


def test_the_process_has_a_session_of_its_own(child):
    child(OK)
    try_first()
    assert os.getsid(sandbox._worker[0]._process.pid) != os.getsid(0)


def test_no_trial_if_none_is_wanted(child, monkeypatch):
    child(OK)
    monkeypatch.setenv("GEMMLAB_TRIAL_S", "0")
    try_first()
    assert not child.asked() and not sandbox._worker
    for text in ("soon", "-1", "nan"):
        monkeypatch.setenv("GEMMLAB_TRIAL_S", text)
        with pytest.raises(ArgumentError, match="GEMMLAB_TRIAL_S: is"):
            try_first()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_real_process_says_what_it_lacks():
    with pytest.raises(TrialError, match=r"could not be tried in a process of its own \(.*CUDA"):
        try_first()
    sandbox.end()


def test_a_spec_survives_the_way_to_the_process():
    sent = json.loads(json.dumps(asdict(replace(SPEC, configs=("a", "b")))))
    assert _trial.spec_of(sent) == replace(SPEC, configs=("a", "b"), untrusted=False)
    half = registry.get("hgemm_17_stages")
    assert _trial.spec_of(json.loads(json.dumps(asdict(half)))) == half


# ---- the gate ----


@pytest.fixture
def launches(monkeypatch):
    """Kernels "launched on the GPU", with nothing behind them."""
    calls = []
    module = SimpleNamespace(launch=lambda *args: calls.append(args), error_string=str)
    monkeypatch.setattr(run, "_gpu_module", lambda spec, precision: module)
    monkeypatch.setattr(run.operands, "prepare", lambda *args: args[-1])
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=0))
    return calls


def test_a_readers_kernel_is_tried_before_it_is_launched(child, launches):
    child("os.abort()")
    with pytest.raises(TrialError):
        MINE.launcher(*matrices())
    assert not launches
    child(OK)
    sandbox.forget(SPEC)
    MINE.launcher(*matrices())()
    assert len(launches) == 1


def test_a_variant_of_a_readers_kernel_is_tried_too(child, launches, tmp_path):
    child("os.abort()")
    file = tmp_path / "mine.cuh"
    file.write_text(registry.get("sgemm_06_swizzled_a").path.read_text())
    mine = run.Kernel(replace(SPEC, written_to=str(file), parent="sgemm_06_swizzled_a"))
    changed = lab.variant(mine, {"BK = 16": "BK = 8"})
    with pytest.raises(TrialError):
        changed.launcher(*matrices())
    assert changed.spec.parent == "sgemm_06_swizzled_a"


def test_the_courses_own_kernels_are_not_tried(child, launches):
    child("os.abort()")
    lab.kernel("sgemm_06_swizzled_a").launcher(*matrices())()
    assert len(launches) == 1 and not child.asked()


@pytest.mark.parametrize(
    "error",
    [
        torch.AcceleratorError("CUDA error: misaligned address\nCUDA kernel errors might be ..."),
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        LaunchError("mine: launch failed, unspecified launch failure"),
    ],
)
def test_a_lost_context_is_said_to_be_lost(error):
    with pytest.raises(ContextLostError) as raised, sandbox.context_watch():
        raise error
    text = str(raised.value)
    assert text.startswith(str(error).splitlines()[0] + ". The CUDA context of this notebook is")
    assert "Kernel > Restart" in text and "what is on disk is safe" in text


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: invalid argument"), RefusedError("too large"), OSError("x")]
)
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as raised, sandbox.context_watch():
        raise error
    assert raised.value is error
