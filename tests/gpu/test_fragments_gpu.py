"""WMMA's fragments on this GPU are those of `layouts.FRAGMENTS`."""

from __future__ import annotations

import pytest
import torch

from gemmlab.evidence import wmma_fragments as fragments

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kind", fragments.kinds(), ids=lambda kind: " ".join(kind.values()))
def test_wmma_on_this_gpu(monkeypatch, kind):
    if torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("mma.m16n8k16, of which the layouts are made, needs compute capability 8.0")
    monkeypatch.setenv("GEMMLAB_BACKEND", "gpu")
    found = fragments.measured_fragment(**kind)
    assert found.origin == f"Measured now on {torch.cuda.get_device_name()}."
    assert found.agrees, found
