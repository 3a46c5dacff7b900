"""A notebook's cell as a file that programs and kernels are compiled from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...core.cache import DIGITS, Store
from ...core.files import write_whole
from ...core.paths import cache_dir

CELLS = Store("cells")
NAME = "cell.cu"


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
