"""The process in which a program runs: `python -m gemmlab.sim.program.process`.

Its standard input is a request, one line of JSON (request.Request); what the program prints goes to
standard output; what came of it is written to the file that the request names.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import bounds
from ..abi import ArgumentsRow
from ..findings import Finding
from ..library import Runtime
from ..limits import budget_seconds
from ..lines import LineTable
from ..module import SMS, register
from .collect import Places, host_findings, launches_of
from .request import Request
from .widths import Widths

_LEFT_ALONE = 5.0  # seconds that what was cancelled has to end
_POLL = 0.02


def main() -> None:
    """Run the program of the request."""
    request = Request.from_json(sys.stdin.readline())
    sys.stdin.close()
    bounds.limit_memory()
    bounds.limit_time(request.threads, False, request.seconds)
    _Run(request).carry_out()


class _Run:
    """One run of a program. gaps: why it says less than it could."""

    def __init__(self, request: Request) -> None:
        self._request = request
        table = LineTable.from_json(Path(request.lines).read_text())
        self._table, self._places = table, Places(table, request.sources)
        self._runtime = Runtime(request.runtime)
        self._codes: list[int] = []
        self._gaps: list[str] = []

    def carry_out(self) -> None:
        """Run it, write the answer, and end this process, whatever state the program has left."""
        runtime, path = self._runtime, os.fsencode(self._request.library)
        if not runtime.load(path, budget_seconds()) or runtime.findings():
            self._answer([])
        library = ctypes.CDLL(self._request.library)
        entry = library.gemmlab_sim_entry
        handle = register(runtime, self._table, entry)
        if self._request.widths:
            widest = Widths.from_rows(self._request.widths).by_site(
                self._table, frozenset(self._request.sources)
            )
            runtime.widths(handle, widest, len(widest))
        runtime.begin(
            handle, int(self._request.traced), self._request.threads, budget_seconds(), SMS, 0
        )
        runtime.begin_program()
        self._watch(entry, _arguments(self._request))
        self._answer([asdict(launch) for launch in launches_of(runtime, self._places)])

    def _watch(self, entry: Any, given: ArgumentsRow) -> None:
        """Call main() on a thread of its own, until it ends or its time does."""
        runtime, finished = self._runtime, threading.Event()

        def call() -> None:
            self._codes.append(runtime.call(entry, ctypes.byref(given)))
            finished.set()

        threading.Thread(target=call, daemon=True).start()
        end = time.monotonic() + self._request.seconds
        while not finished.wait(_POLL) and time.monotonic() < end:
            pass
        if finished.is_set():
            return
        done, blocks, _ = runtime.progress()
        self._gaps.append(
            f"stopped after {self._request.seconds:g} s, with {done:,} of the {blocks:,} blocks "
            "launched so far; let the program do less, or give it longer (--seconds, seconds=)"
        )
        self._codes.clear()
        runtime.cancel()
        runtime.give_up()
        if not finished.wait(_LEFT_ALONE):
            self._answer([])  # the runtime's rows are still being written
        self._codes.clear()

    def _answer(self, launches: list[dict]) -> None:
        host = [] if self._gaps else list(map(asdict, host_findings(self._runtime, self._places)))
        status = self._codes[0] if self._codes and not host else None
        if (reason := self._runtime.error(0)) and "the simulator" in reason:
            # What the program makes of it is no mistake of its own.
            self._gaps += [f"the program was refused {reason}", *map(_sentence, host)]
            host = []
        answer = {"launches": launches, "host": host, "exit": status, "gaps": self._gaps}
        ctypes.CDLL(None).fflush(None)
        Path(self._request.answer).write_text(json.dumps(answer))
        os._exit(0)


def _sentence(finding: dict) -> str:
    return str(Finding(**finding))


def _arguments(request: Request) -> ArgumentsRow:
    texts = [os.fsencode(text) for text in (request.name, *request.arguments)]
    array = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
    return ArgumentsRow(len(texts), array)


if __name__ == "__main__":
    main()
