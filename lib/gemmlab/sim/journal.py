"""What one block of a traced run did, thread by thread, in the order of each thread."""

from __future__ import annotations

import base64
import io
import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .abi import LineOf
from .counts import OPS

# Kinds of events: the operations of a trace, then runtime/memory/types.h's Mark, in its order.
MARKS = (
    "barrier",
    "commit",
    "wait",
    "mbarrier.wait",
    "mbarrier.arrive",
    "tma.load",
    "mma",
    "wmma",
    "other.barrier",
    "box",
    "mbarrier.init",
)
KINDS = (*OPS, *(f"mark {name}" for name in MARKS))
EVENTS, VALUES = 1, 2  # what a run keeps: what block 0 does, and with what it reads and writes
MOST = 1 << 22  # events that are kept, as in runtime/memory/journal.h
# runtime/memory/journal.h's JournalRow, with the line in place of the program counter.
ROW = np.dtype(
    [
        *((name, np.uint32) for name in ("block", "address", "line", "value")),
        *((name, np.uint16) for name in ("thread",)),
        *((name, np.uint8) for name in ("kind", "width")),
    ]
)
WORD = np.dtype(np.uint32)
NO_VALUE = (1 << 32) - 1
_OTHERS = np.uint16((1 << 16) - 1)  # behind all threads of a block: the other blocks


def _empty(dtype: np.dtype) -> np.ndarray:
    return np.empty(0, dtype)


@dataclass(frozen=True, eq=False)
class Journal:
    """Events as rows of ROW: all of block 0, and of each other block its first store to C.

    block, thread: who. kind: an index into KINDS; of a mark, `address` is its number.
    address, width: bytes; of a mark those of its value. line: of the kernel's own file, 0
    elsewhere. value: where in `words` that begins which was read or written, as it lies in memory,
    or the mark's value; NO_VALUE if it was not kept. The rows of one thread are in its order, and
    those of warps in the order in which the runtime has come to count them: a few hundred a time.

    is_cut: whether there were more events than MOST, and what follows is left out.
    """

    rows: np.ndarray = field(default_factory=lambda: _empty(ROW))
    words: np.ndarray = field(default_factory=lambda: _empty(WORD))
    is_cut: bool = False

    def threads(self) -> dict[int, np.ndarray]:
        """The rows of each thread of block 0, in order."""
        rows = self.own
        found, first = np.unique(rows["thread"], return_index=True)
        return (
            dict(zip(found.tolist(), np.split(rows, first[1:]), strict=True)) if len(rows) else {}
        )

    @cached_property
    def own(self) -> np.ndarray:
        """The rows of block 0, thread by thread, each thread's in its order."""
        thread = np.where(self.rows["block"], _OTHERS, self.rows["thread"])
        order = np.argsort(thread, kind="stable")[: np.count_nonzero(thread != _OTHERS)]
        # Rows without fields are taken ten times as fast.
        return np.take(self.rows.view(f"V{ROW.itemsize}"), order).view(ROW)

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """The value of each row as one number of 32 bits; each has a value."""
        return self.words[rows["value"]]

    def text(self) -> str:
        """As text, for JSON; of an empty one ""."""
        if not len(self.rows):
            return ""
        packed = io.BytesIO()
        np.savez(packed, rows=self.rows, words=self.words, is_cut=self.is_cut)
        return base64.b64encode(zlib.compress(packed.getvalue(), 1)).decode()

    @classmethod
    def read(cls, text: str) -> Journal:
        """What `text` gave."""
        if not text:
            return cls()
        with np.load(io.BytesIO(zlib.decompress(base64.b64decode(text)))) as packed:
            return cls(packed["rows"], packed["words"], bool(packed["is_cut"]))


def with_lines(journal: Journal, line_of: LineOf) -> Journal:
    """The runtime's journal with lines in place of program counters."""
    pcs = journal.rows["line"]
    lines = np.zeros(int(pcs.max(initial=0)) + 1, np.uint32)
    lines[pcs] = 1
    for pc in np.flatnonzero(lines):
        _, line, text = line_of(int(pc)) or ("", 0, "")
        lines[pc] = line if text else 0  # only lines of the kernel's own file come with their text
    journal.rows["line"] = lines[pcs]
    return journal
