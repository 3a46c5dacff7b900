"""The checker: right kernels pass, and each kind of wrong kernel fails."""

import re
import sys

import pytest

import gemmlab as lab
from gemmlab import registry
from gemmlab.errors import ArgumentError, BackendError

TILED = "sgemm_03_block_tiling"

# What is changed, and what the report must say about it.
WRONG = {
    "forgets alpha": (TILED, {"acc, alpha, beta)": "acc, 1.0f, beta)"}, "alpha=0.5"),
    "forgets beta": (TILED, {"acc, alpha, beta)": "acc, alpha, 0.0f)"}, "beta=-2.0"),
    "always reads C": (
        TILED,
        {
            "write_c(&C[(size_t)row * N + col], acc, alpha, beta)": "C[(size_t)row * N + col] = "
            "alpha * acc + beta * C[(size_t)row * N + col]"
        },
        "NaN",
    ),
    "leaves a column out": (
        TILED,
        {"  write_c(": "  if (col != 7) write_c("},
        r"the first is C\[0, 7\].*\(0, 7\) of tile \(0, 0\)",
    ),
    "stops one tile early": (TILED, {"k_tile < K;": "k_tile + BK < K;"}, "elements wrong"),
    "confuses M and N": (
        "sgemm_02_coalesced",
        {"C[(size_t)row * N + col]": "C[(size_t)row * M + col]"},
        "elements wrong|out-of-bounds",
    ),
    "drops mantissa bits": (  # TF32 keeps 10 of them
        "sgemm_02_coalesced",
        {"acc += a * b;": "const float t = a * 8193.0f; acc += (t - (t - a)) * b;"},
        "elements wrong",
    ),
}


@pytest.mark.parametrize("name", registry.names())
def test_every_step_is_right(name):
    report = lab.check(name, device="cpu")
    assert report.ok, report
    assert "right in all" in repr(report)


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_kernels_fail(mistake):
    name, changes, says = WRONG[mistake]
    report = lab.check(lab.variant(name, changes), device="cpu")
    assert not report.ok
    assert re.search(says, repr(report)), report


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "device: got 'gpu', allowed are 'cuda' and 'cpu'"),
        ({"shapes": [(32, 32)]}, r"shapes: got \[\(32, 32\)\], each is \(M, N, K\)"),
        ({"shapes": [(33, 32, 32)]}, "M: is 33, .* multiple of 32; pad to 64"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        lab.check(TILED, **options)


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(sys.modules["gemmlab.check"], "why_no_gpu", lambda: "no GPU here")
    with pytest.raises(BackendError, match="no GPU here; device='cpu' checks on the simulator"):
        lab.check(TILED, device="cuda")


def test_right_values_with_a_race_fail_too():
    careless = lab.variant(
        TILED, {"__syncthreads();  // everyone has read": "// everyone has read"}
    )
    report = lab.check(careless, shapes=[(32, 32, 64)], device="cpu")
    assert not report.ok and report.findings
