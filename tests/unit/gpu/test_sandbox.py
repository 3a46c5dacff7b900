"""The trial of a reader's kernel, with scripts in place of the process that has a GPU."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import gemmlab as lab
from gemmlab.core import worker
from gemmlab.core.errors import (
    ArgumentError,
    ContextLostError,
    LaunchError,
    RefusedError,
    TrialError,
)
from gemmlab.gpu import sandbox
from gemmlab.gpu.sandbox import Attempt, Sandbox
from gemmlab.run import kernel as run
from gemmlab.run.sandbox_process import handle_of
from gemmlab.steps import registry
from gemmlab.steps.program import Source

LIKE = registry.get("sgemm_06_swizzled_a")
FILE = Path("/mine.cuh")


def written(file: Path = FILE, **changes) -> run.Kernel:
    """A kernel as a cell makes it."""
    source = Source(file, LIKE.name, label="mine", trusted=False)
    return run.Kernel(replace(LIKE, **changes), source)


MINE = written()

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
def box(tmp_path, monkeypatch):
    """The sandbox in use, with a script that `child` writes in the place of its process."""
    made = Sandbox((sys.executable, str(tmp_path / "child.py")))
    monkeypatch.setattr(run, "SANDBOX", made)
    yield made
    made.end()


@pytest.fixture
def child(box, tmp_path):
    """Writes the script; `child.asked()` are the shapes it was asked for."""
    log = tmp_path / "log"

    def make(answer: str, ready: bool = True) -> None:
        text = CHILD.format(ready=ready, answer=answer, log=str(log))
        (tmp_path / "child.py").write_text(text)

    make.asked = lambda: log.read_text().splitlines() if log.exists() else []
    return make


def matrices(M=128, N=128, K=16):
    device = SimpleNamespace(index=0, type="cuda")
    shapes = ((M, K), (K, N), (M, N))
    known = {"device": device, "data_ptr": lambda: 0, "is_contiguous": lambda: True}
    return tuple(SimpleNamespace(shape=shape, dtype=torch.float32, **known) for shape in shapes)


def try_first(box, kernel=MINE, beta=0.0, M=128, N=128, K=16):
    attempt = Attempt(kernel, kernel.title, "", ("float32",) * 3, (1.0, beta), 0)
    box.try_first(attempt, (M, N, K))


OK = 'print(json.dumps({"ok": True}), flush=True)'


def test_a_small_product_goes_first_and_what_passed_is_not_tried_again(box, child):
    child(OK)
    try_first(box, M=1024, N=256, K=512)
    assert child.asked() == ["[128, 128, 64]", "[1024, 256, 512]"]
    try_first(box, M=1024, N=256, K=512)
    try_first(box, M=1024, N=256, K=1024)
    assert child.asked()[2:] == ["[1024, 256, 1024]"]
    try_first(box, M=1024, N=256, K=1024, beta=1.0)
    assert len(child.asked()) == 5  # reading C is another way to fail


def test_the_process_is_the_same_for_the_next_kernel(box, child):
    child(OK)
    try_first(box)
    worker = box._worker
    try_first(box, written(Path("/other.cuh")))
    assert box._worker is worker and len(child.asked()) == 2


@pytest.mark.parametrize("sizes", [(1, 1, 1), (63, 64, 65), (4096, 100, 1)])
def test_the_small_product_is_one_that_the_step_takes(sizes):
    for multiple in ((1, 1, 1), (128, 128, 16), (32, 64, 96)):
        spec = replace(LIKE, multiple_of=multiple)
        asked = tuple(size * of for size, of in zip(sizes, multiple, strict=True))
        small = sandbox.small_shape(spec, asked)
        assert spec.fits(*small)
        assert all(0 < s <= a for s, a in zip(small, asked, strict=True))


def test_a_kernel_that_does_not_end_is_stopped(box, child, monkeypatch):
    monkeypatch.setenv("GEMMLAB_TRIAL_S", "0.5")
    child("time.sleep(60)")
    box.warm()
    process = box._worker._process
    start = time.monotonic()
    with pytest.raises(
        TrialError, match=r"mine: M=128 N=128 K=16, still running after 0\.5 s: an endless loop, or"
    ) as error:
        try_first(box)
    assert time.monotonic() - start < 30
    assert process.returncode == -signal.SIGKILL
    assert "notebook is unharmed; lab.trace(mine) on the simulator names" in str(error.value)
    with pytest.raises(TrialError, match="It is not tried again before its cell is run again"):
        try_first(box, M=256)
    assert len(child.asked()) == 1
    monkeypatch.delenv("GEMMLAB_TRIAL_S")
    child(OK)
    box.forget(FILE)
    try_first(box)


def test_a_lost_context_is_the_childs_alone(box, child):
    stopped = "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
    child(f'print(json.dumps({{"stopped": {stopped!r}}}), flush=True)')
    with pytest.raises(TrialError) as error, sandbox.context_watch():
        try_first(box)
    text = str(error.value)
    assert f"mine: M=128 N=128 K=16, it failed on the GPU: {stopped}. It ran in a" in text
    assert "restart" not in text.lower()
    assert not box._worker  # the next kernel gets a process with a context


@pytest.mark.parametrize(("early", "error"), [(True, RefusedError), (False, LaunchError)])
def test_a_refused_launch_is_no_crash(box, child, early, error):
    said = "mine: launch failed, too many resources"
    child(f'print(json.dumps({{"refused": {said!r}, "early": {early}}}), flush=True)')
    with pytest.raises(LaunchError) as raised:
        try_first(box)
    assert type(raised.value) is error and str(raised.value) == said
    assert box._worker and not box._stopped


def test_without_memory_for_a_second_set_the_small_product_will_do(box, child):
    child('print(json.dumps({"short": request["shape"][0] > 128} | {"ok": True}), flush=True)')
    try_first(box, M=1024)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("os.abort()", "the process ended: SIGABRT. It ran in a process of its own"),
        ("raise SystemExit('no such thing')", "the process ended: no such thing"),
        ("sys.exit(3)", "the process ended: exit status 3"),
        ("print('rubbish', flush=True)", "gave an answer that cannot be read"),
        ("print([1], flush=True)", "gave an answer that cannot be read"),
        (
            r"sys.stdout.buffer.write(b'\xff\n'); sys.stdout.flush()",
            "an answer that cannot be read",
        ),
    ],
)
def test_a_process_that_goes_wrong(box, child, answer, message):
    child(answer)
    with pytest.raises(TrialError, match=message):
        try_first(box)
    assert not box._worker


def test_an_answer_in_pieces(box, child):
    child("""for part in json.dumps({"ok": True}) + "\\n": print(part, end="", flush=True)""")
    try_first(box)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('no GPU')", "could not be tried .* ended: no GPU.*TRIAL_S=0"),
        ('print(\'{"failed": "busy"}\')', r"could not be tried in a process of its own \(busy\)"),
        ("import time; time.sleep(60)", r"no answer within 0\.5 s"),
    ],
)
def test_a_process_that_does_not_start_is_no_fault_of_the_kernel(monkeypatch, code, message):
    monkeypatch.setattr(worker, "START_SECONDS", 0.5 if "sleep" in code else 30)
    monkeypatch.setattr(sandbox, "START_SECONDS", 0.5)
    box = Sandbox((sys.executable, "-c", code))
    with pytest.raises(TrialError, match=message):
        try_first(box)
    assert not box._worker and not box._stopped


def test_ctrl_c_ends_the_trial_and_says_nothing_of_the_kernel(box, child, ctrl_c):
    child(f"os.kill({os.getpid()}, {int(signal.SIGINT)}); time.sleep(60)")  # while it is asked
    box.warm()
    process = box._worker._process
    with pytest.raises(KeyboardInterrupt):
        try_first(box)
    assert process.returncode is not None
    assert not box._stopped and not box._worker


def test_the_process_has_a_session_of_its_own(box, child):
    child(OK)
    try_first(box)
    assert os.getsid(box._worker._process.pid) != os.getsid(0)


def test_no_trial_if_none_is_wanted(box, child, monkeypatch):
    child(OK)
    monkeypatch.setenv("GEMMLAB_TRIAL_S", "0")
    try_first(box)
    assert not child.asked() and not box._worker
    for text in ("soon", "-1", "nan"):
        monkeypatch.setenv("GEMMLAB_TRIAL_S", text)
        with pytest.raises(ArgumentError, match="GEMMLAB_TRIAL_S: is"):
            try_first(box)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_real_process_says_what_it_lacks():
    with pytest.raises(TrialError, match=r"could not be tried in a process of its own \(.*CUDA"):
        try_first(run.SANDBOX)
    run.SANDBOX.end()


@pytest.mark.parametrize("config", ["", "b"])
def test_a_kernel_survives_the_way_to_the_process_and_is_trusted_there(config):
    mine = written(configs=("a", "b"))
    attempt = Attempt(mine, mine.title, config, ("float32",) * 3, (1.0, 0.0), 0)
    sent = json.loads(json.dumps(attempt.request((1, 2, 3))))
    found = handle_of(sent)
    assert (found.spec, found.config) == (mine.spec, config)
    assert found.source == replace(mine.source, trusted=True)
    half = lab.kernel("hgemm_17_stages")
    attempt = Attempt(half, half.title, "", ("bfloat16",) * 3, (1.0, 0.0), 0)
    assert handle_of(json.loads(json.dumps(attempt.request((1, 2, 3))))) == half


@pytest.mark.parametrize("name", registry.names())
def test_every_step_arrives_as_it_is(name):
    """Built kernels are found by their specs, so these need hashes."""
    step = run.kernel(name)
    attempt = Attempt(step, step.title, "", ("float32",) * 3, (1.0, 0.0), 0)
    found = handle_of(json.loads(json.dumps(attempt.request((1, 2, 3)))))
    assert found == step and hash(found.spec) == hash(step.spec)


# ---- the gate ----


@pytest.fixture
def launches(monkeypatch):
    """Kernels "launched on the GPU", with nothing behind them."""
    calls = []
    module = SimpleNamespace(launch=lambda *args: calls.append(args), error_string=str)
    monkeypatch.setattr(run, "_gpu_module", lambda program, *how: module)
    monkeypatch.setattr(run.operands, "prepare", lambda *args: args[-1])
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=0))
    return calls


def test_a_readers_kernel_is_tried_before_it_is_launched(box, child, launches):
    child("os.abort()")
    with pytest.raises(TrialError):
        MINE.launcher(*matrices())
    assert not launches
    child(OK)
    box.forget(FILE)
    MINE.launcher(*matrices())()
    assert len(launches) == 1


def test_a_variant_of_a_readers_kernel_is_tried_too(child, launches, tmp_path):
    child("os.abort()")
    file = tmp_path / "mine.cuh"
    file.write_text(registry.get("sgemm_06_swizzled_a").path.read_text())
    mine = written(file, name="mine", parent=LIKE.name)
    changed = lab.variant(mine, {"BK = 16": "BK = 8"})
    with pytest.raises(TrialError):
        changed.launcher(*matrices())
    assert changed.parent == LIKE.name


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
