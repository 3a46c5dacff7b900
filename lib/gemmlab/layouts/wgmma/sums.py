"""Which thread of a warpgroup has which sum of m64nNk16, and in which register.

PTX ISA, "Register Fragments and Shared Memory Matrix Layouts" of wgmma.mma_async.m64nNk16.
`widgets/model/wgmma/sums.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.arguments import choice, integer

ROWS, THREADS = 64, 128
WIDTHS = tuple(range(8, 257, 8))


@dataclass(frozen=True)
class Sums:
    """64 rows by `columns` sums over 128 threads. Raises ArgumentError, naming the argument."""

    columns: int = 128

    def __post_init__(self) -> None:
        choice("columns", self.columns, WIDTHS)

    @property
    def registers(self) -> int:
        """Of a thread."""
        return self.columns // 2

    def holder(self, row: int, column: int) -> tuple[int, int]:
        """(thread, register) of a sum. Raises ArgumentError outside."""
        integer("row", row, 0, ROWS - 1)
        integer("column", column, 0, self.columns - 1)
        thread = row // 16 * 32 + row % 8 * 4 + column % 8 // 2
        return thread, column // 8 * 4 + row % 16 // 8 * 2 + column % 2

    def element(self, thread: int, register: int) -> tuple[int, int]:
        """(row, column) of a register of a thread; the inverse. Raises ArgumentError outside."""
        integer("thread", thread, 0, THREADS - 1)
        integer("register", register, 0, self.registers - 1)
        warp, lane = divmod(thread, 32)
        row = 16 * warp + lane // 4 + register % 4 // 2 * 8
        return row, register // 4 * 8 + lane % 4 * 2 + register % 2

    def describe(self, row: int, column: int) -> str:
        """Who has a sum, in words."""
        thread, register = self.holder(row, column)
        warp, lane = divmod(thread, 32)
        return (
            f"Row {row}, column {column}: warp {warp}, lane {lane}, which is thread {thread}, "
            f"register d[{register}]."
        )

    def describe_thread(self, thread: int) -> str:
        """What a thread has, in words."""
        (top, left), (bottom, _) = self.element(thread, 0), self.element(thread, 2)
        return (
            f"Thread {thread} has {self.registers} sums: rows {top} and {bottom}, and in each the "
            f"columns 8j + {left} and 8j + {left + 1} for j = 0 to {self.columns // 8 - 1}."
        )
