"""Every step in a precision: sizes that it takes, its matrices, and their values as float32."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import torch

from gemmlab import sim
from gemmlab.core.precision import PRECISIONS, Precision
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.spec import KernelSpec

CANARY = 0x5A
# A line of a step for any shape that chooses one of its tiles, and the tile.
_TILE = re.compile(
    r"^  (?:if \(\w+ == \w+\) )?return f\(((?:Tile|Plan)<.*>\(\))\);\n", re.MULTILINE
)


@dataclass(frozen=True)
class StepCase:
    """A step and one of the precisions that it is compiled for."""

    program: Program
    types: Precision

    def __str__(self) -> str:
        return f"{self.program.name}-{self.types.name}"

    @property
    def spec(self) -> KernelSpec:
        """What is known of the step."""
        return self.program.spec

    def compiled(self, **more: object) -> sim.SimModule:
        """Its text, compiled in this precision by `sim.compile_source`, which takes the rest."""
        path, launch = self.program.source.path, self.program.launch(self.types.name)
        return sim.compile_source(path, launch, workspace=self.spec.workspace, **more)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of M, N and K, 128, 128 and 32 or the step's tile, if that is more."""
        return tuple(map(max, (128, 128, 32), self.spec.multiple_of))

    def module(self) -> sim.SimModule:
        """The step, compiled in this precision."""
        return sim.compile_step(self.program, self.types.name)

    def matrices(self, *sizes: int, seed: int = 0) -> tuple[np.ndarray, ...]:
        """A, B and C of small integers, as the kernel finds them in memory."""
        return sim.integer_matrices(*(sizes or self.sizes), seed=seed, types=self.types)

    def traced(
        self,
        sizes: tuple[int, int, int],
        changes: dict[str, str] | None = None,
        beta: float = 0.0,
        config: int = -1,
    ) -> tuple[sim.Trace, bool]:
        """The trace of a launch of the step with some of its text replaced, and whether C is right.

        C is NaN where it is not read.
        """
        module = self.compiled(changes=changes)
        (A, B, C), plain = self.matrices(*sizes), sim.integer_matrices(*sizes)
        if not beta:
            C[:] = self.rounded(np.full(C.shape, np.nan, np.float32))
        trace = module.trace(A, B, C, *sizes, 2.0, beta, config=config)
        expected = 2.0 * (plain[0] @ plain[1]) + beta * plain[2]
        return trace, np.array_equal(C, self.rounded(expected))

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """float32 values as C has them in memory."""
        made = torch.from_numpy(np.float32(values)).to(getattr(torch, self.types.made))
        return (made.view(torch.uint16) if made.dtype == torch.bfloat16 else made).numpy()


def step_cases(every_precision: bool = True) -> list[StepCase]:
    """All steps, in all of their precisions or in the first."""
    return [
        StepCase(Program(spec), PRECISIONS[name])
        for spec in registry.KERNELS
        for name in (spec.precisions if every_precision else spec.precisions[:1])
    ]


def one_tile(name: str, tile: int) -> dict[str, str]:
    """Changes of a 16-bit step for any shape, after which it has one tile, whichever is asked for.

    The compiler takes most of its time for the others.
    """
    found = list(_TILE.finditer(registry.get(name).path.read_text()))
    assert len(found) > 5
    kept = f"  return f({found[tile][1]});\n"
    return {line[0]: kept if i == tile else "" for i, line in enumerate(found)}


def begun_behind(matrix: np.ndarray, elements: int) -> np.ndarray:
    """The same values in a view that begins so many elements into memory full of CANARY.

    As many elements follow it.
    """
    around = elements * matrix.itemsize
    memory = np.full(matrix.nbytes + 2 * around, CANARY, np.uint8)
    view = memory[around : around + matrix.nbytes].view(matrix.dtype).reshape(matrix.shape)
    view[...] = matrix
    return view


def is_untouched_around(view: np.ndarray) -> bool:
    """Whether the memory in front of the view and behind it is still full of CANARY."""
    memory: np.ndarray = view.base
    start = view.ctypes.data - memory.ctypes.data
    around = (memory[:start], memory[start + view.nbytes :])
    return all((part == CANARY).all() for part in around)
