"""Any CUDA program: compiled as it is, its main() run, each of its launches counted and checked.

`rewrite` turns a program's files into what g++ takes, without moving a line; `build` compiles them
and lists what stands in the way; `process` runs the program, in a process of its own; `run` starts
that; `report` says what came of it. `load` is for a kernel alone.
"""

from .load import LoadedKernel, load
from .report import ProgramReport
from .run import program, widths_of

__all__ = ["LoadedKernel", "ProgramReport", "load", "program", "widths_of"]
