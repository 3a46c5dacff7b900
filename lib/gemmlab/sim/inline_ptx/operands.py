"""The operands of an instruction as C++."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...steps.cuda_text import split
from .statement import NotTranslatedError
from .template import Instruction

_SPECIAL = {
    **{
        f"{name}.{axis}": f"{which}.{axis}"
        for axis in "xyz"
        for name, which in (
            ("tid", "threadIdx"),
            ("ntid", "blockDim"),
            ("ctaid", "blockIdx"),
            ("nctaid", "gridDim"),
        )
    },
    **{
        name: f"gemmlab_ptx::{name}()"
        for name in (
            "laneid",
            "warpid",
            "nwarpid",
            "smid",
            "lanemask_eq",
            "lanemask_lt",
            "lanemask_le",
            "lanemask_gt",
            "lanemask_ge",
        )
    },
    "clusterid.x": "gemmlab_ptx::clusterid_x()",
    "nclusterid.x": "gemmlab_ptx::nclusterid_x()",
    "cluster_ctarank": "sim_cluster_rank()",
    "cluster_nctarank": "sim_cluster_size()",
    "cluster_ctaid.x": "sim_cluster_rank()",
    "cluster_nctaid.x": "sim_cluster_size()",
    "nsmid": "132u",
    "clock": "uint32_t(clock64())",
    "clock64": "clock64()",
    "globaltimer": "clock64()",
    "WARP_SZ": "32",
}
_NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|\d+)[uU]?")
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})")


@dataclass(frozen=True)
class Address:
    """What stands in brackets: base and offset as C++, and the coordinates of a tensor."""

    base: str
    coordinates: tuple[str, ...] = ()


class Operands:
    """The operands of one instruction. given: what stands for %0, %1, ..."""

    def __init__(self, instruction: Instruction, given: tuple[str, ...]) -> None:
        self.texts = list(instruction.operands)
        self._scope, self._given = instruction.scope, given

    def __len__(self) -> int:
        return len(self.texts)

    def need(self, *counts: int) -> None:
        """Raise NotTranslatedError unless there are so many."""
        if len(self.texts) not in counts:
            raise NotTranslatedError(f"with {len(self.texts)} operands")

    def value(self, number: int) -> str:
        """A register, a constant, a special register."""
        if number >= len(self.texts):
            raise NotTranslatedError(f"without operand {number + 1}")
        return self.one(self.texts[number])

    def values(self) -> str:
        """All of them, as a call has them."""
        return ", ".join(map(self.one, self.texts))

    def vector(self, number: int) -> list[str]:
        """The registers of {a, b}, or one register."""
        text = self.texts[number] if number < len(self.texts) else ""
        if text.startswith("{") and text.endswith("}"):
            return [self.one(part) for part in split(text[1:-1], ",")]
        return [self.value(number)]

    def pair(self, number: int) -> tuple[str, str]:
        """The registers of a|b."""
        parts = self.texts[number].split("|")
        if len(parts) != 2:
            raise NotTranslatedError(f"the operand {self.texts[number]}")
        return self.one(parts[0]), self.one(parts[1])

    def address(self, number: int) -> Address:
        """The address in brackets."""
        text = self.texts[number] if number < len(self.texts) else ""
        if not (text.startswith("[") and text.endswith("]")):
            raise NotTranslatedError(f"the operand {text or '(none)'} where an address stands")
        base, *others = split(text[1:-1], ",")
        coordinates = []
        for other in others:
            inner = other[1:-1] if other.startswith("{") else other
            coordinates += [self.one(part) for part in split(inner, ",")]
        return Address(self._based(base), tuple(coordinates))

    def _based(self, text: str) -> str:
        name, plus, offset = text.partition("+")
        if not plus:
            return self.one(text)
        return f"gemmlab_ptx::offset({self.one(name)}, {self.one(offset)})"

    def one(self, text: str) -> str:
        """One register or constant, as C++."""
        text = text.strip()
        name = text.removeprefix("%")
        if text.startswith("%") and name.isdigit() and int(name) < len(self._given):
            return self._given[int(name)]
        if name in self._scope:
            return self._scope[name].name
        if name in _SPECIAL and (text.startswith("%") or name == "WARP_SZ"):
            return _SPECIAL[name]
        if text == "_":
            return "gemmlab_ptx::Sink()"
        if bits := _FLOAT.fullmatch(text):
            return f"__uint_as_float(0x{bits[1]}u)"
        if _NUMBER.fullmatch(text):
            return text
        raise NotTranslatedError(f"the operand {text}")
