"""The process in which readers' kernels run: `python -m gemmlab.sim.apart_process <memory>`.

It is warm: all that a launch needs has been imported, and it has no threads. For a request, a line
of JSON, it forks a copy, which answers it and those that follow for the same kernel; when the copy
has ended, the process says how, and goes on. It ends with its standard input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from typing import IO, NoReturn

from ..core.errors import GemmlabError
from . import bounds
from .apart import CONNECTION_LOST, Place, shared_array
from .limits import budget_seconds
from .module import How, LoadedModule, Shape
from .source import SimSource
from .trace import Trace

_BEAT = 0.25  # seconds between two signs of life
_ERRORS = 2


def main() -> None:
    """Fork a copy for each kernel until there are no more requests."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(_ERRORS, 1)  # what a kernel writes past printf is not for the answers
    _say(answers, ready=True)
    while line := sys.stdin.readline():
        if "source" not in (request := json.loads(line)):
            continue
        os.ftruncate(_ERRORS, 0)
        os.lseek(_ERRORS, 0, os.SEEK_SET)
        if not (pid := os.fork()):
            Copy(answers, int(sys.argv[1]), SimSource.from_plain(request["source"])).serve(request)
        _, status = os.waitpid(pid, 0)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what a launcher has started
        _say(answers, ended=os.waitstatus_to_exitcode(status))


class Copy:
    """The copy of the process that has one kernel loaded. memory: descriptor of what is shared."""

    def __init__(self, answers: IO[str], memory: int, source: SimSource) -> None:
        self._answers, self._memory, self._source = answers, memory, source
        self._module: LoadedModule | None = None
        self._beat = self._used = 0.0

    def serve(self, request: dict) -> NoReturn:
        """Answer the request and those that follow, until one is to close or went wrong."""
        os.setpgid(0, 0)
        bounds.limit_memory()
        while "source" in request:
            self._say(pid=os.getpid())  # the request is this copy's: if it ends, then because of it
            self._launch(request)
            if not (line := sys.stdin.readline()):
                break
            request = json.loads(line)
        os._exit(0)

    def _launch(self, request: dict) -> None:
        """One launch, answered."""
        for name in [name for name in os.environ if name.startswith("GEMMLAB_")]:
            del os.environ[name]
        os.environ.update(request["environment"])
        shape, how = Shape(*request["shape"]), How(**request["how"])
        bounds.limit_time(how.threads, how.allow_slow)
        places = [Place(start, tuple(shape), dtype) for start, shape, dtype in request["matrices"]]
        memory = shared_array(self._memory, places[-1].end)
        try:
            trace = self._loaded().run([p.view(memory) for p in places], shape, how)
        except GemmlabError as error:
            self._say(error=type(error).__name__, text=str(error), last=False)
            return
        self._answer(trace)

    def _answer(self, trace: Trace) -> None:
        # After a fault the library, or the C library, may hold locks for ever.
        last = any(finding.fatal for finding in trace.findings)
        before, self._used = self._used, time.process_time()
        self._say(trace=trace.plain(), seconds=self._used - before, last=last)
        if last:
            os._exit(0)

    def _loaded(self) -> LoadedModule:
        if self._module is None:
            source = self._source
            self._module = LoadedModule(
                source.name, source.kernel(), source.runtime(), self._show, self._stuck
            )
        return self._module

    def _show(self, done: int, blocks: int) -> None:
        if (now := time.monotonic()) - self._beat > _BEAT:
            self._beat = now
            self._say(blocks=(done, blocks))

    def _stuck(self) -> NoReturn:
        """What was given up does not end: so the process does."""
        self._say(stuck=budget_seconds(), last=True)
        os._exit(0)

    def _say(self, **words: object) -> None:
        try:
            _say(self._answers, **words)
        except OSError:  # the notebook has gone, or the kernel has closed all files
            os._exit(CONNECTION_LOST)


def _say(answers: IO[str], **words: object) -> None:
    answers.write(json.dumps(words) + "\n")


if __name__ == "__main__":
    main()
