"""The workflows of the code host run what is run here, with actions of a fixed version."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(path: Path) -> list[dict]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def test_there_is_one_for_the_tests_and_one_for_the_book():
    assert [path.stem for path in WORKFLOWS] == ["book", "test"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_have_a_fixed_version(path):
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_they_run_is_there(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for words in (step["run"].split() for step in steps(path) if "run" in step):
        if words[0] == "make":
            assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in words[1:])
        elif words[0] not in ("cp", "git"):
            assert os.access(ROOT / words[0], os.X_OK)


def test_the_tests_are_those_of_ci():
    assert ".ci/run" in [step.get("run") for step in steps(ROOT / ".github/workflows/test.yml")]
