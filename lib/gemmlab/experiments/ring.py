"""The mistakes that a ring of TMA stages invites, and what the simulator says of each.

MbarrierTimeline quotes what tools/ring_findings.py has kept of it.
"""

from __future__ import annotations

import numpy as np

from .. import sim
from ..core.arguments import choice, size
from ..core.paths import kernels_folder
from ..layouts.mbarrier.model import Ring
from ..layouts.mbarrier.run import run_ring
from ..sim.trace import Findings

PROBE = "probes/ring.cuh"
FLOATS, TILES = 1024, 6  # of a tile of A or B; of a run
STAGES, CONSUMERS = (2, 3, 4), (2, 3, 4)

_WAIT_FULL = "mbarrier_wait(smem_addr(&full[s]), parity);"
_WAIT_EMPTY = "mbarrier_wait(smem_addr(&empty[s]), parity ^ 1);"
_INIT_FULL = "mbarrier_init(smem_addr(&full[s]), 1);"
_INIT_EMPTY = "mbarrier_init(smem_addr(&empty[s]), consumers);"
_READ = "      sum += dot(stage[s], thread, 32 * consumers);\n"
_SYNC = "      __syncwarp();  // all lanes have read\n"
_RELEASE = "      if (lane_id == 0) mbarrier_arrive(smem_addr(&empty[s]));\n"
_BYTES = "mbarrier_arrive_expect_tx(full_addr, sizeof(Stage));"

# A mistake of layouts/mbarrier/model.py -> what it changes in kernels/probes/ring.cuh. No line is
# added or removed, so the lines of a finding are those of the file.
RING_MISTAKES: dict[str, dict[str, str]] = {
    "bytes_many": {_BYTES: _BYTES.replace("sizeof(Stage)", "sizeof(Stage) + sizeof(Stage::B)")},
    "bytes_few": {_BYTES: _BYTES.replace("Stage", "Stage::A")},
    "consumer_parity": {_WAIT_FULL: _WAIT_FULL.replace("parity", "parity ^ 1")},
    "producer_parity": {_WAIT_EMPTY: _WAIT_EMPTY.replace("parity ^ 1", "parity")},
    "no_full_wait": {_WAIT_FULL: ""},
    "no_empty_wait": {_WAIT_EMPTY: "", "__syncthreads();  // everyone": "// everyone"},
    "consumer_no_flip": {_WAIT_FULL: _WAIT_FULL.replace("parity", "0")},
    "producer_no_flip": {_WAIT_EMPTY: _WAIT_EMPTY.replace("parity ^ 1", "1")},
    "full_count": {_INIT_FULL: _INIT_FULL.replace("1);", "2);")},
    "empty_more": {_INIT_EMPTY: _INIT_EMPTY.replace("consumers", "consumers + 1")},
    "empty_fewer": {_INIT_EMPTY: _INIT_EMPTY.replace("consumers", "consumers - 1")},
    "early_release": {_READ + _SYNC + _RELEASE: _RELEASE + _SYNC + _READ},
}
LAUNCHERS = {"producer warp": "launch_ring_producer", "syncthreads": "launch_ring_sync"}

# The simulator's kind of finding -> the model's kinds of outcome. A read of a stage that a copy
# fills is stale if the copy brings its tile; a stage that a later tile comes to is overwritten.
KINDS: dict[str, tuple[str, ...]] = {
    "deadlock": ("deadlock",),
    "transaction-bytes": ("deadlock",),
    "read-before-wait": ("stale", "overwritten"),
    "uninitialised-read": ("stale",),
    "overwrite-before-release": ("overwritten",),
    "barrier-overrun": ("overrun",),
}


def try_ring(
    changes: dict[str, str] | None = None,
    mode: str = "producer warp",
    *,
    tiles: int = TILES,
    stages: int = 3,
    consumers: int = 2,
) -> tuple[Findings, bool]:
    """Run kernels/probes/ring.cuh, changed, in the simulator: its findings; are the sums right?

    changes: text of the file -> the text that replaces it, as in RING_MISTAKES. mode: "producer
    warp" or "syncthreads". tiles: pairs of boxes, A and B, that go through the ring; stages: of the
    ring; consumers: warps that read. Raises ArgumentError for text that is not in the file,
    BuildError for what does not compile, BackendError without g++.
    """
    for name, value in (("tiles", tiles), ("stages", stages), ("consumers", consumers)):
        size(name, value)
    launcher = LAUNCHERS[choice("mode", mode, LAUNCHERS)]
    module = sim.compile_source(kernels_folder() / PROBE, launcher, changes=changes)
    A, B = (m.ravel() for m in sim.integer_matrices(tiles, tiles, FLOATS)[:2])
    sums = np.full(32 * consumers, np.nan, np.float32)
    found = module.trace(A, B, sums, stages, consumers, tiles).findings
    products = (A * B).reshape(tiles, FLOATS).sum(axis=0)
    right = [products[i :: sums.size].sum() for i in range(sums.size)]
    return found, np.array_equal(sums, right)


def findings(ring: Ring) -> Findings:
    """What the simulator finds in kernels/probes/ring.cuh with the ring's mistake."""
    sizes = {"tiles": ring.tiles, "stages": ring.stages, "consumers": ring.consumers}
    return try_ring(RING_MISTAKES.get(ring.mistake), ring.mode, **sizes)[0]


def ring_findings(ring: Ring) -> Findings:
    """What the simulator finds in kernels/probes/ring.cuh where the model of a ring goes wrong.

    ring: with its mistake. Of a deadlock all threads that cannot go on are named; of a tile's two
    boxes only what is found of B.
    Raises BackendError without g++, ArgumentError for anything but a Ring.
    """
    kind = run_ring(ring).outcome
    found = [f for f in findings(ring) if kind in KINDS.get(f.kind, ())]
    return Findings(found if kind == "deadlock" else found[-1:])
