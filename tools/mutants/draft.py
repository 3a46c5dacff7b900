"""A change of a source text, before it is a mutant with a name and a number."""

from __future__ import annotations

from dataclasses import dataclass

from .code import Code, Span


@dataclass(frozen=True)
class Edit:
    """Characters `start` up to `end` of a source become `text`, and no line moves."""

    code: Code
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Draft:
    """The edits of one mutant. The first is where the mistake is; others make it possible.

    note: what the changed line does not say by itself.
    """

    operator: str
    edits: tuple[Edit, ...]
    note: str = ""


def replace(code: Code, span: Span, form: str) -> Edit:
    """The edit that puts `form` in the place of `span`; "{}" in it is the text that stood there."""
    start, end = code.tokens[span.first].start, code.tokens[span.last].end
    old = code.text[start:end]
    new = form.replace("{}", old)
    return Edit(code, start, end, new + "\n" * (old.count("\n") - new.count("\n")))


def drafts(operator: str, code: Code, span: Span, *forms: str) -> list[Draft]:
    """A draft for each of the `forms` that may stand in the place of `span`."""
    return [Draft(operator, (replace(code, span, form),)) for form in forms]


def applied(code: Code, edits: list[Edit]) -> str:
    """The text of `code` with those edits, none of which overlap."""
    text = code.text
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
