"""Skipped tests: counted by reason, and in CI only for reasons that are allowed.

A machine that lacks something skips tests, and nobody sees it. So each run says at its end how many
were skipped and why, and in CI (`CI=true`) a reason that tests/allowed_skips.txt does not have
fails the run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

ALLOWED = Path(__file__).resolve().parents[1] / "allowed_skips.txt"


def patterns(path: Path = ALLOWED) -> list[str]:
    """The allowed reasons, regular expressions: a line each, without comments."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def counted(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> Counter[str]:
    """How many were skipped, by reason. What is expected to fail is not skipped."""
    return Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in reports
        if isinstance(report.longrepr, tuple)
    )


def not_allowed(reasons: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """Those reasons that fit none of the allowed patterns as a whole."""
    known = list(allowed)
    return [reason for reason in reasons if not any(re.fullmatch(one, reason) for one in known)]


def line(found: Counter[str]) -> str:
    """One line about all of them: "skipped: 3 (2: nvcc is not installed; 1: no CUDA GPU)"."""
    why = "; ".join(f"{count}: {reason}" for reason, count in found.most_common())
    return f"skipped: {found.total()} ({why})" if found else "skipped: none"


def finish(session: pytest.Session) -> None:
    """At the end of a run: in CI it has failed if a reason is not allowed."""
    if not os.environ.get("CI") or hasattr(session.config, "workerinput"):
        return  # a worker of pytest-xdist tells its reports to the process that started it
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    wrong = not_allowed(counted(reporter.stats.get("skipped", [])), patterns())
    for reason in wrong:
        reporter.write_line(f"not in tests/{ALLOWED.name}: {reason}", red=True)
    if wrong and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def tell(config: pytest.Config) -> None:
    """The run's last line."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        reporter.write_line(line(counted(reporter.stats.get("skipped", []))))
