"""`python -m tools.mutants --by-hand`: judges the mutants made by hand, shows and records."""

from __future__ import annotations

import argparse

from . import table
from .judge import judge
from .mutants import HandMade, mutants


def trial(arguments: argparse.Namespace) -> None:
    """Judge those of the steps `kernels` (none: all) with `only` in their id.

    list: show them instead. verbose: what was said of each. full: record the verdicts.
    """
    every = mutants()
    chosen = [
        mutant
        for mutant in every
        if arguments.only in mutant.id
        and (not arguments.kernels or mutant.step in arguments.kernels)
    ]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.id}  kernels/{mutant.file}, {mutant.kind}\n  {mutant.shows}")
        return
    verdicts = {}
    for mutant in chosen:
        verdicts[mutant.id] = judge(mutant)
        _report(mutant, verdicts[mutant.id], arguments.verbose)
        if arguments.full:  # after each: a trial that is interrupted keeps what it has
            table.write(every, verdicts)
    print(table.shown(table.row(mutant, verdicts[mutant.id]) for mutant in chosen))


def _report(mutant: HandMade, verdict: dict, verbose: bool) -> None:
    kinds = ", ".join(verdict.get("kinds", []))
    print(f"{verdict['verdict']}  {mutant.id}  {kinds}  {verdict['seconds']} s", flush=True)
    if verdict["verdict"] not in table.FOUND:
        print(f"    kernels/{mutant.file}: {mutant.shows}")
    if verbose and "message" in verdict:
        print(f"    {verdict['message']}")
