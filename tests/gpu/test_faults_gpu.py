"""Mistakes with the copy engine on a GPU: their processes take nothing else with them."""

import pytest
import torch

import gemmlab as lab
from gemmlab.gpu import requirements as needs
from gemmlab.steps import registry

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(bool(needs.lacking(registry.program("tma_01_load"))), reason="no TMA"),
]


def test_what_is_certain():
    further, hangs = "01, tiles 128 bytes further", "01, a second arrival expected"
    wide, narrow = (f"01, rows of a box {n} bytes" for n in (256, 64))
    table = lab.experiments.tma_faults(
        "01, unchanged", "03, unchanged", further, hangs, wide, narrow
    )
    for name in ("01, unchanged", "03, unchanged", narrow):
        assert str(table.of(name)) == "right in 50 of 50 runs"
    assert table.of(further).wrong == 50
    assert "did not end in 5 s (killed)" in table.of(hangs).end
    assert "the driver's CUresult is 1" in table.of(wide).end
    assert torch.ones(2, device="cuda").sum() == 2


def test_a_try_comes_to_an_end():
    assert len(lab.experiments.try_wait().rows) > 1
