"""Many mutants, a few at a time; verdicts are remembered while nothing they rest on changes."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gemmlab.core.cache import DIGITS, Store
from gemmlab.sim import build

from .mutants import Mutant
from .subjects import Subject

HERE = Path(__file__).resolve().parent
VERDICTS = Store("mutants")


class Pool:
    """Processes that judge mutants. Use it in a `with` statement."""

    def __init__(self, processes: int = 2, remember: bool = True) -> None:
        self._processes = processes
        self._remember = remember
        self._idle: queue.Queue[subprocess.Popen] = queue.Queue()
        self._rests_on = _fingerprint()

    def __enter__(self) -> Pool:
        build.runtime()
        environment = {**os.environ, "GEMMLAB_PROGRESS": "0", "GEMMLAB_SIM_BUDGET_S": "5"}
        self._workers = [
            subprocess.Popen(
                [sys.executable, "-m", "tools.mutants.judge"],
                cwd=HERE.parents[1],
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(self._processes)
        ]
        for worker in self._workers:
            self._idle.put(worker)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.communicate()  # closes its pipes, which ends it

    def judge(
        self,
        subject: Subject,
        mutants: Sequence[Mutant],
        done: Callable[[Mutant, dict], None] = lambda mutant, verdict: None,
    ) -> list[dict]:
        """The verdicts on mutants of one kernel, in their order. The kernel itself comes first.

        Raises ValueError if the kernel itself is wrong: verdicts would mean nothing.
        """
        original = self._judge_one(subject, {}, {})
        if original["verdict"] != "survived":
            raise ValueError(f"{subject.name}: without any change: {original}")
        known = {"code": original["code"], "counts": original["counts"]}

        def one(mutant: Mutant) -> dict:
            verdict = self._judge_one(subject, mutant.changed, known)
            done(mutant, verdict)
            return verdict

        with ThreadPoolExecutor(self._processes) as threads:
            return _without_copies(mutants, list(threads.map(one, mutants)))

    def _judge_one(self, subject: Subject, changed: dict[str, str], known: dict) -> dict:
        job = {"subject": subject.name, "changed": changed, **known}
        key = json.dumps([self._rests_on, repr(subject), subject.files(), job])
        name = f"{subject.name}-{hashlib.sha256(key.encode()).hexdigest()[:DIGITS]}"
        if not self._remember:
            return self._ask(job)

        def make(work: Path) -> None:
            (work / f"{name}.json").write_text(json.dumps(self._ask(job)))

        (path,) = VERDICTS.get(name, (".json",), make)
        verdict = json.loads(path.read_text())
        if verdict["verdict"] == "crash":
            VERDICTS.remove(name)
        return verdict

    def _ask(self, job: dict) -> dict:
        worker = self._idle.get()
        try:
            assert worker.stdin is not None and worker.stdout is not None  # they are pipes
            worker.stdin.write(json.dumps(job) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
            if not answer:
                raise RuntimeError("a process that judges mutants has ended; it said why above")
            return json.loads(answer)
        finally:
            self._idle.put(worker)


def _without_copies(mutants: Sequence[Mutant], verdicts: Sequence[dict]) -> list[dict]:
    """Verdicts, those on mutants that compile to the code of the kernel or of another: "same".

    A removed call that changes no code is one that the simulator ignores: that one survives.
    """
    codes, kept = set(), []
    for mutant, verdict in zip(mutants, verdicts, strict=True):
        removed = mutant.operator.startswith(("remove", "weaken"))
        if verdict["verdict"] == "same" and removed:
            verdict = {**verdict, "verdict": "survived"}
        elif not removed and verdict.get("code") in codes:
            verdict = {**verdict, "verdict": "same"}
        codes.add(verdict.get("code", ""))
        kept.append(verdict)
    return kept


def _fingerprint() -> str:
    """What verdicts rest on besides the kernel: the simulator and how they are reached."""
    own = (HERE / f"{name}.py" for name in ("judge", "child", "subjects"))
    files = (*own, *sorted(build.HERE.rglob("*.*")))
    digest = hashlib.sha256()
    for file in files:
        if file.suffix in (".py", ".h", ".cuh", ".cpp"):
            digest.update(file.read_bytes())
    return digest.hexdigest()
