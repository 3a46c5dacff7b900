"""Single requests as the GPU counted them: the rules in Python and the simulator give the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gemmlab.evidence import patterns as agreement
from gemmlab.evidence.patterns import Pattern

# Operations of a fixture file, in the order of its enumeration.
FILES = {
    "patterns": ("ld", "st"),
    "patterns_matrix": ("ldmatrix", "ldmatrix.trans", "stmatrix", "stmatrix.trans"),
    "patterns_copy": ("cp.async.ca", "cp.async.cg", "cp.async.ca.zfill", "cp.async.cg.zfill"),
}
VARIANTS = 400
# fixtures/wgmma_reads.cu's.
FORMS = ("ss", "ss.a_trans", "ss.b_trans", "ss.both_trans", "rs", "rs.b_trans")
FIELDS = ("mode", "start", "leading", "stride")


@pytest.fixture(scope="module")
def patterns() -> list[Pattern]:
    return agreement.patterns()


def counted(module, operation: int, pattern: Pattern) -> dict[str, int]:
    """What the simulator counts."""
    nothing = np.zeros(32)
    places = (pattern.shared, pattern.source, pattern.source_bytes)
    bits = np.packbits(pattern.active, bitorder="little").view(np.int32)
    lanes = np.concatenate([*(nothing if p is None else p for p in places), bits])
    memory, out = np.zeros(65536, np.uint8), np.zeros(4096, np.uint8)
    trace = module.trace(lanes.astype(np.int32), memory, out, operation, pattern.size, 1)
    base = pattern.op.partition(".")[0]
    near, far = {
        "cp": ("cp.async.shared", "cp.async.global"),
        "ld": ("ld.shared", "ld.global"),
        "st": ("st.shared", "st.global"),
    }.get(base, (base, None))
    totals = trace.totals()
    none = dict.fromkeys(("requests", "sectors"), 0)
    of_global = totals.get(far, none)
    return {
        "wavefronts": totals[near]["wavefronts"],
        "minimum": totals[near]["wavefronts_min"],
        "conflicts": totals[near]["conflicts"],
        "requests": of_global["requests"],
        "sectors": of_global["sectors"],
    }


def described(pattern: Pattern) -> str:
    shared = np.where(pattern.active, pattern.shared, -1).tolist()
    source = None if pattern.source is None else pattern.source.tolist()
    return f"{pattern.op} {pattern.size}: {shared} {source} {pattern.source_bytes}"


def test_the_rules_give_every_recorded_count(patterns):
    different = [described(p) for p in patterns if p.agrees is False]
    assert not different
    by_kind = [p.op.partition(".")[0] for p in patterns if p.agrees]
    enough = {"ld": 500, "st": 90, "ldmatrix": 40, "stmatrix": 40, "cp": 400}
    assert all(by_kind.count(kind) >= count for kind, count in enough.items())


@pytest.mark.parametrize("file", FILES)
def test_the_simulator_gives_every_recorded_count(kernel_file, patterns, file):
    module = kernel_file(file).module("patterns")
    for pattern in patterns:
        if pattern.op in FILES[file]:
            found = counted(module, FILES[file].index(pattern.op), pattern)
            read = {name: pattern.counted[name] for name in pattern.computed}
            assert {name: found[name] for name in read} == read, described(pattern)


def variant(random: np.random.Generator, pattern: Pattern) -> Pattern:
    """Another pattern made of the same places: lanes change theirs, and some drop out."""
    if "matrix" in pattern.op:  # the lanes that point to rows all take part
        order = np.concatenate(
            [random.permutation(8 * pattern.size), np.arange(8 * pattern.size, 32)]
        )
        return replace(pattern, shared=pattern.shared[order])
    order = random.permutation(32)
    if random.random() < 0.5:
        order = order[np.arange(32) & ~random.choice([1, 2, 3])]
    active = random.random(32) < random.choice([0.3, 0.7, 1.1])
    active[random.integers(32)] = True

    def moved(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[order]

    places = {"shared": moved(pattern.shared), "source": moved(pattern.source)}
    return replace(pattern, active=active, source_bytes=moved(pattern.source_bytes), **places)


@pytest.mark.parametrize("file", FILES)
def test_the_simulator_and_the_rules_agree_on_other_patterns(kernel_file, patterns, file):
    module = kernel_file(file).module("patterns")
    random = np.random.default_rng(11)
    some = [pattern for pattern in patterns if pattern.op in FILES[file]]
    for i in random.integers(len(some), size=VARIANTS):
        pattern = variant(random, some[i])
        reads = pattern.source_bytes is None or (pattern.source_bytes > 0)[pattern.active].any()
        expected = {**pattern.computed, "minimum": pattern.request.minimum}
        expected |= {} if reads else {"requests": 0}
        found = counted(module, FILES[file].index(pattern.op), pattern)
        assert {name: found[name] for name in expected} == expected, described(pattern)


def test_the_rule_gives_every_count_of_wgmma():
    entries = agreement.wgmma()
    assert len(entries) >= 200
    different = [e for e in entries if agreement.wgmma_computed(e) != e["wavefronts"]]
    assert not different


def test_the_simulator_gives_every_count_of_wgmma(kernel_file):
    module = kernel_file("wgmma_reads").module("wgmma_reads")
    none, out = np.zeros(4, np.float32), np.zeros(256, np.float32)
    for entry in agreement.wgmma():
        operands = (entry["a"] or entry["b"], entry["b"])
        fields = [operand[name] for operand in operands for name in FIELDS]
        reads = np.array([*fields, entry["instructions"]], np.int32)
        sizes = (FORMS.index(entry["form"]), entry["n"], entry["warpgroups"])
        totals = module.trace(reads, none, out, *sizes).totals()
        assert totals["wgmma.shared"]["wavefronts"] == entry["wavefronts"], entry


def test_the_table_has_a_row_for_every_kind():
    table = agreement.single_requests()
    counts = {row[0]: row[1:] for row in table.rows}
    for kind, (total, equal) in counts.items():
        assert equal == total or (kind.startswith("atomic, float") and equal == "not modelled")
    assert "NVIDIA H200" in table.notes[-1]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:8*32", list(range(0, 256, 8))),
        ("7*4 .*27 3", [7] * 4 + [None] * 27 + [3]),
        ("9:-1*10 . 5*21", [*range(9, -1, -1), None, *[5] * 21]),
    ],
)
def test_lanes_are_read(text, values):
    assert agreement.lanes(text) == values
