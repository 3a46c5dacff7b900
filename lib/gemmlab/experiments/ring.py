"""The mistakes that a ring of TMA stages invites, and what the simulator says of each.

`python -m gemmlab.experiments.ring` writes them for MbarrierTimeline, which quotes them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from .. import sim
from ..core.paths import repository_root
from ..layouts.mbarrier.model import MODES, Ring, mistakes
from ..layouts.mbarrier.run import run_ring
from ..sim.trace import Findings
from ..widgets import mbarrier_timeline

PROBE = "probes/ring.cuh"
FLOATS, TILES = 1024, 6  # of a tile of A or B; of a run
STAGES, CONSUMERS = (2, 3, 4), (2, 3, 4)
RECORD = Path(mbarrier_timeline.__file__).with_name("findings.json")

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

    Raises ArgumentError for text that is not in the file, BuildError for what does not compile.
    """
    path = repository_root() / "kernels" / PROBE
    module = sim.compile_source(path, LAUNCHERS[mode], changes=changes)
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


def quoted(ring: Ring) -> Findings:
    """The findings that say of a run what the model says.

    All threads that cannot go on; of a tile's two boxes only what is found of B.
    """
    kind = run_ring(ring).outcome
    found = [f for f in findings(ring) if kind in KINDS.get(f.kind, ())]
    return Findings(found if kind == "deadlock" else found[-1:])


def changed_lines(mode: str, mistake: str) -> list[list]:
    """The lines of the mode's kernel that a mistake changes: number, before, after."""
    before = _text().splitlines()
    after = _text(mistake).splitlines()
    kernels = [i for i, line in enumerate(before) if line.startswith("__global__")]
    first, last = (kernels[0], kernels[1]) if mode == "producer warp" else (kernels[1], len(before))
    return [
        [i + 1, _code(old), _code(new)]
        for i, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new and (i < kernels[0] or first <= i < last)
    ]


def _text(mistake: str = "none") -> str:
    """The probe's text, with a mistake in it."""
    path = repository_root() / "kernels" / PROBE
    text = path.read_text(encoding="utf-8")
    for old, new in RING_MISTAKES.get(mistake, {}).items():
        text = text.replace(old, new)
    return text


def record() -> dict:
    """What findings.json holds: each mistake's changed lines, and its sentences.

    quotes: by mode, mistake, consumers and stages the numbers of `texts`; of a text the message and
    the lines that it names.
    """
    texts: list[dict] = []
    data: dict = {"tiles": TILES, "changes": {}, "quotes": {}, "texts": texts}
    for mode in MODES:
        known = [mistake for mistake in mistakes(mode, max(CONSUMERS)) if mistake != "none"]
        data["changes"][mode] = {m: changed_lines(mode, m) for m in known}
        data["quotes"][mode] = {m: _quotes(mode, m, texts) for m in known}
    return data


def _quotes(mode: str, mistake: str, texts: list[dict]) -> dict[str, dict[str, list[int]]]:
    """By consumers and stages the numbers of the sentences; new ones are added to `texts`."""
    lines = _text(mistake).splitlines()
    found: dict[str, dict[str, list[int]]] = {}
    for consumers in CONSUMERS:
        if mistake not in mistakes(mode, consumers):
            continue
        found[str(consumers)] = {}
        for stages in STAGES:
            said = [
                _entry(f.message, lines)
                for f in quoted(Ring(mode, mistake, TILES, stages, consumers))
            ]
            texts += [entry for entry in said if entry not in texts]
            found[str(consumers)][str(stages)] = [texts.index(entry) for entry in said]
    return found


def _entry(message: str, lines: list[str]) -> dict:
    numbers = sorted({int(n) for n in re.findall(r"\b[Ll]ine (\d+)", message)})
    return {"message": message, "lines": [[n, _code(lines[n - 1])] for n in numbers]}


def _code(line: str) -> str:
    """A line without its comment."""
    return line.partition("//")[0].strip()


def written(data: dict) -> str:
    """The text of findings.json: a line for each mistake of a mode, and for each sentence."""
    by_mode = {
        part: _object({mode: _object(_dumped(rows)) for mode, rows in data[part].items()})
        for part in ("changes", "quotes")
    }
    texts = ",\n".join(map(json.dumps, data["texts"]))
    return _object({"tiles": data["tiles"], **by_mode, "texts": f"[\n{texts}\n]"}) + "\n"


def _dumped(rows: dict) -> dict[str, str]:
    return {key: json.dumps(row) for key, row in rows.items()}


def _object(parts: dict[str, str]) -> str:
    """A JSON object with a line for each key, of values that are JSON already."""
    rows = ",\n".join(f"{json.dumps(key)}: {text}" for key, text in parts.items())
    return f"{{\n{rows}\n}}"


if __name__ == "__main__":
    RECORD.write_text(written(record()), encoding="utf-8")
