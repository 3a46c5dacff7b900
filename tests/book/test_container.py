"""The container for other systems installs what .ci/run does, and runs commands that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".devcontainer"
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: ("RUN", "apt-get ..."), continued lines in one."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [(word, " ".join(rest.split())) for word, _, rest in (x.partition(" ") for x in lines)]


def installed() -> set[str]:
    """The packages that the container installs."""
    found = (re.findall(r"apt-get install ([^&|]*)", rest) for _, rest in instructions())
    return {word for names in found for name in names for word in name.split() if word[0] != "-"}


def of_ci() -> set[str]:
    """What .ci/run installs where it is missing."""
    named = " ".join(re.findall(r"needed\+=\(([^)]*)\)", CI))
    arm = re.search(r"--no-install-recommends \\\n\s*([^;]*);", CI)
    return {*named.split(), *arm[1].split()}


def test_it_installs_what_ci_installs():
    assert {"make", "g++", "nodejs", "chromium", "python3-venv", "qemu-user"} <= of_ci()
    assert installed() - of_ci() == {"ca-certificates", "git"}
    assert of_ci() <= installed()


def test_it_installs_what_readme_asks_for():
    (asked,) = re.findall(r"apt-get install ([^`]*)`", README)
    assert set(asked.split()) <= installed()


def test_it_is_the_debian_of_ci():
    (image,) = (rest for word, rest in instructions() if word == "FROM")
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    (release,) = re.findall(r"container: python:\S+ \S+ \S+-(\w+)", workflow)
    assert image == f"debian:{release}"


def test_what_it_runs_and_names_is_there():
    definition = json.loads((FOLDER / "devcontainer.json").read_text(encoding="utf-8"))
    assert (FOLDER / definition["build"]["dockerfile"]).is_file()
    (words,) = re.findall(r"\bmake ([\w -]+)", definition["postCreateCommand"])
    assert set(words.split()) <= TARGETS
    (venv,) = (rest for word, rest in instructions() if word == "ENV")
    interpreter = definition["customizations"]["vscode"]["settings"][
        "python.defaultInterpreterPath"
    ]
    assert f"VENV={interpreter.removesuffix('/bin/python')}" == venv
    exposed = next(rest for word, rest in instructions() if word == "EXPOSE")
    assert definition["forwardPorts"] == [int(port) for port in exposed.split()]


@pytest.mark.parametrize("name", ["docker build", "docker run"])
def test_readme_says_how_to_run_it(name):
    (command,) = re.findall(rf"^\$ ({name} (?:[^\\\n]|\\\n)*)", README, re.MULTILINE)
    words = command.replace("\\\n", " ").split()
    if name == "docker build":
        assert (ROOT / words[-1] / "Dockerfile").is_file()
        return
    assert words[words.index("make") + 1] in TARGETS
    (volume,) = (rest for word, rest in instructions() if word == "VOLUME")
    assert any(word.endswith(f":{volume}") for word in words)
    assert "-p 8888:8888" in " ".join(words)
