"""WarpgroupTimeline: a producer, two consumers and the tensor cores over time, in a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arguments import text
from ...layouts.warpgroups.model import MODEL, SCHEDULES, Shared, share
from ...layouts.warpgroups.words import describe, moment
from ..shared.base import Widget, small_png
from .picture import warpgroup_figure

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
    time: where the cursor is (default: in the longest gap between products). caption: one
    question, with `code` and **bold**.
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
    ) -> None:
        given = {"products": products, "latency": latency, "end": end}
        run = share(schedule, tiles=tiles, depth=depth, stages=stages, **given)
        super().__init__(
            config={
                "model": list(MODEL),
                "given": given,
                "caption": text("caption", caption),
            },
            state={
                "schedule": schedule,
                **{name: getattr(run, name) for name in _NUMBERS},
                "time": min(_gap(run) if time is None else time, run.total - 1),
            },
        )

    @property
    def run(self) -> Shared:
        """The run of the model that is shown now."""
        return share(self.state["schedule"], **{name: self.state[name] for name in _NUMBERS})

    @property
    def moment(self) -> dict[str, str]:
        """What each lane does where the cursor is."""
        run = self.run
        return dict(moment(run, min(self.state["time"], run.total - 1)))

    def summary(self) -> str:
        """The run in words."""
        return describe(self.run)

    def figure(self) -> Figure:
        """The lanes, drawn for 390 pixels."""
        run = self.run
        title = f"{SCHEDULES[run.schedule]}: tensor cores busy {run.percent} %"
        return warpgroup_figure(title, run)

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)


def _gap(run: Shared) -> int:
    """Where the cursor stands at first: in the longest gap of the tensor cores between products."""
    gaps = [bar for bar in run.cores[1:-1] if bar.state == "idle"] or [run.cores[0]]
    longest = max(gaps, key=lambda bar: bar.end - bar.begin)
    return (longest.begin + longest.end) // 2
