"""What a judge of an exercise gives back."""

from __future__ import annotations

from dataclasses import dataclass

from ..display.table import Judgement, Shown
from ..notebook import watch


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """Whether an answer is right, and why or why not.

    solved: whether it is. message: one or two sentences for the reader, a hint if it is not.
    items: single findings, a line each.
    """

    solved: bool
    message: str
    items: tuple[str, ...] = ()

    def shown(self) -> Judgement:
        """The word, and the findings below it; the reader's progress takes note."""
        watch.verdict(self.solved)
        word = "Solved" if self.solved else "Not yet"
        items = [f"  {item}" for item in self.items]
        return Judgement(self.solved, word, self.message, items, plain=f"{word}: {self.message}")
