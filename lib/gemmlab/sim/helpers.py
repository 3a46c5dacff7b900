"""The small functions of a reader's text, such as load4(p): whose calls matter, not their lines."""

from __future__ import annotations

import re

from ..steps.cuda_text import line_at, without_comments

_FUNCTION = re.compile(r"\b__device__\b[^;{}()]*\([^;{}]*\)\s*\{(?P<body>[^{}]*)\}")
_MOST = 2  # statements
_MORE = re.compile(r"\b(?:for|while|do|goto|if|__shared__|__syncthreads)\b")


def helper_lines(text: str) -> frozenset[int]:
    """The lines of functions that do no more than one access or two."""
    code, found = without_comments(text), set[int]()
    for match in _FUNCTION.finditer(code):
        body = match["body"]
        if body.count(";") <= _MOST and not _MORE.search(body) and "__global__" not in match[0]:
            first, last = (line_at(code, at) for at in match.span())
            found.update(range(first, last + 1))
    return frozenset(found)
