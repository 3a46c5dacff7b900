"""Events that the warpgroups of a step's two middle blocks write down, read on a GPU.

Only a build whose text `steps/traced.py` has made writes events; kernels that are timed do not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from ..layouts.warpgroups.events import Line, of_words
from ..steps.program import Program
from ..steps.text import included_files
from ..steps.traced import header, traced
from . import build

# As in kernels/probes/event_clock.cuh.
BLOCKS, WARPGROUPS, CAPACITY = 2, 3, 4096
PLACES = BLOCKS * WARPGROUPS * CAPACITY
_DECLARED = "int events_clear();\nint events_read(uintptr_t to);\n"
_BOUND = 'm.def("events_clear", &events_clear);\n  m.def("events_read", &events_read);\n'
_DEFINED = """
int events_clear() { return event_clock_clear(); }
int events_read(uintptr_t to) { return event_clock_read(reinterpret_cast<void*>(to)); }
"""


def texts(program: Program, precision: str = "") -> tuple[str, str]:
    """C++ and CUDA text of the build that traces: what `compile_binding` takes."""
    cpp, cuda = build.texts(program, precision)
    bound = build.with_functions(cpp, _DECLARED, _BOUND)
    return bound, traced(program.name, cuda) + _DEFINED


def load(program: Program, precision: str = "") -> ModuleType:
    """A step's build that traces, with `launch` as of `build.load`, for `events_of`.

    Raises ArgumentError for a step without events, BackendError without nvcc or a GPU, BuildError
    if the text does not compile.
    """
    files: tuple[Path, ...] = (*included_files(program.source.path), header())
    name = f"{program.name}_traced"
    return build.compile_binding(name, *texts(program, precision), headers=files)


def events_of(module: ModuleType, call: Callable[[], object]) -> tuple[tuple[Line, ...], ...]:
    """For each block that writes, the lines of its warpgroups in one launch.

    call: launches the module. Raises MeasurementError if a warpgroup wrote too many events.
    """
    import numpy as np
    import torch

    torch.cuda.synchronize()
    build.checked(module.events_clear(), "the clearing of events")
    call()
    torch.cuda.synchronize()
    words = np.zeros((BLOCKS, WARPGROUPS, CAPACITY, 2), np.uint32)
    build.checked(module.events_read(words.ctypes.data), "the reading of events")
    return tuple(of_words(block) for block in words)
