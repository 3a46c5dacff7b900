"""Variants of steps that chapters measure: named here, so that `record` measures them too."""

from __future__ import annotations

from .errors import ArgumentError
from .run import Kernel, variant

SIZE = 4096  # M = N = K at which experiments are recorded

_UNROLL_2 = "#pragma unroll 2  // all four at once would keep more of A than 128 registers hold"

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "04, one block an SM": (
        "sgemm_04_register_tiling",
        {
            "__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS)",
            _UNROLL_2: "#pragma unroll",
        },
    ),
    "04, unrolled in 128 registers": (
        "sgemm_04_register_tiling",
        {
            _UNROLL_2: "#pragma unroll",
        },
    ),
}


def experiment(name: str) -> Kernel:
    """The variant called `name`. Raises ArgumentError, naming those there are."""
    if name not in EXPERIMENTS:
        known = ", ".join(map(repr, EXPERIMENTS))
        raise ArgumentError(f"name: got {name!r}, the experiments are {known}")
    step, changes = EXPERIMENTS[name]
    return variant(step, changes, label=name)
