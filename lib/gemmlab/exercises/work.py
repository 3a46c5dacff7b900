"""Whether a kernel does its work where, and as often as, its exercise looks: no work for show.

What an exercise asks for is looked at in one run. Other runs tell whether that one is typical: of
more tiles, and of more of k.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from .. import sim
from ..run.kernel import Kernel, kernel
from ..sim.trace import Trace
from .flow import READS
from .properties import GRID, NotYetError

_LOADS = ("ld.global", "cp.async.global", "tma.load")
_ATOMICS = 4  # requests a block: to count who has come, not to read with
STEPS = 3, 6  # k tiles more
WHOLE = 16  # elements: a sector of the narrowest
_IN_SHARED, _IN_GLOBAL = ("ld.shared", "st.shared", "ldmatrix"), ("ld.global", "st.global")
Sizes = tuple[int, int, int]


class Runs:
    """The traces of one verdict, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[Kernel, Sizes], Trace] = {}

    def trace(self, kernel: Kernel, *shape: int) -> Trace:
        """What `sim.trace` gives."""
        M, N, K = shape
        if (key := (kernel, (M, N, K))) not in self._made:
            self._made[key] = sim.trace(kernel, M, N, K)
        return self._made[key]

    def keep(self, kernel: Kernel, trace: Trace) -> None:
        """One that was made with a journal, whose counts are the same."""
        self._made[kernel, (trace.M, trace.N, trace.K)] = trace


def parent_of(handle: Kernel) -> Kernel | None:
    """The step that a kernel was made from, in the kernel's configuration if it has that one."""
    if handle.parent is None:
        return None
    parent = kernel(handle.parent)
    return kernel(parent, handle.config) if handle.config in parent.spec.configs else parent


def refuse_more_than(parent: Kernel, handle: Kernel, shape: Sizes, loads: bool, runs: Runs) -> None:
    """What is saved in one place may not be spent in another: launches, loads, shared reads.

    loads: whether those from global memory are looked at.
    """
    if not parent.spec.fits(*shape):
        return
    trace, at = runs.trace(handle, *shape), "M={} N={} K={}".format(*shape)
    known = runs.trace(parent, *shape)
    refuse_launches(trace, len(known.launches))
    found, before = (_total(one, "sectors", *_LOADS) for one in (trace, known))
    if loads and found > before:
        raise NotYetError(
            f"at {at} it loads {found:,} sectors from global memory, and {parent.title} "
            f"{before:,}; the tiles are to be loaded as often as before, and used from shared "
            "memory"
        )
    found, before = (_total(one, "wavefronts", *READS) for one in (trace, known))
    if before and found > 2 * before:
        raise NotYetError(
            f"at {at} its reads of shared memory take {found:,} wavefronts, and those of "
            f"{parent.title} {before:,}: {_spent(trace, found - 2 * before)}"
        )


def _spent(trace: Trace, excess: int) -> str:
    """What too many wavefronts of reads are for: bank conflicts, if the others would not be."""
    conflicts = _total(trace, "conflicts", *READS)
    if conflicts < excess:
        return "most of them are not for the products"
    reads = (line for line in trace.lines if line.op in READS)
    worst = max(reads, key=lambda line: line.conflicts)
    place = f"{worst.file}:{worst.line}: {worst.source}"
    return f"{conflicts:,} of them are bank conflicts, most in {place}"


def refuse_launches(trace: Trace, most: int) -> None:
    """A second kernel does what the one that is looked at does not."""
    if len(trace.launches) > most:
        raise NotYetError(
            f"its launcher launches {len(trace.launches)} kernels; "
            f"{'one is' if most == 1 else f'{most} are'} to do all the work"
        )


def refuse_atomic_loads(trace: Trace, at: str) -> None:
    """Atomic operations read as well, and are counted elsewhere."""
    found = _total(trace, "requests", "atom.global")
    most = _ATOMICS * sum(one.blocks for one in trace.launches)
    if found > most:
        raise NotYetError(
            f"at {at} it makes {found:,} requests of atomic operations on global memory; what they "
            "read counts as loaded"
        )


def refuse_unsteady(handle: Kernel, tile: Sizes, depth: int, runs: Runs) -> None:
    """Each tile of C takes the same requests, and so does each k tile, whatever the sizes are.

    tile: the sizes of a run of one tile. depth: what is added to K for a k tile more. What is not
    so in the parent either, such as a first kernel's copy of A, is left out.
    """
    refuse_unlike_parent(handle, tile, lambda kernel: _unsteady(kernel, tile, depth, runs))


def refuse_unlike_parent(
    handle: Kernel, tile: Sizes, look: Callable[[Kernel], dict[str, str]]
) -> None:
    """Refuse what `look` finds in a kernel (by what it is of, a sentence) and not in its parent."""
    found = look(handle)
    parent = parent_of(handle) if found else None
    known = look(parent) if parent and parent.spec.fits(*tile) else {}
    for what, said in found.items():
        if what not in known:
            raise NotYetError(said)


def _unsteady(kernel: Kernel, tile: Sizes, depth: int, runs: Runs) -> dict[str, str]:
    """By operation, what differs from tile to tile."""
    M, N, K = tile
    rows, columns = GRID
    # A kernel may have another way for rows that begin at a multiple of 16 bytes, or of a sector.
    depth = math.lcm(depth, WHOLE, kernel.spec.multiple_of[2])
    K = -(-K // depth) * depth
    sizes = [(M, N, K), (M * rows, N * columns, K), *((M, N, K + depth * more) for more in STEPS)]
    one, many, deeper, deepest = counts(*(runs.trace(kernel, *shape) for shape in sizes))
    found = {}
    for op in sorted({*one, *many, *deeper, *deepest}):
        alone, all_, more, most = (run[op] for run in (one, many, deeper, deepest))
        if all_ != rows * columns * alone:
            found[op] = (
                f"with {rows} x {columns} tiles of C it makes {all_:,} {op}, and with "
                f"one {alone:,}; it is to do the same for each tile, whatever M and N are"
            )
        elif most - more != more - alone:
            found[op] = (
                f"its {op} do not grow evenly with K: {alone:,}, {more:,} and {most:,} "
                f"at K={K}, {K + depth * STEPS[0]} and {K + depth * STEPS[1]}, where its values "
                "are right; it is to do the same for each k tile, also where K is large or has "
                "another divisor"
            )
    return found


def counts(*traces: Trace) -> list[Counter[str]]:
    """Requests by operation, and what they take: wavefronts of shared memory, and sectors.

    Sectors where each row of all matrices begins one. What a cp.async takes depends on the banks of
    its source, and so on K and N.
    """
    whole = all(n % WHOLE == 0 for one in traces for n in (one.N, one.K))
    found: list[Counter[str]] = [Counter() for _ in traces]
    for trace, own in zip(traces, found, strict=True):
        for line in trace.lines:
            own[f"requests of {line.op}"] += line.requests
            if line.op in _IN_SHARED:
                own[f"wavefronts of {line.op}"] += line.wavefronts
            elif line.op in _IN_GLOBAL and whole:
                own[f"sectors of {line.op}"] += line.sectors
    return found


def _total(trace: Trace, name: str, *ops: str) -> int:
    return sum(getattr(line, name) for line in trace.lines if line.op in ops)
