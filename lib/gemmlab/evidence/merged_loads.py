"""Steps of which nvcc leaves out loads: the simulator runs the source and counts them all.

For these counters of these steps, equality with Nsight Compute is not claimed: the hardware, which
runs the machine code, counts less.
"""

from __future__ import annotations

from dataclasses import dataclass

# The simulator's operation -> the recorded counters of it.
_SHARED_LOADS: dict[str, tuple[str, ...]] = {
    "ld.shared": ("shared_load_wavefronts", "shared_load_instructions")
}


@dataclass(frozen=True)
class Merged:
    """What is left out, by the simulator's operation, and why."""

    counters: dict[str, tuple[str, ...]]
    why: str


MERGED = {
    "sgemm_09_thread_coarsening": Merged(
        _SHARED_LOADS,
        "the source has 128 shared loads for each k, the machine code 10: nvcc keeps 8 values of A "
        "and 8 of B in registers, and reads those of B 16 bytes at a time",
    ),
}


def is_merged(name: str, counter: str) -> bool:
    """Whether nvcc leaves out some of what this counts: "shared_load_wavefronts", "ld.shared"."""
    known = MERGED.get(name)
    return known is not None and any(
        counter == op or counter in recorded for op, recorded in known.counters.items()
    )


def notes(names: list[str]) -> list[str]:
    """A sentence for each of the steps that has something left out."""
    return [
        f"Merged: {name}, {', '.join(known.counters)}: {known.why}."
        for name, known in MERGED.items()
        if name in names
    ]
