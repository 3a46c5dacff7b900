"""What WarpgroupTimeline shows of a recorded trace: a window of its lanes, and its words."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from ...layouts.warpgroups.model import SCHEDULES
from ...layouts.warpgroups.trace import AT_ONCE, Lanes
from ...layouts.warpgroups.words import describe_trace
from ...measurements.provenance import made_on
from ...measurements.traces import RecordedTrace


class Recording:
    """A recorded trace as the widget has it; cycles are counted from the left edge on."""

    def __init__(self, found: RecordedTrace) -> None:
        self._found, trace = found, found.trace
        begin, end = trace.window()
        self.lanes: Lanes = trace.lanes(begin, end)
        self.total, self.depth = end - begin, trace.depth
        self.gpu, self.step = found.gpu, found.step

    @property
    def gap(self) -> int:
        """Where the cursor stands at first: in the longest gap of the tensor cores."""
        cores = self.lanes[0][1]
        gaps = [bar for bar in cores if bar.state == "idle"] or cores[:1]
        longest = max(gaps, key=lambda bar: bar.end - bar.begin)
        return (longest.begin + longest.end) // 2

    @property
    def title(self) -> str:
        """What stands above the picture."""
        return f"{self.step}: products under way {self._found.trace.percent:.1f} % of the time"

    @property
    def words(self) -> str:
        """The trace in words: the kernel, the GPU, the day, and what it shows."""
        found = self._found
        name, day = SCHEDULES[found.trace.schedule], str(found.environment.get("date"))[:10]
        said = (
            f"{name[0].upper()}{name[1:]}: {self.step} on the {self.gpu}, recorded on {day} at "
            f"M = N = K = {found.size}. {describe_trace(found.trace)}"
        )
        return " ".join(filter(None, (said, found.warning)))

    @property
    def notes(self) -> list[str]:
        """How it was measured, and what it does not tell."""
        found = self._found
        return [
            made_on(dict(found.environment)),
            "Times are cycles of the SM's clock, as clock64 gave them in one launch, of a block in "
            "the middle of its work. Shown is where one tile of C follows another; the share and "
            "the longest gap are those of all cycles that were measured.",
            "The build that writes these times down took "
            f"{_longer(found.longer)} than the one that is timed.",
            "Products are under way from when their data are there, or those before have ended, "
            "until a wait has found them finished, which is a little later than they were. Where a "
            "consumer waited for data or stored meanwhile, nobody may have seen their end: then it "
            "is taken as early as the tensor cores allow. Gaps of fewer than "
            f"{AT_ONCE} cycles are not told.",
            "A store ends here when its copies are started; when they are done, no event tells.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """What the script gets."""
        trace = self._found.trace
        longest = max((bar.end - bar.begin for bar in trace.idle()), default=0)
        cycles = trace.end - trace.begin
        return {
            "gpu": self.gpu,
            "schedule": trace.schedule,
            "depth": self.depth,
            "total": self.total,
            "lanes": [[name, [list(astuple(bar)) for bar in bars]] for name, bars in self.lanes],
            "figures": [f"{trace.percent:.1f} %", f"{longest:,}", f"{cycles:,}"],
            "reading": self.words,
            "notes": self.notes,
        }


def _longer(share: float) -> str:
    return f"{100 * share:.1f} % longer" if share > 0 else "no longer"
