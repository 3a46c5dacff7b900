"""The walk: every recorded step with its chapter, and the strip that says where a chapter is."""

from __future__ import annotations

import html
from dataclasses import dataclass

from .. import measurements
from ..core import arguments
from ..core.errors import MeasurementError
from ..display.numbers import short, show_share
from ..measurements.rows import BenchRow
from ..measurements.store import Measurements
from ..notebook import course as way
from ..notebook.course import Chapter
from ..steps import registry
from ..steps.chapters import CHAPTERS as TEACHING
from ..steps.chapters import chapter_of, number_of, steps_of
from ..steps.spec import FAMILIES
from ..widgets import Walk
from ..widgets.walk import WalkBar, WalkPart
from .ladder import own_steps

PARTS = {
    "sgemm": ("Part I", "fp32 on CUDA cores"),
    "hgemm": ("Part II", "16 bits on tensor cores"),
    "tma": ("Part III", "Hopper's TMA"),
    "wgmma": ("Part IV", "WGMMA"),
}


def recorded_steps(run: Measurements, size: int) -> list[BenchRow]:
    """The rows of a run's own family at M = N = K = `size`, in its first types.

    Raises MeasurementError, naming what there is, if there are none.
    """
    result = run.bench().only(mode="interleaved").at(size)
    rows = own_steps(run.family, result.rows)
    if not rows:
        result.row("any step", size)  # raises, naming what there is
    return [row for row in rows if row.precision == rows[0].precision]


def recorded_runs(gpu: str | None = None) -> list[Measurements]:
    """The recording of each part that has one, on a GPU or the newest.

    Raises MeasurementError if none has.
    """
    runs = [found for name in FAMILIES if (found := _recorded_part(name, gpu))]
    return runs or [measurements.load(gpu=gpu)]  # raises


def _recorded_part(family: str, gpu: str | None) -> Measurements | None:
    try:
        return measurements.load(family=family, gpu=gpu)
    except MeasurementError:
        return None


def course(size: int = 4096, caption: str = "") -> Walk:
    """All recorded steps of the course as bars that lead to their chapters.

    size: M = N = K. caption: below the bars, until one is pointed at. Raises MeasurementError if
    nothing was recorded.
    """
    size = arguments.size("size", size)
    runs = recorded_runs()
    parts = [
        WalkPart(*PARTS[run.family], tuple(map(_bar, recorded_steps(run, size)))) for run in runs
    ]
    made = measurements.origins(run.environment for run in runs)
    return Walk(parts, f"M = N = K = {size}, recorded on {made}", caption=caption)


def _bar(row: BenchRow) -> WalkBar:
    spec = registry.get(row.kernel)
    family = spec.family.upper()
    label = f"{family} {short(row.kernel)}"
    return WalkBar(label, spec.idea, row.tflops, row.ratio or 0.0, chapter_of(row.kernel))


# M = N = K of the shares in a chapter's strip.
_SIZE = 4096


