"""What nvcc merges, counted as the machine code has it; exchanges and loops of atomics."""

from __future__ import annotations

import subprocess
from pathlib import Path

import needs
import pytest

from gemmlab import sim
from gemmlab.core.cuda_tools import find_beside_nvcc, find_nvcc
from gemmlab.core.errors import ArgumentError
from gemmlab.sim.program.run import Options, run_program, source_of, widths_of
from gemmlab.sim.program.widths import Widths, read

PROGRAMS = Path(__file__).parent / "programs"
MERGED, EXCHANGES = PROGRAMS / "merged.cu", PROGRAMS / "exchanges.cu"
pytestmark = [needs.gxx, pytest.mark.slow]


def line_of(file: Path, mark: str) -> int:
    lines = file.read_text().splitlines()
    return next(n for n, line in enumerate(lines, start=1) if f"// [{mark}]" in line)


def accesses(report: sim.ProgramReport, mark: str) -> dict[int, tuple[int, int]]:
    """Bytes a lane -> requests and wavefronts, of the line with this mark."""
    (launch,) = report.launches
    rows = [row for row in launch.lines if row.line == line_of(MERGED, mark)]
    return {row.width_bytes: (row.requests, row.wavefronts) for row in rows}


def widths(**found: tuple[int, ...]) -> Widths:
    """Of lines by their marks."""
    return Widths(
        {
            (
                "merged.cu",
                line_of(MERGED, mark),
                "st.shared" if mark == "stores" else "ld.shared",
            ): w
            for mark, w in found.items()
        }
    )


def run(which: str, widths: Widths | None = None) -> sim.ProgramReport:
    return run_program(source_of(MERGED, (), ()), Options([which], widths=widths))


def test_without_machine_code_accesses_are_counted_as_written():
    report = run("rows")
    # Two warps, eight floats of a thread; the lanes' rows are 32 bytes apart, 8 to a bank.
    assert accesses(report, "stores") == accesses(report, "loads") == {4: (16, 128)}
    assert (report.findings, report.notes) == ((), ())


def test_neighbors_become_one_request_where_the_machine_code_has_one():
    wide = (16,)
    report = run("rows", widths(stores=wide, loads=wide, apart=wide, unaligned=(4, 16)))
    # 16 bytes a lane, rows of 32 bytes: each eight lanes reach 16 of the 32 banks, twice.
    assert accesses(report, "stores") == accesses(report, "loads") == {16: (4, 32)}
    # A column has no neighbors. Elements 1 to 5 of a row: one alone, and two aligned pairs.
    assert accesses(report, "apart") == {4: (16, 16)}
    assert {w: n for w, (n, _) in accesses(report, "unaligned").items()} == {4: 2, 8: 4}
    assert report.findings == ()
    assert [note.split(": ")[0] for note in report.notes] == [
        f"merged.cu:{line_of(MERGED, mark)}" for mark in ("apart", "unaligned")
    ]


def test_half_as_wide_if_that_is_what_the_machine_code_has():
    assert accesses(run("rows", widths(loads=(8,))), "loads") == {8: (8, 64)}


def test_a_barrier_separates_and_what_is_read_twice_is_no_neighbor():
    assert accesses(run("barriers"), "separate") == {4: (16, 16)}
    assert accesses(run("barriers", widths(separate=(16,))), "separate") == {4: (16, 16)}


LISTING = """
.text._Z4rowsPf:
	//## File "/x/merged.cu", line 10
        /*01c0*/                   LDS.128 R8, [R0] ;
        /*01d0*/              @!P0 LDS R3, [R0+0x10] ;
	//## File "/x/helper.cuh", line 3 inlined at "/x/merged.cu", line 12
	//## File "/x/merged.cu", line 12
        /*01e0*/                   LDG.E.64.CONSTANT R4, desc[UR4][R2.64] ;
        /*01f0*/                   STS.U16 [R0], R4 ;
        /*0200*/                   STG.E desc[UR4][R2.64], R15 ;
        /*0210*/                   LDSM.16.M88.4 R4, [R2] ;
"""


def test_a_listing_is_read_line_by_line_and_outwards():
    found = read(LISTING)
    at = {(file, line) for file, line, _ in found.widths}
    assert at == {("merged.cu", 10), ("merged.cu", 12), ("helper.cuh", 3)}
    assert found.widths["merged.cu", 10, "ld.shared"] == (4, 16)
    assert found.widths["helper.cuh", 3, "ld.global"] == (8,)
    assert found.widths["merged.cu", 12, "st.shared"] == (2,)
    assert found.widths["merged.cu", 12, "st.global"] == (4,)
    assert Widths.from_rows(found.to_rows()) == found


@pytest.mark.skipif(
    not (find_nvcc() and find_beside_nvcc("nvdisasm")), reason="needs nvcc and nvdisasm"
)
def test_a_cubin_is_read(tmp_path):
    cubin = tmp_path / "merged.cubin"
    command = [find_nvcc(), "-arch=sm_90a", "-cubin", "-lineinfo", str(MERGED), "-o", str(cubin)]
    subprocess.run(command, check=True)
    report = run("rows", widths_of(cubin))
    assert accesses(report, "loads") == {16: (4, 32)}
    assert report.notes == ()


def test_what_is_no_cubin_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="cubin: there is no file"):
        widths_of(tmp_path / "none.cubin")


def exchanges(which: str) -> sim.ProgramReport:
    return sim.program(EXCHANGES, arguments=[which])


def test_an_exchange_whose_result_is_dropped_is_a_store():
    assert exchanges("counted").status == 0


def test_what_a_block_leaves_behind_says_nothing_of_the_next_one():
    assert exchanges("unfollowed").status == 0


def test_one_whose_result_is_taken_reads():
    (found,) = exchanges("taken").findings
    assert (found.kind, found.line) == ("uninitialised-read", line_of(EXCHANGES, "taken"))


def test_a_loop_that_still_counts_is_not_called_endless(monkeypatch):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.3")
    report = exchanges("many")
    assert (report.status, list(report.findings)) == (3, [])
    (gap,) = report.gaps
    assert f":{line_of(EXCHANGES, 'counted')}: long-loop: Thread " in gap


def test_a_lock_that_is_never_free_is():
    found, _ = exchanges("lock").findings  # the other one: a plain read behind the atomics
    assert (found.kind, found.line) == ("deadlock", line_of(EXCHANGES, "locked"))
