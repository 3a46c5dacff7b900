"""Variants of steps that chapters measure: named here, so that `record` measures them too."""

from __future__ import annotations

from ...core.arguments import brief, closest
from ...core.errors import ArgumentError
from ...run.kernel import Kernel, variant
from . import hgemm, sgemm, tma

SIZE = 4096  # M = N = K at which experiments are recorded

# Name -> the step, and what is changed in its text.
EXPERIMENTS = {**sgemm.EXPERIMENTS, **hgemm.EXPERIMENTS, **tma.EXPERIMENTS}


def experiment(name: str) -> Kernel:
    """The variant called `name`, such as "hgemm 14, BK = 64": a step with some text replaced.

    Raises ArgumentError, naming the closest.
    """
    if not (isinstance(name, str) and name in EXPERIMENTS):
        close = " or ".join(map(repr, closest(name, EXPERIMENTS))) or repr(next(iter(EXPERIMENTS)))
        raise ArgumentError(f"name: there is no experiment called {brief(name)}; such as {close}")
    step, changes = EXPERIMENTS[name]
    return variant(step, changes, label=name)
