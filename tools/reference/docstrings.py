"""From a docstring in plain paragraphs to Markdown: a summary, parameters, what is raised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_SENTENCE = re.compile(r"(?<=[.?!:])\s+(?=[A-Z`\"({\[0-9])|(?<=[.?!])\s+(?=\w+(?:, \w+)*: )")
# What is code although no back quotes say so: templates, calls, names with an underscore, errors.
_CODE = re.compile(
    r"\{[^{}]*\"[^{}]*\}|\[\"[^\]]*\"\]|\w+<[\w, ]+>|[A-Za-z]+Error\b|\b\w*\*\*[\w()]+"
    r"|(?<![\w/.])%%\w+"
    r"|[\w/.]*\w\.(?:cuh|cu|py|json|js|h)\b|(?<![\w\"])\w+(?:\.\w+)*\(\)"
    r"|(?<![\w\"/])__?\w+(?:\.\w+)*|(?<![\w\"/])[A-Za-z]\w*_\w+(?:\.\w+)*|\b[A-Z]\w*\.\w+\b"
)


@dataclass
class Doc:
    """The parts of a docstring. items: (names, meaning), in the order of the text."""

    summary: str = ""
    body: list[str] = field(default_factory=list)
    items: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def of(self, name: str) -> str:
        """What is said of one name; "" if it has no item of its own."""
        return next((text for names, text in self.items if name in names), "")


def parse(text: str, names: Iterable[str]) -> Doc:
    """The parts of a docstring. names: of the parameters, or fields, of what it describes."""
    doc = Doc()
    start = _starts(tuple(names))
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        flat = " ".join(paragraph.split())
        if number == 0:
            doc.summary, _, flat = _first(flat)
        _read(flat, start, doc)
    return doc


def _starts(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where an item starts: "rows, columns: ", or a sentence that begins with `rows`."""
    if not names:
        return re.compile(r"(?!)")
    one = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    listed = rf"(?P<listed>`?(?:{one})`?(?:, `?(?:{one})`?)*): "
    quoted = rf"(?P<quoted>`(?:{one})`(?:(?:, | and )`(?:{one})`)*)(?=[ ,])"
    return re.compile(rf"(?:^|(?<=[.;)?])\s+|(?<=\.\")\s+)(?:{listed}|{quoted})")


def _first(text: str) -> tuple[str, str, str]:
    """The first sentence, and what follows. One that introduces code keeps the code."""
    parts = [text] if not (found := _end(text)) else [text[: found.start()], text[found.end() :]]
    return parts[0], " ", parts[1] if len(parts) > 1 else ""


def _end(text: str) -> re.Match[str] | None:
    ends = (m for m in _SENTENCE.finditer(text) if text[m.start() - 1] != ":")
    return next((m for m in ends if not _inside(text, m.start())), None)


def _inside(text: str, at: int) -> bool:
    """Whether a place is between back quotes or in brackets."""
    before = text[:at]
    return before.count("`") % 2 == 1 or before.count("(") > before.count(")")


def sentences(text: str) -> list[str]:
    """The sentences of a text on one line."""
    found = []
    while (end := _end(text)) is not None:
        found.append(text[: end.start()])
        text = text[end.end() :]
    return [*found, text] if text else found


def _read(text: str, start: re.Pattern[str], doc: Doc) -> None:
    """Take the errors out of a paragraph, then its items; the rest is body."""
    kept = []
    for sentence in sentences(text):
        if sentence.startswith("Raises "):
            doc.errors.append(sentence.removeprefix("Raises "))
        else:
            kept.append(sentence)
    text = " ".join(kept)
    found = list(start.finditer(text))
    if lead := text[: found[0].start() if found else None].strip():
        doc.body.append(lead[:-1] + "." if lead.endswith(";") else lead)
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        named = match["listed"] or match["quoted"]
        names = tuple(re.findall(r"\w+", named.replace(" and ", ", ")))
        begin = match.end() if match["listed"] else match.start("quoted")
        meaning = text[begin:end].strip().rstrip(";")
        doc.items.append((names, meaning if meaning.endswith((".", "?", ")")) else meaning + "."))


def markdown(text: str) -> str:
    """A piece of a docstring with what Markdown would read as markup escaped, and code as code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") and len(p) > 1 else _plain(p) for p in pieces)


def _plain(text: str) -> str:
    done, at = [], 0
    for match in _CODE.finditer(text):
        done += [_escaped(text[at : match.start()]), f"`{match[0]}`"]
        at = match.end()
    return "".join([*done, _escaped(text[at:])])


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_$\[\]<>|#])", r"\\\1", text)
