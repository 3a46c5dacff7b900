"""WarpgroupTimeline: a producer, two consumers and the tensor cores over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arguments import choice, text
from ...core.errors import MeasurementError
from ...layouts.warpgroups.model import MODEL, SCHEDULES, Bar, Shared, share
from ...layouts.warpgroups.words import describe, moment_of
from ...measurements.traces import RecordedTrace, recorded_trace
from ...steps import traced
from ..shared.base import Widget, small_png
from .picture import warpgroup_figure
from .recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBERS = ("tiles", "depth", "stages", "products", "latency", "end")


class WarpgroupTimeline(Widget):
    """What a producer, two consumer warpgroups and the tensor cores do, for a kernel's schedule.

    schedule: "barrier" (all threads meet in each k tile), "blocks" (a producer, one tile a block),
    "persistent" (the producer goes on to the next tile), "deferred" (C is stored beside the next
    tile's products) or "ping-pong" (each consumer has tiles of its own). tiles: parts of C of
    128x256 that the SM computes; depth: k tiles of each; stages: of the ring, 2 to 6. products,
    latency, end: cycles of the products of a k tile, until its copy is there, and of storing C.
    time: the cycle where the cursor is (default: in the longest gap between products). caption: one
    question, with `code` and **bold**.
    recorded: a step, such as "wgmma_08_order", or True for that of the schedule: beside the model
    the widget shows what the warpgroups of this kernel did, in cycles of the SM's clock as
    `clock64` gave them, if a trace is recorded; else it says that none is. gpu: whose trace, "H200"
    (default: as for `lab.ladder`).
    Raises ArgumentError, naming the argument.
    """

    _script = "warpgroup_timeline/widget.js"
    _sheets = ("pipeline_timeline/widget.css", "warpgroup_timeline/widget.css")

    def __init__(
        self,
        schedule: str = "persistent",
        *,
        tiles: int = 3,
        depth: int = 4,
        stages: int = 4,
        products: int = 1024,
        latency: int = 800,
        end: int = 1200,
        time: int | None = None,
        caption: str = "",
        recorded: str | bool = False,
        gpu: str | None = None,
    ) -> None:
        given = {"products": products, "latency": latency, "end": end}
        run = share(schedule, tiles=tiles, depth=depth, stages=stages, **given)
        found = None if recorded is False else _found(_step(recorded, schedule), gpu)
        self.recording = Recording(found) if isinstance(found, RecordedTrace) else None
        self._missing = found if isinstance(found, str) else ""
        config = {"model": list(MODEL), "given": given, "caption": text("caption", caption)}
        if self.recording:
            config["recorded"] = self.recording.to_dict()
        if self._missing:
            config["missing"] = self._missing
        first = self.recording.gap if self.recording else _gap(run)
        last = self.recording.total if self.recording else run.total
        super().__init__(
            config=config,
            state={
                "view": "recorded" if self.recording else "model",
                "schedule": schedule,
                **{name: getattr(run, name) for name in _NUMBERS},
                "time": min(first if time is None else time, last - 1),
            },
        )

    @property
    def run(self) -> Shared:
        """The run of the model that the numbers describe now."""
        return share(self.state["schedule"], **{name: self.state[name] for name in _NUMBERS})

    @property
    def _shown(self) -> Recording | None:
        """The recording, if it is what is shown now."""
        return self.recording if self.state["view"] == "recorded" else None

    @property
    def moment(self) -> dict[str, str]:
        """What each lane does where the cursor is."""
        of = self._shown or self.run
        lanes = of.lanes if isinstance(of, Recording) else of.lanes()
        return dict(moment_of(lanes, min(self.state["time"], of.total - 1), of.depth))

    def summary(self) -> str:
        """The run, or the recorded trace, in words."""
        if self._shown:
            return self._shown.words
        return " ".join(filter(None, (describe(self.run), self._missing)))

    def figure(self) -> Figure:
        """The lanes, drawn for 390 pixels."""
        if shown := self._shown:
            return warpgroup_figure(shown.title, shown.lanes, shown.total, f"of the {shown.gpu}")
        run = self.run
        title = f"{SCHEDULES[run.schedule]}: tensor cores busy {run.percent} %"
        return warpgroup_figure(title, run.lanes(), run.total, "of a model")

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)


def _step(recorded: str | bool, schedule: str) -> str:
    """The step whose trace is asked for."""
    if recorded is not True:
        return choice("recorded", recorded, traced.EVENTS, quoted=True)  # type: ignore[return-value]
    of = {own: step for step, own in traced.SCHEDULES.items()}
    return of[choice("schedule", schedule, of, quoted=True, lead="; a step is traced for ")]


def _found(step: str, gpu: str | None) -> RecordedTrace | str:
    """The trace of a step, or a sentence why there is none."""
    try:
        return recorded_trace(step, gpu)
    except MeasurementError as error:
        return f"No trace of `{step}` is shown: {str(error).partition(': ')[2]}."


def _gap(run: Shared) -> int:
    """Where the cursor stands at first: in the longest gap of the tensor cores between products."""
    gaps = [bar for bar in run.cores[1:-1] if bar.state == "idle"] or [run.cores[0]]
    longest = max(gaps, key=_cycles)
    return (longest.begin + longest.end) // 2


def _cycles(bar: Bar) -> int:
    return bar.end - bar.begin
