"""Variants of steps that chapters measure: named here, so that `record` measures them too."""

from __future__ import annotations

from ...core.arguments import one_of_many
from ...run.kernel import Kernel, variant
from . import hgemm, hints, published, sgemm, tma, wgmma

SIZE = 4096  # M = N = K at which experiments are recorded, if nothing else is said below

# Name -> the step, and what is changed in its text.
EXPERIMENTS = {
    **sgemm.EXPERIMENTS,
    **hgemm.EXPERIMENTS,
    **tma.EXPERIMENTS,
    **published.EXPERIMENTS,
    **hints.EXPERIMENTS,
    **wgmma.EXPERIMENTS,
}
_LARGE = (8192, 8192, 8192)  # A and B are larger than the L2
# Name -> M, N, K; the step itself is then timed there, too.
SHAPES = {
    "hgemm 13, strips of columns": (2048, 16384, 4096),
    "hgemm 16, strips of columns": (2048, 16384, 4096),
    "tma 03, C evicted first": _LARGE,
    "tma 06, A and B evicted last": _LARGE,
    "tma 06, A and B evicted first": _LARGE,
}
# Name -> the precision, if not the step's usual one: the article's C is fp32.
PRECISIONS = {f"hgemm {number}, as published": "bf16_fp32" for number in ("06", "07", "08", "09")}


def shape_of(name: str) -> tuple[int, int, int]:
    """M, N, K at which the experiment is recorded."""
    return SHAPES.get(name, (SIZE, SIZE, SIZE))


def precision_of(name: str) -> str:
    """The types in which the experiment is recorded."""
    return PRECISIONS.get(name) or experiment(name).spec.precisions[0]


def experiment(name: str) -> Kernel:
    """The variant called `name`, such as "hgemm 14, BK = 64": a step with some text replaced.

    Raises ArgumentError, naming the closest.
    """
    step, changes = EXPERIMENTS[one_of_many("name", name, EXPERIMENTS, "experiments")]
    return variant(step, changes, label=name)
