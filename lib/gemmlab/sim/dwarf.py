"""The inlined calls of a compilation unit, read from its debug information.

A kernel has thousands of entries there, and pyelftools makes an object of each and of each of its
attributes, which takes as long as g++ does. Here an entry of known size is one `struct` to unpack,
and only those of DW_TAG_inlined_subroutine are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any

from ..core.errors import BackendError

_SIZED = {
    **{"DW_FORM_addr": "Q", "DW_FORM_data8": "Q", "DW_FORM_ref8": "Q", "DW_FORM_ref_sig8": "Q"},
    **{"DW_FORM_data4": "I", "DW_FORM_ref4": "I", "DW_FORM_strp": "I", "DW_FORM_sec_offset": "I"},
    **{"DW_FORM_data2": "H", "DW_FORM_ref2": "H", "DW_FORM_ref_addr": "I"},
    **{"DW_FORM_data1": "B", "DW_FORM_ref1": "B", "DW_FORM_flag": "B", "DW_FORM_flag_present": ""},
}
_INLINED = "DW_TAG_inlined_subroutine"

Attributes = dict[str, int]


@dataclass(frozen=True)
class _Layout:
    """How the entries of one abbreviation lie: pieces of known size, and others between them.

    skip: (bytes, at) -> where the next entry begins.
    """

    inlined: bool
    children: bool
    names: tuple[str, ...]
    sized: Struct
    skips: tuple[Callable[[bytes, int], int], ...]

    def end(self, data: bytes, at: int) -> int:
        """Where an entry ends whose attributes begin at `at`."""
        if not self.skips:
            return at + self.sized.size
        for skip in self.skips:
            at = skip(data, at)
        return at


def inlined_calls(dwarf: Any, unit: Any) -> Iterator[tuple[int, Attributes]]:
    """In how many other inlined calls each one lies, and its attributes; outer ones come first.

    An attribute is the number that stands there: an address, a line, an offset, or 1 for a flag
    that is there. "DW_AT_high_pc" counts from "DW_AT_low_pc".
    """
    data: bytes = dwarf.debug_info_sec.stream.getvalue()
    layouts: dict[int, _Layout] = {}
    table = unit.get_abbrev_table()
    at, end = unit.cu_die_offset, unit.cu_offset + 4 + unit["unit_length"]
    inside: list[bool] = []  # whether each of the entries around is an inlined call
    depth = 0
    while at < end:
        code, at = _number(data, at)
        if not code:
            if inside:
                depth -= inside.pop()
            continue
        layout = layouts.get(code)
        if layout is None:
            layout = layouts[code] = _layout(table.get_abbrev(code))
        if layout.inlined:
            yield depth, dict(zip(layout.names, layout.sized.unpack_from(data, at), strict=True))
        at = layout.end(data, at)
        if layout.children:
            inside.append(layout.inlined)
            depth += layout.inlined


def _layout(abbreviation: Any) -> _Layout:
    given = [(spec["name"], spec["form"]) for spec in abbreviation["attr_spec"]]
    forms = [form for _, form in given]
    inlined = abbreviation["tag"] == _INLINED
    sized = all(form in _SIZED for form in forms)
    if inlined and not sized:
        raise BackendError(f"g++: an inlined call has an attribute of a form unknown here: {forms}")
    return _Layout(
        inlined=inlined,
        children=abbreviation["children_flag"] == "DW_CHILDREN_yes",
        names=tuple(name for name, form in given if form != "DW_FORM_flag_present"),
        sized=Struct("<" + "".join(_SIZED[form] for form in forms) if sized else ""),
        skips=() if sized else tuple(map(_skip, forms)),
    )


def _skip(form: str) -> Callable[[bytes, int], int]:
    if form in _SIZED:
        size = Struct("<" + _SIZED[form]).size
        return lambda data, at: at + size
    if form not in _UNSIZED:
        raise BackendError(f"g++: its debug information has a form unknown here: {form}")
    return _UNSIZED[form]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte (LEB128), and where it ends."""
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    number, shift = byte & 127, 7
    while byte >= 128:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
    return number, at


def _past_block(data: bytes, at: int) -> int:
    length, at = _number(data, at)
    return at + length


_UNSIZED: dict[str, Callable[[bytes, int], int]] = {
    "DW_FORM_string": lambda data, at: data.index(0, at) + 1,
    "DW_FORM_exprloc": _past_block,
    "DW_FORM_block": _past_block,
    "DW_FORM_block1": lambda data, at: at + 1 + data[at],
    "DW_FORM_udata": lambda data, at: _number(data, at)[1],
    "DW_FORM_sdata": lambda data, at: _number(data, at)[1],
}
