"""TraceView: the requests that a traced kernel made, lane by lane, on the banks or the sectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.arguments import integer, text
from ...core.errors import ArgumentError
from ...layouts.shared import banks
from ...sim.counts import LineCount
from ...sim.places import SHARED, Place, element
from ...sim.trace import Sample, Trace
from ..shared.bank_picture import bank_figure
from ..shared.base import Widget
from ..shared.sector_picture import sector_figure
from ..shared.traced_lines import first_line, shown_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TraceView(Widget):
    """A trace to look into: a source line, one of its requests, and where its 32 lanes go.

    trace: what `lab.trace` returns. line: where it opens, a line number or a piece of the line's
    text (default: the line with the most bank conflicts, else the most extra sectors).
    op: which of the line's accesses, such as "st.shared" (default: the one with the largest
    surplus). request: number of the line's request, from 0. caption: one question, with `code`
    and **bold**. Raises ArgumentError, naming the argument.
    """

    _script = "trace_view/widget.js"
    _sheets = ("shared/banks.css", "shared/waves.css", "trace_view/widget.css")

    def __init__(
        self,
        trace: Trace,
        line: int | str | None = None,
        *,
        op: str | None = None,
        request: int = 0,
        caption: str = "",
    ) -> None:
        if not isinstance(trace, Trace):
            given = type(trace).__name__
            raise ArgumentError(f"trace: got {given}, expected what lab.trace returns")
        text("caption", caption)
        shown = shown_lines(trace)
        start = first_line([count for count, _ in shown], line, op)
        samples = shown[start][1]
        last = len(samples) - 1
        integer("request", request, 0, last, allowed=f"the line has 0 to {last}")
        super().__init__(
            config={
                "title": f"{trace.kernel}, M={trace.M} N={trace.N} K={trace.K}",
                "caption": caption,
                "places": [
                    {
                        "name": p.name,
                        "memory": p.memory,
                        "start": p.start,
                        "bytes": p.bytes,
                        "shape": list(p.shape),
                    }
                    for p in trace.places
                ],
                "lines": [_entry(count, samples) for count, samples in shown],
            },
            state={"line": start, "request": request, "step": 0},
        )

    def _now(self) -> tuple[dict, dict]:
        """The shown line and request."""
        line = self.config["lines"][self.state["line"]]
        return line, line["samples"][self.state["request"]]

    def summary(self) -> str:
        """The shown line, request and its cost in words."""
        line, sample = self._now()
        who = f"block {sample['block']}, warp {sample['warp']}, time {sample['time'] + 1}"
        return (
            f"{self.config['title']}, line {line['line']}: {line['code']} ({line['op']} "
            f"{line['width']} B; {who}). {sample['reading']}"
        )

    def figure(self) -> Figure:
        """The shown request on the banks or on the sectors, drawn for 390 pixels."""
        line, sample = self._now()
        title = f"Line {line['line']}: {line['op']}, {line['width']} bytes a lane"
        drawn = (title, line["code"])
        if line["memory"] == SHARED:
            request = served(sample["addresses"], line["width"], line["op"])
            return bank_figure(*drawn, request, sample["reading"])
        places = [Place(**{**p, "shape": tuple(p["shape"])}) for p in self.config["places"]]
        return sector_figure(
            *(*drawn, sample["reading"], sample["addresses"], line["width"]),
            lambda address: element(places, line["memory"], address),
        )


def served(addresses: Sequence[int | None], width: int, op: str) -> banks.Request:
    """How a shared-memory request is served: its phases and their words."""
    active = [address is not None for address in addresses]
    values = [address or 0 for address in addresses]
    # A matrix' rows of 16 bytes are served as a 16-byte store is: eight lanes a phase.
    return banks.wavefronts(values, width, active=active, store=op != "ld.shared")


def _entry(line: LineCount, samples: Sequence[Sample]) -> dict:
    shared = samples[0].memory == SHARED
    return {
        "line": line.line,
        "code": line.source or line.file,
        "op": line.op,
        "width": line.width_bytes,
        "memory": samples[0].memory,
        "requests": line.requests,
        "cost": line.wavefronts if shared else line.sectors,
        "least": line.wavefronts_min if shared else line.sectors_min,
        "samples": [_sample(sample) for sample in samples],
    }


def _sample(sample: Sample) -> dict:
    data = {
        **{name: getattr(sample, name) for name in ("block", "warp", "time", "requests", "cost")},
        "least": sample.cost_min,
        "addresses": list(sample.addresses),
    }
    if sample.memory != SHARED:
        return {**data, "reading": _sector_reading(sample)}
    request = served(sample.addresses, sample.width_bytes, sample.op)
    reading = banks.describe(request)
    if (request.wavefronts, request.minimum) != (sample.cost, sample.cost_min):
        reading = _copy_reading(sample)
    return {**data, "phases": [list(phase.lanes) for phase in request.phases], "reading": reading}


def _copy_reading(sample: Sample) -> str:
    """For a cp.async that its destinations alone do not explain."""
    count = f"{sample.cost} wavefront{'s' if sample.cost != 1 else ''}"
    surplus = f"{sample.surplus} too many" if sample.surplus else "no conflict"
    return (
        f"{count}, the minimum is {sample.cost_min}: {surplus}. A copy's wavefronts depend on its "
        "sources, too; the picture has the destinations."
    )


def _sector_reading(sample: Sample) -> str:
    """What the sectors move, and what the lanes ask for."""
    used = len({a for a in sample.addresses if a is not None}) * sample.width_bytes
    moved = sample.cost * banks.SECTOR_BYTES
    count = f"{sample.cost} sector{'s' if sample.cost != 1 else ''}"
    if not sample.surplus:
        return f"{count}, the least that {used} bytes can take."
    return (
        f"{count}, the minimum is {sample.cost_min}: {sample.surplus} too many. {moved:,} bytes "
        f"are moved for {used:,} that the lanes ask for."
    )
