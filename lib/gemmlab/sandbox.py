"""A reader's kernel runs in a process of its own before it runs here, so that it may fail.

A kernel that leaves its matrices destroys the CUDA context that it runs in, and one that never ends
holds it for ever. What passed is launched here as any other kernel.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from .errors import ArgumentError, ContextLostError, LaunchError, RefusedError, TrialError
from .progress import busy
from .sandbox_process import START_SECONDS, Worker

if TYPE_CHECKING:
    import torch

    from .registry import KernelSpec
    from .run import Kernel

TRIAL_SECONDS = 20.0  # $GEMMLAB_TRIAL_S has another; 0: no trial

SAFE = "It ran in a process of its own, so this notebook is unharmed"
LOST = (
    "The CUDA context of this notebook is lost: nothing runs on the GPU here any more. Restart the "
    "kernel (Kernel > Restart) and run the cells again; what is on disk is safe"
)
# cudaGetErrorString of the errors after which a context is of no use.
_STICKY = (
    *("an illegal memory access was encountered", "misaligned address"),
    *("unspecified launch failure", "an illegal instruction was encountered"),
    *("device-side assert triggered", "operation not supported on global/shared address space"),
    *("invalid program counter", "hardware stack error"),
    "the launch timed out and was terminated",
)

_lock = threading.RLock()
_worker: list[Worker] = []  # at most one
_passed: set[tuple] = set()
_stopped: dict[str, str] = {}  # kernel file -> why it is not tried again


def seconds_allowed() -> float:
    """How long a kernel may take in its trial: $GEMMLAB_TRIAL_S, or 20. 0 means no trial."""
    text = os.environ.get("GEMMLAB_TRIAL_S", "")
    try:
        seconds = float(text or TRIAL_SECONDS)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise ArgumentError(
            f"GEMMLAB_TRIAL_S: is {text!r}, expected seconds, such as 20, or 0 for no trial"
        )
    return seconds


def warm() -> None:
    """Start the process, so that it is ready when a kernel is."""
    with _lock:
        if not _worker and seconds_allowed():
            _worker.append(Worker())


def end() -> None:
    """End the process; the next trial starts another."""
    with _lock:
        while _worker:
            _worker.pop().stop()


atexit.register(end)


def forget(spec: KernelSpec) -> None:
    """Try a kernel again that was stopped before."""
    _stopped.pop(spec.written_to, None)


def try_first(
    kernel: Kernel, matrices: tuple[torch.Tensor, ...], factors: tuple[float, float]
) -> None:
    """Launch with matrices like these in the other process, a small product first.

    What passed is remembered, and so is a kernel that was stopped. Raises TrialError, and
    LaunchError for a launch that CUDA refuses.
    """
    if not (seconds := seconds_allowed()):
        return
    A, B, _ = matrices
    asked = (A.shape[0], B.shape[1], A.shape[1])
    request = {
        "spec": asdict(kernel.spec),
        "config": kernel.config_for(*asked),
        "dtypes": [str(matrix.dtype).removeprefix("torch.") for matrix in matrices],
        "factors": [float(factor) for factor in factors],
        "device": A.device.index or 0,
    }
    key = (kernel.spec, request["config"], *request["dtypes"], request["device"], factors[1] == 0)
    with _lock:
        if why := _stopped.get(kernel.spec.written_to):
            raise TrialError(f"{why} It is not tried again before its cell is run again.")
        for shape in dict.fromkeys((small_shape(kernel.spec, asked), asked)):
            if (*key, shape) not in _passed:
                _try(kernel, {**request, "shape": shape}, seconds)
                _passed.add((*key, shape))


def small_shape(spec: KernelSpec, shape: tuple[int, int, int]) -> tuple[int, ...]:
    """Some 64 in each direction, of what the step takes, and no more than `shape`."""
    pairs = zip(shape, spec.multiple_of, strict=True)
    return tuple(of * math.ceil(min(64, size) / of) for size, of in pairs)


def _try(kernel: Kernel, request: dict, seconds: float) -> None:
    """One launch in the other process."""
    warm()
    worker = _worker[0]
    who = f"{kernel.title}: " + "M={} N={} K={}".format(*request["shape"])
    try:
        with busy(f"trying {kernel.title} in a process of its own"):
            answer = worker.ask(request, seconds)
    except (TimeoutError, EOFError, ValueError) as error:
        why, started = _why(worker, error, seconds), worker.ready
        end()
        if not started:
            raise _not_started(kernel, why) from None
        text = f"{who}, {why}. {SAFE}; {_look(kernel)}.{_more(error, seconds)}"
        raise _failed(kernel, text) from None
    except BaseException:  # Ctrl-C: nothing is known of the kernel, and its process may be busy
        end()
        raise
    if "refused" in answer:
        raise (RefusedError if answer.get("early") else LaunchError)(answer["refused"])
    if "ok" in answer or "short" in answer:  # no memory for a second set of large matrices
        return
    end()
    if "stopped" in answer:
        why = f"it failed on the GPU: {answer['stopped']}"
        raise _failed(kernel, f"{who}, {why}. {SAFE}; {_look(kernel)}.")
    raise _not_started(kernel, answer.get("failed", "it answered what nobody asked"))


def _failed(kernel: Kernel, text: str) -> TrialError:
    _stopped[kernel.spec.written_to] = text
    return TrialError(text)


def _why(worker: Worker, error: Exception, seconds: float) -> str:
    if isinstance(error, EOFError):
        return f"the process ended: {worker.last_words()}"
    if isinstance(error, ValueError):
        return "the process gave an answer that is none"
    if not worker.ready:
        return f"no answer within {START_SECONDS:g} s"
    return (
        f"still running after {seconds:g} s: an endless loop, or a barrier that not all threads "
        "reach. It was stopped"
    )


def _more(error: Exception, seconds: float) -> str:
    slow = isinstance(error, TimeoutError)
    return f" If it is only slow, GEMMLAB_TRIAL_S={3 * seconds:g} gives it more time." * slow


def _not_started(kernel: Kernel, why: str) -> TrialError:
    return TrialError(
        f"{kernel.title}: could not be tried in a process of its own ({why}). Is the GPU out of "
        "memory, or reserved for one process? GEMMLAB_TRIAL_S=0 launches it here without a trial, "
        "where a kernel that fails takes the notebook's CUDA context with it"
    )


def _look(kernel: Kernel) -> str:
    return f"lab.trace({kernel.title}) on the simulator names the line"


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
