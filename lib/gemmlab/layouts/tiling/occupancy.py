"""How many blocks an SM holds, what limits them, and in how many waves a grid runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

from ...core.arguments import instance, integer
from ..shared.banks import WARP

KB = 1024


@dataclass(frozen=True)
class Limits:
    """What one GPU gives to blocks.

    name, capability: "H200", "9.0". sms: SMs of the GPU. threads, blocks, partitions: of an SM.
    shared: bytes of shared memory of an SM; shared_block: the most that a block may have, asked for
    with cudaFuncSetAttribute; shared_default: of a block that does not ask; shared_reserved: taken
    from the SM for each block; shared_unit: what a block's bytes are rounded up to. registers:
    32-bit ones of an SM, and of a block; registers_thread: the most of a thread; registers_unit:
    what a warp's are rounded up to. fma_warps: warps whose FMAs an SM starts in a cycle (FP32 lanes
    / 32). Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    """

    name: str
    capability: str
    sms: int
    threads: int
    blocks: int
    shared: int  # of an SM
    shared_block: int  # of a block, asked for with cudaFuncSetAttribute
    fma_warps: int = 4
    shared_default: int = 48 * KB  # of a block that does not ask
    shared_reserved: int = 1 * KB  # taken from the SM for each block
    shared_unit: int = 128
    registers: int = 65536  # of an SM, and of a block
    registers_thread: int = 255
    registers_unit: int = 256  # a warp's registers are a multiple
    partitions: int = 4  # with a quarter of the warps and registers each

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the browser."""
        return asdict(self)


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (threads, blocks,
# shared memory, registers) and "Arithmetic Instructions" (FP32 lanes); cuda_occupancy.h of CUDA
# 13.0 (units, partitions, blocks); cudaDeviceProp (reservedSharedMemPerBlock); data sheets (SMs).
GPUS: dict[str, Limits] = {
    gpu.name: gpu
    for gpu in (
        Limits("H200", "9.0", 132, 2048, 32, 228 * KB, 227 * KB),
        Limits("A100", "8.0", 108, 2048, 32, 164 * KB, 163 * KB, fma_warps=2),
        Limits("RTX 4090", "8.9", 128, 1536, 24, 100 * KB, 99 * KB),
        Limits("RTX 5090", "12.0", 170, 1536, 24, 100 * KB, 99 * KB),
    )
}


@dataclass(frozen=True)
class Occupancy:
    """Blocks that an SM holds at a time.

    blocks, warps: how many of them. allowed: resource -> the blocks that it would allow.
    """

    blocks: int
    warps: int
    allowed: dict[str, int]

    @property
    def limited_by(self) -> list[str]:
        """The resources that allow no more."""
        return [name for name, count in self.allowed.items() if count == self.blocks]


def occupancy(threads: int, registers: int, shared_bytes: int, gpu: Limits) -> Occupancy:
    """How many blocks an SM of `gpu` holds at a time.

    threads: of a block. registers: of a thread, as ptxas reports them. shared_bytes: of a block,
    static and dynamic. gpu: one of GPUS. As cuda_occupancy.h has it, with the largest split for
    shared memory. A block that asks for too much is 0 blocks. Raises ArgumentError for threads or
    registers below 1.
    """
    for name, value, low in (
        ("threads", threads, 1),
        ("registers", registers, 1),
        ("shared_bytes", shared_bytes, 0),
    ):
        integer(name, value, low, allowed=f"expected an integer of at least {low}", kind=Integral)
    instance("gpu", gpu, Limits, "one of layouts.GPUS, such as layouts.GPUS['H200']")
    warps = _up(threads, WARP) // WARP
    each = _up(registers * WARP, gpu.registers_unit)
    # A warp's registers come from the partition that it runs in.
    resident = gpu.registers // gpu.partitions // each * gpu.partitions
    taken = _up(shared_bytes + gpu.shared_reserved, gpu.shared_unit)
    allowed = {
        "registers": resident // warps if registers <= gpu.registers_thread else 0,
        "shared memory": gpu.shared // taken if shared_bytes <= gpu.shared_block else 0,
        "threads": gpu.threads // (warps * WARP) if threads <= 1024 else 0,
        "block slots": gpu.blocks,
    }
    blocks = min(allowed.values())
    return Occupancy(blocks, blocks * warps, allowed)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Waves:
    """A grid on a GPU: `slots` blocks run at a time, `last` of them in the last wave.

    efficiency: the share of the places of all waves that have a block.
    """

    blocks: int
    slots: int
    waves: int
    last: int
    efficiency: float


def waves(blocks: int, at_once: int, sms: int) -> Waves:
    """In how many waves the blocks of a grid run.

    blocks: of the grid. at_once: blocks that an SM holds, at least 1. sms: SMs of the GPU. Raises
    ArgumentError for other numbers.
    """
    for name, value in (("blocks", blocks), ("at_once", at_once), ("sms", sms)):
        integer(name, value, 1, kind=Integral)
    slots = at_once * sms
    count = -(-blocks // slots)
    return Waves(blocks, slots, count, blocks - (count - 1) * slots, blocks / (count * slots))
