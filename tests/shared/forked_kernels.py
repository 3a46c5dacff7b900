"""Plugin of the run of chapters: their kernels are forked from one process (forked_kernel.py).

With `--cold-kernels`, as `make campaign` runs them, each is a process of its own from the start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import forked_kernel
import pytest

KERNEL = "forked"
# No package that looks at its import whether it runs in a notebook, as pyplot and gemmlab do.
IMPORTED = (
    "IPython.core.interactiveshell",
    "anywidget",
    "debugpy",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "numpy.random",
    "torch",
    "tqdm",
)


class Server:
    """The process that forks, and the folder in which Jupyter finds what it forks.

    environment: what whoever starts a kernel needs.
    """

    def __init__(self, imported: Sequence[str] = IMPORTED) -> None:
        self._folder = tempfile.TemporaryDirectory()
        address = f"{self._folder.name}/address"
        self.environment = {
            forked_kernel.ADDRESS: address,
            "JUPYTER_PATH": self._folder.name,
        }
        script = (sys.executable, os.path.abspath(forked_kernel.__file__))
        spec = {"argv": [*script, "-f", "{connection_file}"], "display_name": KERNEL}
        path = Path(self._folder.name, "kernels", KERNEL, "kernel.json")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**spec, "language": "python"}))
        self._process = subprocess.Popen(
            [*script, "serve", address, *imported], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"listening\n"

    def close(self) -> None:
        """End the process; kernels go on."""
        self._process.communicate()  # closes its input
        self._folder.cleanup()


_serving = pytest.StashKey[Server]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cold-kernels", action="store_true", help="start each kernel by itself")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cold-kernels") or config.getoption("--collect-only"):
        return
    config.option.nbval_kernel_name, config.option.nbval_current_env = KERNEL, False
    if not hasattr(config, "workerinput"):  # workers of pytest-xdist share it
        config.stash[_serving] = Server()
        os.environ.update(config.stash[_serving].environment)


def pytest_unconfigure(config: pytest.Config) -> None:
    if server := config.stash.get(_serving, None):
        server.close()
