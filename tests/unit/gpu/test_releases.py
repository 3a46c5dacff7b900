"""No stage is released before its fragments are there: the machine code of the kernels says so."""

from __future__ import annotations

import needs
import pytest

import gemmlab as lab
from gemmlab.experiments.faults.kernels import fault
from gemmlab.gpu import releases, sass
from gemmlab.gpu.sass import Instruction

AHEAD = 8  # fragments that a warp of 64x64 loads of the next stage: 4 of A, 4 of B
WAIT, LOAD, RELEASE = (
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R2",
    "LDSM.16.M88.4 R4, [R3]",
    "@!P1 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R1], RZ",
)
PRODUCT, STORE = "HMMA.16816.F32.BF16 R8, R4, R6, R8", "STS [R3], R8"


def code(*rows):
    """Instructions from (text, scoreboard that it sets or None, scoreboards that it waits for)."""
    return [
        Instruction(16 * i, text, 1, sets, sum(1 << number for number in waits))
        for i, (text, sets, waits) in enumerate(rows)
    ]


def early(*rows, ahead=0):
    found = releases.early_releases(code(*rows, ("EXIT", None, ())), ahead)
    return [one.address // 16 for one in found]


def test_a_release_behind_the_product_of_the_fragments_is_late_enough():
    wait, load, release = (WAIT, None, ()), (LOAD, 1, ()), (RELEASE, None, ())
    assert early(wait, load, (PRODUCT, None, (1,)), release) == []
    assert early(wait, load, release, (PRODUCT, None, (1,))) == [2]
    assert early(wait, load, (PRODUCT, None, (0,)), release) == [3]  # of another scoreboard
    assert early(wait, load, (RELEASE, None, (1,))) == []  # it waits itself


def test_loads_deliver_in_order():
    wait, release, product = (WAIT, None, ()), (RELEASE, None, ()), (PRODUCT, None, (1,))
    unmarked, marked = (LOAD, None, ()), (LOAD, 1, ())
    assert early(wait, unmarked, marked, product, release) == []
    assert early(wait, marked, unmarked, product, release) == [4]


def test_loads_of_the_next_stage_may_be_under_way():
    wait, load, release = (WAIT, None, ()), (LOAD, 1, ()), (RELEASE, None, ())
    product = (PRODUCT, None, (1,))
    rows = (wait, load, product, wait, load, release)
    assert early(*rows, ahead=1) == []
    assert early(*rows, ahead=0) == [5]
    assert early(wait, load, wait, load, release, ahead=1) == [4]  # one of the stage before
    assert early(wait, load, wait, (LOAD, 2, ()), product, release, ahead=1) == []


def test_every_way_is_followed():
    wait, load, release = (WAIT, None, ()), (LOAD, 1, ()), (RELEASE, None, ())
    product = (PRODUCT, None, (1,))
    past = ("@P2 BRA 0x40", None, ())  # over the product
    assert early(wait, load, past, product, release) == [4]
    assert early(wait, load, ("BRA 0x40", None, ()), product, release) == [4]
    assert early(wait, load, ("BRA P2, 0x40", None, ()), product, release) == [4]
    assert early(wait, load, ("EXIT", None, ()), release) == []
    assert early(wait, load, ("@P2 EXIT", None, ()), release) == [3]
    back = ("@P2 BRA 0x10", None, ())  # the release of the next round
    assert early(wait, release, (STORE, None, ()), load, back) == [1]


def listed(kernel):
    """The functions of a step that release stages."""
    found = sass.functions(sass.listing_of(kernel)).values()
    return [one for one in found if releases.releases(one)]


@needs.machine_code
@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("tma_04_producer_warp", 1),
        ("tma_05_wide_tile", 1),
        ("tma_06_persistent", 1),
        ("tma_07_stream_k", 1),
        ("tma_08_any_shape", 5),
    ],
)
def test_no_step_releases_a_stage_early(name, kernels):
    found = listed(lab.kernel(name))
    assert len(found) == kernels
    for one in found:
        assert releases.early_releases(one, AHEAD) == []


# At the end of the loop's body, behind all products: ptxas moves it to the last loads.
BODY_END = {
    "    if (k_tile > 0 && lane_id == 0) mbarrier_arrive(empty_addr + used * 8);": "",
    "      mma_tiles<T>(acc, rA, rB);\n    }\n": """      mma_tiles<T>(acc, rA, rB);
    }
    __syncwarp();
    if (lane_id == 0) mbarrier_arrive(empty_addr + used * 8);
""",
}


@needs.machine_code
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: fault("04, released behind the last loads"),
        lambda: fault("08, released behind the last loads"),
        lambda: lab.variant("tma_04_producer_warp", BODY_END),
    ],
    ids=["04, behind the last loads", "08, behind the last loads", "04, at the end of the body"],
)
def test_an_early_release_is_seen(wrong):
    for one in listed(wrong()):
        assert releases.early_releases(one, AHEAD) != []
