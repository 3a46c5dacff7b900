"""`python -m gemmlab` in a process of its own: pipes, Ctrl-C, tools that are missing or hang."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import needs
import pytest

pytestmark = pytest.mark.slow  # each test starts a process or several

NAIVE = "sgemm_01_naive"
COMMAND = [sys.executable, "-m", "gemmlab"]


@pytest.fixture
def start(root, tmp_path):
    """A function that starts a command; of its environment only what matters is this one's."""
    started: list[subprocess.Popen] = []

    def run(*arguments: str, **environment: str) -> subprocess.Popen:
        own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
        own |= {"PYTHONPATH": str(root / "lib"), "GEMMLAB_CACHE": str(tmp_path / "cache")}
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=own | environment,
            # A shell that starts the tests in the background has switched Ctrl-C off.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def call(start):
    """A function that runs a command to its end: status, output, error output."""

    def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
        process = start(*arguments, **environment)
        output, errors = process.communicate(timeout=120)
        assert "Traceback" not in errors
        return process.returncode, output, errors

    return run


@pytest.fixture
def tools(tmp_path) -> Path:
    """A folder to be the PATH, without any program in it."""
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


def hanging(tools: Path) -> Path:
    """Make a g++ that starts a program which never ends; the file that it then writes."""
    started = tools / "started"
    sleep = shutil.which("sleep")
    (tools / "g++").write_text(f"#!/bin/sh\n{sleep} 1000 &\necho $! > {started}\nwait\n")
    (tools / "g++").chmod(0o755)
    return started


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "zombie" not in status.read_text()


def test_without_a_gpu_the_recordings_are_shown_as_json(call):
    status, output, _ = call("bench", NAIVE, "--json")
    assert status == 0
    assert json.loads(output)["source"] == "recorded"
    status, output, _ = call("tune", "sgemm_20_any_shape", "--json")
    assert status == 0
    assert json.loads(output)["source"] == "recorded"


def test_record_and_check_say_that_there_is_no_gpu(call):
    for asked in (["record"], ["check", NAIVE, "--on", "gpu"]):
        status, output, errors = call(*asked)
        assert (status, output) == (1, "")
        assert "CUDA" in errors and len(errors.splitlines()) == 1


def test_a_closed_pipe_ends_it_quietly(start):
    process = start("list", "--json")
    process.stdout.close()  # as `| head` does
    assert process.wait(timeout=60) == 1
    assert process.stderr.read() == ""


def test_ctrl_c_ends_with_one_word_and_130(start, tools):
    started = hanging(tools)
    process = start("doctor", PATH=str(tools))
    while not started.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "Error: interrupted"


@needs.gxx
def test_doctor_exits_with_0_where_the_simulator_runs(call):
    status, output, _ = call("doctor")
    assert status == 0
    assert output.startswith("Kernels run on the simulator")


def test_without_a_compiler_a_trace_says_how_to_get_one(call, tools):
    status, _, errors = call("trace", NAIVE, PATH=str(tools))
    assert status == 1
    assert "g++: not found" in errors and "apt install g++" in errors


def test_a_compiler_that_hangs_is_ended_with_all_that_it_started(call, tools):
    """And as nobody watches a pipe, progress is one line there."""
    started = hanging(tools)
    status, _, errors = call("trace", NAIVE, PATH=str(tools), GEMMLAB_COMPILE_S="2")
    assert status == 1
    progress, message = errors.splitlines()
    assert "\r" not in errors
    assert progress == "Compiling the simulator (once) ..."
    assert "g++: has not built the simulator's runtime within 2 s" in message
    assert "GEMMLAB_COMPILE_S" in message
    pid = int(started.read_text())
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(pid)
