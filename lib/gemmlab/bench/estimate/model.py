"""How long a kernel takes, from what it asks of each pipe of an SM: bounds, and how they add up.

A k tile of C's tile is a number of multiply-adds. Each pipe needs so many cycles for it: the FMA or
tensor cores for the products, shared memory a cycle a wavefront, L1 for the loads from global
memory, the schedulers for issuing. If everything overlapped, the slowest pipe alone would count;
how much of the others shows depends on whether loads run during the products, and on how many
warps there are to fill gaps. These shares are constants, fitted to the recorded steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...layouts.shared.banks import SECTOR_BYTES
from ...layouts.tiling.occupancy import GPUS

SCHEDULERS = 4
# Multiply-adds in a cycle of an SM: of FP32 lanes, and of tensor cores as the probes of
# `lab.experiments` find them on an H200 (mma.sync reaches two thirds of what wgmma does).
RATES = {"": 128, "mma": 1365, "wgmma": 2047}
GPU = GPUS["H200"]


@dataclass(frozen=True)
class Work:
    """What a kernel asks for one multiply-add, and how its blocks fill an SM.

    tile: (BM, BN, BK) of a block. threads: of a block. resident: blocks that an SM holds at a time.
    tensor: "mma" or "wgmma" if tensor cores multiply, else "". overlapped: whether loads of a later
    tile run during the products. even: all SMs share the k tiles evenly (stream-K). wavefronts: of
    shared memory. l1_cycles: of L1, for loads into registers. requests: of shared and global
    memory, each an instruction of a warp. sectors: 32 bytes each, loaded from global memory.
    given_bytes, c_bytes: of an element of A and B, and of C.
    """

    tile: tuple[int, int, int]
    threads: int
    resident: int
    tensor: str
    overlapped: bool
    even: bool
    wavefronts: float
    l1_cycles: float
    requests: float
    sectors: float
    given_bytes: int = 4
    c_bytes: int = 4

    @property
    def l2_bytes(self) -> float:
        """Read from L2 for a multiply-add: once a block, as L1 has what its warps share."""
        BM, BN, _ = self.tile
        return min(self.sectors * SECTOR_BYTES, (1 / BM + 1 / BN) * self.given_bytes)


@dataclass(frozen=True)
class Constants:
    """What is fitted to the recorded steps.

    issue: instructions that come with a request, for addresses and moves. exposed,
    exposed_overlapped: the share of the other pipes' cycles that the slowest pipe does not hide.
    idle: divided by the warps of a scheduler, it is added to that share: few warps hide less.
    latency: cycles from a load to the barrier behind it, where nothing overlaps it. start: cycles
    to begin and end a block. c_rate: bytes of C that an SM writes in a cycle. clock_fma,
    clock_tensor: GHz at these loads. l2_rate: TB/s. launch_us: microseconds of a launch.
    """

    issue: float = 2.0
    exposed: float = 0.25
    exposed_overlapped: float = 0.05
    idle: float = 1.4
    latency: float = 1100.0
    start: float = 3000.0
    c_rate: float = 18.0
    clock_fma: float = 1.94
    clock_tensor: float = 1.75
    l2_rate: float = 5.5
    launch_us: float = 2.0


def pipes(work: Work, constants: Constants) -> dict[str, float]:
    """Cycles of an SM that each pipe needs for one multiply-add."""
    products = 1 / RATES[work.tensor]
    instructions = work.requests * constants.issue + (0 if work.tensor else 1 / 32)
    return {
        "tensor cores" if work.tensor else "FMA": products,
        "shared memory": work.wavefronts,
        "L1": work.l1_cycles,
        "issue": instructions / SCHEDULERS,
    }


def time_us(work: Work, shape: tuple[int, int, int], constants: Constants) -> float:
    """Microseconds of a launch at (M, N, K)."""
    M, N, K = shape
    BM, BN, _ = work.tile
    blocks = math.ceil(M / BM) * math.ceil(N / BN)
    if work.even:
        each = _busy(work, K, work.resident, constants) / work.resident
        cycles = blocks / GPU.sms * each + 2 * _outside(work, work.resident, constants)
    else:
        cycles = _in_waves(work, K, blocks, constants)
    clock = constants.clock_tensor if work.tensor else constants.clock_fma
    from_l2 = M * N * K * work.l2_bytes / (constants.l2_rate * 1e6)
    return max(cycles / (clock * 1e3), from_l2) + constants.launch_us


def _in_waves(work: Work, K: int, blocks: int, constants: Constants) -> float:
    """Full waves, then what is left, spread over the SMs; many waves run into one another."""

    def wave(resident: int) -> float:
        return _busy(work, K, resident, constants) + _outside(work, resident, constants)

    slots = GPU.sms * work.resident
    full, rest = divmod(blocks, slots)
    if full > 3:
        return blocks / slots * wave(work.resident)
    return full * wave(work.resident) + (wave(math.ceil(rest / GPU.sms)) if rest else 0.0)


def _busy(work: Work, K: int, resident: int, constants: Constants) -> float:
    """Cycles in which an SM multiplies the tiles of so many blocks."""
    BM, BN, BK = work.tile
    warps = resident * work.threads / 32 / SCHEDULERS
    exposed = constants.exposed_overlapped if work.overlapped else constants.exposed
    exposed = min(1.3, exposed + constants.idle / warps)
    need = pipes(work, constants)
    slowest = max(need.values())
    # The cycles of issuing may be the most, but they add nothing to those of another pipe.
    apart = [cycles for name, cycles in need.items() if name != "issue"]
    own = (slowest + exposed * (sum(apart) - max(apart))) * BM * BN * BK
    tiles_k = K / BK
    alone = own if work.overlapped or BK == 1 else own + constants.latency
    return max(resident * own, alone) * tiles_k


def _outside(work: Work, resident: int, constants: Constants) -> float:
    """Cycles before the first products and behind the last: C has to be written."""
    BM, BN, _ = work.tile
    own = resident * BM * BN * work.c_bytes / constants.c_rate
    return own + (constants.start if BM * BN > 1024 else 0.0)
