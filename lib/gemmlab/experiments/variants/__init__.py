"""Variants of steps that chapters measure: named here, so that `record` measures them too."""

from __future__ import annotations

from ...core.arguments import one_of_many
from ...run.kernel import Kernel, variant
from . import hgemm, sgemm, tma

SIZE = 4096  # M = N = K at which experiments are recorded

# Name -> the step, and what is changed in its text.
EXPERIMENTS = {**sgemm.EXPERIMENTS, **hgemm.EXPERIMENTS, **tma.EXPERIMENTS}


def experiment(name: str) -> Kernel:
    """The variant called `name`, such as "hgemm 14, BK = 64": a step with some text replaced.

    Raises ArgumentError, naming the closest.
    """
    step, changes = EXPERIMENTS[one_of_many("name", name, EXPERIMENTS, "experiments")]
    return variant(step, changes, label=name)
