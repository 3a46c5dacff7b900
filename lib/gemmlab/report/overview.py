"""The map: every chapter with what it needs, core and deep dives, hours, and a reader's progress.

A row a chapter, in the order of the book, and a line from each chapter to those that need it, drawn
beside the rows in a gutter of fixed width: the page may be as narrow as a phone.
"""

from __future__ import annotations

import html
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..core.progress import enabled
from ..notebook import chapters as exercises
from ..notebook.course import Chapter, course, minutes
from ..notebook.progress import progress

ROW, HEAD = 62, 46  # pixels of a chapter, and of a part's heading
_CORE_X, _DEEP_X, _FIRST_LANE, _LANE = 9, 27, 42, 8
_TRACK = exercises.TRACK


@dataclass(frozen=True)
class Edge:
    """`target` needs `source`. lane: where the line runs down; None: straight from dot to dot."""

    source: str
    target: str
    lane: int | None


@dataclass(frozen=True)
class Overview:
    """All chapters. solved: chapter -> exercises solved; judged: chapter -> those with a judge."""

    chapters: tuple[Chapter, ...]
    solved: Mapping[str, int]
    judged: Mapping[str, int]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """What needs what. From a chapter to the next one of its kind the line is straight."""
        order = {one.name: place for place, one in enumerate(self.chapters)}
        kinds = [[one.name for one in self.chapters if one.core is core] for core in (True, False)]
        straight = {pair for kind in kinds for pair in itertools.pairwise(kind)}
        pairs = [(needed, one.name) for one in self.chapters for needed in one.needs]
        aside = [pair for pair in pairs if pair not in straight]
        lanes = _lanes(aside, order)
        return tuple(Edge(*pair, lanes.get(pair[0]) if pair in aside else None) for pair in pairs)

    def __repr__(self) -> str:
        lines: list[str] = []
        for part, own in _by_part(self.chapters):
            lines += [f"{part}: {_hours(own)}", *(f"  {self._words(one)}" for one in own)]
        return "\n".join([*lines, *filter(None, [self._track()])])

    def _words(self, one: Chapter) -> str:
        needs = ", ".join(needed.short for needed in self.chapters if needed.name in one.needs)
        return f"{one.title}: {self._facts(one)}{f'; needs {needs}' * bool(needs)}"

    def _facts(self, one: Chapter) -> str:
        """Kind, minutes, and what is solved."""
        done, all_ = self.solved.get(one.name, 0), self.judged.get(one.name, 0)
        solved = f"; {done} of {all_} exercises solved" if done else ""
        return f"{one.kind}, {one.minutes} min{solved}"

    def _track(self) -> str:
        done = self.solved.get(_TRACK, 0)
        return f"Your kernel: {done} of {self.judged.get(_TRACK, 0)} rungs." if done else ""

    def _repr_html_(self) -> str:
        if not self.chapters:
            return "<p>The chapters are not here; GEMMLAB_ROOT names a checkout.</p>"
        places = dict(_places(self.chapters))
        lanes = max([0, *(edge.lane + 1 for edge in self.edges if edge.lane is not None)])
        width = _FIRST_LANE + _LANE * lanes
        height = max(y for _, y in places.values()) + ROW // 2
        core = [places[one.name] for one in self.chapters if one.core]
        spine = f'<path class="spine" d="M{core[0][0]} {core[0][1]}V{core[-1][1]}"/>'
        lines = spine + "".join(_line(edge, places) for edge in self.edges)
        dots = "".join(_dot(one, places[one.name], self._done(one)) for one in self.chapters)
        rows = "".join(
            f"<h2>{html.escape(part)} <small>{_hours(own)}</small></h2>"
            f"<ul>{''.join(map(self._row, own))}</ul>"
            for part, own in _by_part(self.chapters)
        )
        track = f"<p>{html.escape(self._track())}</p>" * bool(self._track())
        return (
            f"<style>{_STYLE}{''.join(map(_rule, self.chapters))}</style>{_LEGEND}{track}"
            f'<nav class="gl-map" aria-label="Map of the chapters" style="--gutter:{width}px">'
            f'<svg width="{width}" height="{height}" aria-hidden="true">{lines}{dots}</svg>'
            f"{rows}</nav>"
        )

    def _done(self, one: Chapter) -> bool:
        return 0 < self.judged.get(one.name, 0) <= self.solved.get(one.name, 0)

    def _row(self, one: Chapter) -> str:
        needs = ", ".join(needed.short for needed in self.chapters if needed.name in one.needs)
        hidden = f'<span class="gl-map-needs">, needs {html.escape(needs)}</span>' * bool(needs)
        return (
            f'<li data-c="{one.name}"><a href="{one.name}.ipynb">{html.escape(one.title)}</a>'
            f"<small>{self._facts(one)}{hidden}</small></li>"
        )


