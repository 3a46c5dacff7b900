"""How wide the machine code's loads and stores are, line by line, and what the runtime takes of it.

nvcc merges neighboring scalar loads of a thread into ones of 8 or 16 bytes. A program that is run
with its cubin (`gemmlab sim --cubin`) is counted with the widths of its machine code: the runtime
joins a thread's neighboring accesses up to the width that their line has there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.cuda_tools import find_beside_nvcc
from ...core.errors import ArgumentError, BackendError
from ..build import INCLUDE
from ..counts import LineCount
from ..lines import LineTable

# In the order of runtime/memory/types.h's Op.
_OPS = {"LDS": "ld.shared", "STS": "st.shared", "LDG": "ld.global", "STG": "st.global"}
OPERATIONS = tuple(_OPS.values())
_PLACE = re.compile(r'//## File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?')
_ACCESS = re.compile(r"/\*[0-9a-f]{4,6}\*/\s+(?:@!?U?P\w+\s+)?(LDS|STS|LDG|STG)\b((?:\.\w+)*)")
_SUFFIX = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_USUAL = 4

# By file's name, line and operation: bytes a lane of each load or store that is there.
Key = tuple[str, int, str]


@dataclass(frozen=True)
class Widths:
    """widths: as the machine code has them. A line that is inlined counts where it was written."""

    widths: Mapping[Key, tuple[int, ...]]

    @cached_property
    def widest(self) -> dict[Key, int]:
        """The widest access of each line."""
        return {key: max(found) for key, found in self.widths.items()}

    def by_site(self, table: LineTable, sources: Collection[str]) -> bytes:
        """For the runtime: a byte for each site of the library and each of the operations."""
        found = bytearray(len(OPERATIONS) * len(table.frames))
        for site, frames in enumerate(table.frames):
            own = next((frame for frame in frames if frame[0] in sources), None)
            own = own or next(
                (f for f in frames if f[0] and not f[0].startswith(str(INCLUDE))), None
            )
            if own is None:
                continue
            for at, operation in enumerate(OPERATIONS):
                key = (Path(own[0]).name, own[1], operation)
                found[len(OPERATIONS) * site + at] = self.widest.get(key, 0)
        return bytes(found)

    def unlike(self, lines: Collection[LineCount]) -> list[str]:
        """Lines that were counted with other widths than the machine code's, in sentences."""
        counted: dict[Key, set[int]] = {}
        for line in lines:
            if line.op in OPERATIONS:
                key = (Path(line.file).name, line.line, line.op)
                counted.setdefault(key, set()).add(line.width_bytes)
        return [
            f"{key[0]}:{key[1]}: {key[2]} of {_list(found)} bytes a lane are counted; the machine "
            f"code has {_list(self.widths[key])}"
            for key, found in sorted(counted.items())
            if key in self.widths and found != set(self.widths[key])
        ]

    def to_rows(self) -> list[list[str | int]]:
        """Plain data, for JSON."""
        return [[*key, *found] for key, found in sorted(self.widths.items())]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]]) -> Widths:
        """What `to_rows` gave."""
        return cls({(file, line, op): tuple(found) for file, line, op, *found in rows})


def read(listing: str) -> Widths:
    """Those of `nvdisasm -c -gi`."""
    found: dict[Key, set[int]] = {}
    for places, name, suffixes in _accesses(listing):
        width = next((_SUFFIX[one] for one in suffixes if one in _SUFFIX), _USUAL)
        for file, line in places:
            found.setdefault((Path(file).name, line, _OPS[name]), set()).add(width)
    return Widths({key: tuple(sorted(widths)) for key, widths in found.items()})


def _accesses(listing: str) -> Iterator[tuple[list[tuple[str, int]], str, list[str]]]:
    """Places from the innermost outwards, the instruction's name and its suffixes."""
    places: list[tuple[str, int]] = []
    inlined = False  # the next place is the one that the last one was inlined at
    for line in listing.splitlines():
        if place := _PLACE.search(line):
            places = [*(places if inlined else ()), (place[1], int(place[2]))]
            inlined = place[3] is not None
        elif access := _ACCESS.search(line):
            yield list(dict.fromkeys(places)), access[1], access[2].split(".")


def read_cubin(path: Path) -> Widths:
    """Those of a cubin that nvcc has made with -lineinfo.

    Raises ArgumentError for a file that is none, BackendError without nvdisasm.
    """
    done = subprocess.run([nvdisasm(), "-c", "-gi", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise ArgumentError(f"cubin: {path.name} cannot be read by nvdisasm: {done.stderr.strip()}")
    widths = read(done.stdout)
    if not widths.widths:
        raise ArgumentError(
            f"cubin: {path.name} says of no load or store which line it belongs to; compile it "
            "with nvcc -cubin -lineinfo"
        )
    return widths


def nvdisasm() -> str:
    """Path of nvdisasm, as `find_beside_nvcc` finds it. Raises BackendError."""
    found = find_beside_nvcc("nvdisasm")
    if found is None:
        raise BackendError(
            "nvdisasm: not found, so a cubin cannot be read. It comes with the CUDA toolkit, or "
            "with pip install nvidia-cuda-nvdisasm"
        )
    return found


def _list(widths: Collection[int]) -> str:
    return " and ".join(map(str, sorted(widths)))
