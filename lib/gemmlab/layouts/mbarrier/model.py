"""An mbarrier, as the PTX ISA defines it, and a model of the ring of stages that it guards.

`widgets/mbarrier.js` computes the same; tests hold the two equal. That a mistake ends here as it
ends in the simulator, which runs kernels/probes/ring.cuh, is tested too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.arguments import choice, integer
from ...core.errors import ArgumentError

MODES = {"producer warp": "producer warp", "syncthreads": "__syncthreads()"}
# Mistakes and what to call them; the second word for __syncthreads(), None where it has no such.
MISTAKES: dict[str, tuple[str, str | None]] = {
    "none": ("no mistake", "no mistake"),
    "bytes_many": ("too many bytes expected", "too many bytes expected"),
    "bytes_few": ("too few bytes expected", "too few bytes expected"),
    "full_count": ("full[s] counts 2 arrivals, not 1", "full[s] counts 2 arrivals, not 1"),
    "consumer_parity": ("consumers begin with parity 1", "warps begin with parity 1"),
    "producer_parity": ("producer begins with parity 0", None),
    "consumer_no_flip": ("consumers' parity stays 0", "the parity stays 0"),
    "producer_no_flip": ("producer's parity stays 1", None),
    "no_full_wait": ("no wait for full[s]", "no wait for full[s]"),
    "no_empty_wait": ("no wait for empty[s]", "no __syncthreads()"),
    "early_release": ("release before the read", None),
    "empty_more": ("empty[s] counts 1 arrival too many", None),
    "empty_fewer": ("empty[s] counts 1 arrival too few", None),
}
ISSUE, BETWEEN, READ, SLOWER = 20, 20, 200, 40  # times of the model
BOX = 4096  # bytes of each of a tile's two boxes, A and B
RANGES = {"tiles": (2, 12), "stages": (2, 4), "consumers": (2, 4), "latency": (20, 2000)}
ENGINE = "copy engine"


@dataclass(frozen=True)
class Mbarrier:
    """The state of an mbarrier; each operation returns the state after it.

    count: arrivals that a phase expects; pending: those that have not come; tx: bytes that have
    been expected and have not arrived (below 0: arrived, but not expected yet); phase: the current
    one.
    """

    count: int
    pending: int
    tx: int = 0
    phase: int = 0

    @classmethod
    def init(cls, count: int) -> Mbarrier:
        """mbarrier.init: phase 0, with all arrivals pending."""
        return cls(count, count)

    @property
    def parity(self) -> int:
        """Of the current phase: 0 for the first one."""
        return self.phase % 2

    def arrive(self) -> Mbarrier:
        """mbarrier.arrive. Raises ArgumentError if the phase has had all its arrivals."""
        if self.pending == 0:
            raise ArgumentError("arrive: this phase has had all its arrivals; wait for its end")
        return replace(self, pending=self.pending - 1)._settled()

    def expect_tx(self, count: int) -> Mbarrier:
        """mbarrier.expect_tx: so many bytes more."""
        return replace(self, tx=self.tx + count)._settled()

    def arrive_expect_tx(self, count: int) -> Mbarrier:
        """mbarrier.arrive.expect_tx: the bytes, then the arrival."""
        return replace(self, tx=self.tx + count).arrive()

    def complete_tx(self, count: int) -> Mbarrier:
        """What the copy engine does when so many bytes have landed."""
        return replace(self, tx=self.tx - count)._settled()

    def try_wait(self, parity: int) -> bool:
        """mbarrier.try_wait.parity: whether the phase of that parity, the current or the one
        before, is over. On a new barrier that of parity 1 is."""
        return self.parity != parity

    def _settled(self) -> Mbarrier:
        """A phase that lacks neither arrivals nor bytes is over, and the next one begins."""
        if self.pending or self.tx:
            return self
        return Mbarrier(self.count, self.count, 0, self.phase + 1)


@dataclass(frozen=True)
class Op:
    """One step of a thread or warp. kind: wait, arrive, expect, copy, read or sync.

    name, stage: the barrier, "full" or "empty"; value: a parity, or bytes.
    """

    kind: str
    tile: int
    stage: int = 0
    name: str = ""
    value: int = 0


@dataclass(frozen=True)
class Ring:
    """A ring of stages, as input of the model.

    mode: a key of MODES; mistake: one of MISTAKES; tiles: how many pass through the ring; stages:
    buffers, each with its barriers; consumers: warps that read; latency: cycles from the start of
    a copy until the first of its two boxes has arrived. Raises ArgumentError, naming the argument.
    """

    mode: str = "producer warp"
    mistake: str = "none"
    tiles: int = 6
    stages: int = 3
    consumers: int = 2
    latency: int = 1000

    def __post_init__(self) -> None:
        choice("mode", self.mode, MODES, quoted=True)
        for name, (low, high) in RANGES.items():
            integer(name, getattr(self, name), low, high)
        known = mistakes(self.mode, self.consumers)
        choice("mistake", self.mistake, known, lead=", allowed here are ", quoted=True)

    @property
    def actors(self) -> tuple[str, ...]:
        """Those that run a program: the producer (in warp 0) and the warps that read. Without a
        producer, thread 0 of the first warp that reads also fills the stages."""
        if self.mode == "syncthreads":
            return tuple(f"warp {w}" for w in range(self.consumers))
        return "producer", *(f"warp {w + 1}" for w in range(self.consumers))

    @property
    def counts(self) -> dict[str, int]:
        """Arrivals of a phase, of the barriers full[s] and empty[s]; no empty[s] without a
        producer."""
        full = 2 if self.mistake == "full_count" else 1
        empty = self.consumers + {"empty_more": 1, "empty_fewer": -1}.get(self.mistake, 0)
        return {"full": full} if self.mode == "syncthreads" else {"full": full, "empty": empty}

    def barriers(self) -> dict[tuple[str, int], Mbarrier]:
        """All of them, initialized."""
        stages = range(self.stages)
        return {(name, s): Mbarrier.init(n) for name, n in self.counts.items() for s in stages}

    def programs(self) -> list[list[Op]]:
        """The steps of each actor, the mistake in them, as kernels/probes/ring.cuh has them."""
        if self.mode == "syncthreads":
            return [self._sync_warp(w == 0) for w in range(self.consumers)]
        consumer = [op for t in range(self.tiles) for op in self._consume(t)]
        return [[op for t in range(self.tiles) for op in self._produce(t)]] + [
            consumer for _ in range(self.consumers)
        ]

    def _fill(self, t: int) -> list[Op]:
        bytes_ = {"bytes_many": 3, "bytes_few": 1}.get(self.mistake, 2) * BOX
        s = t % self.stages
        return [Op("expect", t, s, "full", bytes_), Op("copy", t, s)]

    def _produce(self, t: int) -> list[Op]:
        parity = 1 - self._round(t) % 2
        parity = {"producer_parity": 1 - parity, "producer_no_flip": 1}.get(self.mistake, parity)
        wait = [Op("wait", t, t % self.stages, "empty", parity)]
        return (wait if self.mistake != "no_empty_wait" else []) + self._fill(t)

    def _consume(self, t: int) -> list[Op]:
        read, release = Op("read", t, t % self.stages), Op("arrive", t, t % self.stages, "empty")
        last = [release, read] if self.mistake == "early_release" else [read, release]
        return self._wait_full(t) + last

    def _sync_warp(self, fills: bool) -> list[Op]:
        ahead = self.stages - 1
        ops = [op for t in range(min(ahead, self.tiles)) for op in self._fill(t) if fills]
        for t in range(self.tiles):
            ops += [Op("sync", t)] if self.mistake != "no_empty_wait" else []
            ops += self._fill(t + ahead) if fills and t + ahead < self.tiles else []
            ops += self._wait_full(t)
            ops.append(Op("read", t, t % self.stages))
        return ops

    def _wait_full(self, t: int) -> list[Op]:
        parity = self._round(t) % 2
        parity = {"consumer_parity": 1 - parity, "consumer_no_flip": 0}.get(self.mistake, parity)
        wait = [Op("wait", t, t % self.stages, "full", parity)]
        return wait if self.mistake != "no_full_wait" else []

    def _round(self, t: int) -> int:
        return t // self.stages


def mistakes(mode: str, consumers: int) -> dict[str, str]:
    """The mistakes that a mode has, and what to call them.

    An arrival too few at empty[s] needs three warps: with two a phase lasts for one arrival, and
    whether the producer sees its end before the next is over is up to the hardware.
    """
    column = 1 if mode == "syncthreads" else 0
    known = {key: names[column] for key, names in MISTAKES.items()}
    if consumers < 3:
        known["empty_fewer"] = None
    return {key: name for key, name in known.items() if name is not None}
