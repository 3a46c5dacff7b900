"""Main loops in machine code: found, counted, shown; and the recorded counts against nvcc."""

import needs
import pytest

import gemmlab as lab
from gemmlab.core.errors import MeasurementError
from gemmlab.gpu import machine_code, sass
from gemmlab.gpu.sass import Instruction
from gemmlab.steps.text import source_digest


def code(*texts, stall=1):
    return [Instruction(16 * i, text, stall) for i, text in enumerate(texts)]


def listing(rows):
    """Two functions as cuobjdump prints them; `rows` are (text, stall) of the second."""
    zero = f"/* 0x{0:016x} */\n"
    head = f"\t\tFunction : pack\n        /*0000*/  FFMA R0, R1, R2, R0 ;  {zero}        {zero}"
    head += "\t\tFunction : kernel\n"
    body = [
        f"        /*{16 * i:04x}*/  {text} ;  /* 0x{i:016x} */\n       /* 0x{stall << 41:016x} */\n"
        for i, (text, stall) in enumerate(rows)
    ]
    return head + "".join(body)


def test_text_stall_and_address_of_one_function_are_read():
    rows = [("@!P0 LDS.128 R4, [R2]", 2), ("FFMA R8, R4.reuse, R5, R8", 15)]
    found = sass.instructions(listing(rows), "kernel")
    assert [(i.text, i.stall, i.address) for i in found] == [(*rows[0], 0), (*rows[1], 16)]
    assert [i.name for i in found] == ["LDS.128", "FFMA"]
    assert sass.instructions(listing(rows), "nothing") == []


def test_main_loop_is_the_shortest_with_many_ffmas():
    texts = ["MOV R1, R2", *["FFMA R8, R4, R5, R8"] * 300, "@P0 BRA 0x10", "BRA 0x0"]
    assert sass.main_loop(code(*texts)) == code(*texts)[1:302]
    assert sass.main_loop(code("FFMA R8, R4, R5, R8", "BRA 0x0")) == []
    forward = [texts[0], "BRA 0x1000", *texts[1:301]]
    assert sass.main_loop(code(*forward)) == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["FFMA R8, R2, R4, R8"], [(3, 0)]),
        (["FFMA R8, R2, R5, R9"], [(1, 2)]),
        # Kept where it was marked, in the same place, and only for the next instruction.
        (["FFMA R9, R2.reuse, R5, R9", "FFMA R8, R2, R4, R8"], [(1, 2), (2, 0)]),
        (["FFMA R9, R2, R5, R9", "FFMA R8, R2, R4, R8"], [(1, 2), (3, 0)]),
        (["FFMA R9, R2.reuse, R5, R9", "FFMA R8, R4, R2, R8"], [(1, 2), (3, 0)]),
        (["FFMA R9, R2.reuse, R5, R9", "IADD3 R1, R1, R3, RZ", "FFMA R8, R2, R4, R8"],
         [(1, 2), None, (3, 0)]),
        (["FFMA R8, -R3, c[0x0][0x210], RZ"], [(0, 1)]),
    ],
)  # fmt: skip
def test_reads_of_the_banks(texts, expected):
    assert list(sass.reads(code(*texts))) == expected
    assert sass.conflicts(code(*texts)) == sum(max(0, max(r) - 1) for r in expected if r)


def test_table_adds_a_quarter_of_the_conflicts_and_names_the_compiler():
    row = sass.main_loops(["sgemm_15_large_thread_tile"]).rows[0]
    loop = sass.recorded()["loops"]["sgemm_15_large_thread_tile"]
    assert row[1] == f"{loop['instructions']:,}"
    assert row[5] == f"{loop['stalls'] + loop['conflicts'] / 4:,.0f}"
    assert "nvcc 13" in repr(sass.main_loops(["sgemm_15_large_thread_tile"]))


def test_table_says_when_the_code_has_changed(monkeypatch):
    assert "has changed" not in repr(sass.main_loops(["sgemm_15_large_thread_tile"]))
    data = sass.recorded()
    loop = data["loops"]["sgemm_15_large_thread_tile"]
    loop |= {"source": "another", "machine_code": {"fp32": "another"}}
    monkeypatch.setattr(sass, "recorded", lambda: data)
    assert "15_large_thread_tile has changed" in repr(
        sass.main_loops(["sgemm_15_large_thread_tile"])
    )


def test_what_was_not_counted_is_named():
    with pytest.raises(MeasurementError, match=r"sgemm_01_naive was not counted.*sgemm_17"):
        sass.main_loops(["sgemm_01_naive"])


def test_no_recorded_count_is_stale():
    loops = sass.recorded()["loops"]
    labels = [name for name in loops if not name.startswith("sgemm_")]
    handles = [*map(lab.kernel, loops.keys() - set(labels)), *map(lab.experiment, labels)]
    for handle in handles:
        name = handle.source.label or handle.name
        digest = source_digest(handle.source.path)
        assert loops[name]["source"] == digest, f"{name}: python -m tools.evidence.record_sass"


@needs.machine_code
def test_the_recorded_count_is_what_this_nvcc_gives():
    needs.same_nvcc(machine_code.version(), sass.recorded()["nvcc"])
    loop = sass.main_loop(sass.instructions(sass.listing_of("sgemm_08_double_buffer"), "6kernelE"))
    recorded = sass.recorded()["loops"]["sgemm_08_double_buffer"]
    assert len(loop) == recorded["instructions"]
    assert sum(i.stall for i in loop) == recorded["stalls"]
    assert sass.conflicts(loop) == recorded["conflicts"]
