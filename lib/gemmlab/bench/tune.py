"""Measure every configuration of a step, and keep the best of each shape for this GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import measurements
from ..core import arguments, progress
from ..core.errors import ArgumentError, BackendError, MeasurementError, RefusedError
from ..display.numbers import show_rate, show_share, show_size, show_time
from ..display.table import Shown, Table
from ..gpu import requirements
from ..gpu.telemetry import environment
from ..measurements.rows import how_measured
from ..measurements.staleness import STALE
from ..measurements.trials import Shape, TuningTrial, choose
from ..run import tuned
from ..run.backend import default_backend
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..steps import registry
from ..steps.spec import KernelSpec
from .bench import check_counts, why_not_here
from .protocol import Protocol, measure, tf32_off
from .shapes import shapes_of

NEAR = 0.95  # of the best ratio: configurations from here on are compared in one run


@dataclass(frozen=True, repr=False)
class TuneResult(Shown):
    """Every configuration of a step at some shapes; `source` is "live" or "recorded".

    `note` says what came from the cache, what was passed over, and why a recorded run is shown.
    """

    kernel: str
    configs: tuple[str, ...]
    trials: tuple[TuningTrial, ...]
    source: str
    environment: dict
    note: str = ""

    def choice(self, size: int | Shape) -> str:
        """The best configuration at a size that was tuned, "" if none runs there."""
        (shape,) = shapes_of([size])
        here = [trial for trial in self.trials if trial.shape == shape]
        if not here:
            sizes = ", ".join(dict.fromkeys(trial.size for trial in self.trials))
            raise ArgumentError(f"size: got {size!r}; {self.kernel} was tuned at {sizes}")
        best = choose(here, self.configs)
        return best.config if best else ""

    @property
    def choices(self) -> dict[str, str]:
        """The best configuration of each shape, by "4096" or "MxNxK"."""
        return {trial.size: self.choice(trial.shape) for trial in self.trials}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `tune --json`."""
        return {**super().to_dict(), "choices": self.choices}

    def shown(self) -> Table:
        """Shapes in their order, in each the fastest first; refused configurations are quiet."""
        head = ("size", "configuration", "TFLOP/s", "of cuBLAS", "time", "")
        ordered = []
        for shape in dict.fromkeys(trial.shape for trial in self.trials):
            here = [trial for trial in self.trials if trial.shape == shape]
            ordered += sorted(here, key=lambda t: -t.ratio if t.row else 1)
        rows = [self._cells(trial) for trial in ordered]
        quiet = [i for i, trial in enumerate(ordered) if not trial.row]
        return Table(head, rows, "ttnnnw", self._notes(), quiet)

    def _cells(self, trial: TuningTrial) -> tuple[str, ...]:
        if not (row := trial.row):
            return trial.size, trial.config, "-", "-", "-", f"refused: {trial.refused}"
        word = "chosen" if self.choice(trial.shape) == trial.config else ""
        numbers = show_rate(row.tflops), show_share(row.ratio), show_time(row.time_us)
        return trial.size, trial.config, *numbers, word

    def _notes(self) -> list[str]:
        rows = [trial.row for trial in self.trials if trial.row]
        lines = [self.kernel + ".", measurements.made_on(self.environment, self.source)]
        lines += [how_measured(rows)] if rows else []
        return lines + ([f"{self.note}."] if self.note else [])


def tune(
    kernel: str | Kernel | KernelSpec,
    sizes: int | Sequence[int | Shape] = (4096,),
    *,
    samples: int = 20,
    seconds: float = 0.3,
    again: bool = False,
) -> TuneResult:
    """Time every configuration of a step at `sizes` (M = N = K, or (M, N, K)), each against cuBLAS.

    Those that are nearly as good as the best at a shape are then timed once more, in one run.
    The best of each shape is what `lab.kernel(name)` then runs at exactly this shape on this GPU:
    the choices are kept in GEMMLAB_CACHE, for this driver, CUDA version and code of the step. They
    are written after each configuration, so a tuning that was interrupted continues where it
    stopped; what was measured before it is not compared in one run again. What the recording of a
    GPU of this name has of the same code counts as measured. A configuration that the step refuses
    at a shape is passed over there. Without a GPU the recorded tuning is shown, and says so.

    samples: timings of a configuration at a shape. seconds: the most that they may take together.
    again: measure also what the cache or the recording already has.
    Raises ArgumentError for a step without configurations, WrongResultError for a configuration
    whose result is wrong, MeasurementError for what was not recorded, BackendError where the GPU
    backend is asked for and there is no GPU.
    """
    handle = handle_of(kernel)
    shapes = list(dict.fromkeys(shapes_of(sizes)))
    check_counts(samples, arguments.seconds("seconds", seconds))
    arguments.flag("again", again)
    _check_kernel(handle)
    for shape in shapes:
        handle.spec.check_sizes(*shape)
    if default_backend() == "sim":
        return _recorded(handle, shapes)
    requirements.require(handle)
    types = handle.spec.precisions[0]
    protocol = Protocol("interleaved", False, (), samples, seconds, types)
    return _live(handle, shapes, protocol, again)


def _check_kernel(handle: Kernel) -> None:
    if handle.config:
        raise ArgumentError(
            f"kernel: {handle.title} has its configuration already; use "
            f"lab.kernel({handle.name!r}), without config"
        )
    if not handle.spec.configs:
        known = [spec.name for spec in registry.KERNELS if spec.configs]
        raise ArgumentError(
            f"kernel: {handle.name} has no configurations to choose from; "
            f"those that have are {', '.join(known) or 'none so far'}"
        )


