"""What the process in which a program runs is asked."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ...core.worker import with_tuples


@dataclass(frozen=True)
class Request:
    """name: argv[0]. library, runtime, lines: paths. sources: the user's files. arguments: of main.

    seconds: that it may take. traced: count and look for races. answer: the file to write.
    widths: of the machine code (Widths.to_rows), if it is known.
    """

    name: str
    library: str
    runtime: str
    lines: str
    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    seconds: float
    traced: bool
    threads: int
    answer: str
    widths: tuple[tuple[str | int, ...], ...] = ()

    def to_json(self) -> str:
        """On one line."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Request:
        """What `to_json` gave."""
        return cls(**with_tuples(json.loads(text)))
