"""The text of a third build, which traces: warpgroups also say when they do what.

A step's own text stays as it is. In this copy, the project's headers stand in place, and texts of
EVENTS are replaced by the same ones with calls of kernels/probes/event_clock.cuh between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..core.arguments import brief, one_of_many
from ..core.errors import ArgumentError
from ..core.paths import kernels_folder
from .text import inlined_text

_CURSOR = {
    "  int stage = 0, offset = 0;\n  uint32_t parity = 0;\n": (
        "  EventCursor events;\n  int stage = 0, offset = 0;\n  uint32_t parity = 0;\n"
    ),
}
# Of the loops over k tiles. What is found finished beside the products of k tile k is k - 1. It and
# the full stage are noted, and written when the next products have been started.
_PRODUCTS = {
    """\
        ring.wait_full();
        start(ring.offset, piece > 0);
        between(piece);
        wgmma_wait<1>();
""": """\
        ring.wait_full();
        ring.events.note(EVENT_FULL);
        start(ring.offset, piece > 0);
        ring.events.put(EVENT_STARTED, piece);
        ring.events.put(EVENT_STORE, piece);
        between(piece);
        ring.events.put(EVENT_STORED, piece);
        wgmma_wait<1>();
        ring.events.note(EVENT_DONE);
""",
    """\
      ring.wait_full();
      start(ring.offset, k_tile > 0);
      wgmma_wait<1>();
""": """\
      ring.wait_full();
      ring.events.note(EVENT_FULL);
      start(ring.offset, k_tile > 0);
      ring.events.put(EVENT_STARTED, k_tile);
      wgmma_wait<1>();
      ring.events.note(EVENT_DONE);
""",
    "    return used_addr;\n": """\
    ring.events.put_noted(EVENT_DONE, depth - 2);
    return used_addr;
""",
}
_WHOLE_TILE = {
    """\
    finish_tiles(start_tiles<PIECES>(ring, depth, release, between), depth, release);
""": """\
    finish_tiles(start_tiles<PIECES>(ring, depth, release, between), depth, release);
    ring.events.put(EVENT_DONE, depth - 1);
""",
}

# Step -> its schedule, as the model of layouts/warpgroups/ has it.
SCHEDULES = {
    "wgmma_05_persistent": "persistent",
    "wgmma_08_order": "deferred",
    "wgmma_13_ping_pong": "ping-pong",
}
# Step -> old text, as it stands behind its headers without comments -> text with events.
EVENTS: Mapping[str, Mapping[str, str]] = {
    "wgmma_05_persistent": {
        **_CURSOR,
        **_PRODUCTS,
        **_WHOLE_TILE,
        """\
        ring.wait_empty();
        const uint32_t to_addr""": """\
        ring.wait_empty();
        ring.events.put(EVENT_EMPTY, k_tile / BK);
        const uint32_t to_addr""",
        """\
                      tile.y * BN + j, k_tile);
        ring.next();
""": """\
                      tile.y * BN + j, k_tile);
        ring.events.put(EVENT_ASKED, k_tile / BK);
        ring.next();
""",
        """\
    scale_sums(out, row, col, sums.acc[0]);
    store_rows(out, &map_c, store_ring, row, col, sums.acc[0]);
""": """\
    ring.events.put(EVENT_STORE, 0);
    scale_sums(out, row, col, sums.acc[0]);
    store_rows(out, &map_c, store_ring, row, col, sums.acc[0]);
    ring.events.put(EVENT_STORED, 0);
""",
    },
    "wgmma_08_order": {
        **_CURSOR,
        **_PRODUCTS,
        **_WHOLE_TILE,
        """\
          ring.wait_empty();
          mbarrier_arrive_expect_tx""": """\
          ring.wait_empty();
          ring.events.put(EVENT_EMPTY, i);
          mbarrier_arrive_expect_tx""",
        """\
tile.y * S::BN, k_tile * S::BK, rank);
          ring.next();
""": """\
tile.y * S::BN, k_tile * S::BK, rank);
          ring.events.put(EVENT_ASKED, i);
          ring.next();
""",
        """\
      scale_sums(out, row, col, sums.acc[0]);
      if constexpr (is_half<TC>)
        late.take(sums.acc[0], row, col);
      else
""": """\
      ring.events.put(EVENT_PACK, 0);
      scale_sums(out, row, col, sums.acc[0]);
      if constexpr (is_half<TC>)
        late.take(sums.acc[0], row, col), ring.events.put(EVENT_PACKED, 0);
      else
""",
        """\
    if constexpr (is_half<TC>) late.put_all();
""": """\
    ring.events.put(EVENT_STORE, 0);
    if constexpr (is_half<TC>) late.put_all();
    ring.events.put(EVENT_STORED, 0);
""",
    },
    "wgmma_13_ping_pong": {
        **_CURSOR,
        **_PRODUCTS,
        """\
        ring.wait_empty();
        mbarrier_arrive_expect_tx""": """\
        ring.wait_empty();
        ring.events.put(EVENT_EMPTY, k_tile);
        mbarrier_arrive_expect_tx""",
        """\
                      tile.y * S::BN, k_tile * S::BK, 0);
        ring.next();
""": """\
                      tile.y * S::BN, k_tile * S::BK, 0);
        ring.events.put(EVENT_ASKED, k_tile);
        ring.next();
""",
        """\
    mbarrier_wait(turn_addr + wg_id * 8, turn_parity), turn_parity ^= 1;
""": """\
    ring.events.put(EVENT_AWAITS, 0);
    mbarrier_wait(turn_addr + wg_id * 8, turn_parity), turn_parity ^= 1;
    ring.events.put(EVENT_TURN, 0);
""",
        """\
    if (threadIdx.x % 128 == 0) mbarrier_arrive(turn_addr + (wg_id ^ 1) * 8);
    sums.finish_tiles(used_addr, depth, release);
""": """\
    if (threadIdx.x % 128 == 0) mbarrier_arrive(turn_addr + (wg_id ^ 1) * 8);
    ring.events.put(EVENT_PASSED, 0);
    sums.finish_tiles(used_addr, depth, release);
    ring.events.put(EVENT_DONE, depth - 1);
    ring.events.put(EVENT_STORE, 0);
""",
        """\
      store_rows(out, &maps.c, store_ring, row, col, sums.acc[half]);
    }
""": """\
      store_rows(out, &maps.c, store_ring, row, col, sums.acc[half]);
    }
    ring.events.put(EVENT_STORED, 0);
""",
    },
}


def header() -> Path:
    """The file that declares how an event is written."""
    return kernels_folder() / "probes" / "event_clock.cuh"


def traced(name: str, cuda: str, events: Mapping[str, str] | None = None) -> str:
    """A CUDA text that includes the step `name`, with its headers in place and its events.

    The functions of single instructions stay an `#include <ptx/...>`. events: other replacements
    than the step's own. Raises ArgumentError for a step that has no events, and for an old text
    that does not occur exactly once: the step has changed since.
    """
    found = events or EVENTS[one_of_many("name", name, EVENTS, "traced steps")]
    text = inlined_text(f"#include <probes/{header().name}>\n{cuda}", kernels_folder(), kept="ptx/")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)  # where comments were
    for old, new in found.items():
        if (count := text.count(old)) != 1:
            raise ArgumentError(
                f"events: {brief(old)} occurs {count} times in the text of {name}, and is to occur "
                "once; see to its place in steps/traced.py"
            )
        text = text.replace(old, new)
    return text
