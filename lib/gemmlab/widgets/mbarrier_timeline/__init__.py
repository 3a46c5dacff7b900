"""MbarrierTimeline: a ring of stages between TMA and the warps, one mbarrier event at a time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.arguments import integer, text
from ...core.files import load_json
from ...layouts.mbarrier.events import MODEL, Run
from ...layouts.mbarrier.model import Ring, mistakes
from ...layouts.mbarrier.run import run_ring
from ...layouts.mbarrier.words import outcome, tell
from ..shared.base import Widget, small_png
from .picture import mbarrier_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class MbarrierTimeline(Widget):
    """How full and empty barriers hand the stages of a ring over, and what a mistake does to it.

    mode: "producer warp" (full[s] and empty[s]) or "syncthreads" (full[s] only; thread 0 refills
    after a __syncthreads()). mistake: a key of `layouts.mbarrier.mistakes(mode, consumers)`. tiles
    2 to 12, stages 2 to 4, consumers 2 to 4 warps that read; latency: of a copy, 20 to 2000. event:
    the one that is shown first (default: the first that goes wrong, else the run's first).
    caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "mbarrier_timeline/widget.js"
    _sheets = ("pipeline_timeline/widget.css", "mbarrier_timeline/widget.css")

    def __init__(
        self,
        tiles: int = 6,
        stages: int = 3,
        consumers: int = 2,
        mistake: str = "none",
        mode: str = "producer warp",
        *,
        latency: int = 1000,
        event: int | None = None,
        caption: str = "",
    ) -> None:
        text("caption", caption)
        shown = run_ring(Ring(mode, mistake, tiles, stages, consumers, latency))
        super().__init__(
            config={
                "mode": mode,
                "tiles": tiles,
                "consumers": consumers,
                "latency": latency,
                "mistakes": mistakes(mode, consumers),
                "simulated": simulated(mode, consumers),
                "model": list(MODEL),
                "caption": caption,
            },
            state={
                "stages": stages,
                "mistake": mistake,
                "latency": latency,
                "event": _event(event, shown),
            },
        )

    @property
    def run(self) -> Run:
        """The run of the model that is shown now."""
        config, state = self.config, self.state
        return run_ring(
            Ring(
                config["mode"],
                state["mistake"],
                config["tiles"],
                state["stages"],
                config["consumers"],
                state["latency"],
            )
        )

    @property
    def quotes(self) -> list[str]:
        """What the simulator says of the mistake that is shown now; nothing if there is none."""
        said, state = self.config["simulated"], self.state
        numbers = said["quotes"].get(state["mistake"], {}).get(str(state["stages"]), [])
        return [said["texts"][i]["message"] for i in numbers]

    @property
    def words(self) -> str:
        """The event that is shown now."""
        return tell(self.run, self._index)

    @property
    def _index(self) -> int:
        return min(self.state["event"], len(self.run.events) - 1)

    def summary(self) -> str:
        """The run in words, and the event."""
        name = self.config["mistakes"][self.state["mistake"]]
        return f"{name[0].upper()}{name[1:]}. {outcome(self.run)} Shown: {self.words}"

    def figure(self) -> Figure:
        """The lanes and the barriers, drawn for 390 pixels."""
        return mbarrier_figure(
            self.config["mistakes"][self.state["mistake"]], self.run, self._index
        )

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)


@cache
def _findings() -> dict:
    path = Path(__file__).with_name("findings.json")
    return load_json(path, "`python -m tools.ring_findings` writes it")


def simulated(mode: str, consumers: int) -> dict:
    """What `experiments/ring.py` found with that many warps, and the lines that it changed.

    quotes: by mistake and stages the numbers of `texts`.
    """
    data = _findings()
    rows = data["quotes"][mode]
    quotes = {m: rows[m][str(consumers)] for m in rows if str(consumers) in rows[m]}
    used = sorted(
        {i for by_stages in quotes.values() for found in by_stages.values() for i in found}
    )
    place = {number: at for at, number in enumerate(used)}
    return {
        "tiles": data["tiles"],
        "changes": {mistake: data["changes"][mode][mistake] for mistake in quotes},
        "quotes": {
            mistake: {stages: [place[i] for i in found] for stages, found in by_stages.items()}
            for mistake, by_stages in quotes.items()
        },
        "texts": [data["texts"][i] for i in used],
    }


def _event(event: int | None, shown: Run) -> int:
    """The event that is shown first."""
    if event is None:
        return shown.lesson if shown.problems else 0
    last = len(shown.events) - 1
    return integer(
        "event", event, 0, last, allowed=f"allowed is an integer from 0 to {last} in this run"
    )
