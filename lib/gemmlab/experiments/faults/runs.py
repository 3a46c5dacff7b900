"""What the kernels with mistakes do on this GPU, each in a process of its own with a time limit."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from ...core.errors import MeasurementError
from ...core.precision import PRECISIONS
from ...core.worker import START_SECONDS, Worker
from ...gpu import build, requirements
from ...gpu.sandbox import VARIABLES, Attempt
from ...gpu.turns import alone
from ...run.backend import default_backend
from ...run.kernel import Kernel
from ...steps import registry
from .kernels import FAULTS, LOAD, fault

COMMAND = (sys.executable, "-m", "gemmlab.experiments.faults.process")
SECTION, FAMILY = "faults", "tma"  # where it is recorded
PRECISION = "bf16"
SHAPE = (4096, 2048, 512)  # 512 blocks: more than are on the GPU at once; 8 tiles in 3 stages
RUNS, LIMIT_S = 50, 5.0
_AT_ONCE = 8  # processes that build or start; those that launch take turns


@dataclass(frozen=True)
class Outcome:
    """Of `runs` launches that ended, `wrong` gave a wrong C, on average in `share` of its elements.

    end: why there were no more: what CUDA or the launcher said, or that a launch did not end.
    """

    fault: str
    runs: int
    wrong: int
    share: float = 0.0
    end: str = ""

    def __str__(self) -> str:
        words = [self.end] if self.end else []
        if self.wrong:
            some = f"{100 * self.share:.0f}" if self.share >= 0.01 else f"{100 * self.share:.2g}"
            words.append(f"wrong in {self.wrong} of {self.runs} runs, {some} % of C")
        elif self.runs:
            words.append(f"right in {self.runs} of {self.runs} runs")
        return "; before, ".join(words)


def can_try() -> bool:
    """Whether this machine's GPU has what these kernels need."""
    return default_backend() == "gpu" and not requirements.lacking(registry.program(LOAD))


def measure(names: Sequence[str] = tuple(FAULTS)) -> dict:
    """Try each: part of a section of a recording. All of them take 45 s, most of it for nvcc.

    Each has the GPU for itself while it launches; what is compiled meanwhile leaves it to others.

    Raises BackendError for a GPU without TMA, MeasurementError if a process could not be started.
    """
    build.load(registry.program(LOAD), PRECISION)
    turn = threading.Lock()
    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        outcomes = list(pool.map(lambda name: _tried(name, turn), names))
    return {
        "shape": list(SHAPE),
        "precision": PRECISION,
        "limit_s": LIMIT_S,
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }


def _tried(name: str, turn: threading.Lock) -> Outcome:
    """The outcome of one, whose process is ended whatever happens. One launches at a time."""
    worker = Worker(COMMAND, VARIABLES)  # starts while nvcc runs
    try:
        kernel = fault(name)
        build.load(kernel, PRECISION)
        request = _request(kernel)
        _prepare(worker, name, request)
        with turn, alone():
            try:
                _prepare(worker, name, request)  # again: waits for a GPU that one has left
                return _launched(worker, name, request)
            finally:
                worker.stop()  # in its turn: a kernel that does not end has the GPU until then
    finally:
        worker.stop()


def _request(kernel: Kernel) -> dict:
    types = PRECISIONS[PRECISION]
    attempt = Attempt(kernel, kernel.title, "", (types.given, types.made), (1.0, 0.0), 0)
    return attempt.request(SHAPE)


def _prepare(worker: Worker, name: str, request: dict) -> None:
    """Everything but the launch, which takes seconds in a new process."""
    try:
        answer = worker.ask({**request, "seed": 0, "launch": False}, START_SECONDS)
    except (TimeoutError, EOFError, ValueError) as error:
        answer = {"failed": worker.last_words() if isinstance(error, EOFError) else repr(error)}
    if "share" not in answer:
        why = next(iter(answer.values()))
        raise MeasurementError(f"{name}: could not be tried in a process of its own ({why})")


def _launched(worker: Worker, name: str, request: dict) -> Outcome:
    shares: list[float] = []
    for seed in range(RUNS):
        end, share = _one(worker, {**request, "seed": seed, "launch": True})
        if end:
            return _outcome(name, shares, end)
        shares.append(share)
    return _outcome(name, shares)


def _outcome(name: str, shares: list[float], end: str = "") -> Outcome:
    wrong = [share for share in shares if share]
    return Outcome(name, len(shares), len(wrong), sum(wrong) / max(len(wrong), 1), end)


def _one(worker: Worker, request: dict) -> tuple[str, float]:
    """Why a launch did not come to its end, or "", and the share of C that is wrong."""
    try:
        answer = worker.ask(request, LIMIT_S)
    except TimeoutError:
        return f"did not end in {LIMIT_S:g} s (killed)", 0.0
    except (EOFError, ValueError):
        return f"its process ended: {worker.last_words()}", 0.0
    if "refused" in answer:
        return f"refused: {answer['refused'].rpartition('launch failed, ')[2]}", 0.0
    if "stopped" in answer:
        return f"CUDA error: {answer['stopped']}", 0.0
    return "", answer["share"]
