"""Operators that take a call of a synchronisation function away, or make a wait weaker."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .code import Call, Code
from .draft import Draft, drafts

# Operator -> the functions whose calls it removes.
REMOVED = {
    "remove barrier": r"__syncthreads|__syncwarp|bar_sync|cluster_sync",
    "remove wait": r"(cp_async|wgmma|bulk|cluster)_wait\w*|__pipeline_wait_prior|mbarrier_wait\w*",
    "remove fence": r"fence_\w+|wgmma_fence|__threadfence\w*",
    "remove commit": r"(cp_async|wgmma|bulk|__pipeline)_commit",
    "remove arrive": r"(cp_async_)?mbarrier_(arrive|expect)\w*|(bar|cluster)_arrive\w*",
    "remove init": r"mbarrier_init",
    "remove copy": r"cp_async_c[ag]\w*|tma_(load|store)\w*|__pipeline_memcpy_async",
}
_REMOVED = {operator: re.compile(names) for operator, names in REMOVED.items()}
_ANY = re.compile("|".join((*REMOVED.values(), r"mbarrier_(try|test)_wait\w*|wgmma_m64\w*")))
_TRY_WAIT = re.compile(r"mbarrier_(try|test)_wait\w*")
_LEAVES_GROUPS = re.compile(r"(cp_async|wgmma|bulk)_wait(_read)?")


def synchronises(call: Call) -> bool:
    """Whether a call waits, arrives, orders, or starts what is waited for."""
    return bool(_ANY.fullmatch(call.name))


def removals(code: Code) -> Iterator[Draft]:
    """Every synchronising call on its own line of the program removed, one at a time.

    A wait that is a condition is made true.
    """
    for call in code.calls:
        if _TRY_WAIT.fullmatch(call.name):
            yield from drafts("remove wait", code, call.span, "true")
        for operator, names in _REMOVED.items():
            if names.fullmatch(call.name) and code.is_statement(call.span):
                yield from drafts(operator, code, call.span, "")


def weaker_waits(code: Code) -> Iterator[Draft]:
    """Waits that leave one more group pending.

    One group fewer only waits longer, which is never wrong: that is no mutant.
    """
    for call in code.calls:
        if _LEAVES_GROUPS.fullmatch(call.name) and call.template:
            yield from drafts("weaken wait", code, call.template, "({}) + 1")
        elif call.name == "__pipeline_wait_prior":
            yield from drafts("weaken wait", code, call.arguments[0], "({}) + 1")
