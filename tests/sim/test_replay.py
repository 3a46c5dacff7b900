"""A block's run on one time line: sim/replay.py, and the widget that scrubs through it."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace

import needs
import numpy as np
import pytest
from replay_values import known

from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.sim.journal import KINDS, MOST, NO_VALUE, Journal
from gemmlab.sim.replay import BARRIER, UNKNOWN, replayed
from gemmlab.sim.trace import Trace
from gemmlab.steps import registry
from gemmlab.widgets import Replay, replay

pytestmark = needs.gxx
STEP = "sgemm_06_swizzled_a"
SIZE = (128, 128, 32)
LONGEST = "sgemm_09_thread_coarsening"  # two million events
SOON_S = 4.0  # on a slow machine, too


@pytest.fixture(scope="module")
def trace():
    return sim.trace(STEP, *SIZE, journal=True)


@pytest.fixture(scope="module")
def run(trace):
    return replayed(trace)


def test_every_request_of_the_trace_is_a_step(trace, run):
    for op in ("ld.shared", "st.shared", "ld.global", "st.global"):
        steps = [s for steps in run.warps for s in steps if KINDS[s.kind] == op]
        assert len(steps) == trace.totals()[op]["requests"]


def test_a_barrier_ends_for_all_when_the_last_has_come(run):
    barriers = [[s for s in steps if s.kind == BARRIER] for steps in run.warps]
    for together in zip(*barriers, strict=True):
        assert len({s.until for s in together}) == 1
        assert max(s.tick for s in together) + 1 == together[0].until
    for steps in run.warps:
        assert all(a.until == b.tick for a, b in itertools.pairwise(steps))


def test_loads_read_what_the_matrices_have(trace, run):
    A, B, _ = sim.integer_matrices(*SIZE)
    seen = known(run)["global"][0]
    for name, matrix in (("A", A), ("B", B)):
        start = next(place.start for place in trace.places if place.name == name)
        flat = matrix.ravel()
        assert [seen[start + 4 * i] for i in range(flat.size)] == flat.astype(int).tolist()


def test_shared_memory_has_the_tile_of_its_epoch(trace, run):
    """Rows of sB are rows of B: of the first k tile, and two barriers later of the second."""
    _, B, _ = sim.integer_matrices(*SIZE)
    start = next(place.start for place in trace.places if place.name == "sB")
    for tile, epoch in enumerate(sorted(known(run)["shared"])):
        seen = known(run)["shared"][epoch]
        found = [seen[start + 4 * i] for i in range(16 * 128)]
        assert found == B[16 * tile : 16 * tile + 16].astype(int).ravel().tolist()
        assert UNKNOWN not in found


def test_stores_write_what_is_read_after_the_barrier(run):
    """Each k tile is stored in one epoch, and read in the next."""
    values = known(run)
    written, read = values["to shared"], values["shared"]
    assert [epoch + 1 for epoch in sorted(written)] == sorted(read)
    for epoch, values in written.items():
        assert UNKNOWN not in values.values()
        assert read[epoch + 1].items() <= values.items()


def test_stores_to_global_memory_write_the_product(trace, run):
    A, B, _ = sim.integer_matrices(*SIZE)
    start = next(place.start for place in trace.places if place.name == "C")
    written, C = known(run)["to global"][0], (A @ B).astype(int)
    assert [written[start + 4 * i] for i in range(C.size)] == C.ravel().tolist()


@pytest.mark.parametrize(
    ("step", "copied"), [("hgemm_09_wmma_pipeline", True), ("tma_01_load", False)]
)
def test_copies_and_matrices_have_the_values_of_a_and_b(step, copied):
    """cp.async tells what it copies, ldmatrix what it reads, even where TMA has brought it."""
    run = replayed(sim.trace(step, 128, 128, 64, journal=True), "bfloat16")
    found = known(run)["to shared" if copied else "shared"]
    values = [value for epoch in found.values() for value in epoch.values()]
    assert len(values) >= 2 * 128 * 32
    assert set(values) - {UNKNOWN} <= {-4, -3, -2, -1, 0, 1, 2, 3, 4}
    assert len(set(values)) > 2
    assert bool(known(run)["global"]) == copied


def test_a_box_has_the_values_that_the_engine_brings():
    """All of A's and B's tile, each element where ldmatrix then reads it, and nothing unknown."""
    trace = sim.trace("tma_01_load", 128, 128, 64, journal=True)
    run = replayed(trace, "bfloat16")
    A, B, _ = sim.integer_matrices(128, 128, 64)
    values = known(run)
    (written,), read = values["to shared"].values(), values["shared"]
    assert sorted(written.values()) == sorted([*A.ravel().astype(int), *B.ravel().astype(int)])
    same = {at: value for seen in read.values() for at, value in seen.items() if at in written}
    assert len(same) == len(written) and same.items() <= written.items()
    boxes = [s for steps in run.warps for s in steps if KINDS[s.kind] == "mark tma.load"]
    assert len(boxes) == 3 and all(max(box.addresses) in written for box in boxes)
    assert "mark box" not in {KINDS[s.kind] for steps in run.warps for s in steps}


def test_a_later_store_of_another_thread_is_not_taken_for_this_one():
    """A value is read from memory when its thread goes on, not when the block ends."""
    trace = sim.trace("sgemm_08_double_buffer", 128, 128, 32, journal=True)
    for kind, thread in (("st.shared", 0), ("st.global", 0)):
        rows = trace.events().threads()[thread]
        stores = rows[rows["kind"] == KINDS.index(kind)]
        assert len(stores) and (stores["value"] != NO_VALUE).all()


def test_bfloat16_values_are_read_as_such():
    run = replayed(sim.trace("hgemm_02_block_tiling", 32, 32, 32, journal=True), "bfloat16")
    A, *_ = sim.integer_matrices(32, 32, 32, types=sim.precisions.PRECISIONS["fp32"])
    values = np.array(list(known(run)["global"][0].values()))
    assert set(values.tolist()) <= set(range(-4, 5))
    assert np.isin(A.astype(int), values).all()


def test_a_trace_without_a_journal_is_refused():
    with pytest.raises(ArgumentError, match="journal=True"):
        Replay(sim.trace(STEP, *SIZE))


def test_a_warp_that_is_not_there_is_refused(trace):
    with pytest.raises(ArgumentError, match=r"warp: got 8, .*0 to 7"):
        Replay(trace, warp=8)


@pytest.mark.parametrize(
    "step", [STEP, LONGEST, "sgemm_15_large_thread_tile", "hgemm_10_mma", "tma_01_load"]
)
def test_a_page_can_carry_it(step):
    widget = replay(step)  # 128x128x64
    assert len(widget.to_html()) < 300_000
    assert "warp 0: line" in widget.summary()


def test_the_longest_run_opens_at_once():
    """From the launch on it computes for 0.6 s on a laptop; a loop over its events takes minutes.

    The best of some tries, as other work slows down caches.
    """
    sim.compile_step(registry.program(LONGEST))
    times = []
    for _ in range(3):
        begin = time.process_time()
        replay(LONGEST)
        times.append(time.process_time() - begin)
    assert min(times) < SOON_S


def test_a_copy_that_reads_nothing_has_no_address():
    """At the edge of an odd product some lanes fill with zeros, and have no source."""
    seen = replay("sgemm_20_any_shape", 65, 65, 17)
    steps = [step for steps in seen._run.warps for step in steps]
    copies = [step for step in steps if KINDS[step.kind] == "cp.async.global"]
    assert any(-1 in step.addresses for step in copies)
    assert max(max(step.addresses) for step in steps) < 1 << 31


def test_a_run_that_is_too_long_says_so(trace):
    journal = replace(trace.events(), is_cut=True)
    said = Replay(replace(trace, journal=journal)).config["title"]
    assert said.endswith(f"its first {len(journal.own):,} events")
    assert "first" not in Replay(trace).config["title"]


def test_a_run_that_is_cut_is_cut_between_steps():
    """Of each warp all lanes end at the same place, and what is left is replayed as it was."""
    trace = sim.trace(LONGEST, 128, 128, 256, journal=True)
    journal = trace.events()
    assert journal.is_cut and MOST - (1 << 18) < len(journal.own) <= MOST
    run = replayed(trace)
    assert all((steps.addresses >= 0).all() for steps in run.warps)
    assert sum(len(steps) for steps in run.warps) * 32 == len(journal.own)


def test_rows_are_in_the_order_in_which_warps_took_turns():
    """A judge tells by it which of two warps was first; `own` has them thread by thread."""
    journal = sim.events("sgemm_03c_square_per_thread", 128, 128, 64).events()
    warps = journal.rows["thread"] // 32
    assert np.count_nonzero(np.diff(warps)) > warps.max() + 1
    assert (np.diff(journal.own["thread"].astype(int)) >= 0).all()
    for thread in (0, 100):
        mine = journal.rows[journal.rows["thread"] == thread]
        assert (mine == journal.threads()[thread]).all()


def test_the_count_of_an_mbarrier_is_in_the_journal():
    """Of four stages: one thread fills each, and two warpgroups empty it."""
    journal = sim.events("wgmma_03_producer", 128, 256, 256).events()
    rows = journal.own[journal.own["kind"] == KINDS.index("mark mbarrier.init")]
    assert len(set(rows["address"].tolist())) == len(rows) == 8
    assert sorted(journal.numbers(rows).tolist()) == [1] * 4 + [2] * 4
    assert (journal.own["value"] != NO_VALUE).sum() == len(rows)


def test_a_journal_survives_as_text(trace):
    journal = trace.events()
    again = Trace.from_plain(json.loads(json.dumps(trace.plain()))).events()
    assert (again.rows == journal.rows).all() and (again.words == journal.words).all()
    assert not again.is_cut and replace(journal, is_cut=True).text() != journal.text()
    assert not len(Journal.read(Journal().text()).rows)
