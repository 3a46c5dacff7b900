"""The wgmma instructions whose operand reads are measured."""

from __future__ import annotations

from collections.abc import Iterator

WIDTHS = (8, 16, 32, 64, 96, 128, 192, 256)
SPANS = (128, 64, 32, 0)  # bytes of the swizzle
_MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def operand(span: int, transposed: bool = False, start: int = 0, **strides: int) -> dict:
    """Descriptor fields in bytes; the canonical strides of a 16-deep slice unless given.

    K-major: 8 rows of `span` bytes, the next 8 after them (stride). MN-major: 8 values of k, each
    `span` bytes of m or n, then the other 8 (stride), then the next m or n (leading). Without
    swizzle: 8 x 16 bytes, then what is next in k, then what is next in m or n.
    """
    if span == 0:
        leading, stride = 128, 256
    else:
        leading, stride = (16 * span, 8 * span) if transposed else (16, 8 * span)
    fields = {"mode": _MODES[span], "start": start, "leading": leading, "stride": stride}
    return fields | strides


def draw_wgmma() -> list[dict]:
    """Shapes, layouts and swizzles, each varied with the others at rest, and some together."""
    return list(_wgmma_cases())


def _wgmma_cases() -> Iterator[dict]:
    def case(n: int, a: dict | None, b: dict, form: str, groups: int = 1, times: int = 1) -> dict:
        counts = {"warpgroups": groups, "instructions": times}
        return {"form": form, "n": n, "a": a, "b": b, **counts}

    k128, mn128 = operand(128), operand(128, transposed=True)
    for n in WIDTHS:
        for span in SPANS:
            k, mn = operand(span), operand(span, transposed=True)
            yield case(n, k128, k, "ss")
            yield case(n, k128, mn, "ss.b_trans")
            yield case(n, None, k, "rs")
            if n in (8, 64, 96, 256):
                yield case(n, None, mn, "rs.b_trans")
            if n in (8, 64, 256):
                yield case(n, k, k128, "ss")
                yield case(n, mn, k128, "ss.a_trans")
                yield case(n, mn, mn, "ss.both_trans")
        yield case(n, k128, k128, "ss", groups=2)
    for n in (8, 64, 256):
        yield case(n, None, k128, "rs", groups=2)
        yield case(n, k128, mn128, "ss.b_trans", groups=2)
        for times in (2, 4):
            yield case(n, k128, k128, "ss", times=times)
    for start in (32, 64, 96):
        yield case(64, operand(128, start=start), operand(128, start=start), "ss")
    for span in SPANS:
        for stride in (0, 128, 16, 272):
            yield case(64, k128, operand(span, stride=stride), "ss")
            yield case(64, None, operand(span, True, stride=stride), "rs.b_trans")
            yield case(64, operand(span, stride=stride), k128, "ss")
        yield case(64, None, operand(span, True, leading=144), "rs.b_trans")
        yield case(64, None, operand(span, False, leading=144), "rs")
