"""The compiled runtime's functions, and the structures that it shares with Python."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import numpy as np

from ..core.errors import BackendError
from .abi import CountRow, JournalSize, LaunchRow, RawFinding, RecordRow, SampleRow
from .journal import ROW, WORD, Journal

_LOOKED_UP = (
    *(f"gemmlab_sim_{name}" for name in ("progress", "reason", "counts", "count_rows", "samples")),
    *(f"gemmlab_sim_{name}" for name in ("launches", "offset", "findings", "finding_rows")),
    *("gemmlab_sim_journal", "gemmlab_sim_journal_size"),
    *("gemmlab_sim_records", "gemmlab_sim_show"),
    *("gemmlab_sim_output", "gemmlab_sim_output_left_out", "sim_error_name", "sim_last_error"),
)


class Runtime:
    """The runtime library's functions. One launch at a time: the lock is held around it."""

    def __init__(self, path: str) -> None:
        try:
            library = ctypes.CDLL(path)
        except OSError as error:  # it is whole, so it is not its content
            raise BackendError(
                f"GEMMLAB_CACHE: the simulator cannot be loaded from there ({error}); set "
                "GEMMLAB_CACHE to a folder from which programs may be run (not mounted noexec)"
            ) from None
        self.lock = threading.Lock()
        self.module = library.gemmlab_sim_module
        self.allocate = library.gemmlab_sim_allocate
        self.module.restype = self.allocate.restype = ctypes.c_void_p
        self.allocate.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self.free_all = library.gemmlab_sim_free_all
        self.widths = library.gemmlab_sim_widths
        self.widths.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.array_names = library.gemmlab_sim_array_names
        self.array_names.argtypes = [
            *(ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_uint32)
        ]
        self.begin = library.gemmlab_sim_begin
        self.begin.argtypes = [
            *(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_double),
            *(ctypes.c_int, ctypes.c_uint32),
        ]
        self.limit = library.gemmlab_sim_limit
        self.limit.argtypes = [ctypes.c_uint64]
        self.call = library.gemmlab_sim_call
        self.begin_program = library.gemmlab_sim_begin_program
        self.cancel = library.gemmlab_sim_cancel
        self.give_up = library.gemmlab_sim_give_up
        self.load = library.gemmlab_sim_load
        self.load.restype = ctypes.c_void_p
        self.load.argtypes = [ctypes.c_char_p, ctypes.c_double]
        library.gemmlab_sim_memory.restype = ctypes.c_size_t
        self.memory = library.gemmlab_sim_memory()
        self._library = library
        # Looking one up later may wait for ever: for the linker, if it was left in an initializer.
        for name in _LOOKED_UP:
            getattr(library, name)

    def progress(self) -> tuple[int, int, int]:
        """Blocks done since `begin`, blocks launched, and a number that grows with headway."""
        numbers = [ctypes.c_uint64() for _ in range(3)]
        self._library.gemmlab_sim_progress(*map(ctypes.byref, numbers))
        done, blocks, headway = (number.value for number in numbers)
        return done, blocks, headway

    def output(self) -> str:
        """What was printed since `begin`."""
        read, left_out = self._library.gemmlab_sim_output, self._library.gemmlab_sim_output_left_out
        read.restype, left_out.restype = ctypes.c_char_p, ctypes.c_uint64
        more = f"... and {count:,} more calls of printf\n" if (count := left_out()) else ""
        return read().decode(errors="replace") + more

    def error(self, code: int) -> str:
        """What is wrong with a launch whose launcher returned `code`; empty if nothing is."""
        reason = self._library.gemmlab_sim_reason
        name = self._library.sim_error_name
        reason.restype = name.restype = ctypes.c_char_p
        if text := reason().decode():
            # A launcher that has overlooked the error returns 0.
            return f"{name(code or self._library.sim_last_error(0)).decode()}: {text}"
        return f"the launcher returned {name(code).decode()} ({code})" if code else ""

    def counts(self) -> list[CountRow]:
        """Counters of the launches since `begin`."""
        rows = (CountRow * self._library.gemmlab_sim_count_rows())()
        self._library.gemmlab_sim_counts(rows)
        return list(rows)

    def samples(self) -> list[SampleRow]:
        """Requests that were kept of the launches since `begin`."""
        rows = (SampleRow * self._library.gemmlab_sim_samples(None))()
        self._library.gemmlab_sim_samples(rows)
        return list(rows)

    def launches(self) -> list[LaunchRow]:
        """The sizes of the launches since `begin`, in their order."""
        rows = (LaunchRow * self._library.gemmlab_sim_launches(None))()
        self._library.gemmlab_sim_launches(rows)
        return list(rows)

    def journal(self) -> Journal:
        """The journal of the launches since `begin`, empty if none was kept, without lines."""
        size = JournalSize()
        self._library.gemmlab_sim_journal_size(ctypes.byref(size))
        rows, words = np.empty(size.rows, ROW), np.empty(size.words, WORD)
        places = (ctypes.c_void_p(array.ctypes.data) for array in (rows, words))
        self._library.gemmlab_sim_journal(*places)
        return Journal(rows, words, bool(size.is_cut))

    def records(self) -> int:
        """How many different launches a program has made."""
        return self._library.gemmlab_sim_records()

    def show(self, number: int) -> RecordRow:
        """Let counts, samples and findings be those of a record, or of the host's code for -1."""
        row = RecordRow()
        self._library.gemmlab_sim_show(number, ctypes.byref(row))
        return row

    def offset(self, address: int) -> int:
        """How requests name an address in global memory."""
        return self._library.gemmlab_sim_offset(ctypes.c_void_p(address))

    def findings(self) -> list[RawFinding]:
        """Findings of the launches since `begin`."""
        read = self._library.gemmlab_sim_findings
        read.restype = ctypes.POINTER(RawFinding)
        return [read()[i] for i in range(self._library.gemmlab_sim_finding_rows())]


class Runtimes:
    """The runtime libraries that this process has loaded, by file name.

    A name is hashed over the contents, and the dynamic linker, too, loads a name only once: two
    paths with one name are one library, and have to share its lock.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Runtime] = {}

    def at(self, path: Path) -> Runtime:
        """The functions of the library at `path`, loaded at the first call."""
        if path.name not in self._loaded:
            self._loaded[path.name] = Runtime(str(path))
        return self._loaded[path.name]


RUNTIMES = Runtimes()
