"""What a judge of an exercise gives back."""

from __future__ import annotations

from dataclasses import dataclass

from ..display import table as _html


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and why or why not; `items` are single findings."""

    solved: bool
    message: str
    items: tuple[str, ...] = ()

    def __repr__(self) -> str:
        head = f"{'Solved' if self.solved else 'Not yet'}: {self.message}"
        return "\n".join((head, *(f"  {item}" for item in self.items)))

    def _repr_html_(self) -> str:
        word = "Solved" if self.solved else "Not yet"
        return _html.verdict(self.solved, word, self.message, self.items)
