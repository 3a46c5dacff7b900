"""Does `lab.check` find it? Its defaults, on the simulator, on one mutant."""

from __future__ import annotations

import re
import time
from functools import partial

import torch

from gemmlab.check.check import check
from gemmlab.core.errors import BuildError, GemmlabError
from gemmlab.sim import build
from gemmlab.sim.findings import KINDS

from ..child import in_child
from .mutants import HandMade
from .witness import shown_by

CPU_SECONDS, WALL_SECONDS = 600, 900
_FINDING = re.compile("|".join(rf"\b{kind}: " for kind, *_ in KINDS))


def judge(mutant: HandMade) -> dict:
    """The verdict on a mutant: how it was found, in which case, and how long that took.

    verdict: "finding" (the simulator names a place; `kinds` are those of its findings), "values"
    (wrong results alone), "refused" (the launch), "missed" (check says it is right), "compile" (it
    does not, which no mutant should), "endless", "crash" (of the process that checks). case: the
    first that was wrong. cases: how many were, of how many. witness: of one that is missed, what
    its witness shows.
    """
    build.runtime()
    started = time.perf_counter()
    verdict = in_child(partial(_check, mutant), CPU_SECONDS, WALL_SECONDS)
    verdict["seconds"] = round(time.perf_counter() - started, 1)
    if verdict["verdict"] == "missed" and mutant.witness:
        verdict["witness"] = witnessed(mutant)
    return verdict


def witnessed(mutant: HandMade) -> str:
    """What the mutant's witness shows, "" for nothing."""
    answer = in_child(partial(_shown, mutant), CPU_SECONDS, WALL_SECONDS)
    return answer.get("shown") or answer.get("verdict", "")


def _shown(mutant: HandMade) -> dict:
    torch.set_num_threads(1)  # threads do not survive a fork
    return {"shown": shown_by(mutant)}


def _check(mutant: HandMade) -> dict:
    torch.set_num_threads(1)  # threads do not survive a fork
    try:
        report = check(mutant.kernel(), device="cpu")
    except BuildError as error:
        return {"verdict": "compile", "message": str(error)[-400:]}
    except GemmlabError as error:  # what check refuses to go on with
        return {"verdict": "refused", "message": f"{type(error).__name__}: {error}"}
    wrong = [case for case in report.cases if case.problem]
    said = [*(case.problem for case in wrong), *report.findings]
    kinds = sorted({found[:-2] for text in said for found in _FINDING.findall(text)})
    answer: dict = {"kinds": kinds, "cases": f"{len(wrong)} of {len(report.cases)}"}
    if wrong:
        c = wrong[0]
        said_of_it = f"{c.M}x{c.N}x{c.K}, alpha {c.alpha:g}, beta {c.beta:g}, {c.precision}"
        answer["case"] = said_of_it + f", {c.config}" * bool(c.config)
    if said:
        answer["message"] = said[0]
    return {"verdict": _verdict(report.ok, kinds, said), **answer}


def _verdict(right: bool, kinds: list[str], said: list[str]) -> str:
    if right:
        return "missed"
    if kinds:
        return "finding"
    return "values" if any("elements wrong" in text for text in said) else "refused"
