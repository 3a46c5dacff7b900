"""Numbers with their nouns, and quotients with one decimal, as the sentences of this room say them.

`widgets/model/traffic/words.js` writes the same.
"""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "2,048 sectors"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def quotient(a: int, b: int) -> str:
    """a / b with one decimal, halves up, and none where that would be 0: "2.7", "64"."""
    tenths = (20 * a + b) // (2 * b)
    whole = f"{tenths // 10:,}"
    return f"{whole}.{tenths % 10}" if tenths % 10 else whole
