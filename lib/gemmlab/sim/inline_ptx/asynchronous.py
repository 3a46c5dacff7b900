"""Copies that run beside the threads, mbarriers, barriers, fences, clusters."""

from __future__ import annotations

import re

from .operands import Operands
from .rules import Rule, call
from .statement import NotTranslatedError

_SHARED = r"(?:\.shared(?:::cta)?)?"
_ORDER = r"(?:\.(?:release|acquire|relaxed))?(?:\.(?:cta|cluster))?"
_TENSOR = r"cp\.async\.bulk\.tensor\.(?P<rank>[1-5])d"


def _plain_call(function: str, *, line: bool = False) -> Rule:
    """The operands as they are."""
    return lambda found, operands: call(function, operands.values(), line=line)


def _cp_async(found: re.Match[str], operands: Operands) -> str:
    operands.need(3, 4)
    to, source = operands.address(0).base, operands.address(1).base
    sizes = [operands.value(number) for number in range(2, len(operands))]
    return call(f"cp_async<{'true' if found[1] == 'cg' else 'false'}>", to, source, *sizes)


def _at_address(function: str, number: int = 0) -> Rule:
    """An operation on the address that is operand `number`; the others as they are."""

    def rule(found: re.Match[str], operands: Operands) -> str:
        address = operands.address(number).base
        before = [operands.value(i) for i in range(number)]
        after = [operands.value(i) for i in range(number + 1, len(operands))]
        return call(function, *before, address, *after)

    return rule


def _arrive(found: re.Match[str], operands: Operands) -> str:
    """With a state as its first operand, as one of the own block's; or without, as a remote one."""
    if operands.texts and operands.texts[0].startswith("["):
        operands.texts.insert(0, "_")
    rule = _at_address("mbarrier_arrive_mapped" if found["cluster"] else "mbarrier_arrive_at", 1)
    return rule(found, operands)


def _try_wait(found: re.Match[str], operands: Operands) -> str:
    operands.need(3, 4)
    done, address, parity = operands.value(0), operands.address(1).base, operands.value(2)
    return call("mbarrier_try_wait_at", done, address, parity, line=True)


def _of_rank(found: re.Match[str], coordinates: tuple[str, ...]) -> tuple[str, ...]:
    if len(coordinates) != int(found["rank"]):
        raise NotTranslatedError(f"of rank {found['rank']} with {len(coordinates)} coordinates")
    return coordinates


def _im2col(found: re.Match[str], _: Operands) -> str:
    raise NotTranslatedError("and the simulator has tiled boxes only, not im2col")


def _tensor_load(found: re.Match[str], operands: Operands) -> str:
    operands.need(4 if found["multicast"] else 3)
    to, tensor, barrier = (operands.address(number) for number in range(3))
    at = _of_rank(found, tensor.coordinates)
    if found["multicast"]:
        ranks = operands.value(3)
        return call("tensor_multicast", to.base, tensor.base, barrier.base, ranks, *at)
    return call("tensor_load", to.base, tensor.base, barrier.base, *at)


def _tensor_store(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    tensor, source = operands.address(0), operands.address(1)
    at = _of_rank(found, tensor.coordinates)
    return call("tensor_store", tensor.base, source.base, *at)


def _prefetch(found: re.Match[str], operands: Operands) -> str:
    return call("tensor_prefetch", operands.address(0).base)


def _elect(found: re.Match[str], operands: Operands) -> str:
    lane, elected = operands.pair(0)
    return call("elect", lane, elected, operands.value(1), line=True)


def _setmaxnreg(found: re.Match[str], operands: Operands) -> str:
    increase = "true" if found[1] == "inc" else "false"
    return call("setmaxnreg", increase, operands.value(0), line=True)


def _cluster_barrier(found: re.Match[str], _: Operands) -> str:
    return call(f"cluster_{found[1]}", line=found[1] == "wait")


RULES: dict[str, Rule] = {
    rf"cp\.async\.(ca|cg){_SHARED}\.global": _cp_async,
    r"cp\.async\.commit_group": _plain_call("cp_async_commit"),
    r"cp\.async\.wait_group": _plain_call("cp_async_wait_group"),
    r"cp\.async\.wait_all": _plain_call("cp_async_wait_all"),
    rf"cp\.async\.mbarrier\.arrive\.noinc{_SHARED}\.b64": _at_address("cp_async_mbarrier_arrive"),
    rf"mbarrier\.init{_SHARED}\.b64": _at_address("mbarrier_init_at"),
    rf"mbarrier\.inval{_SHARED}\.b64": _at_address("mbarrier_inval_at"),
    rf"mbarrier\.expect_tx{_ORDER}{_SHARED}\.b64": _at_address("mbarrier_expect_at"),
    rf"mbarrier\.arrive\.expect_tx{_ORDER}{_SHARED}\.b64": (
        _at_address("mbarrier_arrive_expect_at", 1)
    ),
    rf"mbarrier\.arrive{_ORDER}(?:\.shared(?P<cluster>::cluster)|{_SHARED})\.b64": _arrive,
    rf"mbarrier\.(?:try|test)_wait\.parity{_ORDER}{_SHARED}\.b64": _try_wait,
    rf"{_TENSOR}\.shared::(?:cluster|cta)\.global(?:\.tile)?\.mbarrier::complete_tx::bytes"
    r"(?P<multicast>\.multicast::cluster)?": _tensor_load,
    rf"{_TENSOR}\..*im2col.*": _im2col,
    rf"{_TENSOR}\.global\.shared::cta(?:\.tile)?\.bulk_group": _tensor_store,
    r"cp\.async\.bulk\.commit_group": _plain_call("bulk_commit"),
    r"cp\.async\.bulk\.wait_group": _plain_call("bulk_wait_group"),
    r"cp\.async\.bulk\.wait_group\.read": _plain_call("bulk_wait_group_read"),
    r"prefetch\.tensormap": _prefetch,
    r"fence\.proxy\.async(?:\.shared::(?:cta|cluster)|\.global)?": _plain_call("fence_proxy_async"),
    r"fence\.mbarrier_init\.release\.cluster": _plain_call("fence_mbarrier_init"),
    r"(?:fence(?:\.acq_rel|\.sc)?\.(?:cta|cluster|gpu|sys)|membar\.(?:gl|cta|sys))": (
        lambda found, _: "__threadfence()"
    ),
    r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?": _plain_call("barrier_sync", line=True),
    r"(?:bar|barrier)(?:\.cta)?\.arrive(?:\.aligned)?": _plain_call("barrier_arrive", line=True),
    r"bar\.warp\.sync": lambda found, operands: f"__syncwarp({operands.value(0)}, __LINE__)",
    r"barrier\.cluster\.(arrive|wait)(?:\.(?:release|acquire|relaxed))?(?:\.aligned)?": (
        _cluster_barrier
    ),
    r"setmaxnreg\.(inc|dec)\.sync\.aligned\.u32": _setmaxnreg,
    r"elect\.sync": _elect,
    r"griddepcontrol\.wait": _plain_call("grid_dependency_wait"),
    r"griddepcontrol\.launch_dependents": _plain_call("grid_launch_dependents"),
    r"mapa\.shared::cluster\.u(?:32|64)": _plain_call("mapa_shared"),
}