def overview() -> Overview:
    """All chapters as a graph of what needs what, with hours, and what the reader has solved.

    Core chapters are on the line at the left; deep dives can be left out.
    """
    solved: Counter[str] = Counter()
    judged = Counter(one.chapter for one in exercises.exercises() if one.judged)
    if enabled():
        found = progress()
        own = (key for key, entry in found.solved.items() if not entry.shown)
        solved.update(key.rpartition("/")[0] for key in own)
    return Overview(course(), solved, judged)


def _by_part(chapters: Iterable[Chapter]) -> Iterator[tuple[str, list[Chapter]]]:
    parts: dict[str, list[Chapter]] = {}
    for one in chapters:
        parts.setdefault(one.part, []).append(one)
    yield from parts.items()


def _hours(own: list[Chapter]) -> str:
    """ "core 7 h, deep dives 4 h"; what is less than an hour in minutes."""
    kinds = (("core", [one for one in own if one.core]),
             ("deep dives", [one for one in own if not one.core]))  # fmt: skip
    return ", ".join(f"{what} {_time(minutes(some))}" for what, some in kinds if some)


def _time(taken: int) -> str:
    return f"{taken} min" if taken < 60 else f"{round(taken / 60)} h"


def _lanes(pairs: list[tuple[str, str]], order: Mapping[str, int]) -> dict[str, int]:
    """A lane for each chapter that has lines beside the spine, shared where they do not meet."""
    until: dict[str, int] = {}
    for source, target in pairs:
        until[source] = max(until.get(source, 0), order[target])
    free_from: list[int] = []
    found: dict[str, int] = {}
    for source in sorted(until, key=order.__getitem__):
        lane = next((n for n, row in enumerate(free_from) if row <= order[source]), len(free_from))
        free_from[lane : lane + 1] = [until[source]]
        found[source] = lane
    return found


