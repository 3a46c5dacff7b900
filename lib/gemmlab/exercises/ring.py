"""The judges of exercises about a ring of stages and its mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from ..core.arguments import replacements
from ..core.errors import BuildError
from ..experiments.ring import try_ring
from ..layouts.mbarrier.model import Mbarrier
from .expects import expects
from .verdict import Verdict

Rule = Callable[[int, int, int, int], tuple[int, int, int]]

_RINGS = range(2, 6)  # stages
_LOOPS, _TILES_OF_C = (4, 3, 6, 7), 6  # tiles along k; of C, one after the other
_RUNS = tuple(product((2, 3, 4), (2, 4), (1, 5, 9)))  # stages, warps, tiles


@expects("stage, parity, parity")
def parities(rule: Rule) -> Verdict:
    """Judge `rule(c, k, tiles, stages)` for a block that computes tile after tile of C in one ring.

    c: number of the tile of C; k: of the tile along k, one of `tiles`. The answer: the stage, the
    parity to wait for at full[stage], and that at empty[stage]. Stages are taken in turns.
    """
    for stages, tiles, c in product(_RINGS, _LOOPS, range(_TILES_OF_C)):
        for k in range(tiles):
            stage, full, empty = rule(c, k, tiles, stages)
            if problem := _problem(c * tiles + k, stages, stage, full, empty):
                where = f"{stages} stages, {tiles} tiles along k, tile {c} of C, k tile {k}"
                return Verdict(False, f"{where}: {problem}")
    return Verdict(
        True,
        f"right for rings of {_RINGS[0]} to {_RINGS[-1]} stages, and {_TILES_OF_C} tiles of C.",
    )


def _problem(t: int, stages: int, stage: int, full: int, empty: int) -> str:
    """What is wrong with the waits for the block's tile number t, or ""."""
    if stage != t % stages:
        return f"it stands in stage {t % stages}, not {stage}."
    for name, parity in (("full", full), ("empty", empty)):
        if parity not in (0, 1):
            return f"{parity} at {name}[{stage}] is no parity: those are 0 and 1."
    use = t // stages
    for name, parity, phase in (("full", full, use), ("empty", empty, use - 1)):
        if _waits_for(phase, parity):
            continue
        at = f"{name}[{stage}]"
        if phase < 0:
            return f"nobody has filled stage {stage} yet, and wait({parity}) at {at} waits."
        return (
            f"the wait at {at} is for the end of phase {phase}; wait({parity}) returns "
            "while that phase lasts, and waits when it is over."
        )
    return ""


def _waits_for(phase: int, parity: int) -> bool:
    """Whether a wait holds until the end of a phase, and no longer. -1: before the first one."""
    early = phase >= 0 and Mbarrier(1, 1, 0, phase).try_wait(parity)
    return not early and Mbarrier(1, 1, 0, phase + 1).try_wait(parity)


def ring(changes: dict[str, str]) -> Verdict:
    """Judge a changed kernels/probes/ring.cuh, that with a producer warp, in the simulator.

    changes: text of the file -> the text that replaces it. Rings of 2 to 4 stages, 2 and 4 warps
    that read, and up to 9 tiles. Raises ArgumentError for text that is not in the file.
    """
    replacements("changes", changes)
    try:
        wrong = _wrong(changes)
    except BuildError as error:
        return Verdict(False, str(error))
    if wrong:
        return wrong
    return Verdict(True, f"no finding, and every sum is right, in {len(_RUNS)} runs.")


def _wrong(changes: dict[str, str]) -> Verdict | None:
    """The first run that goes wrong; None if all are right."""
    for stages, warps, tiles in _RUNS:
        found, right = try_ring(changes, tiles=tiles, stages=stages, consumers=warps)
        if found or not right:
            where = f"{stages} stages, {warps} warps that read, {tiles} tile{'s' * (tiles > 1)}"
            said = tuple(f"line {f.line}: {f.message}" for f in found[:2])
            what = "the simulator finds" if found else "the sums are wrong, and nothing is found"
            return Verdict(False, f"{where}: {what}{':' if found else '.'}", said)
    return None
