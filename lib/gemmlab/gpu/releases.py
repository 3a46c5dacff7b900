"""Whether a stage is released before its fragments are there: a question to machine code.

A warp gives a stage back by an arrival at an mbarrier, and then the copy engine may overwrite it.
`ldmatrix` is issued and delivers its registers later; an arrival does not wait for that. So each
`LDSM` of the stage has to have delivered when the arrival is issued. ptxas marks every LDSM with a
scoreboard, and an instruction that waits for that scoreboard, such as the product of the fragments,
is behind the delivery. Source text does not decide where the arrival stands, since ptxas moves
instructions; this reads what it has made. It knows scoreboards only: what a fence or a barrier in
front of the arrival waits for is not in them, so a release behind one may still count as early.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .sass import Instruction

_LOAD = "LDSM"
_WAIT = "SYNCS.PHASECHK"  # mbarrier.try_wait
_RELEASE = re.compile(r"SYNCS\.ARRIVE\.\S*A1T0")  # an arrival that announces no bytes
_UNMARKED = 1 << 6  # in the place of a scoreboard: loads that have none


@dataclass(frozen=True)
class _Way:
    """What has happened on a way through the code, as far as it matters for the next release.

    current, earlier: scoreboards, a bit each, of loads that may still be under way, issued behind
    the last wait for an mbarrier or before it. loads: how many were issued behind it.
    """

    current: int = 0
    earlier: int = 0
    loads: int = 0

    def issued(self, instruction: Instruction) -> _Way:
        """When the instruction is issued, the scoreboards that it waits for are free."""
        busy = ~instruction.waits
        return replace(self, current=self.current & busy, earlier=self.earlier & busy)

    def after(self, instruction: Instruction, ahead: int) -> _Way:
        """Behind the instruction, which has been issued. More loads than `ahead` need no number."""
        if instruction.name.startswith(_WAIT):
            return _Way(earlier=self.earlier | self.current)
        if not instruction.name.startswith(_LOAD):
            return self
        loads = min(self.loads + 1, ahead + 1)
        if instruction.sets is None:
            return replace(self, current=self.current | _UNMARKED, loads=loads)
        # Loads deliver in order: this one's scoreboard stands for those before it that have none.
        marked = 1 << instruction.sets
        earlier = self.earlier & ~_UNMARKED | (marked if self.earlier & _UNMARKED else 0)
        return _Way(self.current & ~_UNMARKED | marked, earlier, loads)

    def under_way(self, ahead: int) -> int:
        """Scoreboards of loads from the stage that a release gives back here."""
        return self.earlier if self.loads <= ahead else self.earlier | self.current


def releases(code: Sequence[Instruction]) -> list[Instruction]:
    """The arrivals by which a warp gives a stage back."""
    return [one for one in code if _RELEASE.match(one.name)]


def early_releases(code: Sequence[Instruction], ahead: int) -> list[Instruction]:
    """Those that may be issued while an LDSM of the stage has still to deliver, on some way.

    code: of one function. All ways through it are followed, whatever their predicates are. ahead:
    how many LDSM of the next stage a warp issues at most before it releases the one before. So a
    release with no more of them behind the last wait is of the stage before, any other one of the
    stage that was waited for.
    """
    place = {instruction.address: i for i, instruction in enumerate(code)}
    todo, seen, early = [(0, _Way())], set(), set()
    while todo:
        at, way = todo.pop()
        if (at, way) in seen:
            continue
        seen.add((at, way))
        way = way.issued(code[at])
        if _RELEASE.match(code[at].name) and way.under_way(ahead):
            early.add(at)
        way = way.after(code[at], ahead)
        todo += [(place[to], way) for to in _next(code, at) if to in place]
    return [code[at] for at in sorted(early)]


def _next(code: Sequence[Instruction], at: int) -> Iterator[int]:
    """Addresses that may follow."""
    text, name = code[at].text, code[at].name
    target = re.search(r"0x([0-9a-f]+)$", text)
    if name.startswith(("BRA", "CALL")) and target:
        yield int(target[1], 16)
    leaves = re.match(r"BRA 0x|EXIT|RET\b", text)  # not if it has a predicate
    if at + 1 < len(code) and not leaves:
        yield code[at + 1].address
