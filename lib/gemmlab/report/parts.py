"""The parts of the course as cards: a question, a picture, the chapters and the hours of each."""

from __future__ import annotations

import html
from dataclasses import dataclass

from ..layouts.fragments import fragment
from ..layouts.pipeline.model import simulate
from ..layouts.shared.swizzle import Swizzle
from ..layouts.tiling.tiling import STEPS
from ..notebook.course import Chapter, course, minutes
from ..steps import registry
from .walk import PARTS

# Family -> its question; a family that has chapters gets a card.
QUESTIONS = {
    "sgemm": "Why does swapping two indices make a kernel ten times faster, and what does it take "
    "from there to the speed of cuBLAS?",
    "hgemm": "What has to happen around a tensor core so that it never waits, and how much of its "
    "rate can <code>mma.sync</code> reach?",
    "tma": "What is left for the warps to do when an engine copies the tiles by itself?",
    "wgmma": "Which instruction does cuBLAS use, and how does a kernel keep up with it?",
}
TITLES = {
    "sgemm": "Part I: SGEMM",
    "hgemm": "Part II: Tensor Cores",
    "tma": "Part III: TMA",
    "wgmma": "Part IV: WGMMA",
}
_BLUE, _ORANGE, _QUIET = "#4f9ccd", "#e08a1e", "#8b96a1"
_SIZE = (240, 96)


@dataclass(frozen=True)
class Card:
    """One part of the course. deep: of its chapters, those that can be left out."""

    family: str
    core: tuple[Chapter, ...]
    deep: tuple[Chapter, ...]
    kernels: int

    @property
    def first(self) -> str:
        """The page that the card leads to."""
        return next(one.name for one in course() if one in (*self.core, *self.deep))

    @property
    def words(self) -> str:
        """Its kernels, chapters and hours, with the rungs of "Your kernel"."""
        core = _chapters_and_hours(self.core, "core chapter")
        return f"{self.kernels} kernels; {core}; {_chapters_and_hours(self.deep, 'deep dive')}"


@dataclass(frozen=True)
class Parts:
    """The parts of the course, in their order."""

    cards: tuple[Card, ...]

    def __repr__(self) -> str:
        return "\n".join(f"{TITLES[card.family]}: {card.words}" for card in self.cards)

    def _repr_html_(self) -> str:
        return f'{_STYLE}<div class="gl-parts">{"".join(map(_html, self.cards))}</div>'


def parts() -> Parts:
    """The parts of the course as cards that lead to their first chapters."""
    return Parts(tuple(card for name in QUESTIONS if (card := _card(name)).core))


def _card(family: str) -> Card:
    own = [one for one in course() if one.part == TITLES[family]]
    kernels = sum(registry.get(name).family == family for name in registry.names())
    core = tuple(one for one in own if one.core)
    return Card(family, core, tuple(one for one in own if not one.core), kernels)


def _chapters_and_hours(chapters: tuple[Chapter, ...], what: str) -> str:
    """ "7 core chapters, about 7 hours"."""
    hours = max(1, round(minutes(chapters) / 60))
    some = f"{len(chapters)} {what}{'s' * (len(chapters) != 1)}"
    return f"{some}, about {hours} hour{'s' * (hours != 1)}"


def _html(card: Card) -> str:
    title = html.escape(TITLES[card.family])
    about = html.escape(PARTS[card.family][1])
    width, height = _SIZE
    return (
        f'<section class="gl-part"><svg viewBox="0 0 {width} {height}" aria-hidden="true">'
        f"{_PICTURES[card.family]()}</svg>"
        f'<a href="{card.first}.ipynb"><b>{title}</b></a><p>{QUESTIONS[card.family]}</p>'
        f"<small>{about}; {card.words}</small></section>"
    )


def _rect(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> str:
    """A rectangle of an SVG."""
    faint = f' fill-opacity="{opacity:g}"' if opacity != 1 else ""
    box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {box} rx="2" fill="{colour}"{faint}/>'


def _tile() -> str:
    """The block's tile of sgemm_04: its warps, the lanes of one, and the elements of a thread."""
    t = STEPS["sgemm_04_register_tiling"]
    s = _SIZE[1] / t.BM
    drawn = []
    for warp in range(t.warp_rows * t.warp_cols):
        y, x = warp // t.warp_cols * t.WM * s, warp % t.warp_cols * t.WN * s
        drawn.append(_rect(72 + x + 1, y + 1, t.WN * s - 2, t.WM * s - 2, _BLUE, 0.3))
    for thread in range(32, 64):
        m, n = t.corner(thread)
        colour = _ORANGE if thread == 37 else _BLUE
        side = t.TM * s - 1
        drawn.append(_rect(72 + n * s + 0.5, m * s + 0.5, side, t.TN * s - 1, colour))
    return "".join(drawn)


def _fragment() -> str:
    """A fragment of mma.sync's A: the elements of one lane, and those of its row of lanes."""
    a = fragment("mma.m16n8k16 A")
    s = _SIZE[1] / a.rows
    drawn = []
    for row in range(a.rows):
        for column in range(a.columns):
            lane = a.holder(row, column).lane
            mine, near = lane == 5, lane // 4 == 5 // 4
            colour = _ORANGE if mine else _BLUE
            faint = 1 if mine or near else 0.3
            x = 72 + column * s
            drawn.append(_rect(x + 0.4, row * s + 0.4, s - 0.8, s - 0.8, colour, faint))
    return "".join(drawn)


def _pipeline() -> str:
    """Copies that run ahead of products, in the model of the pipeline chapters."""
    run = simulate("async", stages=3, issue=192, latency=700, products=384, tiles=9)
    scale = _SIZE[0] / run.total
    drawn = []
    for step in run.steps:
        x, width = step.begin * scale, max(3, (step.end - step.begin) * scale - 1.5)
        if step.kind == "issue":
            flight = (step.end + 700 - step.begin) * scale - 1.5
            drawn.append(_rect(x, 8 + step.tile % 3 * 15, flight, 11, _ORANGE, 0.45))
            drawn.append(_rect(x, 8 + step.tile % 3 * 15, width, 11, _ORANGE))
        else:
            drawn.append(_rect(x, 62, width, 26, _BLUE))
    return "".join(drawn)


def _core_matrices() -> str:
    """Eight rows of 128 bytes in shared memory, swizzled, with two core matrices of wgmma."""
    swizzle, s = Swizzle(3, 4, 3), _SIZE[1] / 8
    colours = {0: (_ORANGE, 1), 1: (_BLUE, 1)}
    drawn = []
    for row in range(8):
        for piece in range(8):
            place = int(swizzle(row * 128 + piece * 16)) % 128 // 16
            colour, faint = colours.get(piece, (_BLUE, 0.3))
            x = 24 + place * 2 * s
            drawn.append(_rect(x + 0.5, row * s + 0.5, 2 * s - 1, s - 1, colour, faint))
    return "".join(drawn)


_PICTURES = {"sgemm": _tile, "hgemm": _fragment, "tma": _pipeline, "wgmma": _core_matrices}
_STYLE = """<style>
.gl-parts{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:16px}
.gl-part{display:flex;flex-direction:column;gap:6px;border:1px solid;border-radius:10px;
border-color:rgba(128,140,150,.45);padding:16px;position:relative;line-height:1.4}
.gl-part svg{width:100%;max-height:120px;margin-bottom:6px}
.gl-part a{font-size:1.12em}
.gl-part a::after{content:"";position:absolute;inset:0}
.gl-part:hover{border-color:currentColor}
.gl-part p{margin:0;flex:1}
.gl-part small{font-size:.87em}
</style>"""
