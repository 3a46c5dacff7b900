"""Where changed kernel files are kept: in the cache, beside a link to what they include."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from . import registry

_SIBLING = re.compile(r'^#include "(\w+\.cuh)"', re.MULTILINE)  # another step, of the same folder


def write(text: str, place: str) -> Path:
    """Keep the text of a kernel file outside `kernels/`, once; the path it has there.

    place: folder and name as in `kernels/`, "sgemm/06_swizzled_a.cuh".
    """
    # The file includes "../common/...", and checkouts that share a cache may differ in that.
    common = registry.repository_root() / "kernels" / "common"
    digest = hashlib.sha256(f"{common}\0{text}".encode()).hexdigest()[:12]
    folder, name = Path(place).parent.name, Path(place).name
    path = registry.cache_dir("variants", digest, folder) / name
    with suppress(FileExistsError):
        (path.parents[1] / "common").symlink_to(common)
    for step in _SIBLING.findall(text):
        with suppress(FileExistsError):
            (path.parent / step).symlink_to(common.parent / folder / step)
    if not path.exists():  # in one step: another process may want the same
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        os.replace(draft, path)
    return path
