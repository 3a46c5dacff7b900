"""A process in which a reader's kernel runs first: `python -m gemmlab.run.sandbox_process`.

One request a line comes in as JSON, one answer a line goes out. The process has a CUDA context of
its own, so a kernel that destroys its context, or never ends, takes nothing else with it: the
other side (core/worker.py) kills this process. It ends with its standard input.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import LaunchError, RefusedError
from ..core.worker import with_tuples
from ..steps.program import Source
from ..steps.spec import KernelSpec
from .kernel import Kernel

_DRIVER = "libcuda.so.1"  # its functions on errors need no search for the runtime's library
_GRACE_SECONDS = 10.0


def main() -> None:
    """Answer requests until there are no more."""
    serve(_run)


def serve(run: Callable[[dict], tuple[dict, object]]) -> None:
    """Answer each request by what `run` makes of it: plain data, and what has to live so long."""
    # What a kernel prints goes nowhere: standard output is for answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def answer(**words: object) -> None:
        answers.write(json.dumps(words) + "\n")

    import torch

    try:
        torch.zeros(1, device="cuda")
    except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
        answer(failed=str(error).splitlines()[0])
        return
    answer(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        # The other side kills this process in time; if it is gone, the kernel must not stay.
        signal.setitimer(signal.ITIMER_REAL, request["seconds"] + _GRACE_SECONDS)
        outcome, keep = run(request)
        answer(**outcome)
        if "stopped" in outcome:
            os._exit(0)  # torch would abort at freeing the tensors: their context is lost
        del keep
        signal.setitimer(signal.ITIMER_REAL, 0)


def _run(request: dict) -> tuple[dict, object]:
    """Launch once, wait, and say how it went: ok, refused, stopped (its context is lost), short.

    Also what has to live until the answer is out.
    """
    import torch

    torch.cuda.set_device(request["device"])
    handle = handle_of(request)
    M, N, K = request["shape"]
    try:
        A, B, C = (
            torch.zeros(shape, dtype=getattr(torch, dtype), device="cuda")
            for shape, dtype in zip(((M, K), (K, N), (M, N)), request["dtypes"], strict=True)
        )
        launch = handle.launcher(A, B, C, *request["factors"])
        torch.cuda.synchronize()
    except torch.OutOfMemoryError:
        return {"short": True}, None
    outcome: dict[str, Any] = {"ok": True}
    try:
        launch()
    except LaunchError as error:
        outcome = {"refused": str(error), "early": isinstance(error, RefusedError)}
    stopped = wait()
    return {"stopped": stopped} if stopped else outcome, (A, B, C, launch)


def handle_of(request: dict) -> Kernel:
    """The kernel that a request names, from JSON. It is trusted here."""
    source = Source(Path(request["path"]), request["entry"], request["label"])
    return Kernel(KernelSpec(**with_tuples(request["spec"])), source, request.get("config", ""))


def wait() -> str:
    """Wait for the GPU; CUDA's words and name for an error that destroyed the context."""
    driver = ctypes.CDLL(_DRIVER)
    if not (code := driver.cuCtxSynchronize()):
        return ""
    words = []
    for function in (driver.cuGetErrorString, driver.cuGetErrorName):
        text = ctypes.c_char_p()
        function(code, ctypes.byref(text))
        words.append((text.value or b"unknown").decode())
    return f"{words[0]} ({words[1]})"


if __name__ == "__main__":
    main()