def _places(chapters: Iterable[Chapter]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The dot of each chapter, in pixels from the top left."""
    top = 0
    for _, own in _by_part(chapters):
        top += HEAD
        for one in own:
            yield one.name, (_CORE_X if one.core else _DEEP_X, top + 18)
            top += ROW


def _line(edge: Edge, places: Mapping[str, tuple[int, int]]) -> str:
    (x, y), (to_x, to_y) = places[edge.source], places[edge.target]
    path = f"M{x} {y}V{to_y}"
    if edge.lane is not None:
        lane = _FIRST_LANE + _LANE * edge.lane
        path = f"M{x} {y}C{lane} {y} {lane} {y} {lane} {y + 22}V{to_y - 22}"
        path += f"C{lane} {to_y} {lane} {to_y} {to_x} {to_y}"
    return f'<path class="to-{edge.target}" d="{path}"/>'


def _dot(one: Chapter, place: tuple[int, int], done: bool) -> str:
    kind = "core" if one.core else "deep"
    mark = f'<path class="tick" d="M{place[0] - 3} {place[1]}l2 3 4 -6"/>' if done else ""
    return f'<circle class="{kind}" cx="{place[0]}" cy="{place[1]}" r="7"/>{mark}'


def _rule(one: Chapter) -> str:
    """Pointed at or focused, a chapter's lines and what it needs are set off."""
    if not one.needs:
        return ""
    on = f'.gl-map:has([data-c="{one.name}"]:is(:hover,:focus-within))'
    needed = ",".join(f'[data-c="{name}"]' for name in one.needs)
    return (
        f"{on} .to-{one.name}{{stroke:var(--on);stroke-width:3;opacity:1}}"
        f"{on} :is({needed}){{background:var(--lit)}}"
    )


_LEGEND = (
    '<p class="gl-map-legend"><i class="core"></i> core <i class="deep"></i> deep dive: can be '
    "left out. A line runs from a chapter to those that need it; point at a chapter, or reach it "
    "with the Tab key, to see what it needs. Times are for reading and for the rungs of "
    "<em>Your kernel</em>; other exercises take about 10 minutes each.</p>"
)
_STYLE = f"""
.gl-map,.gl-map-legend{{--core:#0068a3;--on:#b34700;--line:#8b96a1;--lit:rgba(216,126,15,.16);
--back:#fff;font-size:15px;line-height:1.3}}
html[data-theme=dark] .gl-map,html[data-theme=dark] .gl-map-legend,
[data-jp-theme-light=false] .gl-map,[data-jp-theme-light=false] .gl-map-legend{{--core:#5fb4e8;
--on:#f0a04a;--line:#76818c;--back:#14181e}}
.gl-map{{position:relative;margin:12px 0}}
.gl-map svg{{position:absolute;left:0;top:0;overflow:visible}}
.gl-map svg path{{fill:none;stroke:var(--line);stroke-width:1.5;opacity:.75}}
.gl-map svg .spine{{stroke:var(--core);stroke-width:3;opacity:1}}
.gl-map circle{{stroke:var(--core);stroke-width:2.5;fill:var(--back)}}
.gl-map circle.core{{fill:var(--core)}}
.gl-map svg .tick{{stroke:var(--back);stroke-width:2;opacity:1}}
.gl-map svg circle.deep+.tick{{stroke:var(--core)}}
.gl-map h2{{height:{HEAD}px;margin:0!important;padding:16px 0 0 var(--gutter);font-size:16px;
line-height:1.3;white-space:nowrap}}
.gl-map h2 small{{font-weight:400;font-size:13px}}
.gl-map ul{{list-style:none;margin:0!important;padding:0!important}}
.gl-map li{{height:{ROW}px;margin:0 0 0 var(--gutter)!important;padding:7px 8px;border-radius:6px;
overflow:hidden;box-sizing:border-box;position:relative}}
.gl-map li a{{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
font-size:15px}}
.gl-map li a::after{{content:"";position:absolute;inset:0}}
.gl-map li:hover{{background:rgba(128,140,150,.12)}}
.gl-map li:focus-within{{outline:2px solid var(--on);outline-offset:-2px}}
.gl-map li a:focus-visible{{outline:none!important;box-shadow:none!important}}
.gl-map li small{{display:block;font-size:13px;white-space:nowrap;overflow:hidden;
text-overflow:ellipsis}}
@media (max-width:576px){{.gl-map h2{{font-size:14px;padding-top:8px;line-height:1.2}}
.gl-map h2 small{{font-size:12px;display:block}}
.gl-map li{{padding:4px 4px}}.gl-map li a{{font-size:14px;line-height:1.2}}
.gl-map li small{{font-size:12px}}}}
.gl-map-legend i{{display:inline-block;width:12px;height:12px;border-radius:50%;
border:2.5px solid var(--core);box-sizing:border-box;vertical-align:-1px}}
.gl-map-legend i.core{{background:var(--core)}}
"""
