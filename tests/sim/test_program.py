"""Whole CUDA programs, as `gemmlab sim` runs them: what comes out, what is found, and where."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import needs
import numpy as np
import pytest
from click.testing import CliRunner

from gemmlab import sim
from gemmlab.cli import main
from gemmlab.core.errors import ArgumentError
from gemmlab.sim.program.blockers import NotRunnableError

PROGRAMS = Path(__file__).parent / "programs"
PARTS = PROGRAMS / "parts"
pytestmark = needs.gxx


def line_of(file: str, mark: str) -> int:
    text = (PROGRAMS / file).read_text().splitlines()
    return next(n for n, line in enumerate(text, start=1) if f"// [{mark}]" in line)


@pytest.fixture(scope="module")
def broken():
    """A function: a case of broken.cu -> its report."""

    @functools.cache
    def run(case: str, **how):
        return sim.program(PROGRAMS / "broken.cu", arguments=[case], **how)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("host_api", "inline_ptx", "groups", "grids", "foreign", "textures", "wmma_types"),
        *("cluster_arrive", "graphs", "captures", "on_device"),
    ],
)
def test_correct_programs_are_clean(name):
    arguments = [] if name == "grids" else ["a"]
    report = sim.program(PROGRAMS / f"{name}.cu", arguments=arguments)
    assert (report.status, list(report.findings), report.gaps) == (0, [], ())
    assert report.exit_status == 0 and "right\n" in report.output


def test_launches_have_names_sizes_and_the_users_lines():
    report = sim.program(PROGRAMS / "inline_ptx.cu")
    product, handed, numbers = report.launches
    assert [launch.name for launch in report.launches] == ["product", "handed", "numbers"]
    assert (product.grid, product.block, product.runs) == ((1, 1, 1), (32, 1, 1), 1)
    launched = line_of("inline_ptx.cu", "launch")
    assert handed.block == (64, 1, 1) and numbers.place.endswith(f".cu:{launched}")
    loaded = next(row for row in product.lines if row.op == "ldmatrix")
    assert "asm volatile(" in loaded.source and loaded.file.endswith("inline_ptx.cu")
    assert (loaded.line, loaded.wavefronts_min) == (line_of("inline_ptx.cu", "ldmatrix"), 4)
    assert {row.op for row in product.lines} >= {"cp.async.shared", "st.global"}


def test_equal_launches_are_counted_together():
    report = sim.program(PROGRAMS / "host_api.cu", arguments=["a"])
    (count,) = (launch for launch in report.launches if launch.name == "count")
    assert count.runs == 2 and "2 launches counted together" in count.title
    names = [launch.name for launch in report.launches]
    assert names == ["scaled", "reversed", "reversed", "reversed", "count"]
    assert report.output.count("block 1\n") == 2
    only = sim.program(PROGRAMS / "host_api.cu", arguments=["a"], kernel="count")
    assert [launch.name for launch in only.launches] == ["count"]


def test_two_files_an_include_folder_macros_and_clusters():
    how = {"include": [PARTS / "include"], "define": {"FACTOR": 3}}
    report = sim.program([PARTS / "main.cu", PARTS / "other.cu"], **how)
    assert (report.status, report.output) == (0, "right\n")
    clustered, scaled = report.launches
    assert clustered.cluster == (2, 1, 1) and scaled.cluster == (1, 1, 1)
    assert report.notes == (
        "there is no header thrust/device_vector.h; the program does not need it",
    )


CASES = {
    "race": ("race", "race write", "race read"),
    "outside": ("out-of-bounds", "outside", None),
    "assertion": ("assertion", "assertion", None),
    "refused": ("launch-refused", "refused", None),
    "host": ("launcher", "host", None),
    "foreign-free": ("bad-free", "foreign-free", None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_found_at_its_line(broken, case):
    report = broken(case)
    kind, mark, other = CASES[case]
    found = {(f.kind, f.line, f.other_line) for f in report.findings}
    expected = (kind, line_of("broken.cu", mark), other and line_of("broken.cu", other))
    assert report.status == 1
    assert expected in found or (kind, expected[2], expected[1]) in found
    assert all(f.file and f.file.endswith("broken.cu") for f in report.findings)


def test_a_buffer_is_named_by_the_line_that_allocates_it(broken):
    (found,) = broken("outside").findings
    line = line_of("broken.cu", "allocation")
    assert f"4 bytes past the end of the 256 bytes that broken.cu:{line} allocates" in found.message


def test_use_after_free_is_found(broken):
    assert [f.kind for f in broken("freed").findings] == ["out-of-bounds"]


@pytest.mark.parametrize(("case", "status"), [("fine", 0), ("exit", 3), ("race", 0)])
def test_the_exit_status_is_mains(broken, case, status):
    report = broken(case)
    assert report.exit_status == status
    assert any(f.kind == "exit-status" for f in report.findings) == (status != 0)


@pytest.mark.parametrize(("case", "kind"), [("abort", "ended"), ("crash", "launcher")])
def test_a_program_that_crashes_is_a_finding(broken, case, kind):
    report = broken(case)
    assert (report.status, report.exit_status) == (1, None)
    assert [f.kind for f in report.host] == [kind]


def test_ptx_that_is_not_simulated_is_named_and_leaves_the_run_incomplete(broken):
    report = broken("unknown")
    assert (report.status, list(report.findings)) == (3, [])
    place = f"broken.cu:{line_of('broken.cu', 'unknown')}"
    (gap,) = report.gaps  # once, though the text has the place, too
    assert place in gap and "needs what is not simulated: inline PTX: tcgen05.fence" in gap
    assert gap.endswith("To run it, write this line without it, or run the program on a GPU")
    assert broken("fine").gaps == ()  # nothing comes to it


def test_a_kernel_that_waits_for_its_own_launches_leaves_the_run_incomplete(broken):
    report = broken("nested")
    assert (report.status, report.exit_status) == (3, 0)
    place = f"broken.cu:{line_of('broken.cu', 'nested')}"
    assert any("has launched" in gap and place in gap for gap in report.gaps), report.gaps
    assert "To run it, leave it out" in report.gaps[0]


def test_launches_by_a_kernel_and_by_a_graph_are_counted_as_others():
    report = sim.program(PROGRAMS / "on_device.cu")
    (tree,) = (launch for launch in report.launches if launch.name == "tree")
    assert tree.runs == 1 + 4 + 16  # each of 4 threads launches 4 threads, twice
    report = sim.program(PROGRAMS / "graphs.cu")
    (counted,) = (launch for launch in report.launches if launch.name == "count_down")
    assert counted.runs == 3 * 5 + 2 and counted.totals()["requests"] > 0


# By a launch's number, what it loads of A from global memory and of B from shared memory, as the
# machine code that nvcc makes for sm_90a: (op, bytes a lane, requests). One request for each
# element; for bytes along k one for each register, or one ldmatrix for all.
WMMA_LOADS = {
    0: {("ld.global", 4, 4), ("ld.shared", 4, 4)},  # tf32
    5: {("ld.global", 4, 2), ("ldmatrix", 16, 1)},  # int8, both along k
    6: {("ld.global", 1, 8), ("ld.shared", 1, 8)},  # int8, neither
    28: {("ld.global", 8, 1), ("ld.shared", 8, 1)},  # double
}


@pytest.mark.slow
def test_wmma_loads_as_the_machine_code():
    launches = sim.program(PROGRAMS / "wmma_types.cu").launches
    lines = [line_of("wmma_types.cu", mark) for mark in ("load a", "load b")]
    for number, expected in WMMA_LOADS.items():
        rows = [row for row in launches[number].lines if row.line in lines]
        assert {(row.op, row.width_bytes, row.requests) for row in rows} == expected, number


@pytest.mark.slow
def test_a_groups_copy_is_waited_for(tmp_path):
    file = tmp_path / "groups.cu"
    text = (PROGRAMS / "groups.cu").read_text()
    file.write_text(text.replace("cg::wait_prior<1>(block);", "cg::wait_prior<2>(block);"))
    found = {(one.kind, one.line) for one in sim.program(file).findings}
    assert ("read-before-wait", line_of("groups.cu", "first") + 1) in found


@pytest.mark.slow
def test_a_grids_barrier_orders_its_blocks():
    """Without it there is a race; without a cooperative launch there is no barrier."""

    def found(case: str) -> set[tuple]:
        report = sim.program(PROGRAMS / "grids.cu", arguments=[case])
        return {(f.kind, f.line) for f in report.findings}

    assert ("race", line_of("grids.cu", "use")) in found("race")
    assert {kind for kind, _ in found("plain")} == {"assertion"}
    report = sim.program(PROGRAMS / "grids.cu", arguments=["leaves"])
    stuck = [f for f in report.findings if f.line == line_of("grids.cu", "left")]
    assert stuck and all(f.kind == "deadlock" for f in stuck)
    assert "to which 4 of the grid's 5 blocks have come" in stuck[0].message
    many = sim.program(PROGRAMS / "grids.cu", arguments=["many"])
    assert many.status == 3 and any("more than 132 blocks" in gap for gap in many.gaps)


@pytest.mark.slow
def test_a_ticket_that_is_a_variable_orders_blocks_behind_a_fence():
    """That there is nothing to find with the fence: test_correct_programs_are_clean."""
    report = sim.program(PROGRAMS / "grids.cu", arguments=["unfenced"])
    lines = {"left for the last", "added up"}
    assert {f.kind for f in report.findings} == {"race"}
    assert {f.line for f in report.findings} <= {line_of("grids.cu", mark) for mark in lines}


@pytest.mark.slow
def test_the_host_learns_of_an_assertion():
    report = sim.program(PROGRAMS / "grids.cu", arguments=["assertion"])
    assert [f.kind for f in report.findings] == ["assertion"]
    assert (report.exit_status, report.output.endswith("right\n")) == (0, True)


def test_a_program_without_end_is_stopped(broken, monkeypatch):
    report = broken("loop", seconds=0.5)
    assert report.status == 3 and "stopped after 0.5 s" in report.gaps[0]
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.5")
    assert [f.kind for f in broken("endless").findings] == ["deadlock"]  # a poll


def test_a_kernel_that_waits_for_the_host_leaves_the_run_incomplete(broken):
    report = broken("host-waits")
    assert report.status == 3 and any(
        "a change of memory by the host" in gap for gap in report.gaps
    )


def test_without_a_trace_only_what_stops_a_kernel_is_found(broken):
    assert broken("race", trace=False).status == 0
    assert broken("assertion", trace=False).findings[0].fatal


def test_without_a_trace_a_block_that_polls_lets_the_others_run(broken, monkeypatch):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "2")
    assert [f.kind for f in broken("endless", trace=False).findings] == ["deadlock"]


def test_all_that_stands_in_the_way_is_listed_at_once():
    with pytest.raises(NotRunnableError) as refused:
        sim.program(PROGRAMS / "blocked.cu")
    blockers = refused.value.blockers
    named = {(blocker.line, blocker.what) for blocker in blockers}
    assert {
        (line_of("blocked.cu", "own header"), "there is no header own_header.h"),
    } <= named
    assert all(blocker.file.endswith("blocked.cu") and blocker.remedy for blocker in blockers)


def test_a_surface_is_not_written_past_its_edge():
    report = sim.program(PROGRAMS / "textures.cu", arguments=["o"])
    (found,) = report.findings
    assert found.kind == "assertion" and found.line == line_of("textures.cu", "outside")


def test_names_that_cuda_has_and_the_simulator_does_not_are_listed_with_their_lines(tmp_path):
    file = tmp_path / "blocked.cu"
    text = (PROGRAMS / "blocked.cu").read_text()
    file.write_text(text.replace('#include "own_header.h"', ""))
    with pytest.raises(NotRunnableError) as refused:
        sim.program(file)
    found = {blocker.line: str(blocker) for blocker in refused.value.blockers}
    for mark in ("curand", "texture", "object"):
        assert f"blocked.cu:{line_of('blocked.cu', mark)}: " in found[line_of("blocked.cu", mark)]
    assert "the simulator has no cudaUserObject_t" in found[line_of("blocked.cu", "object")]


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        ("nothing.cu", {}, "files: there is no file"),
        ([], {}, "files: none is given"),
        ("broken.cu", {"include": ["nowhere"]}, "include: there is no folder"),
        ("broken.cu", {"seconds": 0}, "seconds: got 0"),
        ("broken.cu", {"kernel": "other"}, "kernel: broken.cu launches no other"),
        (3, {}, "files: got 3"),
    ],
)
def test_bad_arguments_are_refused(given, how, message):
    files = PROGRAMS / given if isinstance(given, str) else given
    with pytest.raises(ArgumentError, match=message):
        sim.program(files, **how)


def call(*arguments: str):
    return CliRunner().invoke(main, ["sim", *arguments])


def test_the_command_prints_output_findings_and_tables(tmp_path):
    page = tmp_path / "report.html"
    result = call(str(PROGRAMS / "broken.cu"), "--html", str(page), "--", "race")
    assert result.exit_code == 1
    assert result.output.startswith("done\nmissing_barrier<<<1, 64>>> at ")
    assert "ld.shared 4 B" in result.output and "broken.cu: 1 launch, 1 finding" in result.output
    text = page.read_text()
    assert "✗ race" in text and "missing_barrier" in text
    assert not any(mark in text for mark in ("http:", "https:", "src=", "@import", "<link"))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["broken.cu", "--", "fine"], 0), (["nothing.cu"], 2), (["broken.cu", "--", "unknown"], 3)],
)
def test_exit_statuses(arguments, status):
    assert call(str(PROGRAMS / arguments[0]), *arguments[1:]).exit_code == status


def test_json_has_all_of_it():
    result = call(str(PROGRAMS / "broken.cu"), "--json", "--", "race")
    data = json.loads(result.output)
    assert (data["status"], data["output"], data["exit_status"]) == (1, "done\n", 0)
    (launch,) = data["launches"]
    assert launch["name"] == "missing_barrier" and launch["findings"][0]["kind"] == "race"
    assert launch["totals"]["requests"] == 8
    refused = call(str(PROGRAMS / "blocked.cu"), "--json")
    blocked = json.loads(refused.stdout)
    assert refused.exit_code == blocked["status"] == 2 and blocked["blockers"][0]["line"]


def test_a_kernel_alone_is_called_with_arrays():
    torch = pytest.importorskip("torch")
    fine = sim.load(PROGRAMS / "broken.cu", "fine")
    values = np.zeros(64, np.float32)
    launch = fine(values, grid=1, block=64)
    assert (values == 1).all() and not launch.findings
    outside = sim.load(PROGRAMS / "broken.cu", "past_the_end")
    tensor = torch.ones(64)
    (found,) = outside(tensor, 64, grid=(1, 1), block=(128,)).findings
    assert found.kind == "out-of-bounds" and found.line == line_of("broken.cu", "outside")


def test_a_kernel_alone_refuses_what_it_cannot_take():
    fine = sim.load(PROGRAMS / "broken.cu", "fine")
    values = np.zeros(64, np.float32)
    for given, how, message in (
        ((values[::2],), {"grid": 1, "block": 32}, "contiguous"),
        ((values, 3), {"grid": 1, "block": 32}, "has 1 parameters; 2 given"),
        ((values,), {"grid": 0, "block": 32}, "grid: got 0"),
        ((values,), {"grid": 1, "block": (1, 1, 1, 1)}, "block: got"),
        (("text",), {"grid": 1, "block": 1}, "values: got 'text'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            fine(*given, **how)
    (refused,) = fine(values, grid=1, block=2048).findings
    assert refused.kind == "launch-refused" and "a block of 2048" in refused.message
    with pytest.raises(NotRunnableError, match="missing"):
        sim.load(PROGRAMS / "broken.cu", "missing")
    with pytest.raises(ArgumentError, match="name: got 'a b'"):
        sim.load(PROGRAMS / "broken.cu", "a b")


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    sim.program(PROGRAMS / "broken.cu", arguments=["fine"])
    assert list(tmp_path.iterdir()) == []
