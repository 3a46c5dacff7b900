"""Part III: edges, bank conflicts, rings of other lengths, and mistakes with the copy engine."""

from __future__ import annotations

from itertools import product

import pytest
from sampling import sampled
from step_cases import StepCase, step_cases

from gemmlab.core.precision import PRECISIONS
from gemmlab.experiments.faults.kernels import FAULTS
from gemmlab.steps import registry

LOAD, TWO_BLOCKS, STORE = "tma_01_load", "tma_02_two_blocks", "tma_03_store"
CASES = [case for case in step_cases() if case.spec.family == "tma"]
FIRST = [case for case in step_cases(every_precision=False) if case.spec.family == "tma"]
CUT = [case for case in CASES if case.spec.multiple_of[0] == 1]
OVER_EDGES = [(1, 8, 8), (136, 264, 72), (130, 8, 200), (5, 328, 64)]
RING = (128, 128, 456)  # more tiles than stages, the last one ragged


def case_of(name: str, precision: str = "bf16") -> StepCase:
    return StepCase(registry.program(name), PRECISIONS[precision])


@pytest.mark.parametrize("case", sampled(CASES, of=8, always=lambda case: case in FIRST))
def test_a_long_ring_has_neither_findings_nor_conflicts(case):
    trace, right = case.traced(RING, beta=1.0)
    assert right and trace.findings == ()
    assert [line for line in trace.lines if line.conflicts] == []
    # An x4 takes 4 wavefronts, an x2 takes 2. Up to step 4, an x4 of A goes with an x2 of B.
    totals = trace.totals()["ldmatrix"]
    each = 3 if "ldmatrix_x2_trans" in case.spec.path.read_text() else 4
    assert totals["wavefronts"] == each * totals["requests"]


@pytest.mark.parametrize("at", sampled([(str(c), sizes) for c, sizes in product(CUT, OVER_EDGES)]))
def test_tiles_may_reach_over_the_edge(at):
    name, sizes = at
    case = next(case for case in CUT if str(case) == name)
    for beta in (0.0, -1.0):
        trace, right = case.traced(sizes, beta=beta)
        assert right and trace.findings == ()


@pytest.mark.parametrize(
    ("name", "stages"), [(LOAD, 2), (LOAD, 4), (TWO_BLOCKS, 2), (TWO_BLOCKS, 6), (STORE, 4)]
)
def test_rings_of_other_lengths(name, stages):
    trace, right = case_of(name).traced(RING, {"STAGES = 3": f"STAGES = {stages}"})
    assert right and trace.findings == ()


# Changes that leave no finding: only the result tells.
SILENT = {
    "the reader does not swizzle A": (LOAD, {"BITS_A = 3": "BITS_A = 0"}),
    "the reader swizzles B as hgemm_17_stages": (LOAD, {"SHIFT_B = 3": "SHIFT_B = 4"}),
    "the engine does not swizzle A": (LOAD, {"BK, CU_TENSOR_MAP_SWIZZLE_128B": "BK, {}"}),
    "the engine does not swizzle C": (STORE, {"(TC), CU_TENSOR_MAP_SWIZZLE_128B": "(TC), {}"}),
    "tiles begin at an odd multiple of 128": (
        LOAD,
        {
            "T *sA = reinterpret_cast<T*>(smem)": "T *sA = reinterpret_cast<T*>(smem + 128)",
            "smem_addr(smem + stage": "smem_addr(smem + 128 + stage",
            "smem_addr(smem + STAGES": "smem_addr(smem + 128 + STAGES",
            "(STAGE_BYTES + 8)": "(STAGE_BYTES + 8) + 128",
        },
    ),
}


@pytest.mark.parametrize("what", SILENT)
def test_a_swizzle_on_one_side_only_gives_wrong_values(what):
    name, changes = SILENT[what]
    changes = {old: new.format("CU_TENSOR_MAP_SWIZZLE_NONE") for old, new in changes.items()}
    trace, right = case_of(name).traced(RING, changes)
    assert trace.findings == () and not right


_FENCE = "fence_proxy_async();  // what"
# What is changed, and the kind of finding.
MISTAKES = {
    "two arrivals": (LOAD, {"i * 8, 1)": "i * 8, 2)"}, "deadlock"),
    "half the bytes": (LOAD, {"_addr, STAGE_BYTES)": "_addr, STAGE_BYTES / 2)"}, "unfinished"),
    "too many bytes": (
        *(LOAD, {"_addr, STAGE_BYTES)": "_addr, STAGE_BYTES + 16)"}),
        "transaction-bytes",
    ),
    "no fence": (LOAD, {"    fence_mbarrier_init();": "    "}, "missing-fence"),
    "one parity": (LOAD, {"    if (stage == 0) parity ^= 1;\n": ""}, "read-before-wait"),
    "no barrier": (
        LOAD,
        {"    __syncthreads();  // everyone": "    // everyone"},
        "overwrite-before",
    ),
    "no proxy fence": (STORE, {_FENCE: "// what"}, "missing-fence"),
    "one proxy fence": (STORE, {_FENCE: f"if (tid == 0) {_FENCE}"}, "missing-fence"),
    "an odd column": (*FAULTS["01, columns from an odd one on"], "misaligned"),
    "no barrier before the store": (STORE, {"  __syncthreads();      // and": "  // and"}, "race"),
    "no wait for the store": (STORE, {"    bulk_wait_read<0>();": "    "}, "unfinished"),
    "old C behind the edge": (STORE, {" && in_row < M && in_col < N": ""}, "out-of-bounds"),
}


@pytest.mark.parametrize("what", sampled(list(MISTAKES)))
def test_a_mistake_is_found(what):
    name, changes, kind = MISTAKES[what]
    sizes = RING if name == LOAD else (130, 136, 72)
    trace, _ = case_of(name).traced(sizes, changes, beta=1.0)
    assert any(finding.kind.startswith(kind) for finding in trace.findings), trace.findings
