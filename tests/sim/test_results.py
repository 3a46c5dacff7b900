"""The kernels compute what NumPy computes: small integers, so equal to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import sampled
from step_cases import step_cases

from gemmlab import sim
from gemmlab.core.paths import repository_root
from gemmlab.steps import registry

TILED = ("sgemm_04_register_tiling", "sgemm_05_transposed_a", "sgemm_06_swizzled_a")
ANY_SIZE = ((1, 1, 1), (33, 17, 5), (64, 100, 37))
SHAPES = [
    *((name, shape) for name in ("sgemm_01_naive", "sgemm_02_coalesced") for shape in ANY_SIZE),
    *(("sgemm_03_block_tiling", shape) for shape in ((32, 32, 32), (32, 64, 96))),
    *(
        (name, shape)
        for name in TILED
        for shape in ((128, 128, 16), (128, 384, 48), (256, 128, 64))
    ),
]
SCALES = ((1.0, 0.0), (2.0, -1.0), (0.5, 2.0), (0.0, 1.0))


@pytest.mark.parametrize(("name", "shape"), SHAPES)
@pytest.mark.parametrize("traced", [False, True])
def test_product_is_exact(name, shape, traced):
    A, B, C = sim.integer_matrices(*shape)
    module = sim.compile_step(registry.get(name))
    run = module.trace if traced else module.launch
    C[:] = np.nan
    result = run(A, B, C, *shape)
    np.testing.assert_array_equal(C, A @ B)
    if traced:
        assert result.findings == ()


@pytest.mark.parametrize("case", sampled(step_cases()))
def test_alpha_and_beta(case):
    module, plain = case.module(), sim.integer_matrices(*case.sizes, seed=1)
    for alpha, beta in SCALES:
        A, B, C = case.matrices(seed=1)
        expected = alpha * (plain[0] @ plain[1]) + beta * plain[2]
        module.launch(A, B, C, *case.sizes, alpha, beta)
        np.testing.assert_array_equal(C, case.rounded(expected))


@pytest.mark.parametrize("case", sampled(step_cases()))
def test_beta_zero_does_not_read_c(case):
    A, B, C = case.matrices()
    C[:] = case.rounded(np.full_like(C, np.nan, np.float32))
    case.module().launch(A, B, C, *case.sizes, 3.0, 0.0)
    plain = sim.integer_matrices(*case.sizes)
    np.testing.assert_array_equal(C, case.rounded(3.0 * (plain[0] @ plain[1])))


@pytest.mark.parametrize("case", sampled(step_cases()))
def test_empty_sum(case):
    M, N, _ = case.sizes
    A, B, C = case.matrices(M, N, 0)
    case.module().launch(A, B, C, M, N, 0, 1.0, 2.0)
    expected = case.rounded(2.0 * sim.integer_matrices(M, N, 0)[2])
    np.testing.assert_array_equal(C, expected)


def test_a_swizzle_forgotten_on_one_side_gives_wrong_values(tmp_path):
    """Nothing is out of place, so there is no finding: only the result tells."""
    spec = registry.get("sgemm_06_swizzled_a")
    text = spec.path.read_text()
    read = "sA[k][swizzle(k, m)]"
    assert read in text
    common = repository_root() / "kernels" / "common"
    text = text.replace(read, "sA[k][m]").replace('"../common/', f'"{common}/')
    path = tmp_path / "forgotten.cuh"
    path.write_text(text)
    A, B, C = sim.integer_matrices(128, 128, 32)
    trace = sim.compile_source(path, "launch_sgemm_06_swizzled_a").trace(A, B, C, 128, 128, 32)
    assert trace.findings == ()
    assert not np.array_equal(C, A @ B)
