"""How the lists of steps name their files."""

from __future__ import annotations

from ..spec import KernelSpec


def step(name: str, idea: str, **facts: object) -> KernelSpec:
    """The step of kernels/<family>/<rest>.cuh, where `name` is <family>_<rest>."""
    family, _, rest = name.partition("_")
    return KernelSpec(name, f"{family}/{rest}.cuh", idea, **facts)
