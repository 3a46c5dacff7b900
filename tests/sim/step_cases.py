"""Every step in a precision: sizes that it takes, its matrices, and their values as float32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from gemmlab import registry, sim
from gemmlab.precision import PRECISIONS, Precision


@dataclass(frozen=True)
class StepCase:
    """A step and one of the precisions that it is compiled for."""

    spec: registry.KernelSpec
    types: Precision

    def __str__(self) -> str:
        return f"{self.spec.name}-{self.types.name}"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of M, N and K, 128, 128 and 32 or the step's tile, if that is more."""
        return tuple(map(max, (128, 128, 32), self.spec.multiple_of))

    def module(self) -> sim.SimModule:
        """The step, compiled in this precision."""
        return sim.load(self.spec, self.types.name)

    def matrices(self, *sizes: int, seed: int = 0) -> tuple[np.ndarray, ...]:
        """A, B and C of small integers, as the kernel finds them in memory."""
        return sim.integer_matrices(*(sizes or self.sizes), seed=seed, types=self.types)

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """float32 values as C has them in memory."""
        made = torch.from_numpy(np.float32(values)).to(getattr(torch, self.types.made))
        return (made.view(torch.uint16) if made.dtype == torch.bfloat16 else made).numpy()


def step_cases(every_precision: bool = True) -> list[StepCase]:
    """All steps, in all of their precisions or in the first."""
    return [
        StepCase(spec, PRECISIONS[name])
        for spec in registry.KERNELS
        for name in (spec.precisions if every_precision else spec.precisions[:1])
    ]
