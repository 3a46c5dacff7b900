"""What a launcher says when it refuses: the words that kernels/common/launch/refuse.cuh keeps."""

from __future__ import annotations

import ctypes
from pathlib import Path

_BYTES = 256  # of refuse.cuh's text


def take(library: ctypes.CDLL | str | Path | None) -> str:
    """The words of the last refusal in a compiled step, once; "" if there are none.

    library: the step's, or where it lies; it must be loaded already.
    """
    if not isinstance(library, ctypes.CDLL):
        if library is None:
            return ""
        library = ctypes.CDLL(str(library))
    try:
        text = (ctypes.c_char * _BYTES).in_dll(library, "refusal_text")
    except ValueError:  # a step that never refuses in words
        return ""
    words = text.value.decode(errors="replace")
    text.value = b""
    return words
