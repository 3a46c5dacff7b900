"""Run public CUDA kernels through the simulator, and compare with what is expected of them.

    python -m tools.corpus --folder DIR [--only TEXT]

DIR/<owner>/<repository> holds a checkout of each repository that cases.toml names. Nothing is
downloaded: for a repository that is not there, the commands that get it are printed. One row a
case. Exit status: 0, all that was run is as expected; 1, something differs; 2, nothing was run.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from gemmlab.display.table import text_table

from .. import command
from .cases import CASES, Case, Expected, Repository, repositories
from .trial import Outcome, differences, tried

AS_EXPECTED, DIFFERENT, NOTHING_RUN = 0, 1, 2


def how_to_get(repository: Repository, folder: Path) -> str:
    """The commands that put a repository where it is looked for."""
    target = folder / repository.name
    return (
        f"git clone https://github.com/{repository.name} {target}\n"
        f"git -C {target} checkout {repository.commit}"
    )


def checkouts(given: Iterable[Repository], folder: Path) -> Iterator[Repository]:
    """Those that are there. What is missing, or is another commit, is printed."""
    for repository in given:
        target = folder / repository.name
        if not target.is_dir():
            print(f"{repository.name} is not there:\n{how_to_get(repository, folder)}\n")
            continue
        if (target / ".git").exists():
            line = ("git", "-C", str(target), "rev-parse", "HEAD")
            head = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
            if not head.startswith(repository.commit):
                print(f"{repository.name} is at {head}, expected {repository.commit}\n")
        yield repository


def row(case: Case, outcome: Outcome) -> list[str]:
    """A line of the table."""
    got = outcome.got
    findings = ", ".join(f"{number} {kind}" for kind, number in got.findings.items())
    ran = "-" if got.right is None else "right" if got.right else "no"
    verdict = "; ".join(differences(case.expected, got)) or "as expected"
    return [
        case.title,
        "yes" if got.compiles else "no",
        ran,
        findings or "-",
        f"{outcome.seconds:.1f}",
        verdict if not outcome.why else f"{verdict} ({outcome.why[:100]})",
    ]


def totals(tried_: Iterable[tuple[Case, Expected]]) -> str:
    """How many of them do what."""
    got = [one for _, one in tried_]
    run = [one for one in got if one.right is not None]
    return (
        f"{sum(one.compiles for one in got)} of {len(got)} compile unchanged; "
        f"{sum(bool(one.right) for one in run)} of the {len(run)} that are run are right; "
        f"{sum(sum(one.findings.values()) for one in run)} findings"
    )


def causes(tried_: Iterable[tuple[Case, Expected]]) -> str:
    """How many do not compile for want of what, a line each."""
    wants = Counter(case.lacks or "not known yet" for case, got in tried_ if not got.compiles)
    return "".join(f"{number:4d} {what}\n" for what, number in wants.most_common())


def main(given: list[str] | None = None, cases: Path = CASES) -> int:
    """The exit status."""
    parser = command.parser("corpus", __doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with the checkouts")
    parser.add_argument("--only", default="", help="cases with this text in their names")
    chosen = parser.parse_args(given)
    present = checkouts(repositories(cases), chosen.folder)
    known = [case for repository in present for case in repository.cases]
    rows, got, different = [], [], 0
    for case in known:
        if chosen.only not in case.title:
            continue
        outcome = tried(case, chosen.folder / case.repository)
        rows.append(row(case, outcome))
        got.append((case, outcome.got))
        different += bool(differences(case.expected, outcome.got))
    if not rows:
        return NOTHING_RUN
    head = ["kernel", "compiles", "ran", "findings", "seconds", "verdict"]
    print(text_table(head, rows, "llllnl"))
    print(f"{totals(got)}; {different} not as expected\n{causes(got)}", end="")
    return DIFFERENT if different else AS_EXPECTED


if __name__ == "__main__":
    command.run(main)
