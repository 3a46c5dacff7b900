"""The question that a widget puts before it shows its answer: what shared/guess.js is given."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.arguments import choice, integer, sequence, text


def asked(question: str, choices: Sequence[int], answer: int, unit: str) -> dict | None:
    """The question with its choices, or None if there is none. The answer is one of the choices."""
    if not text("ask", question):
        return None
    offered = [integer("choices", one, 0) for one in sequence("choices", choices, "[4, 8, 32]")]
    choice("choices", answer, offered, lead=" as the answer, which is not one of ")
    return {"question": question, "choices": offered, "answer": answer, "unit": unit}
