"""The types of a product: those of A and B, and that of C. Sums are always kept in fp32."""

from __future__ import annotations

from dataclasses import dataclass

from .arguments import choice


@dataclass(frozen=True)
class Precision:
    """Types by torch's names. `roundoff` is that of C's type: half the distance of 1 to its
    successor."""

    name: str
    given: str
    made: str
    roundoff: float

    @property
    def template_arguments(self) -> str:
        """What the launcher of a step for 16-bit types is instantiated with."""
        return f"<{_IN_CUDA[self.given]}, {_IN_CUDA[self.made]}>"

    @property
    def words(self) -> str:
        """For notes: "bf16", or "bf16, C in fp32"."""
        return self.name.replace("_fp32", ", C in fp32")

    @property
    def bytes(self) -> tuple[int, int]:
        """Size of an element of A and B, and of C."""
        return _BYTES[self.given], _BYTES[self.made]


_IN_CUDA = {"float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16"}
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}

PRECISIONS = {
    precision.name: precision
    for precision in (
        Precision("fp32", "float32", "float32", 2.0**-24),
        Precision("bf16", "bfloat16", "bfloat16", 2.0**-8),
        Precision("fp16", "float16", "float16", 2.0**-11),
        Precision("bf16_fp32", "bfloat16", "float32", 2.0**-24),
        Precision("fp16_fp32", "float16", "float32", 2.0**-24),
    )
}
DTYPES = tuple(_BYTES)  # torch's names of the elements of A, B and C
SINGLE = ("fp32",)
HALF = ("bf16", "fp16", "bf16_fp32", "fp16_fp32")


def precision(name: str) -> Precision:
    """The precision called `name`. Raises ArgumentError, naming those there are."""
    return PRECISIONS[choice("precision", name, PRECISIONS, lead="; there are ")]


def of_types(given: str, made: str) -> Precision | None:
    """The precision with these types of A and B, and of C, if there is one."""
    return next((p for p in PRECISIONS.values() if (p.given, p.made) == (given, made)), None)
