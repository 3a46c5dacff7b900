"""Steps 15 to 20: work cut along k, edges, every way of the last step, and breaks that are seen."""

from itertools import product

import numpy as np
import pytest
from sampling import sampled

import gemmlab as lab
from gemmlab import sim
from gemmlab.core.errors import LaunchError
from gemmlab.steps import registry

STREAM_K = "sgemm_19_stream_k"
ANY_SHAPE = "sgemm_20_any_shape"
CUT = (256, 384, 640)  # 6 tiles of 40 k tiles on 30 blocks: 5 parts a tile
UNEVEN = (384, 384, 176)  # 9 tiles of 11 k tiles on 12 blocks: most blocks have parts of two


@pytest.mark.parametrize("shape", [CUT, UNEVEN])
def test_parts_of_a_tile_are_added_up(shape):
    report = lab.check(STREAM_K, shapes=[shape], device="cpu")
    assert report.ok, report


def test_the_sum_does_not_depend_on_who_is_last():
    M, N, K = CUT
    A, B = lab.matrices(M, N, K, device="cpu")
    step = lab.kernel(STREAM_K)
    assert len({step(A, B).numpy().tobytes() for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("== to - from;", "== 0;"),  # the first one adds up
        ("block <= to; ++block", "block < to; ++block"),  # one part is forgotten
        ("next += k_end - k_begin;", "next += k_end - k_begin + 1;"),  # a k tile is left out
    ],
)
def test_a_broken_stream_k_is_seen(old, new):
    broken = lab.variant(STREAM_K, {old: new})
    assert not lab.check(broken, shapes=[UNEVEN], device="cpu").ok


@pytest.mark.parametrize("order", range(1, 4))
def test_two_parts_in_one_place_are_a_race(order):
    """Where a block leaves its second part before the first has been added up."""
    broken = lab.variant(STREAM_K, {"(first <= t * share.k_tiles)": "0"})
    found = sim.trace(broken, *UNEVEN, order=order).findings
    assert {finding.kind for finding in found} == {"race"}
    assert sim.trace(STREAM_K, *UNEVEN, order=order).findings == ()


@pytest.mark.parametrize("name", [STREAM_K, "hgemm_19_stream_k", "sgemm_20_any_shape"])
@pytest.mark.parametrize("order", range(3))
def test_blocks_in_any_order_are_clean(name, order):
    M, N, K = (384, 768, 1024) if name[0] == "h" else UNEVEN
    assert sim.trace(name, M, N, K, order=order).findings == ()


SHAPES = (
    (5, 70, 33),
    (8, 64, 200),
    (3, 1, 1),
    (1, 40, 333),
    (65, 67, 130),
    (129, 100, 16),
    (70, 3, 2050),
)


@pytest.mark.parametrize("case", sampled(list(product(registry.get(ANY_SHAPE).configs, SHAPES))))
def test_every_way_takes_every_shape(case):
    config, shape = case
    step = lab.kernel(ANY_SHAPE, config=config)
    if (config == "thin" and shape[0] > 16) or (config == "narrow" and shape[1] > 16):
        with pytest.raises(LaunchError, match=r"cudaErrorInvalidValue|invalid argument"):
            step(*lab.matrices(*shape, device="cpu"))
        return
    report = lab.check(step, shapes=[shape], device="cpu")
    assert report.ok, report


@pytest.mark.parametrize("config", registry.get(ANY_SHAPE).configs)
def test_without_k_c_is_only_scaled(config):
    import torch

    out = torch.randn(7, 4)
    C = lab.kernel(ANY_SHAPE, config=config)(
        torch.empty(7, 0), torch.empty(0, 4), beta=0.5, out=out.clone()
    )
    torch.testing.assert_close(C, 0.5 * out)


@pytest.mark.parametrize("config", ["packed", "128x64", "64x64 split", "thin", "narrow"])
def test_addresses_need_no_alignment(config):
    """A, B and C begin 4 bytes behind a multiple of 16, with sizes that float4 would fit."""
    M, N, K = {"thin": (8, 64, 64), "narrow": (68, 8, 64)}.get(config, (68, 72, 64))
    rng = np.random.default_rng(0)
    A, B = (
        np.frombuffer(rng.standard_normal(n + 1).astype(np.float32).tobytes(), np.float32)
        for n in (M * K, K * N)
    )
    import torch

    a, b = (torch.tensor(x)[1:] for x in (A, B))
    out = torch.full((M * N + 1,), torch.nan)[1:].view(M, N)
    C = lab.kernel(ANY_SHAPE, config=config)(a.view(M, K), b.view(K, N), out=out)
    torch.testing.assert_close(C, a.view(M, K) @ b.view(K, N), rtol=1e-4, atol=1e-4)


def test_edges_are_guarded():
    unguarded = lab.variant(ANY_SHAPE, {"(row < M)": "(row < M + 1)"})
    report = lab.check(unguarded, shapes=[(65, 64, 16)], device="cpu")
    assert not report.ok


@pytest.mark.parametrize(
    "name",
    [n for n in registry.names() if n[:5] == "sgemm" and n[6:8] in ("15", "16", "17", "18", "19")],
)
def test_no_findings(name):
    assert not sim.trace(lab.kernel(name), 128, 128, 64).findings


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sgemm_16_packed_a", "cp_async_wait<1>();", "cp_async_wait<2>();"),
        ("sgemm_17_pipeline", "cp_async_wait<STAGES - 2>();\n        __sync", "__sync"),
        (
            "sgemm_17_pipeline",
            "        __syncthreads();  // the next tile",
            "        // the next tile",
        ),
    ],
)
def test_a_missing_wait_or_barrier_is_found(name, old, new):
    broken = lab.variant(name, {old: new})
    assert sim.trace(broken, 128, 384, 128).findings
