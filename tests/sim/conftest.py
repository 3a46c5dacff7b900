"""What the simulator's tests share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gemmlab import sim

FIXTURES = Path(__file__).parent / "fixtures"


class Fixture:
    """A kernel file of this folder, and the lines that its comments mark: `// [name]`."""

    def __init__(self, name: str) -> None:
        self.path = FIXTURES / f"{name}.cu"
        self.lines: dict[str, int] = {}
        for number, text in enumerate(self.path.read_text().splitlines(), start=1):
            for mark in re.findall(r"\[([^\]]+)\]", text.partition("//")[2]):
                self.lines[mark] = number

    def module(self, launch: str, portable: bool = False) -> sim.SimModule:
        """The module whose launcher is `launch_<launch>`."""
        return sim.load_source(self.path, f"launch_{launch}", portable=portable)


@pytest.fixture
def kernel_file():
    """A function: name of a fixture -> Fixture."""
    return Fixture
