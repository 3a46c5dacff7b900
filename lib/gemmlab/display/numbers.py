"""Numbers, sizes and names as tables and charts show them."""

from __future__ import annotations

import re

_SHORT = {"cublas": "cuBLAS", "cublaslt_best": "cuBLASLt, best", "cublas_tf32": "cuBLAS, TF32"}


def short(kernel: str) -> str:
    """A name for charts: "05 transposed A" for "sgemm_05_transposed_a"."""
    if kernel in _SHORT:
        return _SHORT[kernel]
    words = re.sub(r"^[a-z]+_(?=\d)", "", kernel).replace("_", " ")
    return re.sub(r" [abc]$", lambda match: match[0].upper(), words)


def show_size(shape: tuple[int, int, int]) -> str:
    """ "4096" for a cube, else "MxNxK"."""
    return str(shape[0]) if len(set(shape)) == 1 else "x".join(map(str, shape))


def show(value: float | None, form: str) -> str:
    """A number in a format, or a dash where there is none."""
    return "-" if value is None else form.format(value)


def show_rate(value: float) -> str:
    """A rate or time with three digits: 0.50, 4.40, 43.1, 312."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def show_time(us: float) -> str:
    """A time with three digits and the unit that suits it."""
    return f"{show_rate(us)} us" if us < 1000 else f"{show_rate(us / 1000)} ms"


def show_share(ratio: float | None) -> str:
    """A ratio as a percentage."""
    if ratio is None:
        return "-"
    return f"{100 * ratio:.1f} %" if ratio < 0.1 else f"{100 * ratio:.0f} %"
