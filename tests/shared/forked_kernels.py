"""Plugin of the run of chapters: their kernels are forked from one process (forked_kernel.py).

With `--cold-kernels`, as `make campaign` runs them, each is a process of its own from the start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import forked_kernel
import pytest

KERNEL = "forked"
_serving = pytest.StashKey[tuple[subprocess.Popen, tempfile.TemporaryDirectory]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cold-kernels", action="store_true", help="start each kernel by itself")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cold-kernels") or config.getoption("--collect-only"):
        return
    config.option.nbval_kernel_name, config.option.nbval_current_env = KERNEL, False
    if not hasattr(config, "workerinput"):  # workers of pytest-xdist share it
        _serve(config)


def _serve(config: pytest.Config) -> None:
    folder = tempfile.TemporaryDirectory()
    address = f"{folder.name}/address"
    script = [sys.executable, os.path.abspath(forked_kernel.__file__)]
    spec = {"argv": [*script, "-f", "{connection_file}"], "display_name": KERNEL}
    path = Path(folder.name, "kernels", KERNEL, "kernel.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**spec, "language": "python"}))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([*script, "serve", address], **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == b"listening\n"
    os.environ[forked_kernel.ADDRESS] = address
    os.environ["JUPYTER_PATH"] = folder.name
    config.stash[_serving] = process, folder


def pytest_unconfigure(config: pytest.Config) -> None:
    process, folder = config.stash.get(_serving, (None, None))
    if process:
        process.communicate()  # closes its input, and waits for its end
        folder.cleanup()
