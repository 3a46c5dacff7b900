"""Command lines that cannot be right: what follows `python -m gemmlab`, and what has to come of it.

A row is a command with a gap, and the wrong values that go there, one at a time. The last line of
the error output has to name the argument, and to hold `remedy`.
"""

from __future__ import annotations

from dataclasses import dataclass

NO_COUNT = ("0", "-1", "2.5", "x", "''", "nan", "1e3")
NO_SIZES = ("4k", "12x13", "''", "-5", "1024;2048", "1x2x3x4", "4096,", "nan", "0x10", "4.5")
NO_TIME = ("0", "-1", "x", "nan", "inf", "''")


@dataclass(frozen=True)
class Line:
    """`command` with each of `values` in its gap; `status`: what it exits with."""

    command: str
    argument: str
    values: tuple[str, ...]
    remedy: str
    status: int = 2


def unknown_step(command: str) -> tuple[Line, ...]:
    """What is wrong where a step's name stands."""
    return (
        Line(command, "kernel", ("sgemm_06_swizzled", "swizzled"), "sgemm_06_swizzled_a"),
        Line(command, "kernel", ("''", "4096", "ü"), "gemmlab list"),
    )


LINES = (
    Line("{}", "'chek'", ("chek",), "--help"),
    Line("{}", "option", ("--nothing", "-x"), "--help"),
    Line("doctor {}", "option", ("--jsn", "--on=sim"), "--help"),
    Line("doctor {}", "argument", ("extra",), "--help"),
    Line("list {}", "option", ("--jsn", "--all"), "--help"),
    *unknown_step("check {}"),
    Line("check sgemm_01_naive --shapes {}", "shapes", NO_SIZES, "MxNxK"),
    Line(
        "check sgemm_01_naive --shapes {}", "M", ("0", "0x4x4", f"{10**20}"), "from 1 to 2147483647"
    ),
    Line("check sgemm_01_naive --shapes {}", "shapes", ("9" * 5000,), "32 bits"),
    Line("check sgemm_01_naive --shapes {}", "N", ("4x0x4",), "from 1 to 2147483647"),
    Line("check sgemm_01_naive --shapes {}", "shapes", ("1000000",), "smaller M, N and K"),
    Line("check sgemm_06_swizzled_a --shapes {}", "M", ("100", "1"), "multiple of 128"),
    Line("check sgemm_01_naive --precision {}", "precision", ("fp8", "''", "FP32"), "'fp32'"),
    Line("check sgemm_01_naive --precision {}", "precision", ("bf16",), "compiled for fp32"),
    Line("check sgemm_01_naive --on {}", "--on", ("cpu", "cuda", "''"), "'sim'"),
    Line("check sgemm_01_naive {}", "option", ("--size=8", "--slow"), "--help"),
    *unknown_step("bench {}"),
    Line("bench sgemm_01_naive --sizes {}", "sizes", NO_SIZES, "MxNxK"),
    Line("bench sgemm_01_naive --sizes {}", "sizes", ("0", "4x4x0", f"{2**31}"), "(M, N, K)"),
    Line("bench sgemm_01_naive --sizes {}", "sgemm_01_naive", ("777", "1x2x3"), "recorded at", 1),
    Line("bench sgemm_01_naive --mode {}", "mode", ("fast", "''", "Burst"), "'sustained'"),
    Line("bench sgemm_01_naive --samples {}", "samples", NO_COUNT, "integer|range"),
    Line("bench sgemm_01_naive --samples {}", "samples", (f"{10**20}",), "from 1 to 2147483647"),
    Line("bench sgemm_01_naive --seconds {}", "seconds", NO_TIME, "float|range|a time above 0"),
    Line("bench sgemm_01_naive --precision {}", "precision", ("int8", "''"), "'bf16'"),
    Line("bench sgemm_01_naive --precision {}", "precision", ("bf16",), "compiled for fp32"),
    Line("bench hgemm_10_mma --tf32 {}", "baselines", ("",), "leave it out"),
    Line("bench sgemm_01_naive {}", "option", ("--shapes=8", "--on=gpu"), "--help"),
    *unknown_step("tune {}"),
    Line("tune {}", "KERNEL", ("",), "--help"),
    Line("tune {}", "kernel", ("sgemm_01_naive",), "those that have are"),
    Line("tune sgemm_20_any_shape --sizes {}", "sizes", NO_SIZES, "MxNxK"),
    Line("tune sgemm_20_any_shape --sizes {}", "sizes", ("0", f"{10**20}"), "(M, N, K)"),
    Line("tune sgemm_20_any_shape --sizes {}", "sgemm_20_any_shape", ("7",), "tuned at", 1),
    Line("tune sgemm_20_any_shape --samples {}", "samples", NO_COUNT, "integer|range"),
    Line("tune sgemm_20_any_shape --seconds {}", "seconds", NO_TIME, "float|range|a time above 0"),
    *unknown_step("trace {}"),
    Line("trace {}", "KERNEL", ("",), "--help"),
    Line("trace sgemm_01_naive -M {}", "-M", NO_COUNT, "integer|range"),
    Line("trace sgemm_01_naive -N {}", "-N", NO_COUNT, "integer|range"),
    Line("trace sgemm_01_naive -K {}", "-K", NO_COUNT, "integer|range"),
    Line("trace sgemm_01_naive -M {}", "M", (f"{2**31}", f"{10**20}"), "from 1 to 2147483647"),
    Line(
        "trace sgemm_01_naive -M {0} -N {0}", "sgemm_01_naive", ("1000000",), "smaller M, N and K"
    ),
    Line("trace sgemm_06_swizzled_a -M {}", "M", ("100",), "multiple of 128"),
    Line("trace sgemm_01_naive --precision {}", "precision", ("fp8", "''"), "'fp32'"),
    Line("trace sgemm_01_naive --precision {}", "precision", ("fp16",), "compiled for fp32"),
    Line("record --family {}", "family", ("dgemm", "''"), "'sgemm'"),
    Line("record --only {}", "only", ("everything", "''"), "'benchmark'"),
    Line("record --only {}", "only", ("tensor_cores",), "allowed for sgemm are"),
    Line("record --sizes {}", "sizes", NO_SIZES, "MxNxK"),
    Line("record --sizes {}", "sizes", ("1x2x3", "0", f"{2**31}"), "cubes"),
    Line("record --kernel {}", "kernel", ("none", "''"), "gemmlab list"),
    Line("record --kernel {}", "kernels", ("hgemm_10_mma",), "--family"),
    Line("record --output {}", "output", ("/",), "is a directory"),
)
