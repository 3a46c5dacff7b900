"""What the runs of a check have reached, and what a step has that none of them reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.precision import precision
from ..sim.module import SMS
from ..sim.trace import Launched
from ..steps.spec import KernelSpec
from .plan import Run


@dataclass(frozen=True)
class Done:
    """A run that came to its end.

    blocks: of the launch that multiplies, that with the most shared memory, as the simulator has
    counted them; 0 on a GPU.
    """

    run: Run
    blocks: int = 0

    @classmethod
    def of(cls, run: Run, launches: Sequence[Launched]) -> Done:
        """A run with what its launcher launched."""
        product = max(launches, key=lambda one: (one.shared_bytes, one.blocks), default=None)
        return cls(run, product.blocks if product else 0)


class Coverage:
    """What was reached, derived from facts of the runs.

    K tiles and tiles of C follow from a run's shape and the tile of its configuration; blocks are
    those that the simulator has launched. Where a step chooses its tile by itself, nothing is said
    of its tiles.
    """

    def __init__(self, spec: KernelSpec, backend: str, done: Iterable[Done]) -> None:
        self._spec, self._backend, self._done = spec, backend, list(done)
        self._tiled = [one for one in self._done if one.run.config or not spec.configs]

    def words(self) -> tuple[str, ...]:
        """What was run, a sentence for each kind of limit."""
        runs = [one.run for one in self._done]
        if not runs:
            return ()
        sizes = (f"{name} {min(of)} to {max(of)}" for name, of in _sizes(runs))
        shapes = {run.shape for run in runs}
        types = dict.fromkeys(precision(run.precision).words for run in runs)
        said = [f"{len(shapes)} shapes: {', '.join(sizes)}", *self._depth_words()]
        said.append(f"beta: {', '.join(f'{b:g}' for b in _in_order(r.factors[1] for r in runs))}")
        if (offsets := _in_order(run.offsets for run in runs)) != [(0, 0, 0)]:
            said.append(f"A, B and C at {len(offsets)} places behind an aligned address")
        if self._backend == "sim":
            machines = (f"{run.sms or SMS}" for run in runs)
            said.append(f"GPUs of {', '.join(_in_order(machines))} SMs")
            said.append(f"blocks in {len({run.order for run in runs})} orders")
        said.append(f"types: {'; '.join(types)}")
        layouts = _in_order(run.layout for run in runs)
        said += [f"layouts: {'; '.join(layouts)}"] * (len(layouts) > 1)
        configs = [config for config in _in_order(run.config for run in runs) if config]
        return (*said, *([f"configurations: {'; '.join(configs)}"] if configs else []))

    def lacks(self) -> tuple[str, ...]:
        """What the step has, and no run reached. On a GPU, blocks are not counted."""
        spec, lacks = self._spec, []
        if self._tiled and self._deepest() <= spec.stages:
            lacks.append(f"no run had more k tiles than the {spec.stages} stages of shared memory")
        if self._backend == "sim" and self._tiled:
            if spec.persistent and self._most_tiles() <= 1:
                lacks.append("no block of the persistent kernel had a second tile")
            if spec.cuts and not any(self._is_cut(one) for one in self._tiled):
                lacks.append("no tile was cut along k")
            if not any(one.run.order for one in self._done):
                lacks.append("no run had its blocks in another order")
        added = {one.run.factors[1] != 0 for one in self._done}
        added |= set() if spec.scales else {True}  # a kernel without beta has no such runs
        lacks += [f"no run had beta {'other than' if b else '='} 0" for b in {True, False} - added]
        lacks += [f"no run had a ragged {name}" for name in self._whole_only()]
        if spec.takes_any_address and not any(any(one.run.offsets) for one in self._done):
            lacks.append("no run had a misaligned address")
        there = {one.run.layout for one in self._done}
        lacks += [f"no run had layout {name}" for name in spec.layouts if name not in there]
        return tuple(f"not covered: {what}" for what in lacks)

    def _depth_words(self) -> list[str]:
        """K tiles against stages, and what blocks had to do."""
        if not self._tiled:
            return []
        stages = f" through {self._spec.stages} stages" * (self._spec.stages > 1)
        said = [f"up to {self._deepest()} k tiles{stages}"]
        if (most := self._most_tiles()) > 1:
            said.append(f"up to {most} tiles a block")
        if cut := [one for one in self._tiled if self._is_cut(one)]:
            finest = max(cut, key=lambda one: one.blocks / self._tiles(one))
            said.append(
                f"tiles cut along k, up to {finest.blocks} blocks for {self._tiles(finest)}"
            )
        return said

    def _tiles(self, one: Done) -> int:
        (BM, BN, _), (M, N, _) = self._spec.tile_of(one.run.config), one.run.shape
        return -(-M // BM) * -(-N // BN)

    def _is_cut(self, one: Done) -> bool:
        return bool(self._spec.cuts) and one.blocks > self._tiles(one)

    def _deepest(self) -> int:
        """K tiles of a block that has a whole tile of C."""
        BK = self._spec.tile[2]
        whole = (one for one in self._tiled if not self._is_cut(one))
        return max((-(-one.run.shape[2] // BK) for one in whole), default=0)

    def _most_tiles(self) -> int:
        """Tiles of C that the busiest block had."""
        counted = (one for one in self._tiled if one.blocks)
        return max((-(-self._tiles(one) // one.blocks) for one in counted), default=0)

    def _whole_only(self) -> list[str]:
        """The sizes that may be ragged, and never were."""
        spec, names = self._spec, []
        for axis, name in enumerate("MNK"):
            ragged = (
                one.run.shape[axis] % spec.tile_of(one.run.config)[axis] for one in self._tiled
            )
            if self._tiled and spec.multiple_of[axis] < spec.tile[axis] and not any(ragged):
                names.append(name)
        return names


def _sizes(runs: Sequence[Run]) -> list[tuple[str, list[int]]]:
    return [(name, [run.shape[i] for run in runs]) for i, name in enumerate("MNK")]


def _in_order(values: Iterable) -> list:
    return list(dict.fromkeys(values))
