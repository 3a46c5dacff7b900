"""The one drawing of the machine: where its units and the ways between them are, in two widths.

Units are (x, y, width, height) and ways are corners, in pixels; the widget and its picture draw
both from here.
"""

from __future__ import annotations

from typing import Any

NAMES = {
    "dram": "DRAM",
    "l2": "L2 cache",
    "tma": "TMA",
    "l1": "L1, loads",
    "shared": "shared memory, 32 banks",
    "scheduler": "scheduler",
    "registers": "registers",
    "fma": "FMA",
    "tensor": "tensor",
}
PARTITIONS = 4  # of an SM: each has a scheduler, registers and pipes of its own

_COLUMNS = ("registers", "fma", "tensor", "scheduler")


def _rows(
    x: int, y: int, widths: tuple[int, ...], height: int, gaps: tuple[int, ...]
) -> dict[str, list[list[int]]]:
    """The four partitions: each unit's boxes, one below the other. gaps: behind each column."""
    found: dict[str, list[list[int]]] = {}
    for name, width, gap in zip(_COLUMNS, widths, gaps, strict=True):
        found[name] = [[x, y + (height + 6) * i, width, height] for i in range(PARTITIONS)]
        x += width + gap
    return found


WIDE: dict[str, Any] = {
    "size": [840, 252],
    "sm": [222, 4, 616, 244],
    "units": {
        "dram": [[2, 36, 78, 192]],
        "l2": [[116, 36, 78, 192]],
        "tma": [[240, 36, 84, 48]],
        "l1": [[240, 108, 84, 48]],
        "shared": [[358, 36, 164, 162]],
        **_rows(558, 36, (66, 68, 64, 36), 36, (18, 6, 8, 0)),
    },
    "ways": {
        "dram-l2": [[80, 132], [116, 132]],
        "l2-l1": [[194, 132], [240, 132]],
        "l2-tma": [[194, 60], [240, 60]],
        "l1-registers": [[282, 156], [282, 220], [540, 220], [540, 180], [558, 180]],
        "l1-shared": [[324, 132], [358, 132]],
        "tma-shared": [[324, 60], [358, 60]],
        "registers-shared": [[558, 138], [522, 138]],
        "shared-registers": [[522, 96], [558, 96]],
        "registers-pipes": [[624, 96], [642, 96]],
        "shared-tensor": [[522, 190], [532, 190], [532, 208], [748, 208], [748, 198]],
    },
}
NARROW: dict[str, Any] = {
    "size": [340, 436],
    "sm": [2, 58, 336, 376],
    "units": {
        "dram": [[2, 4, 150, 38]],
        "l2": [[182, 4, 156, 38]],
        "tma": [[14, 84, 140, 38]],
        "l1": [[182, 84, 134, 38]],
        "shared": [[14, 148, 296, 82]],
        **_rows(14, 268, (80, 80, 74, 48), 35, (16, 6, 6, 0)),
    },
    "ways": {
        "dram-l2": [[152, 23], [182, 23]],
        "l2-l1": [[262, 42], [262, 84]],
        "l2-tma": [[200, 42], [200, 51], [84, 51], [84, 84]],
        "l1-registers": [[316, 103], [326, 103], [326, 241], [102, 241], [102, 286], [94, 286]],
        "l1-shared": [[252, 122], [252, 148]],
        "tma-shared": [[84, 122], [84, 148]],
        "registers-shared": [[88, 268], [88, 230]],
        "shared-registers": [[20, 230], [20, 268]],
        "registers-pipes": [[94, 326], [110, 326]],
        "shared-tensor": [[264, 230], [264, 268]],
    },
}
