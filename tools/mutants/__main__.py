"""Judge the mutants of all kernels and record the verdicts: python -m tools.mutants --help."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Sequence

from .. import command
from . import table
from .by_hand.trial import trial
from .mutants import Mutant, mutants
from .pool import Pool
from .subjects import SUBJECTS, Subject


def _parser() -> argparse.ArgumentParser:
    parser = command.parser("mutants", __doc__)
    parser.add_argument("kernels", nargs="*", help="names of kernels; without any, all of them")
    parser.add_argument("--full", action="store_true", help="write the recorded table")
    parser.add_argument(
        "--changed",
        action="store_true",
        help="judge what the recorded table has otherwise or has not found, and keep the rest",
    )
    parser.add_argument("--only", default="", help="only mutants with this in their id")
    parser.add_argument("--list", action="store_true", help="show the mutants, run none")
    parser.add_argument("--verbose", action="store_true", help="show every verdict")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--fresh", action="store_true", help="do not use remembered verdicts")
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="lab.check on those made by hand; with --full, records the verdicts on those judged",
    )
    return parser


def main() -> None:
    """Run the command line."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.by_hand:
        return trial(arguments)
    if unknown := set(arguments.kernels) - {s.name for s in SUBJECTS}:
        parser.error(
            f"no kernel is called {', '.join(sorted(unknown))}; there are "
            + ", ".join(s.name for s in SUBJECTS)
        )
    chosen = [s for s in SUBJECTS if not arguments.kernels or s.name in arguments.kernels]
    if arguments.full and (arguments.kernels or arguments.only):
        parser.error("--full records all kernels and all mutants")
    results = []
    with Pool(arguments.processes, not arguments.fresh) as pool:
        for subject in chosen:
            found = [m for m in mutants(subject.name, subject.sources()) if arguments.only in m.id]
            if arguments.list:
                for mutant in found:
                    print(f"{mutant.id}  {mutant.file}:{mutant.line}\n  {mutant.before}")
                    print(f"  {mutant.after}")
                continue
            started = time.perf_counter()
            verdicts = _verdicts(pool, subject, found, arguments.changed)
            results.append((subject, found, verdicts))
            _report(subject.name, verdicts, time.perf_counter() - started)
            for mutant, verdict in zip(found, verdicts, strict=True):
                if arguments.verbose or verdict["verdict"] in ("survived", "counts", "crash"):
                    _show(mutant, verdict)
    if arguments.full:
        print(table.write(results))


def _verdicts(pool: Pool, subject: Subject, found: Sequence[Mutant], changed: bool) -> list[dict]:
    """The verdicts on mutants of a kernel; with `changed`, recorded ones where they may be kept."""
    kept = table.kept(found) if changed else {}
    left = [mutant for mutant in found if mutant.id not in kept]
    judged = pool.judge(subject, left) if left else []
    verdicts = kept | {m.id: verdict for m, verdict in zip(left, judged, strict=True)}
    return [verdicts[mutant.id] for mutant in found]


def _report(name: str, verdicts: list[dict], seconds: float) -> None:
    counts = Counter(verdict["verdict"] for verdict in verdicts)
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    print(f"{name}: {len(verdicts)} mutants in {seconds:.0f} s: {said or 'nothing to change'}")


def _show(mutant: Mutant, verdict: dict) -> None:
    print(f"  {verdict['verdict']}  {mutant.id}  {mutant.file}:{mutant.line}")
    print(f"    {mutant.before}\n    {mutant.after}")
    if "message" in verdict:
        print(f"    {verdict['message']}")


if __name__ == "__main__":
    command.run(main)
