"""The sentences of findings about wgmma: descriptors, registers, who takes part."""

from __future__ import annotations

from ..abi import RawFinding
from .threads import count_bytes, name, who


def _reserved(row: RawFinding) -> str:
    return (
        f"has bits {row.number[2]:#x} set, which must be 0; build it with wgmma_descriptor(), and "
        "add only what fits in its start address"
    )


def _outside(row: RawFinding) -> str:
    return (
        f"leads outside of every __shared__ array, {count_bytes(row.number[2])} from its start; "
        "correct the address, or the leading and the stride offset"
    )


def _start(row: RawFinding) -> str:
    span = row.number[3]
    return (
        f"starts {count_bytes(row.number[2])} past a multiple of {8 * span}, where a pattern of "
        f"the {span}-byte swizzle starts; align the tile to {8 * span} bytes, and step along k "
        "within the pattern's first row only"
    )


def _stride(row: RawFinding) -> str:
    span = row.number[3]
    return (
        f"goes from one pattern to the next by {count_bytes(row.number[2])}, no multiple of the "
        f"{8 * span} that a pattern of the {span}-byte swizzle has; correct the leading and the "
        "stride offset"
    )


def _overlap(row: RawFinding) -> str:
    return (
        "puts two elements in one place; correct the leading and the stride offset, which may "
        "have changed places"
    )


# runtime/operations/wgmma_descriptor.h's DescriptorFault, in its order, from 1.
_FAULTS = (_reserved, _outside, _start, _stride, _overlap)


def descriptor(row: RawFinding, line: str, other: str) -> str:
    """A descriptor that does not describe the operand."""
    operand = "AB"[row.number[1]]
    return f"the descriptor of {operand} at {line} {_FAULTS[row.number[0] - 1](row)}"


def register_before_wait(row: RawFinding, line: str, other: str) -> str:
    """Accumulators, or a fragment of A, that the tensor core still has."""
    does = "writes" if row.number[0] else "reads"
    what = "the fragment of A" if row.number[1] else "an accumulator"
    return (
        f"{line} {does} {what} of the wgmma at {other}, which {who(row)} has not waited for; "
        "call wgmma_commit() after the wgmma, and wgmma_wait<0>() before its registers are used"
    )


def missing_register_fence(row: RawFinding, line: str, other: str) -> str:
    """Registers go to the tensor core without a fence."""
    if not row.other_pc:
        return (
            f"the first wgmma, at {line}, comes without a fence, so it need not see what the "
            "threads have put in its registers; call wgmma_fence() before it"
        )
    return (
        f"the wgmma at {line} uses registers that {other} uses before, and no fence orders the "
        "two; call wgmma_fence() between them"
    )


def divergent(row: RawFinding, line: str, other: str) -> str:
    """Lanes or warps that do not issue the same instruction."""
    where = f"{line} and {other}" if row.other_pc and other != line else line
    return (
        f"the {name(row.other_name)} do not agree on the wgmma of {where}: its shape, its "
        "descriptors and scale_d have to be the same in all 128 threads"
    )
