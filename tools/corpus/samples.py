"""Run NVIDIA's CUDA samples, whole programs, and compare with what is expected of them.

    python -m tools.corpus.samples --folder DIR [--only NAME ...] [--seconds N] [--record]

DIR is as for `python -m tools.corpus`. Which samples, and how each is run: in samples.toml. Each
runs in a copy of its folder, because some write files. --record writes samples.json, and keeps what
was measured before of those that are not run.
Exit status: 0, all that was run is as expected; 1, something differs; 2, nothing was run.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gemmlab import sim
from gemmlab.core.errors import GemmlabError
from gemmlab.core.files import write_whole
from gemmlab.gpu.telemetry import commit
from gemmlab.sim.program.blockers import NotRunnableError

from .. import command
from .__main__ import AS_EXPECTED, DIFFERENT, NOTHING_RUN, checkouts
from .cases import Repository

LIST = Path(__file__).with_name("samples.toml")
RECORD = Path(__file__).with_name("samples.json")
SECONDS = 600.0
PASSED = "passed"
_SOURCES = (".cu", ".cpp")


@dataclass(frozen=True)
class Sample:
    """A program, and how it is run: the keys of samples.toml say what each is."""

    name: str
    folder: str = ""
    says: str = ""
    arguments: tuple[str, ...] = ()
    traced: bool = True
    findings: dict[str, int] = field(default_factory=dict)
    why: str = ""
    not_run: str = ""


@dataclass(frozen=True)
class Result:
    """What came of it. outcome: PASSED, or what was in its way. seconds: to compile and run it."""

    outcome: str
    launches: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    seconds: float = 0
    traced: bool = True


@dataclass(frozen=True)
class Samples:
    """All of them. repository, commit: where they are from."""

    repository: str
    commit: str
    each: tuple[Sample, ...]


def samples(file: Path = LIST) -> Samples:
    """What samples.toml lists. Raises ValueError for a key that is not known."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    each = []
    for name, row in data["sample"].items():
        if unknown := set(row) - set(Sample.__dataclass_fields__):
            raise ValueError(f"{file.name}: {name} has {', '.join(sorted(unknown))}")
        arguments = tuple(row.pop("arguments", ()))
        each.append(Sample(name, **row, arguments=arguments))
    return Samples(data["repository"], data["commit"], tuple(each))


def results(file: Path = RECORD) -> dict[str, Result]:
    """What was recorded, by name."""
    data = json.loads(file.read_text(encoding="utf-8"))
    return {name: Result(**row) for name, row in data["samples"].items()}


def tried(sample: Sample, repository: Path, seconds: float) -> Result:
    """Run it. repository: the folder of the checkout."""
    with _copied(repository / "Samples" / sample.folder / sample.name) as folder:
        files = sorted(file for file in folder.iterdir() if file.suffix in _SOURCES)
        start = time.monotonic()
        try:
            report = sim.program(
                files,
                arguments=sample.arguments,
                include=[repository / "Common", folder],
                trace=sample.traced,
                seconds=seconds,
            )
        except NotRunnableError as error:
            return Result(f"does not compile: {error.blockers[0].what}", traced=sample.traced)
        except GemmlabError as error:
            return Result(str(error).splitlines()[0], traced=sample.traced)
        took = round(time.monotonic() - start, 1)
    kinds = dict(sorted(Counter(found.kind for found in report.findings).items()))
    runs = sum(launch.runs for launch in report.launches)
    return Result(_outcome(sample, report), runs, kinds, took, sample.traced)


def _outcome(sample: Sample, report: sim.ProgramReport) -> str:
    if report.gaps:
        return report.gaps[0]
    if report.exit_status:
        return f"main() has returned {report.exit_status}"
    if report.exit_status is None:
        return "it has not come to its end"
    said = re.search(sample.says, report.output)
    return PASSED if said else f"it has not printed {sample.says!r}"


@contextlib.contextmanager
def _copied(folder: Path) -> Iterator[Path]:
    """A copy of a sample's folder that is the working folder, where it looks for its data."""
    with tempfile.TemporaryDirectory(prefix="gemmlab-sample-") as work:
        copy = Path(work).resolve() / folder.name
        shutil.copytree(folder, copy)
        with contextlib.chdir(copy):
            yield copy


def differences(sample: Sample, result: Result) -> str:
    """What is not as expected, in words; "" if all is."""
    if result.outcome != PASSED:
        return result.outcome
    if result.findings != sample.findings:
        return f"findings: {result.findings or 'none'}, expected {sample.findings or 'none'}"
    return ""


def record(got: dict[str, Result], known: Samples, file: Path = RECORD) -> None:
    """Write what was measured, beside what was measured of other samples before."""
    measured = {**(results(file) if file.exists() else {}), **got}
    names = [sample.name for sample in known.each if not sample.not_run]
    rows = {name: measured[name] for name in names if name in measured}
    data = {
        "repository": known.repository,
        "commit": known.commit,
        "with": commit(),
        "samples": {name: asdict(row) for name, row in rows.items()},
    }
    write_whole(file, json.dumps(data, indent=1) + "\n")


def main(given: list[str] | None = None, file: Path = LIST, recorded: Path = RECORD) -> int:
    """The exit status."""
    parser = command.parser("corpus.samples", __doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with the checkouts")
    parser.add_argument("--only", nargs="*", default=(), help="samples of these names")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that each may run")
    parser.add_argument("--record", action="store_true", help="write samples.json")
    chosen = parser.parse_args(given)
    known = samples(file)
    if not any(checkouts([Repository(known.repository, known.commit, ())], chosen.folder)):
        return NOTHING_RUN
    repository = (chosen.folder / known.repository).resolve()
    got: dict[str, Result] = {}
    different = 0
    for sample in known.each:
        if sample.not_run or (chosen.only and sample.name not in chosen.only):
            continue
        got[sample.name] = tried(sample, repository, chosen.seconds)
        different += bool(said := differences(sample, got[sample.name]))
        took = f"{got[sample.name].seconds:.1f} s"
        print(f"{sample.name:26} {took:>8}  {said or 'as expected'}", flush=True)
        if chosen.record:
            record(got, known, recorded)
    if not got:
        return NOTHING_RUN
    return DIFFERENT if different else AS_EXPECTED


if __name__ == "__main__":
    command.run(main)
