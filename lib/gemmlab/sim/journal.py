"""What one block of a traced run did, thread by thread, in the order of each thread."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass

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
    "value",
    "other.barrier",
    "box",
)
KINDS = (*OPS, *(f"mark {name}" for name in MARKS))
_MARK = len(OPS)
EVENTS, VALUES = 1, 2  # what a run keeps: what block 0 does, and with what it reads and writes
MOST = 1 << 21  # rows that are kept, as in runtime/memory/journal.h; what follows is left out
ROW = np.dtype(
    [
        *((name, np.uint32) for name in ("block", "address", "line")),
        *((name, np.uint16) for name in ("thread",)),
        *((name, np.uint8) for name in ("kind", "width")),
    ]
)


@dataclass(frozen=True)
class Journal:
    """Events as rows of ROW: all of block 0, and of each other block its first store to C.

    block, thread: who. kind: an index into KINDS; of a mark, `address` is its number.
    address, width: bytes. line: of the kernel's own file, 0 elsewhere. The rows of
    one thread are in its order.
    """

    rows: np.ndarray

    def threads(self) -> dict[int, np.ndarray]:
        """The rows of each thread of block 0, in order."""
        rows = self.by_thread()
        found, first = np.unique(rows["thread"], return_index=True)
        return (
            dict(zip(found.tolist(), np.split(rows, first[1:]), strict=True)) if len(rows) else {}
        )

    def by_thread(self) -> np.ndarray:
        """The rows of block 0, thread by thread, each thread's in its order."""
        own = self.rows[self.rows["block"] == 0]
        return own[np.argsort(own["thread"], kind="stable")]

    def text(self) -> str:
        """As text, for JSON."""
        return base64.b64encode(zlib.compress(self.rows.tobytes(), 1)).decode()

    @classmethod
    def read(cls, text: str) -> Journal:
        """What `text` gave; of "" an empty one."""
        data = zlib.decompress(base64.b64decode(text)) if text else b""
        return cls(np.frombuffer(data, ROW))


def collect_journal(raw: np.ndarray, line_of: LineOf) -> str:
    """The runtime's rows as text, with lines."""
    rows = np.zeros(len(raw), ROW)
    for name in ("block", "thread", "width"):
        rows[name] = raw[name]
    marks = raw["op"] == _MARK
    rows["kind"] = np.where(marks, _MARK + (raw["address"] >> 24), raw["op"])
    rows["address"] = np.where(marks, raw["address"] & 0xFFFFFF, raw["address"])
    pcs, places = np.unique(raw["pc"], return_inverse=True)
    found = [line_of(int(pc)) or ("", 0, "") for pc in pcs]
    # Only lines of the kernel's own file come with their text.
    lines = np.array([line if text else 0 for _, line, text in found], np.uint32)
    rows["line"] = lines[places] if len(lines) else 0
    return Journal(rows).text()
