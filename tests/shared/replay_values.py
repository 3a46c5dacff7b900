"""The values that a replay knows, as the tests look for them."""

from __future__ import annotations

from gemmlab.sim.replay import Replayed, Values


def by_epoch(values: Values) -> dict[int, dict[int, int]]:
    """Of each epoch, by address."""
    found: dict[int, dict[int, int]] = {}
    columns = (values.epoch, values.address, values.value)
    for epoch, address, value in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault(epoch, {})[address] = value
    return found


def known(run: Replayed) -> dict[str, dict[int, dict[int, int]]]:
    """Of each memory and epoch, by address."""
    return {memory: by_epoch(values) for memory, values in run.values.items()}
