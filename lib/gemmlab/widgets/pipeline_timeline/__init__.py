"""PipelineTimeline: how copies and products of k tiles lie in time, in a model of one SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arguments import flag, integer, text
from ...layouts.pipeline.model import MODEL, PIPES, SCHEMES, Pipeline, simulate
from ...layouts.pipeline.words import describe, moment
from ..shared.base import Widget, small_png
from .picture import pipeline_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBERS = ("stages", "issue", "latency", "products", "tiles", "blocks")


class PipelineTimeline(Widget):
    """Copies and products of k tiles over time, for a kernel's way of buffering.

    scheme: "single" (one buffer), "double" (the next tile goes through registers into a second
    buffer) or "async" (cp.async into `stages` buffers, 2 to 6). blocks: resident on the SM, 1 to 4.
    tiles: k tiles of each block, 2 to 16. issue, latency, products: cycles to issue a tile's copy
    (or to store it from registers), until it arrives, and of its products; origin: where these
    three come from, as a sentence, if they were counted or measured.
    tensor: whether tensor cores multiply, and not the FMA pipe; it only names them.
    time: where the cursor is (default: where they are idle for the second time).
    caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "pipeline_timeline/widget.js"
    _sheets = ("pipeline_timeline/widget.css",)

    def __init__(
        self,
        scheme: str = "single",
        *,
        stages: int = 3,
        blocks: int = 1,
        tiles: int = 6,
        issue: int = 128,
        latency: int = 800,
        products: int = 2048,
        origin: str = "",
        tensor: bool = False,
        time: int | None = None,
        caption: str = "",
    ) -> None:
        text("origin", origin)
        text("caption", caption)
        self._tensor = flag("tensor", tensor)
        given = {"issue": issue, "latency": latency, "products": products}
        run = simulate(scheme, stages=stages, blocks=blocks, tiles=tiles, **given)
        super().__init__(
            config={
                "given": given,
                "origin": origin or "The three times are round numbers, not measured.",
                "tensor": self._tensor,
                "model": [line.replace(PIPES[0], PIPES[self._tensor]) for line in MODEL],
                "caption": caption,
            },
            state={
                "scheme": scheme,
                **{name: getattr(run, name) for name in _NUMBERS},
                "time": _time(time, run),
                "watch": 0,
            },
        )

    @property
    def run(self) -> Pipeline:
        """The run of the model that is shown now."""
        state = self.state
        return simulate(state["scheme"], **{name: state[name] for name in _NUMBERS})

    @property
    def moment(self) -> dict[str, str]:
        """What each lane does where the cursor is."""
        run = self.run
        time, watch = min(self.state["time"], run.total - 1), self.state["watch"]
        return dict(moment(run, time, min(watch, run.blocks - 1), self._tensor))

    def summary(self) -> str:
        """The run in words."""
        return describe(self.run, self._tensor)

    def figure(self) -> Figure:
        """The lanes, drawn for 390 pixels."""
        run, state = self.run, self.state
        scale = simulate("single", **{name: state[name] for name in _NUMBERS}).total
        title = SCHEMES[run.scheme] + (f", {run.stages} stages" if run.scheme == "async" else "")
        many = "1 block" if run.blocks == 1 else f"{run.blocks} blocks"
        title += f", {many}: {PIPES[self._tensor]} busy {run.percent} %"
        lanes = run.lanes(min(state["watch"], run.blocks - 1), self._tensor)
        return pipeline_figure(title, run, lanes, max(run.total, scale))

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)


def _time(time: int | None, run: Pipeline) -> int:
    """Where the cursor stands at first: at the problem, or where it is told to."""
    if time is None:
        gaps = run.idle[1:] or run.idle or run.pipe
        return (gaps[0].begin + gaps[0].end) // 2
    last = run.total - 1
    return integer(
        "time", time, 0, last, allowed=f"allowed is an integer from 0 to {last} in this run"
    )
