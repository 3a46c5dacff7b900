"""Cycles of a launch and the SM clock meanwhile, as the blocks of the kernel itself read them.

Only a build whose text `steps/clocked.py` has made reads clocks; kernels that are timed do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..core.errors import MeasurementError
from ..core.layout import PLAIN
from ..steps.clocked import clocked, header
from ..steps.program import Program
from ..steps.text import included_files
from . import build

if TYPE_CHECKING:
    import numpy as np

_CAPACITY = 1 << 18  # blocks of one kernel: those of 16x16 threads at M = N = 8192
_FIELDS = 5  # of BlockClockLine: SM, cycle and ns of the begin, cycle and ns of the end
_NEVER = 2**63 - 1
_DECLARED = "int clock_into(uintptr_t lines, uintptr_t words, unsigned capacity);\nint clocks();\n"
_BOUND = 'm.def("clock_into", &clock_into);\n  m.def("clocks", &clocks);\n'
_DEFINED = """
int clock_into(uintptr_t lines, uintptr_t words, unsigned capacity) {{
  return block_clock_into(lines, words, capacity);
}}
int clocks() {{ return {kernels}; }}
"""


@dataclass(frozen=True)
class Reading:
    """cycles: of SM time, from the first block's begin to the last one's end. mhz: the SM clock,
    cycles over time, summed over the SMs."""

    cycles: float
    mhz: float


def texts(cpp: str, cuda: str) -> tuple[str, str]:
    """A binding and its CUDA text with a clock in every kernel: what `compile_binding` takes."""
    copy = clocked(cuda)
    bound = build.with_functions(cpp, _DECLARED, _BOUND)
    return bound, copy.text + _DEFINED.format(kernels=copy.kernels)


def headers(files: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """These files and those of the clock: all that a text of `texts` was made of."""
    return (*files, *included_files(header()))


def load(program: Program, precision: str = "", layout: str = PLAIN) -> ModuleType:
    """A step's second build, with `launch` as of `build.load`, for a BlockClock.

    Raises BackendError without nvcc or a GPU, BuildError if the text does not compile.
    """
    files = headers(included_files(program.source.path))
    sources = texts(*build.texts(program, precision, layout))
    return build.compile_binding(f"{program.name}_clocked", *sources, headers=files)


class BlockClock:
    """Where the kernels of one module write their clocks, within a `with` block; one at a time.

    Outside of it they write nothing.
    """

    def __init__(self, module: ModuleType):
        import torch

        shape = (module.clocks(), _CAPACITY, _FIELDS)
        self._lines = torch.zeros(shape, dtype=torch.int64, device="cuda")
        self._words = torch.zeros(2, dtype=torch.int64, device="cuda")  # earliest begin, lost
        self._module = module

    def __enter__(self) -> BlockClock:
        self._into(self._lines.data_ptr(), self._words.data_ptr())
        return self

    def __exit__(self, *what: object) -> None:
        self._into(0, 0)

    def _into(self, lines: int, words: int) -> None:
        import torch

        torch.cuda.synchronize()  # the addresses are written past the stream
        code = self._module.clock_into(lines, words, _CAPACITY)
        build.checked(code, "the clock of blocks")

    def reset(self) -> None:
        """Forget earlier launches, on the current stream."""
        self._lines.zero_()
        self._words.zero_()
        self._words[:1].fill_(_NEVER)

    def read(self) -> Reading:
        """What the launches since the last reset have written. Waits for them.

        Raises MeasurementError if no block wrote, or a kernel had too many blocks.
        """
        lines = self._lines.reshape(-1, _FIELDS)
        first, lost = self._words.tolist()
        if lost:
            raise MeasurementError(f"a kernel has more than {_CAPACITY:,} blocks")
        return reading(lines[lines[:, 4] > 0].cpu().numpy(), first)

    def of(self, call: Callable[[], object]) -> Reading:
        """The reading of one launch."""
        self.reset()
        call()
        return self.read()


def reading(lines: np.ndarray, first_ns: int) -> Reading:
    """What the blocks' lines come to. Raises MeasurementError if there is none.

    lines: a row a block: its SM, the cycle and the nanosecond of its begin and of its end.
    first_ns: when the first block of all began, also one whose line was written over.
    The timer of an SM may move in steps of a microsecond. The clock is therefore taken from each
    SM's first begin to its last end, not from single blocks.
    """
    import numpy as np

    if not len(lines):
        raise MeasurementError("no block has read the clock")
    ordered = lines[np.argsort(lines[:, 0], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, 0], prepend=-1))
    begins = np.minimum.reduceat(ordered[:, 1:3], starts)
    ends = np.maximum.reduceat(ordered[:, 3:5], starts)
    cycles, ns = (ends - begins).sum(axis=0)
    if not ns > 0:
        raise MeasurementError("the kernel is over within one step of the GPU's timer")
    mhz = 1000 * float(cycles / ns)
    return Reading(float(lines[:, 4].max() - first_ns) * mhz / 1000, mhz)
