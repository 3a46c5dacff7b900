"""Counters of public kernels: what Nsight Compute read on a GPU beside what the simulator counts.

    python -m tools.corpus.counters --folder DIR [--only TEXT]     compare with counters.json
    python -m tools.corpus.counters --record LOG... --machine FILE --cubins DIR

counters.json holds, of each kernel, what ncu counted, and of each line how wide loads and stores
are in the machine code. With that the simulator counts what nvcc has merged as the machine code
does; no GPU and no nvcc is needed for the comparison.

A LOG is what `ncu --csv --page raw` printed of a process that calls the main() of one case after
the other, each built by nvcc from its files and its driver, and prints "CASE NAME" before it.
DIR/NAME.cubin is the machine code of the case. Which counters of a
kernel are known to differ stands in its row. Exit status: 0, all others are equal; 1, some are not;
2, nothing was compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gemmlab import sim
from gemmlab.core.files import write_whole
from gemmlab.display.table import text_table
from gemmlab.measurements.metrics import counters_of
from gemmlab.record.ncu import parse
from gemmlab.sim.counts import LineCount
from gemmlab.sim.program.run import Options, run_program, source_of
from gemmlab.sim.program.widths import Widths, read_cubin

from .. import command
from .cases import CASES, Case, repositories
from .trial import SECONDS, parts

RECORDED = Path(__file__).with_name("counters.json")
ALL_EQUAL, DIFFERENT, NOTHING_COMPARED = 0, 1, 2
# Counter -> what the simulator counts of which operations. A copy's read from global memory is
# among the loads.
_LOADS = ("ld.global", "cp.async.global")
COUNTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "shared_load_wavefronts": ("wavefronts", ("ld.shared",)),
    "shared_store_wavefronts": ("wavefronts", ("st.shared",)),
    "ldmatrix_wavefronts": ("wavefronts", ("ldmatrix",)),
    "stmatrix_wavefronts": ("wavefronts", ("stmatrix",)),
    "copy_wavefronts": ("wavefronts", ("cp.async.shared",)),
    "shared_load_instructions": ("requests", ("ld.shared",)),
    "shared_store_instructions": ("requests", ("st.shared",)),
    "ldmatrix_instructions": ("requests", ("ldmatrix",)),
    "global_load_requests": ("requests", _LOADS),
    "global_load_sectors": ("sectors", _LOADS),
    "global_store_requests": ("requests", ("st.global",)),
    "global_store_sectors": ("sectors", ("st.global",)),
}
METRICS = {key: metric for key, metric in counters_of("hgemm").items() if key in COUNTED}
_CASE = re.compile(r"(?m)^CASE (\S+)$")


@dataclass(frozen=True)
class Pair:
    """One counter of one kernel: by the simulator, and by ncu."""

    name: str
    simulated: int
    read: int

    @property
    def equal(self) -> bool:
        """Whether they are."""
        return self.simulated == self.read


def label(case: Case) -> str:
    """A case as a word, by which the run on the GPU names it."""
    return re.sub(r"[^A-Za-z0-9]+", "_", case.title.partition("/")[2]).strip("_")


def counted(lines: Iterable[LineCount]) -> dict[str, int]:
    """What the simulator has for each counter."""
    found = dict.fromkeys(COUNTED, 0)
    for line in lines:
        for name, (what, operations) in COUNTED.items():
            if line.op in operations:
                found[name] += getattr(line, what)
    return found


def simulate(case: Case, folder: Path, widths: Widths) -> sim.ProgramReport:
    """Run a case. folder: of its repository."""
    files, include = parts(case, folder)
    options = Options(case.arguments, seconds=SECONDS, widths=widths)
    return run_program(source_of(files, include, case.define), options)


def pairs(report: sim.ProgramReport, read: dict[str, int]) -> list[Pair]:
    """All counters that ncu has given."""
    found = counted(line for launch in report.launches for line in launch.lines)
    return [Pair(name, found[name], read[name]) for name in COUNTED if name in read]


def launches_by_case(log: str) -> dict[str, dict[str, Any]]:
    """What ncu has profiled while each case ran.

    log: what ncu and the program printed, of one process or several, each with its CSV at the end.
    A case launches one kernel. Raises ValueError for a process with more or fewer.
    """
    found: dict[str, dict[str, Any]] = {}
    for part in re.split(r"(?m)^GROUP .*$", log):
        names, launches = _CASE.findall(part), parse(part)
        if len(names) != len(launches):
            raise ValueError(f"{len(launches)} launches were profiled of {len(names)} cases")
        found |= dict(zip(names, launches, strict=True))
    return found


def recorded_rows(
    log: str, cases: Sequence[Case], widths: dict[str, Widths]
) -> list[dict[str, Any]]:
    """A row for each case that was profiled: its name, its counters, whose widths it has."""
    found = launches_by_case(log)
    return [
        {
            "case": case.title,
            "kernel": found[label(case)]["Kernel Name"],
            "counters": _read(found[label(case)]),
            "widths": next(name for name, one in widths.items() if one == widths[label(case)]),
        }
        for case in cases
        if label(case) in found and label(case) in widths
    ]


def _read(launch: dict[str, Any]) -> dict[str, int]:
    values = {name: launch.get(metric) for name, metric in METRICS.items()}
    return {name: int(value) for name, value in values.items() if isinstance(value, int | float)}


def compare(
    data: dict[str, Any], folder: Path, only: str, cases: Path = CASES
) -> Iterator[tuple[dict[str, Any], list[Pair]]]:
    """Each recorded row whose case is in the corpus, with its counters."""
    known = {case.title: case for one in repositories(cases) for case in one.cases}
    for row in data["kernels"]:
        case = known.get(row["case"])
        if case is None or only not in case.title or not (folder / case.repository).is_dir():
            continue
        widths = read_table(data["widths"][row["widths"]])
        yield row, pairs(simulate(case, folder / case.repository, widths), row["counters"])


def main(given: list[str] | None = None, cases: Path = CASES, recorded: Path = RECORDED) -> int:
    """The exit status."""
    parser = command.parser("corpus.counters", __doc__)
    parser.add_argument("--folder", type=Path, help="with the checkouts")
    parser.add_argument("--only", default="", help="cases with this text in their names")
    parser.add_argument("--accept", action="store_true", help="what differs is as expected now")
    parser.add_argument("--record", type=Path, nargs="+", metavar="LOG", help="what ncu printed")
    parser.add_argument("--machine", type=Path, help="JSON: gpu, driver, cuda, ncu, date")
    parser.add_argument("--cubins", type=Path, help="with NAME.cubin for each case")
    chosen = parser.parse_args(given)
    if chosen.record:
        return _record(chosen)
    if not chosen.folder:
        parser.error("--folder is needed")
    data = json.loads(recorded.read_text(encoding="utf-8"))
    compared = list(compare(data, chosen.folder, chosen.only, cases))
    if chosen.accept:
        for row, found in compared:
            row["differ"] = [pair.name for pair in found if not pair.equal]
        write_whole(recorded, json.dumps(data, indent=1) + "\n")
    return _report(compared)


def _report(compared: list[tuple[dict[str, Any], list[Pair]]]) -> int:
    if not compared:
        return NOTHING_COMPARED
    rows = [
        [
            row["case"],
            f"{sum(pair.equal for pair in found)} of {len(found)}",
            "; ".join(
                f"{pair.name} {pair.simulated:,} / {pair.read:,}"
                for pair in found
                if not pair.equal
            ),
            "as expected" if _as_expected(row, found) else "differs",
        ]
        for row, found in compared
    ]
    head = ["kernel", "equal", "simulator / Nsight Compute where not", "verdict"]
    print(text_table(head, rows, "llll"))
    equal = sum(all(pair.equal for pair in found) for _, found in compared)
    print(f"{equal} of {len(compared)} kernels: all counters equal")
    return ALL_EQUAL if all(_as_expected(*one) for one in compared) else DIFFERENT


def _as_expected(row: dict[str, Any], found: Sequence[Pair]) -> bool:
    return [pair.name for pair in found if not pair.equal] == row.get("differ", [])


def _record(chosen: Any) -> int:
    cases = [case for one in repositories(CASES) for case in one.cases if case.driver]
    cubins = sorted(chosen.cubins.glob("*.cubin"))
    log = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in chosen.record)
    files = {path.resolve() for path in cubins}  # one may be that of several cases
    known = {file: read_cubin(file) for file in files}
    widths = {path.stem: known[path.resolve()] for path in cubins}
    rows = recorded_rows(log, cases, widths)
    commits = {one.name: one.commit for one in repositories(CASES)}
    data = {
        "machine": json.loads(chosen.machine.read_text(encoding="utf-8")),
        "commits": {name: commit for name, commit in commits.items() if _has(rows, name)},
        "kernels": rows,
        "widths": {row["widths"]: table_text(widths[row["widths"]]) for row in rows},
    }
    write_whole(RECORDED, json.dumps(data, indent=1) + "\n")
    print(f"{len(rows)} kernels recorded")
    return ALL_EQUAL if rows else NOTHING_COMPARED


def table_text(widths: Widths) -> list[str]:
    """A file's lines: "runner.cuh 40: ld.shared 4 16"."""
    return [f"{file} {line}: {' '.join(map(str, rest))}" for file, line, *rest in widths.to_rows()]


def read_table(lines: Sequence[str]) -> Widths:
    """What `table_text` gave."""
    # "runner.cuh 40: ld.shared 4 16"
    rows = (re.fullmatch(r"(\S+) (\d+): (\S+) ([\d ]+)", line) for line in lines)
    return Widths.from_rows(
        [row[1], int(row[2]), row[3], *map(int, row[4].split())] for row in rows if row
    )


def _has(rows: list[dict[str, Any]], repository: str) -> bool:
    return any(row["case"].startswith(f"{repository} ") for row in rows)


if __name__ == "__main__":
    command.run(main)
