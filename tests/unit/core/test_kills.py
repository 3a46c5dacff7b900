"""Fifty kills and full disks in builds, records and tunes: nothing torn, the next run right."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import needs
import pytest
import victim

from gemmlab import measurements
from gemmlab.core.paths import cache_dir
from gemmlab.run import tuned
from gemmlab.sim import build

pytestmark = [
    pytest.mark.slow,
    needs.gxx,
]

# Seconds within which a kill comes. "all" builds the simulator first, in an empty cache.
JOBS = {"kernel": 2.5, "record": 0.5, "tune": 0.3, "all": 8.0}
# Alone: its compilers live on, and end in a folder that the next run has removed.
WAYS = ("SIGKILL", "SIGKILL alone", "SIGINT", "full disk")
# The most room on a full disk: bytes, as powers of 2, below the largest file of each job. The
# least, 9, has room for the text of a kernel.
ROOM = {"kernel": 15, "record": 17, "tune": 13, "all": 24}
OLD = 1000  # the number of what was there before


@dataclass(frozen=True)
class Case:
    """One kill; `number` is the seed of its time, or of the room on its disk."""

    number: int

    @property
    def job(self) -> str:
        return list(JOBS)[self.number % len(JOBS)]

    @property
    def way(self) -> str:
        return WAYS[self.number // len(JOBS) % len(WAYS)]

    def __str__(self) -> str:
        return f"{self.job}, {self.way}, {self.number}"


CASES = [Case(number) for number in range(50)]
SAMPLE = (0, 10, 13)  # SIGKILL, SIGINT and a full disk, each of another job


@pytest.fixture(scope="module")
def simulator() -> list[Path]:
    """What is built once for all kernels."""
    made = (build.runtime(), build.prelude())
    return [file for path in made for file in path.parent.glob(f"{path.stem}.*")]


@pytest.fixture
def start(simulator, tmp_path, monkeypatch, root):
    """A function that starts a victim in `tmp_path`, and returns when it begins to work."""
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path / "cache"))

    def start_(job: str, limit: int = 0, *once: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, victim.__file__, job, str(tmp_path), str(limit), *once],
            env={**os.environ, "PYTHONPATH": str(root / "lib"), "GEMMLAB_PROGRESS": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
        return process

    return start_


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=str(c), marks=() if c.number in SAMPLE else pytest.mark.campaign)
        for c in CASES
    ],
)
def test_a_kill_leaves_the_old_state_and_the_next_run_is_right(case, simulator, start, tmp_path):
    chance = random.Random(case.number)
    prepare(case.job, tmp_path, simulator)
    if case.way == "full disk":
        process = start(case.job, int(2 ** chance.uniform(9, ROOM[case.job])))
    else:
        process = start(case.job)
        time.sleep(chance.uniform(0, JOBS[case.job]))
        kill(process, case.way)
    _, said = process.communicate(timeout=120)
    check_end(case, process.returncode, said)
    check_state(case.job, tmp_path)
    for _ in range(2):  # what was made anew, and what was found in the cache
        again = start(case.job, 0, "once")
        _, said = again.communicate(timeout=120)
        assert again.returncode == 0, said
    wait_for_the_last_of(process)
    assert leftovers(tmp_path) == []
    check_state(case.job, tmp_path, newest=0)


def prepare(job: str, folder: Path, simulator: list[Path]) -> None:
    """What was there before."""
    if job in ("record", "tune"):
        victim.JOBS[job](folder, OLD)
    elif job == "kernel":
        for file in simulator:
            shutil.copy(file, cache_dir("sim"))


def kill(process: subprocess.Popen, way: str) -> None:
    assert process.poll() is None, process.communicate()
    if way == "SIGKILL alone":
        process.kill()
    else:
        os.killpg(process.pid, getattr(signal, way))


def check_end(case: Case, status: int, said: str) -> None:
    if case.way == "full disk":
        assert status == 3 and said.strip(), (status, said)
    elif case.way == "SIGINT":
        assert status != 0 and "KeyboardInterrupt" in said, (status, said)
    else:
        assert status == -signal.SIGKILL, (status, said)


def check_state(job: str, folder: Path, newest: int | None = None) -> None:
    """All that is there is whole; of a record and a tuning the old one or a later one."""
    if job == "record":
        recording = measurements.load(folder / "h200.json")
        number = recording.sections["probes"]["ffma_tflops"]
        assert number == newest if newest is not None else number >= 0
        assert list(recording.sections) == list(
            measurements.load(measurements.file_of(victim.HERE.gpu)).sections
        )
    elif job == "tune":
        trials, ignored = tuned.load(victim.HERE)
        numbers = [trial.shape[0] - 1 for trial in trials]
        assert ignored == "" and OLD in numbers
        assert newest is None or newest in numbers
        assert json.loads(tuned.path(victim.HERE).read_text())["schema"] == tuned.SCHEMA
    for room in (folder / "cache").glob("*"):
        manifests = sorted(path.name for path in room.glob("*.sha256"))
        if manifests:  # read by somebody else's program
            subprocess.run(["sha256sum", "--check", "--quiet", *manifests], cwd=room, check=True)


def leftovers(folder: Path) -> list[Path]:
    """Drafts, locks and folders of builds; all have a dot in front."""
    return list(folder.rglob(".*"))


def wait_for_the_last_of(process: subprocess.Popen, seconds: float = 60) -> None:
    """Until no process of its session is left: a compiler that it started, say."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise TimeoutError(f"processes of {process.args} are still there")
