"""Who has which sum, and who loads what for whom, in JavaScript as in Python; needs node."""

import re
from dataclasses import astuple

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.clusters import SHAPES, Cluster
from gemmlab.layouts.wgmma.sums import ROWS, THREADS, Sums
from gemmlab.steps import registry
from gemmlab.widgets.multicast_map import TILES

CLUSTERS = [
    Cluster(*shape, *tile, cast) for shape in SHAPES for tile in TILES for cast in (False, True)
]


@pytest.mark.twin("wgmma/sums")
def test_sums_agree_and_each_has_one_place(ask):
    widths = (8, 24, 128, 256)
    for columns, got in zip(widths, ask([("sums", {"columns": n}) for n in widths]), strict=True):
        s = Sums(columns)
        places = [(row, column) for row in range(ROWS) for column in range(columns)]
        assert got == {
            "held": [list(s.holder(*at)) for at in places],
            "words": [s.describe(*at) for at in places],
            "back": [list(at) for at in places],
            "threads": [s.describe_thread(thread) for thread in range(THREADS)],
        }
        assert {s.holder(*at) for at in places} == {
            (thread, n) for thread in range(THREADS) for n in range(s.registers)
        }
        assert all(s.element(*s.holder(*at)) == at for at in places)


@pytest.mark.twin("clusters")
def test_clusters_agree_and_all_blocks_get_what_they_need(ask):
    found = ask([("cluster", {"c": vars(c)}) for c in CLUSTERS])
    for c, got in zip(CLUSTERS, found, strict=True):
        every = [c.loads(block) for block in range(c.blocks)]
        assert got == {
            "loads": [[[*astuple(one)[:3], list(one.to)] for one in pair] for pair in every],
            "facts": [c.blocks, c.needed, c.asked, c.cycles, c.arrivals],
            "words": c.describe(),
            "each": [c.describe_block(block) for block in range(c.blocks)],
        }
        for block in range(c.blocks):
            row, column = divmod(block, c.columns)
            mine = [one for pair in every for one in pair if block in one.to]
            lines = {
                operand: sorted(
                    line
                    for one in mine
                    if one.operand == operand
                    for line in range(one.first, one.first + one.count)
                )
                for operand in "AB"
            }
            assert lines["A"] == list(range(row * c.BM, (row + 1) * c.BM))
            assert lines["B"] == list(range(column * c.BN, (column + 1) * c.BN))


def test_the_map_is_that_of_the_kernel():
    """`wgmma_06_cluster` names its cluster and its arrivals; two blocks share B."""
    text = registry.get("wgmma_06_cluster").path.read_text(encoding="utf-8")
    c = Cluster(2, 1)
    assert "CLUSTER = 2" in text and "ring.init(CLUSTER * CONSUMERS)" in text
    assert c.arrivals == 4 and c.asked == 32 * 1024
    assert re.search(r"rank \* \(BN / BOX / CLUSTER\)", text)
    assert [load.first for _, load in map(c.loads, range(2))] == [0, 128]


def test_what_cannot_be_is_refused():
    for make, name in (
        (lambda: Sums(100), "columns"),
        (lambda: Sums(8).holder(64, 0), "row"),
        (lambda: Sums(8).element(0, 4), "register"),
        (lambda: Cluster(3, 1), "rows"),
        (lambda: Cluster(2, 1).loads(2), "block"),
    ):
        with pytest.raises(ArgumentError, match=name):
            make()
