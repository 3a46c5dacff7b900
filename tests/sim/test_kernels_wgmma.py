"""Part IV: steps without findings or conflicts on few SMs, and mistakes with wgmma and clusters."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from sampling import sampled
from step_cases import StepCase, one_tile

from gemmlab import sim
from gemmlab.core.layout import LAYOUTS
from gemmlab.core.paths import kernels_folder
from gemmlab.core.precision import PRECISIONS
from gemmlab.steps import patch, registry

STEPS = [spec.name for spec in registry.KERNELS if spec.family == "wgmma"]
TURNS, ANY_SHAPE = "wgmma_13_ping_pong", "wgmma_14_any_shape"
FOUR_TILES = ((264, 264, 328), 2)  # M, N, K, and so many SMs


def case_of(name: str, precision: str = "bf16") -> StepCase:
    return StepCase(registry.program(name), PRECISIONS[precision])


def traced(case: StepCase, sizes: tuple[int, int, int], sms: int, changes=None, config: int = -1):
    """The trace on a GPU of so many SMs, and whether C is right; C counts."""
    module = case.compiled(changes=changes)
    (A, B, C), plain = case.matrices(*sizes), sim.integer_matrices(*sizes)
    trace = module.trace(A, B, C, *sizes, 2.0, -1.0, config=config, sms=sms)
    return trace, np.array_equal(C, case.rounded(2.0 * (plain[0] @ plain[1]) - plain[2]))


@pytest.mark.parametrize("name", sampled(STEPS, of=3, always=lambda name: name == ANY_SHAPE))
def test_a_few_tiles_a_block_have_neither_findings_nor_conflicts(name):
    sizes, sms = FOUR_TILES
    trace, right = traced(case_of(name), sizes, sms)
    assert right and trace.findings == ()
    assert [line for line in trace.lines if line.conflicts] == []


@pytest.mark.parametrize(("name", "config"), [(TURNS, -1), (ANY_SHAPE, 3)])
def test_consumers_that_take_turns_miss_none_where_there_are_no_products(name, config):
    """The warps of a consumer meet in the products alone: one may be late for its turn."""
    trace, right = traced(case_of(name), (192, 264, 0), 2, config=config)
    assert right and trace.findings == ()


def laid(
    layout: str,
    sizes: tuple[int, int, int],
    precision: str = "bf16",
    path=None,
    changes=None,
    **how,
):
    """As traced, of the last step with A and B in a layout. path: of a changed copy of it."""
    case, number = case_of(ANY_SHAPE, precision), LAYOUTS.index(layout)
    launch = case.program.launch(precision, layout)
    path = path or case.program.source.path
    module = sim.compile_source(path, launch, workspace=True, changes=changes)
    (*both, C), plain = case.matrices(*sizes), sim.integer_matrices(*sizes)
    A, B = (
        np.ascontiguousarray(matrix.T) if letter == "t" else matrix
        for matrix, letter in zip(both, layout, strict=True)
    )
    trace = module.trace(A, B, C, *sizes, 2.0, -1.0, layout=number, **how)
    return trace, np.array_equal(C, case.rounded(2.0 * (plain[0] @ plain[1]) - plain[2]))


PLANS = range(len(registry.get(ANY_SHAPE).configs))
# The last one has rows at multiples of 16 bytes in each layout, the one before in none.
ODD = [(1, 1, 1), (70, 130, 0), (65, 257, 63), (136, 264, 200)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("config", PLANS)
def test_every_plan_takes_every_layout(layout, config):
    for sizes in ODD:
        trace, right = laid(layout, sizes, config=config, sms=2)
        assert right and trace.findings == (), sizes
        assert [line for line in trace.lines if line.conflicts] == []


@pytest.mark.parametrize(
    ("layout", "precision"), [("tn", "fp16_fp32"), ("tt", "bf16_fp32"), ("nt", "fp16")]
)
def test_layouts_in_other_precisions(layout, precision):
    for config in PLANS:
        for sizes in (ODD[config % 3], ODD[3]):
            trace, right = laid(layout, sizes, precision, config=config, sms=2)
            assert right and trace.findings == (), (config, sizes)


# (M, N, K), SMs and the plan; a tile of C has up to 66 pieces.
CUT_SMALL = [((128, 128, 4096), 132, 4), ((16, 384, 3072), 132, 2), ((200, 136, 3000), 6, 2)]


@pytest.mark.parametrize(("sizes", "sms", "config"), CUT_SMALL)
def test_a_second_kernel_adds_the_pieces_of_small_tiles(sizes, sms, config):
    trace, right = laid("nn", sizes, config=config, sms=sms)
    assert right and trace.findings == ()
    broken = {"leave_sums(sums.all(), slots + own * S::PIECE)": ";"} | one_tile(ANY_SHAPE, config)
    assert not laid("nn", sizes, config=config, sms=sms, changes=broken)[1]


# Plans that a reader may put into the list: columns that are no multiple of 64, clusters of small
# tiles, and a second kernel that adds up the pieces of large ones. Last: how many SMs cut tiles.
OTHER_PLANS = [
    ("Plan<128, 144, 4, 2, 2, 8>()", (300, 520, 1000), None),
    ("Plan<128, 160, 4, 2, 1, 8>()", (300, 520, 1000), None),
    ("Plan<64, 96, 8, 1, 2, 32>()", (200, 520, 6000), 10),
    ("Plan<128, 256, 4, 2, 2, 8, false, true>()", (300, 520, 1000), 10),
    ("Plan<256, 192, 3, 2, 2, 4, false, true>()", (300, 520, 3000), 10),
    ("Plan<128, 128, 6, 2, 1, 16, true, true>()", (300, 520, 3000), 10),
    ("Plan<192, 96, 5, 1, 1, 8, false, false, true>()", (200, 520, 6000), 5),
    ("Plan<192, 176, 4, 3, 1, 8, false, false, true>()", (520, 520, 1000), 7),
    ("Plan<128, 256, 4, 2, 2, 8, false, true, true>()", (520, 300, 1000), 10),
    ("Plan<192, 96, 4, 3, 2, 8, false, false, true>()", (200, 520, 1000), None),
    ("Plan<64, 16, 12, 1, 1, 8, false, true, true>()", (24, 520, 12000), 8),
    ("Plan<128, 128, 6, 2, 1, 16, true, false, true>()", (300, 520, 3000), None),
]


@pytest.mark.parametrize(("plan", "sizes", "cutting"), OTHER_PLANS)
def test_a_plan_of_ones_own_is_right(plan, sizes, cutting):
    changes = one_tile(ANY_SHAPE, 0)
    kept = next(line for line, text in changes.items() if text)
    changes[kept] = f"  return f({plan});\n"
    for layout, shape, sms in (("nn", sizes, 2), ("nt", (65, 257, 63), 2), ("tn", sizes, cutting)):
        trace, right = laid(layout, shape, config=0, sms=sms or 4, changes=changes)
        assert right and trace.findings == (), shape
    broken = changes | {"leave_sums(sums.all(), slots + own * S::PIECE)": ";"}
    if cutting is not None:
        assert not laid("tn", sizes, config=0, sms=cutting, changes=broken)[1]


# A layout, a file beside the last step's, and what is changed in it.
TILE_FILE, LOAD_FILE = "warpgroup_tile.cuh", "operand_boxes.cuh"
WRONG_LAYOUTS = {
    "A without its transpose bit": ("tn", TILE_FILE, "T, A::MN, B::MN>", "T, false, B::MN>"),
    "B with a transpose bit": ("nt", TILE_FILE, "T, A::MN, B::MN>", "T, A::MN, true>"),
    "the next k of A along the row": ("tn", TILE_FILE, "step * A::NEXT_K", "step * 2"),
    "the next k of B two patterns on": ("tt", TILE_FILE, "step * B::NEXT_K", "step * 128"),
    "only the first box of A": ("tn", LOAD_FILE, "first + line / 64 * 64 :", "first :"),
    "both blocks bring the same columns": ("nt", LOAD_FILE, "rank * Boxes::EACH + i", "i"),
}


@pytest.mark.parametrize("what", WRONG_LAYOUTS)
def test_a_layout_that_one_side_mistakes_gives_wrong_values(what, tmp_path):
    layout, file, old, new = WRONG_LAYOUTS[what]
    copy = tmp_path / "kernels"
    shutil.copytree(kernels_folder(), copy)
    header = copy / "common/tile" / file
    text = header.read_text()
    assert text.count(old) == 1
    header.write_text(text.replace(old, new))
    path = copy / registry.get(ANY_SHAPE).file
    path.write_text(patch.replace(path.read_text(), one_tile(ANY_SHAPE, 0), path.name))
    assert not laid(layout, (264, 264, 200), path=path, config=0, sms=2)[1]


# What is changed in the headers of the transpose, and whether a finding tells, or only values.
WRONG_TRANSPOSE = {
    "a piece is stored before all warps have put theirs": (
        "    fence_proxy_async();\n    meet();\n",
        "    fence_proxy_async();\n",
        True,
    ),
    "a buffer is filled before the engine has read it": (
        "    meet();\n    const uint32_t piece_addr",
        "    const uint32_t piece_addr",
        True,
    ),
    "no wait for the engine at all": ("bulk_wait_read<BUFFERS - 1>()", "(void)0", True),
    "a block ends before the engine has read": ("bulk_wait_read<0>()", "(void)0", True),
    "sums below and to the right changed places": (
        "line = lane_id / 16 * 8 + lane_id % 8",
        "line = lane_id / 8 % 2 * 8 + lane_id % 8",
        False,
    ),
    "A keeps its layout": ("layout & TURNED_B ? 0 : TURNED_A", "layout & TURNED_A", False),
}


@pytest.mark.parametrize("what", WRONG_TRANSPOSE)
def test_a_mistake_in_the_transpose_is_found(what, tmp_path):
    old, new, told = WRONG_TRANSPOSE[what]
    copy = tmp_path / "kernels"
    shutil.copytree(kernels_folder(), copy)
    headers = [
        copy / "common" / name for name in ("store/transposed_store.cuh", "shape/transposed.cuh")
    ]
    (header,) = (header for header in headers if header.read_text().count(old) == 1)
    header.write_text(header.read_text().replace(old, new))
    path = copy / registry.get(ANY_SHAPE).file
    plan = registry.get(ANY_SHAPE).configs.index("192x96 transposed")
    path.write_text(patch.replace(path.read_text(), one_tile(ANY_SHAPE, plan), path.name))
    trace, right = laid("nn", (264, 264, 200), path=path, config=0, sms=2)
    assert bool(trace.findings) if told else not right


# On two SMs, in 16 bits. What is changed, and the kind of the finding; "" where only values tell.
ONE, RING, STORE = "wgmma_01_one_warpgroup", "wgmma_03_producer", "wgmma_04_store"
CLUSTER, LATE, LAST = "wgmma_06_cluster", "wgmma_07_deferred", "wgmma_09_stream_k"
TILE, WIDE = (72, 128, 200), (136, 264, 328)  # in the ring of four stages one comes again
MISTAKES = {
    "no wait for the products": (ONE, TILE, {"    wgmma_wait<0>();\n": ""}, "register-before-wait"),
    "no commit": (ONE, TILE, {"    wgmma_commit();\n": ""}, "register-before-wait"),
    "no fence of registers": (ONE, TILE, {"    wgmma_fence();  //": "    //"}, "missing-fence"),
    "no wait for the tile": (
        ONE,
        TILE,
        {"    mbarrier_wait(full_addr, parity);\n": ""},
        "read-before-wait",
    ),
    "one parity": (ONE, TILE, {"    parity ^= 1;\n": ""}, "read-before-wait"),
    "strides of B changed": (
        ONE,
        TILE,
        {"BOX_BYTES, PATTERN_BYTES)": "PATTERN_BYTES, BOX_BYTES)"},
        "",
    ),
    "B one pattern on": (ONE, TILE, {"NEXT_B = 2 * P": "NEXT_B = P"}, ""),
    "A not swizzled": (
        ONE,
        TILE,
        {"BM, BK, CU_TENSOR_MAP_SWIZZLE_128B": "BM, BK, CU_TENSOR_MAP_SWIZZLE_NONE"},
        "",
    ),
    "two stages empty at once": (RING, WIDE, {"ring.init(CONSUMERS)": "ring.init(1)"}, "deadlock"),
    "one consumer is enough": (
        RING,
        WIDE,
        {"== 0) mbarrier_arrive": "== 0 && wg_id == 0) mbarrier_arrive"},
        "deadlock",
    ),
    "no proxy fence": (
        STORE,
        WIDE,
        {"    fence_proxy_async();  // what": "    // what"},
        "missing-fence",
    ),
    "no warp barrier": (STORE, WIDE, {"    __syncwarp();         // and": "    // and"}, "race"),
    "buffers not awaited": (
        STORE,
        WIDE,
        {"    if (lane_id == 0) bulk_wait_read<BUFFERS - 1>();": "    "},
        "overwrite-before",
    ),
    "only the own block is told": (
        CLUSTER,
        WIDE,
        {"remote(empty_addr, threadIdx.x % 128)": "remote(empty_addr, rank)"},
        "overwrite-before",
    ),
    "the other block may not have begun": (
        CLUSTER,
        WIDE,
        {"  cluster_sync();  // both": "  __syncthreads();  // both"},
        "cluster-lifetime",
    ),
    "the other block may have ended": (
        CLUSTER,
        WIDE,
        {"  cluster_sync();  // no block": "  // no block"},
        "cluster-lifetime",
    ),
    "half of the bytes": (
        CLUSTER,
        WIDE,
        {"ring.full_addr(), STAGE_BYTES)": "ring.full_addr(), STAGE_BYTES / 2)"},
        "transaction-bytes",
    ),
    "both blocks bring one half": (
        CLUSTER,
        WIDE,
        {"const int box = rank *": "const int box = 0 *"},
        "",
    ),
    "a tile that never leaves": (
        LATE,
        WIDE,
        {"if constexpr (is_half<TC>) late.put_all();": ""},
        "",
    ),
    "no turns": (
        TURNS,
        WIDE,
        {"    mbarrier_wait(turn_addr + wg_id * 8, turn_parity), turn_parity ^= 1;\n": ""},
        "barrier-overrun",
    ),
    "the other's stages are not skipped": (
        TURNS,
        WIDE,
        {"    ring.skip(depth);\n    // [/turn]": "    // [/turn]"},
        "",
    ),
}


@pytest.mark.parametrize("what", sampled(list(MISTAKES)))
def test_a_mistake_is_found(what):
    name, sizes, changes, kind = MISTAKES[what]
    trace, right = traced(case_of(name), sizes, 2, changes)
    if kind:
        assert any(finding.kind.startswith(kind) for finding in trace.findings), trace.findings
    else:
        assert not right
