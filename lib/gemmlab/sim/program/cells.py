"""A notebook's cell as a file that programs and kernels are compiled from."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ...core.cache import DIGITS, Store
from ...core.files import write_whole
from ...core.paths import cache_dir
from ...steps.cuda_text import masked

CELLS = Store("cells")
NAME = "cell.cu"
_MAIN = re.compile(r"\bmain\s*\(")
_KERNEL = re.compile(r"\b__global__\b[^;{(]*?(?:\b__\w+__\s*\([^()]*\)[^;{(]*?)*\b(\w+)\s*\(")


def keep(text: str) -> Path:
    """The file of a cell; the same text has the same one."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
    file = CELLS.folder(f"cell-{digest}") / NAME
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        write_whole(file, text)
    return file


def is_cell(file: str) -> bool:
    """Whether a file is that of a cell."""
    path = Path(file)
    return path.name == NAME and path.parent.parent == cache_dir("cells")


def has_main(text: str) -> bool:
    """Whether a cell is a whole program."""
    return bool(_MAIN.search(masked(text)))


def kernels(text: str) -> list[str]:
    """The names of a cell's __global__ functions."""
    return list(dict.fromkeys(_KERNEL.findall(masked(text))))
