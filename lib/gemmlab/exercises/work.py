"""Whether a kernel does its work where, and as often as, its exercise looks: no work for show.

What an exercise asks for is looked at in one run. Other runs tell whether that one is typical: of
more tiles, and of more of k.
"""

from __future__ import annotations

from .. import sim
from ..run.kernel import Kernel
from ..sim.trace import Trace
from ..steps import registry
from .properties import GRID, NotYetError

_LOADS = ("ld.global", "cp.async.global", "tma.load")
_SHARED_READS = ("ld.shared", "ldmatrix", "wgmma.shared")
_ATOMICS = 4  # requests a block: to count who has come, not to read with
_STEPS = 3, 6  # k tiles more
Sizes = tuple[int, int, int]


def refuse_more_than(parent: str, handle: Kernel, shape: Sizes, loads: bool) -> None:
    """What is saved in one place may not be spent in another: launches, loads, shared reads.

    loads: whether those from global memory are looked at.
    """
    if not registry.get(parent).fits(*shape):
        return
    trace, at = sim.trace(handle, *shape), "M={} N={} K={}".format(*shape)
    known = sim.trace(parent, *shape)
    refuse_launches(trace, len(known.launches))
    found, before = (_total(one, "sectors", *_LOADS) for one in (trace, known))
    if loads and found > before:
        raise NotYetError(
            f"at {at} it loads {found:,} sectors from global memory, and {parent} {before:,}; the "
            "tiles are to be loaded as often as before, and used from shared memory"
        )
    found, before = (_total(one, "wavefronts", *_SHARED_READS) for one in (trace, known))
    if before and found > 2 * before:
        raise NotYetError(
            f"at {at} its reads of shared memory take {found:,} wavefronts, and those of {parent} "
            f"{before:,}: most of them are not for the products"
        )


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


def refuse_unsteady(handle: Kernel, tile: Sizes, depth: int) -> None:
    """Each tile of C takes the same requests, and so does each k tile, whatever the sizes are.

    tile: the sizes of a run of one tile. depth: what is added to K for a k tile more. What is not
    so in the parent either, such as a first kernel's copy of A, is left out.
    """
    found = _unsteady(handle, tile, depth)
    parent = handle.spec.parent
    if found and parent and registry.get(parent).fits(*tile):
        known = _unsteady(parent, tile, depth)
        found = {op: said for op, said in found.items() if op not in known}
    for said in found.values():
        raise NotYetError(said)


def _unsteady(kernel: Kernel | str, tile: Sizes, depth: int) -> dict[str, str]:
    """By operation, what differs from tile to tile."""
    M, N, K = tile
    rows, columns = GRID
    one, many = _requests(kernel, M, N, K), _requests(kernel, M * rows, N * columns, K)
    deeper, deepest = (_requests(kernel, M, N, K + depth * steps) for steps in _STEPS)
    found = {}
    for op in sorted({*one, *many, *deeper, *deepest}):
        alone, all_, more, most = (run.get(op, 0) for run in (one, many, deeper, deepest))
        if all_ != rows * columns * alone:
            found[op] = (
                f"with {rows} x {columns} tiles of C it makes {all_:,} requests of {op}, and with "
                f"one {alone:,}; it is to do the same for each tile, whatever M and N are"
            )
        elif most - more != more - alone:
            found[op] = (
                f"its requests of {op} do not grow evenly with K: {alone:,}, {more:,} and {most:,} "
                f"at K={K}, {K + depth * _STEPS[0]} and {K + depth * _STEPS[1]}; it is to do the "
                "same for each k tile, whatever K is"
            )
    return found


def _requests(kernel: Kernel | str, *shape: int) -> dict[str, int]:
    trace = sim.trace(kernel, *shape)
    return {line.op: _total(trace, "requests", line.op) for line in trace.lines}


def _total(trace: Trace, name: str, *ops: str) -> int:
    return sum(getattr(line, name) for line in trace.lines if line.op in ops)
