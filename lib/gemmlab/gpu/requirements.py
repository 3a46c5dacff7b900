"""What a step needs of a GPU, and whether the one here has it."""

from __future__ import annotations

import math

from ..core.errors import BackendError
from ..steps.program import Program
from ..steps.spec import ELSEWHERE


def require(program: Program) -> None:
    """Raise BackendError, saying what is lacking, if torch's current GPU cannot run a step."""
    if why := lacking(program):
        raise BackendError(why)


def lacking(program: Program) -> str:
    """Why torch's current GPU cannot run a step; "" if it can, or if there is none."""
    import torch

    if not torch.cuda.is_available():
        return ""
    spec = program.spec
    if why := spec.too_old(torch.cuda.get_device_capability()):
        return why
    here = torch.cuda.get_device_properties(torch.cuda.current_device())
    most = most_shared_bytes(here)
    # Of a text other than the step's own, only its launcher knows what it needs.
    if not program.is_own_file or spec.needed_shared_bytes <= most:
        return ""
    return (
        f"{spec.name} needs {spec.needed_shared_bytes:,} bytes of shared memory for a block, and "
        f"{here.name} gives a block {most:,} at most. {ELSEWHERE}. Or make its tile or stages "
        "smaller with lab.variant."
    )


def most_shared_bytes(properties: object) -> float:
    """Shared memory that a block can have, by torch's properties of a GPU.

    Infinity, if an old torch does not tell.
    """
    return getattr(properties, "shared_memory_per_block_optin", math.inf)
