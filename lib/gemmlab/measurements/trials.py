"""What tuning measures: one configuration of a step at one shape, and which one to choose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..display.numbers import show_size
from .rows import BenchRow

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class TuningTrial:
    """One configuration at one shape: its `row`, or why it was `refused` there.

    kernel: the step's title. source: the digest of the code that ran. config: the configuration's
    name. shape: (M, N, K), elements.
    """

    kernel: str
    source: str
    config: str
    shape: Shape
    row: BenchRow | None = None
    refused: str = ""

    @property
    def size(self) -> str:
        """ "4096" for a cube, else "MxNxK"."""
        return show_size(self.shape)

    @property
    def ratio(self) -> float:
        """To cuBLAS in the same run; 0 if the configuration was refused."""
        return self.row.ratio or 0.0 if self.row else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the cache and the recorded file."""
        return asdict(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> TuningTrial:
        """The inverse of `to_dict`. Raises TypeError, KeyError or ValueError for other data."""
        texts = {name: data[name] for name in ("kernel", "source", "config", "refused")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("a trial's names are not text")
        M, N, K = data["shape"]
        if not all(isinstance(n, int) and n > 0 for n in (M, N, K)):
            raise TypeError("a trial's shape is not one")
        if (data["row"] is None) != bool(texts["refused"]):
            raise TypeError("a trial has neither a row nor a reason")
        row = data["row"] and BenchRow.from_dict(data["row"])
        if row and not isinstance(row.ratio, float | int):
            raise TypeError("a trial's row has no ratio")
        return TuningTrial(**texts, shape=(M, N, K), row=row)


def choose(trials: Iterable[TuningTrial], configs: Sequence[str]) -> TuningTrial | None:
    """The trial with the best ratio to cuBLAS, out of the trials of one step at one shape.

    The ratio is taken within each round, so it does not follow the clock from one run to the next.
    None if all were refused, and None while a configuration has not been tried: the best of an
    interrupted tuning would be the best of some configurations only.
    """
    tried = {trial.config: trial for trial in trials}
    rows = [tried[config] for config in configs if config in tried and tried[config].row]
    if not rows or any(config not in tried for config in configs):
        return None
    return max(rows, key=lambda trial: trial.ratio)
