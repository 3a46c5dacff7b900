"""A widget's script and style without what only their authors read: every page carries them."""

from __future__ import annotations

import re

# Strings, templates but for the code in them, and regular expressions stay as they are.
_KEPT = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<pattern>(?<=[(,=:\[!&|?{;])\s*
          /(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)
      | (?P<comment>\ *//[^\n]*)
      | (?P<tick>`)""",
    re.VERBOSE,
)
# Not beside + and -, where two of them would become one.
_SPACES = re.compile(r" *([{}()\[\],;:=<>?&|!*%/^]) *")
# Ends of lines that end no statement: something has to follow, or what follows goes on.
_GOES_ON = re.compile(r"(?<=[;{,(\[?:&|=])\n|\n(?=[)}\]?:&|])|(?<=\))\n(?=\.)")


def _code(text: str) -> str:
    """Code without literals; a line's end stays where it may end a statement."""
    return _GOES_ON.sub("", _SPACES.sub(r"\1", text))


def _template_end(text: str, at: int) -> tuple[str, int]:
    """A template from behind its ` on, the code in its ${...} made lean, and where it ends."""
    parts = ["`"]
    while text[at] != "`":
        if text[at] == "\\":
            parts.append(text[at : at + 2])
            at += 2
        elif text.startswith("${", at):
            inner, at = _until_brace(text, at + 2)
            parts.append("${" + inner)
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts) + "`", at + 1


def _until_brace(text: str, at: int) -> tuple[str, int]:
    """Code up to the } that ends it, made lean, and where it ends."""
    parts, depth, start = [], 1, at
    while depth:
        kept = _KEPT.match(text, at)
        if kept:
            parts.append(_code(text[start:at]))
            piece, at = _literal(text, kept)
            parts.append(piece)
            start = at
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return "".join(parts) + _code(text[start:at]), at


def _literal(text: str, kept: re.Match[str]) -> tuple[str, int]:
    if kept["tick"]:
        return _template_end(text, kept.end())
    return "" if kept["comment"] else kept[0], kept.end()


def lean_script(text: str) -> str:
    """JavaScript that does the same in fewer characters."""
    parts, at = [], 0
    while kept := _KEPT.search(text, at):
        parts.append(_code(text[at : kept.start()]))
        piece, at = _literal(text, kept)
        parts.append(piece)
    return "".join(parts) + _code(text[at:])


def lean_style(text: str) -> str:
    """A style sheet, already without comments, that says the same in fewer characters."""
    text = re.sub(r"\s*([{};,])\s*", r"\1", text)
    return re.sub(r";}", "}", re.sub(r":\s+", ":", text))
