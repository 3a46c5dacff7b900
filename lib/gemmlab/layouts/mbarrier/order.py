"""What is ordered before what in a run of a Ring, whatever the times are."""

from __future__ import annotations


class Order:
    """What is ordered before what, by vector clocks.

    Each actor counts the reads that it has finished. When a wait at a barrier ends, it takes over
    the clocks that the others had when they arrived there.
    """

    def __init__(self, actors: int) -> None:
        self.clocks = [[0] * actors for _ in range(actors)]
        self.arriving: dict[tuple[str, int], list[int]] = {}
        self.over: dict[tuple[str, int], list[int]] = {}  # of the arrivals, in complete phases
        self.reads: dict[tuple[int, int], tuple[int, int]] = {}  # stage, actor -> its count, tile

    def begin_read(self, actor: int, stage: int, tile: int) -> None:
        """An actor begins to read a tile in a stage."""
        self.reads[stage, actor] = self.clocks[actor][actor] + 1, tile

    def end_read(self, actor: int) -> None:
        """It has read it."""
        self.clocks[actor][actor] += 1

    def arrive(self, actor: int, key: tuple[str, int], ends: bool) -> None:
        """An actor's arrival; the engine's (no actor has that number) tells nothing of others."""
        if actor < len(self.clocks):
            self.arriving[key] = _latest(self.arriving.get(key), self.clocks[actor])
        if ends:
            self.over[key] = self.arriving.get(key, [0] * len(self.clocks))

    def wait(self, actor: int, key: tuple[str, int]) -> None:
        """An actor's wait at a barrier is over."""
        self.clocks[actor] = _latest(self.over.get(key), self.clocks[actor])

    def meet(self) -> None:
        """__syncthreads()."""
        self.clocks = [
            [max(times) for times in zip(*self.clocks, strict=True)] for _ in self.clocks
        ]

    def unordered_reads(self, actor: int, stage: int) -> list[tuple[int, int]]:
        """The last reads of a stage, by others, that need not be over: reader, tile."""
        found = sorted((a, n, tile) for (s, a), (n, tile) in self.reads.items() if s == stage)
        return [(a, tile) for a, n, tile in found if a != actor and n > self.clocks[actor][a]]


def _latest(one: list[int] | None, other: list[int]) -> list[int]:
    return list(other) if one is None else [max(pair) for pair in zip(one, other, strict=True)]
