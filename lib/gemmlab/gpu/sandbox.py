"""A reader's kernel runs in a process of its own before it runs here, so that it may fail.

A kernel that leaves its matrices destroys the CUDA context that it runs in, and one that never ends
holds it for ever. What passed is launched here as any other kernel.
"""

from __future__ import annotations

import atexit
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ..core.arguments import seconds_set
from ..core.errors import ContextLostError, LaunchError, RefusedError, TrialError
from ..core.progress import busy
from ..core.worker import START_SECONDS, Worker
from ..steps.program import Program
from ..steps.spec import KernelSpec
from . import turns

TRIAL_SECONDS = 20.0  # $GEMMLAB_TRIAL_S has another; 0: no trial

# Of the process: each matrix an allocation of its own, so that leaving it is more often seen.
VARIABLES = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}

SAFE = "It ran in a process of its own, so this notebook is unharmed"
LOST = (
    "The CUDA context of this notebook is lost: nothing runs on the GPU here any more. Restart the "
    "kernel (Kernel > Restart) and run the cells again; what is on disk is safe"
)
# cudaGetErrorString of the errors after which a context is of no use.
_STICKY = (
    "an illegal memory access was encountered",
    "misaligned address",
    "unspecified launch failure",
    "an illegal instruction was encountered",
    "device-side assert triggered",
    "operation not supported on global/shared address space",
    "invalid program counter",
    "hardware stack error",
    "the launch timed out and was terminated",
)


def seconds_allowed() -> float:
    """How long a kernel may take in its trial: $GEMMLAB_TRIAL_S, or 20. 0 means no trial."""
    return seconds_set("GEMMLAB_TRIAL_S", TRIAL_SECONDS, zero="for no trial")


@dataclass(frozen=True)
class Attempt:
    """One launch to be tried: a program and configuration, types, factors and the GPU's number."""

    program: Program
    title: str
    config: str
    dtypes: tuple[str, ...]
    factors: tuple[float, float]
    device: int

    def request(self, shape: tuple[int, ...]) -> dict:
        """What the other process is asked, as plain data."""
        source = self.program.source
        return {
            "spec": asdict(self.program.spec),
            "path": str(source.path),
            "entry": source.entry,
            "label": source.label,
            "config": self.config,
            "dtypes": self.dtypes,
            "factors": self.factors,
            "device": self.device,
            "shape": shape,
        }


class Sandbox:
    """The process in which kernels are tried, and what is known of those that were.

    command: what the process runs (see `core.worker`).
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._lock = threading.RLock()
        self._worker: Worker | None = None
        self._passed: set[tuple] = set()
        self._stopped: dict[Path, str] = {}  # kernel file -> why it is not tried again
        atexit.register(self.end)

    def warm(self) -> None:
        """Start the process, so that it is ready when a kernel is."""
        with self._lock:
            if seconds_allowed():
                self._ready_worker()

    def end(self) -> None:
        """End the process; the next trial starts another."""
        with self._lock:
            if self._worker is not None:
                self._worker.stop()
                self._worker = None

    def forget(self, path: Path) -> None:
        """Try a kernel file again that was stopped before."""
        self._stopped.pop(path, None)

    def try_first(self, attempt: Attempt, shape: tuple[int, int, int]) -> None:
        """Launch once at (M, N, K) in the other process, a small product first.

        What passed is remembered, and so is a kernel that was stopped. Raises TrialError, and
        LaunchError for a launch that CUDA refuses.
        """
        if not (seconds := seconds_allowed()):
            return
        program, beta_is_zero = attempt.program, attempt.factors[1] == 0
        key = (program, attempt.config, attempt.dtypes, attempt.device, beta_is_zero)
        with self._lock:
            if why := self._stopped.get(program.source.path):
                raise TrialError(f"{why} It is not tried again before its cell is run again.")
            for asked in dict.fromkeys((small_shape(program.spec, shape), shape)):
                if (*key, asked) not in self._passed:
                    self._try(attempt, asked, seconds)
                    self._passed.add((*key, asked))

    def _ready_worker(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._command, VARIABLES)
        return self._worker

    def _try(self, attempt: Attempt, shape: tuple[int, ...], seconds: float) -> None:
        """One launch in the other process."""
        worker, title = self._ready_worker(), attempt.title
        who = f"{title}: " + "M={} N={} K={}".format(*shape)
        try:
            with busy(f"trying {title} in a process of its own"):
                # Others may measure while the process loads torch.
                if (answer := worker.begin()) is None:
                    with turns.together():
                        answer = worker.ask(attempt.request(shape), seconds)
        except (TimeoutError, EOFError, ValueError) as error:
            why, started = _why(worker, error, seconds), worker.ready
            self.end()
            if not started:
                raise _not_started(title, why) from None
            text = f"{who}, {why}. {SAFE}; {_look(title)}.{_more(error, seconds)}"
            raise self._failed(attempt, text) from None
        except BaseException:  # Ctrl-C: nothing is known of the kernel, and its process may be busy
            self.end()
            raise
        if "refused" in answer:
            raise (RefusedError if answer.get("early") else LaunchError)(answer["refused"])
        if "ok" in answer or "short" in answer:  # no memory for a second set of large matrices
            return
        self.end()
        if "stopped" in answer:
            why = f"it failed on the GPU: {answer['stopped']}"
            raise self._failed(attempt, f"{who}, {why}. {SAFE}; {_look(title)}.")
        raise _not_started(title, answer.get("failed", "its answer cannot be read"))

    def _failed(self, attempt: Attempt, text: str) -> TrialError:
        self._stopped[attempt.program.source.path] = text
        return TrialError(text)


def small_shape(spec: KernelSpec, shape: tuple[int, int, int]) -> tuple[int, ...]:
    """Some 64 in each direction, of what the step takes, and no more than `shape`."""
    pairs = zip(shape, spec.multiple_of, strict=True)
    return tuple(of * math.ceil(min(64, size) / of) for size, of in pairs)


def _why(worker: Worker, error: Exception, seconds: float) -> str:
    if isinstance(error, EOFError):
        return f"the process ended: {worker.last_words()}"
    if isinstance(error, ValueError):
        return "the process gave an answer that cannot be read"
    if not worker.ready:
        return f"no answer within {START_SECONDS:g} s"
    return (
        f"still running after {seconds:g} s: an endless loop, or a barrier that not all threads "
        "reach. It was stopped"
    )


def _more(error: Exception, seconds: float) -> str:
    slow = isinstance(error, TimeoutError)
    return f" If it is only slow, GEMMLAB_TRIAL_S={3 * seconds:g} gives it more time." * slow


def _not_started(title: str, why: str) -> TrialError:
    return TrialError(
        f"{title}: could not be tried in a process of its own ({why}). Is the GPU out of "
        "memory, or reserved for one process? GEMMLAB_TRIAL_S=0 launches it here without a trial, "
        "where a kernel that fails takes the notebook's CUDA context with it"
    )


def _look(title: str) -> str:
    return f"lab.trace({title}) on the simulator names the line"


@contextmanager
def context_watch() -> Iterator[None]:
    """Say what it means if the CUDA context is lost while the block runs: ContextLostError."""
    try:
        yield
    except (TrialError, ContextLostError):
        raise
    except RuntimeError as error:
        lines = str(error).splitlines()
        first = next((line for line in lines if any(text in line for text in _STICKY)), "")
        if not first:
            raise
        raise ContextLostError(f"{first.strip().rstrip('.')}. {LOST}.") from None
