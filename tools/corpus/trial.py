"""One case: compiled, run, and held against what is expected of it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gemmlab import sim
from gemmlab.core.errors import GemmlabError
from gemmlab.sim.program.blockers import NotRunnableError
from gemmlab.sim.program.build import Source, check_compiles

from .cases import DRIVERS, Case, Expected

SECONDS = 300.0
_ENTRY = "\n"  # no main(): the file is compiled, and that is all


@dataclass(frozen=True)
class Outcome:
    """What came of a case. why: the first thing that stood in the way, or what was printed."""

    got: Expected
    seconds: float
    why: str = ""


def tried(case: Case, folder: Path) -> Outcome:
    """Compile a case, and run it if it is one to run. folder: of its repository."""
    start = time.monotonic()
    got, why = _result(case, folder)
    return Outcome(got, time.monotonic() - start, why)


def parts(case: Case, folder: Path) -> tuple[list[Path], list[Path]]:
    """A case's files, its driver first, and the folders of its headers. folder: the repository."""
    files = [folder / file for file in case.files]
    if case.driver:
        files.insert(0, DRIVERS / case.driver)
    return files, [folder / name for name in case.include]


def is_right(case: Case, report: sim.ProgramReport) -> bool:
    """Whether the program has come to its end and has said that its result is right."""
    printed = case.prints in report.output.splitlines()
    return report.exit_status == 0 and printed and not report.gaps


def _result(case: Case, folder: Path) -> tuple[Expected, str]:
    files, include = parts(case, folder)
    options = tuple(f"-D{macro}" for macro in case.define)
    try:
        if case.expected.right is None:
            check_compiles(Source(tuple(files), tuple(include), options, _ENTRY))
            return Expected(right=None), ""
        report = sim.program(
            files,
            arguments=case.arguments,
            include=include,
            define=case.define,
            seconds=SECONDS,
        )
    except NotRunnableError as error:
        right = None if case.expected.right is None else False
        return Expected(compiles=False, right=right), str(error.blockers[-1])
    except GemmlabError as error:  # such as a compiler that takes too long
        right = None if case.expected.right is None else False
        return Expected(compiles=False, right=right), str(error)
    right = is_right(case, report)
    said = report.gaps[:1] or report.output.splitlines()[-1:]
    kinds = dict(sorted(Counter(found.kind for found in report.findings).items()))
    return Expected(right=right, findings=kinds), "" if right else "".join(said)


def differences(expected: Expected, got: Expected) -> list[str]:
    """What is not as expected, in words; none if all is."""
    if expected.compiles != got.compiles:
        return ["compiles now" if got.compiles else "does not compile any more"]
    found = []
    if got.compiles and expected.right != got.right:
        found.append("is right now" if got.right else "is not right any more")
    for kind in sorted({*expected.findings, *got.findings}):
        before, now = expected.findings.get(kind, 0), got.findings.get(kind, 0)
        if before != now:
            found.append(f"{now} of {kind}, expected {before}")
    return found
