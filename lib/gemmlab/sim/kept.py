"""What a compiled kernel file keeps between launches and asks of this machine, and its compiler."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import IO, Any

from ..steps.program import Program
from . import build
from .source import source_of

_COMPUTES = re.compile(
    r"(mem|str)\w+|\w*printf|puts|putchar|std(out|err)|[mc]alloc|realloc|free|abort|exit|l*(abs|div)"
)
_MATH = re.compile(
    r"(f(abs|max|min|ma|mod|dim)|sqrt|cbrt|exp(2|10|m1)?|log(2|10|1p|b)?|pow|a?(sin|cos|tan)h?|"
    r"atan2|ceil|floor|l*r(ound|int)|trunc|nearbyint|hypot|ldexp|frexp|scalbn|copysign|erfc?)[fl]?"
)
_WORLD = re.compile(r"clock|chrono|random_device|filesystem|fstream|filebuf|environ|_thread")


def kept_variables(program: Program) -> list[tuple[str, int]]:
    """Variables that outlive a launch: their symbols, and bytes. Constants are none of them.

    Of `static` ones, global ones, and __device__ ones, which the simulator has in this machine's
    memory. Raises what `build.kernel` raises.
    """
    with _library(program).open("rb") as file:
        elf = _read(file)
        writable = {
            number
            for number, section in enumerate(elf.iter_sections())
            if section.name.startswith((".data", ".bss")) and ".rel.ro" not in section.name
        }
        return [
            (symbol.name, symbol["st_size"])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] in writable
        ]


def foreign_functions(program: Program) -> list[str]:
    """Functions of this machine's that it calls: the time, the environment, files, threads.

    Not those that compute, compare, copy or print. Raises what `build.kernel` raises.
    """
    with _library(program).open("rb") as file:
        symbols = list(_read(file).get_section_by_name(".dynsym").iter_symbols())
    names = {one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF" and one.name}
    return sorted(name for name in names if not _is_harmless(name))


def _is_harmless(name: str) -> bool:
    if name.startswith("sim_"):  # the runtime's
        return True
    if _WORLD.search(name):
        return False
    return name.startswith("_") or bool(_COMPUTES.fullmatch(name) or _MATH.fullmatch(name))


def _library(program: Program) -> Path:
    return source_of(program).kernel().library


def _read(file: IO[bytes]) -> Any:
    from elftools.elf.elffile import ELFFile

    return ELFFile(file)


@cache
def predefined_macros() -> frozenset[str]:
    """What g++ has defined before the first line of a kernel."""
    command = [build.compiler(), *build.KERNEL_FLAGS, "-dM", "-E", "-x", "c++", "/dev/null"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return frozenset(line.split()[1].partition("(")[0] for line in said.splitlines())
