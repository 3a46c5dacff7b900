"""Take each synchronizing statement out of public kernels, one at a time: is that found?

    python -m tools.corpus.removed --folder DIR [--only TEXT] [--list] [--record]

DIR is as for `python -m tools.corpus`. Which kernels, and why some removals change nothing: in
removed.toml. --record writes removed.json; of a kernel it holds where a statement stood, no text.
Exit status: 0, all that makes a mistake is found; 1, something is not; 2, nothing was run.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gemmlab.core.files import write_whole
from gemmlab.display.table import text_table
from gemmlab.gpu.telemetry import commit
from gemmlab.sim import build
from gemmlab.sim.program import rewrite
from gemmlab.sim.program.blockers import NotRunnableError
from gemmlab.sim.program.build import build_program
from gemmlab.sim.program.run import Options, execute, source_of
from tools.mutants.code import Code
from tools.mutants.mutants import Mutant, numbered

from .. import command
from .__main__ import AS_EXPECTED, DIFFERENT, NOTHING_RUN, checkouts
from .cases import CASES, Case, repositories
from .statements import statements
from .trial import is_right, parts

LIST = Path(__file__).with_name("removed.toml")
RECORD = Path(__file__).with_name("removed.json")
SECONDS = 240.0
MISSED = "missed"  # how a reason begins that does not excuse it
_WITHOUT = ("compile",)  # no program of its own


@dataclass(frozen=True)
class Subject:
    """A kernel: the case that runs it, its files, and its functions (none: all of these files).

    define: macros in the place of the case's, such as a depth at which a ring of stages goes round.
    """

    case: str
    files: tuple[str, ...]
    functions: tuple[str, ...] = ()
    define: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removal:
    """One statement removed, and what came of it.

    id: case/operator/number. verdict: "finding" (of `kinds`, others than without the change),
    "values" (wrong, no finding), "endless", "survived", "compile" (it does not). why: for a
    survivor, why it is no mistake, or, where it begins with "missed", why it is not found.
    """

    id: str
    operator: str
    file: str
    line: int
    verdict: str
    kinds: tuple[str, ...] = ()
    why: str = ""

    @property
    def kernel(self) -> str:
        """Its case."""
        return self.id.rpartition("/")[0].rpartition("/")[0]

    @property
    def is_mistake(self) -> bool:
        """Whether it is one that should be found."""
        excused = self.why and not self.why.startswith(MISSED)
        return self.verdict not in _WITHOUT and not (self.verdict == "survived" and excused)


def subjects(file: Path = LIST) -> list[Subject]:
    """The kernels of the list."""
    return [
        Subject(
            one["case"],
            tuple(one["files"]),
            tuple(one.get("functions", ())),
            tuple(one.get("define", ())),
        )
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["kernel"]
    ]


def reasons(file: Path = LIST) -> dict[str, str]:
    """Why a removal is not found, by its id."""
    given = tomllib.loads(file.read_text(encoding="utf-8"))
    return {one["id"]: one["why"] for one in given.get("unfound", ())}


def removals(subject: Subject, folder: Path) -> list[Mutant]:
    """A changed copy of its file for each statement. folder: of its repository."""
    codes = {name: Code((folder / name).read_text(encoding="utf-8")) for name in subject.files}
    drafts = (one for code in codes.values() for one in statements(code, subject.functions))
    return numbered(subject.case, codes, drafts)


def copy_of(case: Case, folder: Path, changed: dict[str, str], work: Path) -> None:
    """Put the files that a case is made of into another folder, some of them changed."""
    files, include = parts(case, folder)
    for path in rewrite.rewrite(files, include, build.INCLUDE).texts:
        if path.is_relative_to(folder):
            target = work / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    for name in case.include:
        (work / name).mkdir(parents=True, exist_ok=True)
    for name, text in changed.items():
        (work / name).write_text(text, encoding="utf-8")


def judged(case: Case, folder: Path, changed: dict[str, str], known: set[tuple]) -> dict:
    """What comes of a changed case. known: findings that it has without the change."""
    with tempfile.TemporaryDirectory(prefix="removed-") as name:
        work = Path(name).resolve()
        copy_of(case, folder, changed, work)
        files, include = parts(case, work)
        source = source_of(files, include, case.define)
        try:
            built = build_program(source)
        except NotRunnableError as error:
            return {"verdict": "compile", "said": str(error.blockers[0])}
        try:
            report = execute(source, built, Options(case.arguments, seconds=SECONDS))
        finally:
            build.STORE.remove(built.library.stem)
    found = {(one.kind, Path(one.file or "").name, one.line): str(one) for one in report.findings}
    if new := [key for key in found if key not in known]:
        kinds = tuple(sorted({key[0] for key in new}))
        return {"verdict": "finding", "kinds": kinds, "said": found[new[0]], "keys": set(found)}
    if any(gap.startswith("stopped after") for gap in report.gaps):
        return {"verdict": "endless", "said": report.gaps[0], "keys": set(found)}
    verdict = "survived" if is_right(case, report) else "values"
    said = "; ".join(report.gaps) or report.output[-200:]
    return {"verdict": verdict, "said": said, "keys": set(found)}


def tried(
    subject: Subject, case: Case, folder: Path, why: dict[str, str], workers: ThreadPoolExecutor
) -> list[Removal]:
    """The verdicts on all removals of a kernel. Raises ValueError if it is wrong as it is."""
    folder = folder.resolve()
    case = replace(case, define=subject.define or case.define)
    as_is = judged(case, folder, {}, set())
    if as_is["verdict"] not in ("finding", "survived"):
        raise ValueError(f"{case.title}: without a change: {as_is['verdict']}: {as_is['said']}")

    def one(mutant: Mutant) -> Removal:
        got = judged(case, folder, mutant.changed, as_is["keys"])
        place = (mutant.id, mutant.operator, mutant.file, mutant.line)
        print(
            f"  {got['verdict']:9} {mutant.id} line {mutant.line}: {got['said'][:150]}", flush=True
        )
        unfound = why.get(mutant.id, "") if got["verdict"] == "survived" else ""
        return Removal(*place, got["verdict"], got.get("kinds", ()), unfound)

    return list(workers.map(one, removals(subject, folder)))


def summary(all_: Sequence[Removal]) -> str:
    """A line a kernel, and the share that is found."""
    rows = []
    for kernel in dict.fromkeys(one.kernel for one in all_):
        rows.append([kernel, *_counts([one for one in all_ if one.kernel == kernel])])
    rows.append(["all", *_counts(all_)])
    head = ["kernel", "removed", "mistakes", "found", "finding", "values", "endless", "no mistake"]
    made = [one for one in all_ if one.is_mistake]
    share = 100 * sum(one.verdict != "survived" for one in made) / max(len(made), 1)
    return f"{text_table(head, rows, 'lnnnnnnn')}\n{share:.1f} % of the mistakes are found"


def _counts(some: Iterable[Removal]) -> list[str]:
    counted = [one for one in some if one.verdict not in _WITHOUT]
    made = [one for one in counted if one.is_mistake]
    verdicts = Counter(one.verdict for one in made)
    found = len(made) - verdicts["survived"]
    kinds = [verdicts[name] for name in ("finding", "values", "endless")]
    return [str(n) for n in (len(counted), len(made), found, *kinds, len(counted) - len(made))]


def recorded(file: Path = RECORD) -> list[Removal]:
    """What was recorded."""
    rows = json.loads(file.read_text(encoding="utf-8"))["removals"]
    return [Removal(**{**row, "kinds": tuple(row["kinds"])}) for row in rows]


def record(all_: Sequence[Removal], file: Path = RECORD) -> None:
    """Write them down, a line each, in the place of what was recorded of the same kernels."""
    kernels = {one.kernel for one in all_}
    kept = [one for one in recorded(file) if one.kernel not in kernels] if file.exists() else []
    order = [one.case for one in subjects()]
    rows = sorted((*kept, *all_), key=lambda one: order.index(one.kernel))
    lines = ",\n".join(json.dumps(asdict(one)) for one in rows)
    write_whole(file, f'{{"commit": {json.dumps(commit())}, "removals": [\n{lines}\n]}}\n')


def main(given: list[str] | None = None, cases: Path = CASES, listed: Path = LIST) -> int:
    """The exit status."""
    parser = command.parser("corpus.removed", __doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with the checkouts")
    parser.add_argument("--only", default="", help="kernels with this text in their case")
    parser.add_argument("--list", action="store_true", help="show the statements, run nothing")
    parser.add_argument("--record", action="store_true", help="write removed.json")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    chosen = parser.parse_args(given)
    present = {
        case.title: case
        for one in checkouts(repositories(cases), chosen.folder)
        for case in one.cases
    }
    wanted = [one for one in subjects(listed) if chosen.only in one.case and one.case in present]
    got: list[Removal] = []
    with ThreadPoolExecutor(chosen.processes) as workers:
        for subject in wanted:
            case = present[subject.case]
            folder = chosen.folder / case.repository
            if chosen.list:
                for mutant in removals(subject, folder):
                    print(f"{mutant.id}  {mutant.file}:{mutant.line}  {mutant.before}")
                continue
            print(subject.case, flush=True)
            of_kernel = tried(subject, case, folder, reasons(listed), workers)
            got += of_kernel
            if chosen.record:
                record(of_kernel)
    if not got:
        return NOTHING_RUN
    print(summary(got))
    missed = any(one.is_mistake and one.verdict == "survived" for one in got)
    return DIFFERENT if missed else AS_EXPECTED


if __name__ == "__main__":
    command.run(main)
