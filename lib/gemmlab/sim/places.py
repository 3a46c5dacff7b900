"""What lies at an address: an element of a matrix, or of a __shared__ array."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import ArgumentError
from ..layouts.shared import formula
from .lines import DYNAMIC_ARRAY, SharedArray

if TYPE_CHECKING:
    import numpy as np

SHARED, GLOBAL = "shared", "global"
_CONSTANTS = re.compile(r"\bconstexpr\s+(?:int|unsigned|size_t|uint32_t)\s+([^;{}]+);")
_ARRAY = re.compile(
    r"__shared__[^;(]*?(?:__align__\([^)]*\)|alignas\([^)]*\))?[^;(\[]*?"
    r"\b(\w+)((?:\s*\[[^\]]+\])+)\s*;"
)
_DYNAMIC = re.compile(r"\bextern\s+__shared__\b[^;]*?\b(\w+)\s*\[\s*\]\s*;")


@dataclass(frozen=True)
class Place:
    """A matrix in global memory or an array in shared memory, and where it starts there.

    shape: its dimensions in elements, empty where they are not known.
    """

    name: str
    memory: str
    start: int
    bytes: int
    shape: tuple[int, ...] = ()

    @property
    def element_bytes(self) -> int:
        """Of one element; `shape` has to be known."""
        return self.bytes // math.prod(self.shape)

    def holds(self, address: int) -> bool:
        """Whether a byte of this memory belongs to it."""
        return self.start <= address < self.start + self.bytes

    def element(self, address: int) -> str:
        """'sA[4][17]', and how many bytes further if it is not at the start of an element."""
        offset = address - self.start
        if not self.shape:
            return f"{self.name} + {offset} B"
        index, rest = divmod(offset, self.element_bytes)
        indices = []
        for length in reversed(self.shape):
            index, place = divmod(index, length)
            indices.append(f"[{place}]")
        return f"{self.name}{''.join(reversed(indices))}{f' + {rest} B' if rest else ''}"


def element(places: Iterable[Place], memory: str, address: int) -> str:
    """What lies at an address of one memory, in words."""
    for place in places:
        if place.memory == memory and place.holds(address):
            return place.element(address)
    return f"{memory} + {address} B"


def matrix_places(matrices: Sequence[np.ndarray], starts: Iterable[int]) -> tuple[Place, ...]:
    """The launch's matrices A, B and C; `starts` is where each begins in global memory."""
    return tuple(
        Place(name, GLOBAL, start, matrix.nbytes, matrix.shape)
        for name, matrix, start in zip("ABC", matrices, starts, strict=True)
    )


def array_places(arrays: Iterable[SharedArray], source: Sequence[str]) -> tuple[Place, ...]:
    """A library's __shared__ arrays, with the names and dimensions that its source gives them."""
    text = "\n".join(source)
    places = []
    for array in arrays:
        name = _dynamic_name(text) if array.name == DYNAMIC_ARRAY else plain_name(array.name)
        shape = array_shape(text, name, array.bytes)
        places.append(Place(name, SHARED, array.offset, array.bytes, shape))
    return tuple(places)


def _dynamic_name(source: str) -> str:
    """What the source calls its dynamic shared array, if it has one name for it."""
    names = set(_DYNAMIC.findall(source))
    return names.pop() if len(names) == 1 else DYNAMIC_ARRAY


def plain_name(symbol: str) -> str:
    """The name in the source of a variable's symbol: its last part, with a length in front."""
    for match in re.finditer(r"(?=(?:^|\D)(\d+)([A-Za-z_]\w*))", symbol.removeprefix("_Z")):
        length, rest = int(match[1]), match[2]
        if re.fullmatch(r"(_\d+|__\d+_)?", rest[length:]) and length <= len(rest):
            return rest[:length]
    return symbol


def array_shape(source: str, name: str, size: int) -> tuple[int, ...]:
    """Dimensions of the __shared__ array `name` of `size` bytes, as its declaration has them.

    Empty where they depend on a template's parameters or are none that the size is a multiple of.
    """
    constants = _constants(source)
    for found, dimensions in _ARRAY.findall(source):
        if found != name:
            continue
        values = [_value(text, constants) for text in re.findall(r"\[([^\]]+)\]", dimensions)]
        known = tuple(value or 0 for value in values)
        elements = math.prod(known)
        if elements > 0 and size % elements == 0 and size // elements in (1, 2, 4, 8, 16):
            return known
    return ()


def _constants(source: str) -> dict[str, int]:
    """Integer constants that a source file defines, each in terms of earlier ones."""
    values: dict[str, int] = {}
    for definitions in _CONSTANTS.findall(source):
        for definition in definitions.split(","):
            name, _, text = definition.partition("=")
            if (value := _value(text, values)) is not None:
                values[name.strip()] = value
    return values


def _value(text: str, names: dict[str, int]) -> int | None:
    try:
        return formula.expression(text.strip(), names)(names)
    except ArgumentError:
        return None
