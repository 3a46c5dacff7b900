"""CUDA C++ as text: which of it is code, what stands in brackets, its kernels, lines."""

from __future__ import annotations

import re

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_GLOBAL = re.compile(r"\b__global__\b")
_BRACKET_OR_END = re.compile(r"(?P<word>\w*)\s*\(|[;{]")
_ATTRIBUTE = re.compile(r"__\w+__")
_MAIN = re.compile(r"\b(?:int|auto|void)\s+main\s*\(")
_NO_CODE = re.compile(
    r'(?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+')"
    r"|//(?:\\\n|[^\n])*|/\*.*?\*/",
    re.DOTALL,
)


def masked(text: str) -> str:
    """The text with comments, strings and characters blanked out, every other one in its place."""

    def blank(found: re.Match[str]) -> str:
        if found["string"] or found["character"]:
            return f"{found[0][0]}{' ' * (len(found[0]) - 2)}{found[0][-1]}"
        return _blanks(found[0])

    return _NO_CODE.sub(blank, text)


def without_comments(text: str) -> str:
    """The text with its comments blanked out, and its strings as they are."""

    def blank(found: re.Match[str]) -> str:
        keep = found["raw"] or found["string"] or found["character"]
        return found[0] if keep else _blanks(found[0])

    return _NO_CODE.sub(blank, text)


def _blanks(text: str) -> str:
    """Spaces in its place. A macro that has /* ... */ over several lines still goes on in each."""
    if text.startswith("//"):
        return re.sub(r"[^\n]", " ", text)
    return re.sub(r"[^\n\\]|\\(?!\n)", " ", text)


def closing(code: str, at: int) -> int:
    """Where the bracket at `at` of a masked text is closed; -1 if it is not."""
    opened = []
    for i in range(at, len(code)):
        if code[i] in _PAIRS:
            opened.append(_PAIRS[code[i]])
        elif code[i] in _PAIRS.values():
            if not opened or opened.pop() != code[i]:
                return -1
            if not opened:
                return i
    return -1


def pieces(code: str, separator: str) -> list[tuple[int, int]]:
    """Start and end of the parts of a masked text between separators outside of all brackets."""
    found, depth, start = [], 0, 0
    for i, character in enumerate(code):
        if character in _PAIRS:
            depth += 1
        elif character in _PAIRS.values():
            depth -= 1
        elif character == separator and depth == 0:
            found.append((start, i))
            start = i + 1
    return [*found, (start, len(code))]


def split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators outside of brackets and strings, trimmed."""
    return [text[start:end].strip() for start, end in pieces(masked(text), separator)]


def kernel_names(code: str) -> list[str]:
    """The names of the __global__ functions of a masked text, each once, in their order."""
    names: dict[str, None] = {}
    for start in _GLOBAL.finditer(code):
        name, at = "", start.end()
        # Up to the body: the last word before a bracket that is none of __launch_bounds__'s kind.
        while (found := _BRACKET_OR_END.search(code, at)) and found[0].endswith("("):
            name = name if _ATTRIBUTE.fullmatch(found["word"]) else found["word"] or name
            at = closing(code, found.end() - 1) + 1
            if at == 0:
                break
        if name:
            names[name] = None
    return list(names)


def has_main(code: str) -> bool:
    """Whether a masked text is that of a whole program."""
    return bool(_MAIN.search(code))


def line_at(text: str, at: int) -> int:
    """The number of the line in which a character stands, from 1."""
    return text.count("\n", 0, at) + 1
