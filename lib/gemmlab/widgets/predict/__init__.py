"""Predict: the reader commits to a number or a choice before the truth is shown."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.arguments import number, sequence, text
from ...core.errors import ArgumentError
from ..shared.base import Widget, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Predict(Widget):
    """A question, a place for one guess, and what is revealed once the reader commits to it.

    question, explain: text with `code` and **bold**. answer: a number in `unit`, or one of
    `choices` (two or more texts). tolerance: how far off a number may be and still be right, in
    `unit` or as "10%" of the answer. After the reveal the answer can be hidden for another guess;
    the first one stays on record. Raises ArgumentError, naming the argument.
    """

    _script = "predict/widget.js"
    _sheets = ("predict/widget.css",)

    def __init__(
        self,
        question: str,
        answer: float | str,
        unit: str = "",
        explain: str = "",
        choices: Sequence[str] | None = None,
        tolerance: float | str = 0,
    ) -> None:
        for name, value in (("question", question), ("unit", unit), ("explain", explain)):
            text(name, value)
        if not question.strip():
            raise ArgumentError("question: it is empty")
        options = _choices(choices, answer, tolerance)
        if options is None:
            answer = _number(answer)
        super().__init__(
            config={
                "question": question,
                "answer": answer,
                "shown": f"{_plain(answer)} {unit}".strip(),
                "unit": unit,
                "explain": explain,
                "choices": options,
                "tolerance": _tolerance(tolerance),
            },
            state={"guess": None, "first": None},
        )

    @property
    def correct(self) -> bool | None:
        """Whether the committed guess is right; None before one is committed."""
        guess, answer = self.state["guess"], self.config["answer"]
        if guess is None or self.config["choices"]:
            return None if guess is None else guess == answer
        slack = self.config["tolerance"]
        allowed = max(slack["absolute"], slack["relative"] * abs(answer))
        return abs(guess - answer) <= allowed * (1 + 1e-9)

    def summary(self) -> str:
        """The question; never the answer."""
        return "predict: " + re.sub(r"[`*]", "", self.config["question"])

    def fallback(self) -> str:
        """The question, and the answer folded away, for pages that run no scripts."""
        config = self.config
        choices = "".join(f"<li>{inline_html(c)}</li>" for c in config["choices"] or [])
        return (
            f'<div class="gl-card gl-predict"><div class="gl-kicker">Predict</div>'
            f'<div class="gl-caption">{inline_html(config["question"])}</div>'
            f"{f'<ul>{choices}</ul>' if choices else ''}"
            f"<details><summary>Show the answer</summary>"
            f"<p><strong>{inline_html(config['shown'])}</strong></p>"
            f"<p>{inline_html(config['explain'])}</p></details></div>"
        )

    def figure(self) -> Figure:
        """The question alone."""
        from textwrap import wrap

        lines = wrap(re.sub(r"[`*]", "", self.config["question"]), 52)
        lines += [f"○  {re.sub(r'[`*]', '', choice)}" for choice in self.config["choices"] or []]
        height = 0.5 + 0.2 * len(lines)
        figure = new_figure(3.8, height)
        figure.text(
            0.04, 1 - 0.1 / height, "PREDICT", fontsize=7, weight="bold", color="#0068a3", va="top"
        )
        # parse_math would take a dollar sign for the start of a formula.
        figure.text(
            0.04,
            1 - 0.3 / height,
            "\n".join(lines),
            fontsize=9,
            color="#1c2127",
            va="top",
            linespacing=1.4,
            parse_math=False,
        )
        return figure


predict = Predict  # what a notebook calls: lab.predict("How many?", 4)


def inline_html(text: str) -> str:
    """Escaped text with `code` and **bold** marked up."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)


def _plain(answer: float | str) -> str:
    return f"{answer:,}" if isinstance(answer, int) else str(answer)


def _number(answer: object) -> float | int:
    value = number("answer", answer, expected="a number, or text with choices=[...]")
    if not math.isfinite(value):
        raise ArgumentError(f"answer: got {answer!r}, expected a finite number")
    return int(value) if value == int(value) else value


def _choices(choices: Sequence[str] | None, answer: object, tolerance: object) -> list[str] | None:
    if choices is None:
        return None
    options = sequence("choices", choices, "['more', 'fewer']")
    if len(options) < 2 or not all(isinstance(c, str) and c.strip() for c in options):
        raise ArgumentError(f"choices: got {choices!r}, expected two or more texts")
    if len(set(options)) < len(options):
        raise ArgumentError("choices: two of them are equal")
    if answer not in options:
        raise ArgumentError(f"answer: got {answer!r}, expected one of the choices {options}")
    if tolerance != 0:
        raise ArgumentError("tolerance: it has no meaning with choices")
    return options


def _tolerance(tolerance: float | str) -> dict[str, float]:
    """An absolute and a relative slack, one of them zero."""
    expected = "a number in the unit or text like '10%'"
    if isinstance(tolerance, str) and re.fullmatch(r"\d+(\.\d+)?%", tolerance):
        return {"absolute": 0.0, "relative": float(tolerance[:-1]) / 100}
    value = float(number("tolerance", tolerance, expected=expected))
    if not (math.isfinite(value) and value >= 0):
        raise ArgumentError(f"tolerance: got {tolerance!r}, expected {expected}")
    return {"absolute": value, "relative": 0.0}
