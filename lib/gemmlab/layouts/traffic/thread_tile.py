"""The elements of C that one thread keeps: what it reads for one k, and what that serves.

`widgets/model/traffic/thread_tile.js` computes the same; tests hold the two equal, sentences
included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.arguments import integer
from .words import plural, quotient

MOST_REGISTERS = 255  # of a thread, on every GPU since Kepler


@dataclass(frozen=True)
class ThreadTile:
    """m x n elements of C in a thread: for one k it reads m values of A and n of B."""

    m: int
    n: int

    def __post_init__(self) -> None:
        integer("m", self.m, 1, 32)
        integer("n", self.n, 1, 32)

    @property
    def values(self) -> int:
        """Values that the thread reads for one k."""
        return self.m + self.n

    @property
    def fmas(self) -> int:
        """FMAs that they serve."""
        return self.m * self.n

    @property
    def registers(self) -> int:
        """Registers for the sums and the values of one k; addresses and loops need some more."""
        return self.fmas + self.values

    @property
    def fits(self) -> bool:
        """Whether a thread can have as many registers."""
        return self.registers <= MOST_REGISTERS

    @property
    def percent(self) -> int:
        """Share of FMAs among the instructions, a load for each value; rounded, halves up."""
        every = self.fmas + self.values
        return (200 * self.fmas + every) // (2 * every)

    def element(self, instruction: int) -> tuple[int, int]:
        """Row and column of the element that an FMA updates, in the order of the unrolled loops."""
        return instruction // self.n, instruction % self.n

    def describe(self) -> str:
        """What is read, computed and kept, in a sentence or two."""
        reuse = quotient(self.fmas, self.values)
        said = (
            f"{self.m} x {self.n}: {plural(self.values, 'value')} read, "
            f"{plural(self.fmas, 'FMA')}, {reuse} for each value; {self.percent} % of these "
            f"instructions are FMAs. {plural(self.registers, 'register')}."
        )
        if self.fits:
            return said
        return f"{said} A thread can have {MOST_REGISTERS}, so the compiler spills some to memory."
