"""Node runs the widgets' own modules; tests ask it what they say."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import gemmlab.widgets
from gemmlab.widgets.shared.base import module_text

WIDGETS = Path(gemmlab.widgets.__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "twin(name, ...): compares these of widgets/model/ with those of layouts/"
    )


class Node:
    """A node that has loaded every module; `asked` are those that the last cases needed."""

    def __init__(self, node: str, folder: Path):
        self.asked: set[str] = set()
        modules = {}
        for number, file in enumerate(sorted(WIDGETS.rglob("*.js"))):
            name = file.relative_to(WIDGETS).as_posix()
            path = folder / f"{number}.mjs"
            path.write_text(module_text(name), encoding="utf-8")
            modules[name.removesuffix(".js")] = str(path)
        self._process = subprocess.Popen(
            [node, Path(__file__).with_name("answers.mjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send({"modules": modules})

    def ask(self, cases: list) -> list:
        """What the JavaScript says to each case, a pair of (kind, input)."""
        self._send({"cases": cases})
        found = json.loads(self._process.stdout.readline() or '{"error": "node ended"}')
        assert "error" not in found, found["error"]
        self.asked.update(found["asked"])
        return found["answers"]

    def end(self) -> None:
        """No more questions."""
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def _send(self, request: dict) -> None:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()


@pytest.fixture(scope="session")
def node(tmp_path_factory) -> Iterator[Node]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed: apt install nodejs")
    running = Node(program, tmp_path_factory.mktemp("js"))
    yield running
    running.end()


@pytest.fixture
def ask(node, request):
    """ask(cases): what the JavaScript says to a list of (kind, input).

    A test that is marked as that of a twin has to have asked it.
    """
    node.asked.clear()
    yield node.ask
    twins = [f"model/{name}" for mark in request.node.iter_markers("twin") for name in mark.args]
    assert set(twins) <= node.asked, f"not asked: {set(twins) - node.asked}"
