"""What a run says of skipped tests, and that CI fails for a reason that is not allowed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import needs
import pytest
import skips

TEST = """
import pytest

@pytest.mark.skip(reason={reason!r})
def test_skipped():
    pass

@pytest.mark.xfail
def test_that_fails():
    assert False

def test_that_passes():
    pass
"""


def run(folder: Path, reason: str, ci: str, *options: str) -> subprocess.CompletedProcess:
    """A run of pytest, with the hooks of tests/conftest.py, over one skipped test."""
    conftest = Path(__file__).parents[1] / "conftest.py"
    (folder / "conftest.py").write_text(conftest.read_text())
    (folder / "test_it.py").write_text(TEST.format(reason=reason))
    environment = {**os.environ, "CI": ci, "PYTHONPATH": os.path.dirname(skips.__file__)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:nbval", *options]
    return subprocess.run(
        [*command, f"--rootdir={folder}", str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_ci_fails_for_a_reason_that_is_not_allowed(tmp_path, options):
    done = run(tmp_path, "the moon is full", "true", *options)
    assert done.returncode == 1
    assert "not in tests/allowed_skips.txt: the moon is full" in done.stdout
    assert done.stdout.splitlines()[-1] == "skipped: 1 (1: the moon is full)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "ci"), [("the moon is full", ""), (needs.NVCC, "true")], ids=["no CI", "allowed"]
)
def test_elsewhere_and_for_other_reasons_it_only_says_so(tmp_path, reason, ci):
    done = run(tmp_path, reason, ci)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"skipped: 1 (1: {reason})")
    assert "allowed_skips" not in done.stdout


def test_the_line():
    assert skips.line(Counter()) == "skipped: none"
    assert skips.line(Counter({"a": 1, "b": 2})) == "skipped: 3 (2: b; 1: a)"


def test_a_pattern_fits_the_whole_reason():
    reasons = ["no CUDA GPU", "no CUDA GPU today", "nvcc is 13.1, and the recording is of 13.0"]
    assert skips.not_allowed(reasons, skips.patterns()) == ["no CUDA GPU today"]
    assert skips.not_allowed(reasons, []) == reasons


def test_what_ci_installs_is_no_excuse():
    missing = [
        needs.GXX,
        "node is not installed: apt install nodejs",
        "g++ has no address sanitizer",
    ]
    assert skips.not_allowed(missing, skips.patterns()) == missing
