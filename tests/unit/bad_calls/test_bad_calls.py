"""Hundreds of wrong calls: each ends in a sentence that names the argument and what to do."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable

import needs
import numpy as np
import pytest
import torch
from click.testing import CliRunner

import gemmlab as lab
from gemmlab.cli import main
from gemmlab.core import errors
from tests.unit.bad_calls.calls import GROUPS, Row
from tests.unit.bad_calls.command_lines import LINES, Line

COMMANDS = {line.command.split()[0] for line in LINES}
LEAST = 300  # wrong calls of the API and of the command line together
LONGEST = 500  # characters of a sentence

NAMES = {
    "lab": lab,
    "np": np,
    "torch": torch,
    "nan": math.nan,
    "inf": math.inf,
    "E": torch.eye(4),
    "naive": lab.kernel("sgemm_01_naive"),
    "thin": lab.kernel("sgemm_20_any_shape", "thin"),
}


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch):
    """So that a call which is right in all but one argument is not measured or launched."""
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def check(message: str, argument: str, remedy: str) -> list[str]:
    """What the message lacks."""
    wrong = [] if len(message) <= LONGEST and "\n" not in message else ["is not one sentence"]
    wrong += [] if argument in message[: len(argument) + 40] else [f"does not name {argument}"]
    said = any(words in message for words in remedy.split("|"))
    return wrong if said else [*wrong, f"does not say: {remedy}"]


def compiling(names: Iterable[str], needing: str) -> list:
    """Parameters, of which one needs g++."""
    return [pytest.param(name, marks=needs.gxx if name == needing else ()) for name in names]


@pytest.mark.parametrize("group", compiling(GROUPS, "compiled"))
def test_a_wrong_call_is_an_error_of_gemmlab_that_says_what_to_do(group):
    wrong = [text for row in GROUPS[group] for text in map(row_fault(row), row.values) if text]
    assert wrong == []


def row_fault(row: Row):
    """Make a function of a value: what is wrong with the error that it gives."""

    def fault(value: str) -> str:
        text = row.call.format(value)
        try:
            eval(text, dict(NAMES))
        except errors.GemmlabError as error:
            lacks = check(str(error), row.argument, row.remedy)
            if not str(error).startswith(row.argument):
                lacks.append(f"does not begin with {row.argument}")
            if not isinstance(error, getattr(errors, row.error)):
                lacks.append(f"is a {type(error).__name__}")
            return f"{text}: {', '.join(lacks)}: {error}" if lacks else ""
        except Exception as error:
            return f"{text}: raw {error!r}"
        return f"{text}: accepted"

    return fault


@pytest.mark.parametrize("command", compiling(sorted(COMMANDS), "trace"))
def test_a_wrong_command_line_exits_with_its_status_and_one_message(command):
    wrong = []
    for line in LINES:
        if line.command.split()[0] == command:
            wrong += [text for text in map(line_fault(line), line.values) if text]
    assert wrong == []


def line_fault(line: Line):
    """Make a function of a value: what is wrong with how the command ends."""

    def fault(value: str) -> str:
        arguments = shlex.split(line.command.format(value))
        done = CliRunner().invoke(main, arguments, prog_name="python -m gemmlab")
        said = f"{line.command.format(value)[:80]}: {done.exit_code}, {done.stderr[-400:]}"
        if not isinstance(done.exception, SystemExit) or done.exit_code != line.status:
            return f"{said} {done.exception!r}"
        message = done.stderr.strip().splitlines()[-1]
        usage = done.stderr if "--help" in line.remedy else message
        lacks = check(message.removeprefix("Error: "), line.argument, "")
        lacks += [] if any(r in usage for r in line.remedy.split("|")) else ["no remedy"]
        lacks += ["a traceback"] if "Traceback" in done.stderr else []
        lacks += ["written to stdout"] if done.stdout else []
        return f"{said}: {', '.join(lacks)}" if lacks else ""

    return fault


def test_there_are_at_least_300_wrong_calls_each_of_its_own():
    calls = [row.call.format(v) for rows in GROUPS.values() for row in rows for v in row.values]
    lines = [line.command.format(value) for line in LINES for value in line.values]
    assert len(calls) == len(set(calls))
    assert len(lines) == len(set(lines))
    assert len(calls) + len(lines) >= LEAST
    assert len(lines) >= LEAST // 3