def _live(handle: Kernel, shapes: list[Shape], protocol: Protocol, again: bool) -> TuneResult:
    here, source = tuned.machine(), tuned.digest(handle)
    if here is None:
        raise BackendError(f"kernel: there is no GPU to tune {handle.title} on")
    trials, ignored = tuned.load(here)
    mine, changed = tuned.of_step(trials, handle.title, source)
    wanted = [(shape, config) for shape in shapes for config in handle.spec.configs]
    recorded, _ = tuned.of_step(tuned.recorded(here, handle.spec.family)[0], handle.title, source)
    # This machine's own come last, over those of the recording.
    known = {(trial.shape, trial.config): trial for trial in (*recorded, *mine) if not again}
    before = _measured_before(wanted, known, recorded)
    todo = [each for each in wanted if each not in known]
    done = len(wanted) - len(todo)
    bar = progress.count(len(wanted), f"tuning {handle.title}", "configuration", done)
    try:
        for shape in shapes:
            measured = [config for at, config in todo if at == shape]
            for config in measured:
                trial = _measure(handle_of(handle, config), handle.title, source, shape, protocol)
                tuned.add(here, trial)
                known[shape, config] = trial
                bar.update()
            all_of_it = [known[shape, config] for config in handle.spec.configs]
            for trial in _together(handle, all_of_it, protocol) if measured else ():
                tuned.add(here, trial)
                known[shape, trial.config] = trial
    finally:
        bar.close()
    note = "; ".join(filter(None, (before, ignored, changed)))
    found = tuple(known[each] for each in wanted)
    return TuneResult(
        kernel=handle.title,
        configs=handle.spec.configs,
        trials=found,
        source="live",
        environment=environment(),
        note=note,
    )


def _measured_before(
    wanted: Sequence[tuple[Shape, str]],
    known: Mapping[tuple[Shape, str], TuningTrial],
    recorded: Sequence[TuningTrial],
) -> str:
    """How many of the trials there are already, and how many of those in the recording."""
    found = [known[each] for each in wanted if each in known]
    if not found:
        return ""
    said = f"{len(found)} of {len(wanted)} were measured before"
    of_book = sum(trial in recorded for trial in found)
    return f"{said}, {of_book} of them for the recording" if of_book else said


def _measure(
    handle: Kernel, title: str, source: str, shape: Shape, protocol: Protocol
) -> TuningTrial:
    """One configuration at one shape, interleaved with cuBLAS."""
    trial = TuningTrial(kernel=title, source=source, config=handle.config, shape=shape)
    try:
        with tf32_off():
            rows, _, _ = measure({handle.title: handle}, shape, protocol)
    except RefusedError as refused:
        return replace(trial, refused=str(refused))
    return replace(trial, row=rows[0])


def _together(
    handle: Kernel, trials: Sequence[TuningTrial], protocol: Protocol
) -> list[TuningTrial]:
    """Those that are nearly as good as the best at a shape, all in one run; none if it is alone.

    A kernel that runs between others finds less of its machine code in the caches than one that
    takes turns with cuBLAS alone, and the clocks of two runs differ. Ratios may be lower then: as
    long as one that was left out looks better than all of them, it joins, and all run again.
    """
    alone = sorted((trial for trial in trials if trial.row), key=lambda trial: -trial.ratio)
    near = [trial for trial in alone if trial.ratio > NEAR * alone[0].ratio]
    together: list[TuningTrial] = []
    while len(near) > max(1, len(together)):
        handles = [handle_of(handle, trial.config) for trial in near]
        with tf32_off():
            rows, _, _ = measure({each.title: each for each in handles}, near[0].shape, protocol)
        together = [replace(trial, row=row) for trial, row in zip(near, rows, strict=True)]
        best = max(trial.ratio for trial in together)
        near += [trial for trial in alone[len(near) :] if trial.ratio > best]
    return together


def _recorded(handle: Kernel, shapes: list[Shape]) -> TuneResult:
    """The recorded trials for these arguments, or an error that says what is recorded instead."""
    loaded = measurements.load(family=handle.spec.family)
    trials = [trial for trial in loaded.trials() if trial.kernel == handle.title]
    have = {trial.shape for trial in trials}
    for shape in shapes:
        if shape not in have:
            sizes = ", ".join(dict.fromkeys(trial.size for trial in trials))
            raise MeasurementError(
                f"{handle.title} at {show_size(shape)} is not in the recorded tuning, and it "
                f"cannot be measured here ({why_not_here()}). "
                f"It was tuned at {sizes or 'no size'}"
            )
    note = f"Not measured here: {why_not_here()}"
    if state := measurements.stale(loaded, "tuning").get(handle.name):
        note += f". {STALE[state].format(handle.title)}"
    return TuneResult(
        kernel=handle.title,
        configs=handle.spec.configs,
        trials=tuple(_in_order(trials, shapes)),
        source="recorded",
        environment=loaded.section("tuning")["environment"],
        note=note,
    )


def _in_order(trials: Iterable[TuningTrial], shapes: list[Shape]) -> list[TuningTrial]:
    trials = list(trials)
    return [trial for shape in shapes for trial in trials if trial.shape == shape]
