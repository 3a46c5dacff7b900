"""What a step needs of a GPU, and whether the one here has it."""

from __future__ import annotations

import math

from .errors import BackendError
from .spec import KernelSpec

_ELSEWHERE = (
    "Pass CPU tensors, or set GEMMLAB_BACKEND=sim, to run it on the simulator; lab.bench then "
    "shows the recorded figures"
)


def require(spec: KernelSpec) -> None:
    """Raise BackendError, saying what is lacking, if torch's current GPU cannot run a step."""
    if why := lacking(spec):
        raise BackendError(why)


def lacking(spec: KernelSpec) -> str:
    """Why torch's current GPU cannot run a step; "" if it can, or if there is none."""
    import torch

    if not torch.cuda.is_available():
        return ""
    if why := too_old(spec, torch.cuda.get_device_capability()):
        return why
    here = torch.cuda.get_device_properties(torch.cuda.current_device())
    most = most_shared_bytes(here)
    # Of a text other than the step's own, only its launcher knows what it needs.
    if spec.written_to or spec.needed_shared_bytes <= most:
        return ""
    return (
        f"{spec.name} needs {spec.needed_shared_bytes:,} bytes of shared memory for a block, and "
        f"{here.name} gives a block {most:,} at most. {_ELSEWHERE}. Or make its tile or stages "
        "smaller with lab.variant."
    )


def most_shared_bytes(properties: object) -> float:
    """Shared memory that a block can have, by torch's properties of a GPU.

    Infinity, if an old torch does not tell.
    """
    return getattr(properties, "shared_memory_per_block_optin", math.inf)


def too_old(spec: KernelSpec, capability: tuple[int, int]) -> str:
    """Why a GPU of that compute capability cannot run a step; "" if it can."""
    major, minor = capability
    if major * 10 + minor >= spec.min_arch:
        return ""
    return (
        f"{spec.name} needs a GPU of compute capability {spec.min_arch / 10:.1f} or newer; "
        f"this one has {major}.{minor}. {_ELSEWHERE}."
    )
