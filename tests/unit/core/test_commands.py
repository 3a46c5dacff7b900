"""Compilers as processes: what they say comes back, and one that cannot run is named."""

from __future__ import annotations

import shutil
import time

import pytest

from gemmlab.core import commands
from gemmlab.core.errors import BackendError

SHELL = shutil.which("sh") or "sh"


def test_status_and_messages_come_back(tmp_path):
    assert commands.run([SHELL, "-c", "echo said >&2; exit 3"], "x.cuh", tmp_path) == (3, "said\n")


@pytest.mark.parametrize("tool", ["g++", "objcopy", "as"])
def test_a_missing_tool_is_named_with_where_to_get_it(tool, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendError, match=f"{tool.replace('+', '.')}: not found, .*apt install"):
        commands.run([tool, "x"], "x.cuh", tmp_path)


def test_a_tool_that_is_no_program_is_named(tmp_path):
    (tmp_path / "objcopy").write_text("")
    with pytest.raises(BackendError, match=r"objcopy: Permission denied, and x.cuh cannot be"):
        commands.run([str(tmp_path / "objcopy")], "x.cuh", tmp_path)


def test_one_that_hangs_is_ended_though_its_child_holds_the_pipe(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_COMPILE_S", "0.3")
    start = time.monotonic()
    with pytest.raises(BackendError, match=r"sh: has not built x.cuh within 0.3 s and was ended"):
        commands.run([SHELL, "-c", "sleep 1000 & wait"], "x.cuh", tmp_path)
    assert time.monotonic() - start < 20
