"""One mutant in the simulator: is it found?

A program that serves a pool: `python -m tools.mutants.judge` reads jobs, one JSON object a line,
and answers each with a line. Every job runs in a child process, with limits, because a mutant may
do anything.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

from gemmlab import sim
from gemmlab.core.errors import BuildError, LaunchError
from gemmlab.sim import build

from .child import in_child
from .subjects import Run, Subject, subject

CPU_SECONDS = 30
WALL_SECONDS = 240


def judge(job: dict) -> dict:
    """The verdict on a job: {"subject": name, "changed": {file: text}, "code": ..., "counts": ...}.

    verdict: "finding" (of the kinds listed), "values" (wrong results, and no finding at any size),
    "refused" (the launch), "counts" (right, with other memory requests than `counts`, the
    original's), "survived"; not counted are "compile" (it does not) and "same" (the machine code
    is `code`, the original's). wrong: whether results were.
    """
    about = subject(job["subject"])
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        path = _write(Path(folder), about, job["changed"])
        try:
            built = build.kernel(path, about.launch, workspace=about.workspace)
        except BuildError as error:
            said = [
                line for line in str(error).splitlines() if "error" in line or "undefined" in line
            ]
            return {"verdict": "compile", "message": said[0] if said else ""}
        try:
            code = _machine_code(built.library, Path(folder))
            if code == job.get("code"):
                return {"verdict": "same"}
            return {"code": code, **_run_all(about, path, job.get("counts"))}
        finally:
            build.forget(built)


def _write(folder: Path, about: Subject, changed: dict[str, str]) -> Path:
    """A copy of the kernel and of what it includes, in folders as they are in the repository."""
    for name, text in (about.files() | changed).items():
        if name == about.file:
            text = about.made_small(text)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / about.file


def _run_all(about: Subject, path: Path, counts: list | None) -> dict:
    """Every run up to the first with a finding."""
    module = sim.compile_source(path, about.launch, workspace=about.workspace)
    wrong, counted = False, []
    for run in about.runs():
        try:
            trace, right = _run(module, about, run)
        except LaunchError as error:
            return {"verdict": "refused", "wrong": True, "message": str(error)}
        wrong = wrong or not right
        if trace.findings:
            kinds = sorted({finding.kind for finding in trace.findings})
            first = str(trace.findings[0])
            return {"verdict": "finding", "kinds": kinds, "wrong": wrong, "message": first}
        counted.append(trace.totals())
    if wrong:
        return {"verdict": "values", "wrong": True}
    same = counts is None or counted == counts
    return {"verdict": "survived" if same else "counts", "wrong": False, "counts": counted}


def _run(module: sim.SimModule, about: Subject, run: Run) -> tuple[sim.Trace, bool]:
    A, B, C, expected = about.data(run)
    trace = module.trace(
        A, B, C, run.M, run.N, run.K, run.alpha, run.beta, config=run.config, threads=1
    )
    return trace, np.array_equal(C, expected, equal_nan=True)


def _machine_code(library: Path, folder: Path) -> str:
    """Fingerprint of the instructions and constants.

    Not of .data, where index checks keep lines and columns; nor of where the source was.
    """
    digest = hashlib.sha256()
    with library.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if section.name in (".text", ".rodata"):
                digest.update(section.data().replace(str(folder).encode(), b""))
    return digest.hexdigest()[:16]


def serve() -> None:
    """Answer jobs until there are no more."""
    build.runtime()
    for line in sys.stdin:
        started = time.perf_counter()
        job = json.loads(line)
        verdict = in_child(partial(judge, job), CPU_SECONDS, WALL_SECONDS)
        verdict["seconds"] = round(time.perf_counter() - started, 2)
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    serve()
