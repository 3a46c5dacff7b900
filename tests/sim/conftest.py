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
        return sim.compile_source(self.path, f"launch_{launch}", portable=portable)


@pytest.fixture
def kernel_file():
    """A function: name of a fixture -> Fixture."""
    return Fixture


@pytest.fixture
def check_mistake():
    """A function: Fixture, trace of its broken kernel, (kind, mark of the line, mark of the other
    line or None, part of the message, fatal) -> None. Fails unless that is the only finding."""
    return _check_mistake


def _check_mistake(fixture: Fixture, trace: sim.Trace, mistake: tuple) -> None:
    kind, here, there, advice, fatal = mistake
    assert [f.kind for f in trace.findings] == [kind], trace.findings
    finding = trace.findings[0]
    assert finding.file == f"tests/sim/fixtures/{fixture.path.name}"
    assert finding.line == fixture.lines[here]
    assert finding.other_line == (fixture.lines[there] if there else None)
    assert finding.other_file == (finding.file if there else None)
    assert advice in finding.message
    assert finding.fatal is fatal
