"""Which source line a program counter belongs to, and which __shared__ arrays a library has."""

from __future__ import annotations

import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from .dwarf import Attributes, inlined_calls
from .elf import KernelFacts, communicates, has_plain_order, read_facts

# file, line, column
Frame = tuple[str, int, int]
DYNAMIC_ARRAY = "smem"


@dataclass(frozen=True)
class SharedArray:
    """A __shared__ array: offset in the library's thread-local segment, size in bytes."""

    name: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class LineTable:
    """Code addresses of a library by their place in the source.

    From `starts[i]` to the next start the code belongs to `sites[i]`, a number for `frames`: the
    places from the innermost inlined function outwards. Copies of one place, made by the compiler,
    have one number.
    """

    starts: tuple[int, ...]
    sites: tuple[int, ...]
    frames: tuple[tuple[Frame, ...], ...]
    arrays: tuple[SharedArray, ...]
    kernels: tuple[KernelFacts, ...] = ()
    plain_order: bool = False
    communicates: bool = False

    def locate(
        self, pc: int, own: Collection[str], hidden: Path, helpers: Collection[int] = ()
    ) -> Frame | None:
        """The innermost place in one of the files `own`, else outside of the folder `hidden`.

        `pc` is a return address. None if nothing is known about it. helpers: lines of these files
        that are taken only if no line that called them is there.
        """
        index = bisect_right(self.starts, pc - 1) - 1
        if pc <= 0 or index < 0:
            return None
        frames = self.frames[self.sites[index]]
        ours = [frame for frame in frames if frame[0] in own]
        if ours:
            return next((frame for frame in ours if frame[1] not in helpers), ours[0])
        return next((f for f in frames if f[0] and not f[0].startswith(str(hidden))), None)

    @property
    def dynamic_offset(self) -> int:
        """Where the dynamic shared array starts, -1 if there is none."""
        return next((a.offset for a in self.arrays if a.name == DYNAMIC_ARRAY), -1)

    @property
    def static_arrays(self) -> tuple[SharedArray, ...]:
        """The arrays whose size the source gives."""
        return tuple(a for a in self.arrays if a.name != DYNAMIC_ARRAY)

    def to_json(self) -> str:
        """As text, for the cache."""
        arrays = [(a.name, a.offset, a.bytes) for a in self.arrays]
        kernels = [astuple(kernel) for kernel in self.kernels]
        parts = [self.starts, self.sites, self.frames, arrays, kernels]
        return json.dumps([*parts, self.plain_order, self.communicates])

    @classmethod
    def from_json(cls, text: str) -> LineTable:
        """What to_json wrote."""
        starts, sites, frames, arrays, kernels, *order = json.loads(text)
        places = tuple(tuple(tuple(frame) for frame in site) for site in frames)
        return cls(
            starts=tuple(starts),
            sites=tuple(sites),
            frames=places,
            arrays=tuple(SharedArray(*a) for a in arrays),
            kernels=tuple(KernelFacts(*k) for k in kernels),
            plain_order=order[0],
            communicates=order[1],
        )


def read_library(path: Path, kernels: Collection[str] = ()) -> LineTable:
    """The table of a library that was compiled with -g1. kernels: names of those in its source."""
    from elftools.elf.elffile import ELFFile

    places: dict[int, tuple[Frame, ...]] = {}
    with path.open("rb") as file:
        elf = ELFFile(file)
        arrays = tuple(_shared_arrays(elf))
        facts, order = read_facts(elf, kernels), (has_plain_order(elf), communicates(elf))
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)  # a library has its addresses
        for unit in dwarf.iter_CUs():
            places.update(_unit_places(dwarf, unit))
    numbers: dict[tuple[Frame, ...], int] = {}
    starts = tuple(sorted(places))
    sites = tuple(numbers.setdefault(places[start], len(numbers)) for start in starts)
    return LineTable(starts, sites, tuple(numbers), arrays, facts, *order)


def shared_arrays(compiled: Path) -> dict[str, bool]:
    """Symbols of an object file's __shared__ arrays, and whether each is defined there."""
    from elftools.elf.elffile import ELFFile

    with compiled.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        arrays = (s for s in table.iter_symbols() if s["st_info"]["type"] == "STT_TLS" and s.name)
        return {array.name: array["st_shndx"] != "SHN_UNDEF" for array in arrays}


def _shared_arrays(elf) -> Iterator[SharedArray]:
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        if symbol["st_info"]["type"] == "STT_TLS" and symbol["st_size"]:
            yield SharedArray(symbol.name, symbol["st_value"], symbol["st_size"])


def _unit_places(dwarf, unit) -> dict[int, tuple[Frame, ...]]:
    """Frames by first address, for every stretch of code of one compilation unit."""
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return {}
    files = _file_names(program)
    rows = _line_rows(program, files)
    calls = sorted(_calls(dwarf, unit, files), key=lambda c: c[2])
    edges = sorted({*rows, *(a for low, high, _, _ in calls for a in (low, high))})
    chains: list[tuple[Frame, ...]] = [()] * len(edges)
    for low, high, _, chain in calls:  # the deepest last
        for i in range(bisect_left(edges, low), bisect_left(edges, high)):
            chains[i] = chain
    places, innermost = {}, ("", 0, 0)
    for edge, chain in zip(edges, chains, strict=True):
        innermost = rows.get(edge, innermost)
        places[edge] = (innermost, *chain)
    return places


def _file_names(program) -> list[str]:
    """Absolute names by the number that the line program (DWARF 4) uses; number 0 is none."""
    folders = ["", *(d.decode() for d in program["include_directory"])]
    names = [""]
    for entry in program["file_entry"]:
        name = os.path.join(folders[entry.dir_index], entry.name.decode())
        names.append(os.path.normpath(name))
    return names


def _line_rows(program, files: list[str]) -> dict[int, Frame]:
    rows: dict[int, Frame] = {}
    for entry in program.get_entries():
        if (state := entry.state) is not None:
            end = state.end_sequence
            rows[state.address] = (
                ("", 0, 0) if end else (files[state.file], state.line, state.column)
            )
    return rows


def _calls(dwarf, unit, files: list[str]) -> Iterator[tuple[int, int, int, tuple[Frame, ...]]]:
    """(low, high, depth, frames of the calls outwards) of every inlined function."""
    top = unit.get_top_DIE().attributes
    base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
    chains: list[tuple[Frame, ...]] = [()]  # of the calls around, by their depth
    for depth, call in inlined_calls(dwarf, unit):
        del chains[depth + 1 :]
        chains.append((_call_site(call, files), *chains[depth]))
        for low, high in _ranges(dwarf, call, base):
            yield low, high, depth + 1, chains[-1]


def _call_site(call: Attributes, files: list[str]) -> Frame:
    file, line, column = (call.get(f"DW_AT_call_{name}", 0) for name in ("file", "line", "column"))
    return files[file], line, column


def _ranges(dwarf, call: Attributes, base: int) -> Iterator[tuple[int, int]]:
    if "DW_AT_low_pc" in call:
        low = call["DW_AT_low_pc"]
        yield low, low + call["DW_AT_high_pc"]
    elif "DW_AT_ranges" in call:
        for entry in dwarf.range_lists().get_range_list_at_offset(call["DW_AT_ranges"]):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                yield base + entry.begin_offset, base + entry.end_offset
