"""A few mutants for every test run: of every operator, from different kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from .mutants import Mutant


def sample(mutants: Sequence[Mutant], of_each: int = 2) -> list[Mutant]:
    """At most `of_each` of every operator, one a kernel where there are enough kernels.

    Drawn by a hash of the id, so always the same; in the order of `mutants`.
    """
    chosen: set[str] = set()
    for operator in {mutant.operator for mutant in mutants}:
        ranked = sorted((m for m in mutants if m.operator == operator), key=_rank)
        kernels = [m.id.partition("/")[0] for m in ranked]
        firsts = [m for i, m in enumerate(ranked) if kernels[i] not in kernels[:i]]
        others = [m for m in ranked if m not in firsts]
        chosen.update(m.id for m in (*firsts, *others)[:of_each])
    return [mutant for mutant in mutants if mutant.id in chosen]


def _rank(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.id.encode()).hexdigest()