@dataclass(frozen=True)
class Strip:
    """Where a chapter is: its part's steps as small bars, and what to read before it.

    bars: (step, share of cuBLAS at 4096, or None where it was not recorded). own: the chapter's
    steps, none where it has no kernel.
    """

    place: Chapter
    bars: tuple[tuple[str, float | None], ...]
    own: tuple[str, ...]

    @property
    def where(self) -> str:
        """The chapter's place in words: "Part I, steps 5 and 6"."""
        part = self.place.part.partition(":")[0]
        if not self.own:
            return part
        own = [number_of(step).lstrip("0") for step in self.own]
        between = " and " if len(own) == 2 else " to "
        some = own[0] if len(own) == 1 else f"{own[0]}{between}{own[-1]}"
        noun = "step" if len(own) == 1 else "steps"
        return f"{part}, {noun} {some}"

    @property
    def reached(self) -> str:
        """What the chapter's last step reaches."""
        if not self.own:
            return ""
        share = dict(self.bars)[self.own[-1]]
        return "not recorded yet" if share is None else f"{show_share(share)} of cuBLAS at {_SIZE}"

    @property
    def path(self) -> str:
        """Core or deep dive, how long, and what to read before."""
        before = ", ".join(way.chapter(name).short for name in self.place.needs)
        return f"{self.place.words}{f' Read before: {before}.' * bool(before)}"

    def __repr__(self) -> str:
        here = f"{self.where}: {self.reached}" if self.own else self.where
        return f"{here}\n{self.path}"

    def _repr_html_(self) -> str:
        top = max([1.0, *(share or 0 for _, share in self.bars)])
        bars = "".join(self._bar(step, share, top) for step, share in self.bars)
        line = f'<i class="gl-strip-line" style="bottom:{44 / top:.1f}px"></i>'
        name = html.escape(f"You are here: {self!r}", quote=True)
        drawn = f'<span class="gl-strip-bars">{bars}{line}</span>' if self.bars else ""
        return (
            f'{_STYLE}<nav class="gl-strip" aria-label="{name}"><b>{self.where}</b>'
            f"{drawn}<span>{self.reached}</span></nav>{self._path()}"
        )

    def _path(self) -> str:
        """The line below the bars. The book has it below the title, and hides this one."""
        links = [
            f'<a href="{name}.ipynb">{html.escape(way.chapter(name).short)}</a>'
            for name in self.place.needs
        ]
        before = f" Read before: {', '.join(links)}." if links else ""
        return f'<p class="gl-strip-path">{html.escape(self.place.words)}{before}</p>'

    def _bar(self, step: str, share: float | None, top: float) -> str:
        kind = "now" if step in self.own else "past" if self._passed(step) else "next"
        words = f"{short(step)}: {show_share(share)}" if share else short(step)
        here = ' aria-current="step"' if kind == "now" else ""
        height = 44 * (share or 0.02) / top
        return (
            f'<a href="{chapter_of(step)}.ipynb" class="gl-strip-{kind}" title="{words}" '
            f'aria-label="{words}"{here}><i style="height:{height:.0f}px"></i></a>'
        )

    def _passed(self, step: str) -> bool:
        """Whether a step is taught in a chapter before this one."""
        order, teacher = way.names() or tuple(TEACHING), chapter_of(step)
        return teacher in order and order.index(teacher) < order.index(self.place.name)


_STYLE = """<style>
.gl-strip{display:flex;align-items:center;gap:16px;height:56px;margin:0;overflow:hidden;
font-size:14px;line-height:1.2;--now:#b34700;--past:#4f9ccd;--rule:#57606b}
html[data-theme=dark] .gl-strip,
[data-jp-theme-light=false] .gl-strip{--now:#f0a04a;--past:#3b83b3;--rule:#9ca7b3}
.gl-strip b,.gl-strip>span:last-child{white-space:nowrap}
.gl-strip-bars{position:relative;display:flex;align-items:flex-end;flex:0 1 420px;min-width:0;
height:50px;border-bottom:1px solid var(--rule)}
.gl-strip a{flex:1 1 0;display:flex;align-items:flex-end;height:100%;padding:0 1px;min-width:0}
.gl-strip a>i{display:block;width:100%;min-height:2px;border-radius:2px 2px 0 0}
.gl-strip a>i{background:var(--past)}
.gl-strip a.gl-strip-now>i{background:var(--now)}
.gl-strip a.gl-strip-next>i{background:none;border:1px solid var(--rule);border-bottom:0}
.gl-strip a:hover>i{outline:2px solid currentColor}
.gl-strip-line{position:absolute;left:0;right:0;border-top:1px dashed var(--rule);
pointer-events:none}
.gl-strip-path{font-size:14px;margin:4px 0 0}
@media (max-width:576px){.gl-strip{gap:8px;font-size:13px}.gl-strip b{white-space:normal}}
</style>"""


def here(chapter: str) -> Strip:
    """Where a chapter is in its part, whether it is core, how long it takes and what it needs.

    A line of bars, one for each step of the part, each a link. chapter: the name of its file,
    "sgemm_naive". Raises ArgumentError for a page that is not a chapter.
    """
    place = way.chapter(chapter)
    family = chapter.partition("_")[0]
    if family not in PARTS:
        return Strip(place, (), ())
    shares: dict[str, float | None] = {}
    try:
        rows = recorded_steps(measurements.load(family=family), _SIZE)
        shares = {row.kernel: row.ratio for row in rows}
    except MeasurementError:  # a part without a recording has its steps all the same
        shares = {}
    steps = [name for name in registry.names() if registry.get(name).family == family]
    own = steps_of(chapter) if chapter in TEACHING else ()
    return Strip(place, tuple((name, shares.get(name)) for name in steps), own)
