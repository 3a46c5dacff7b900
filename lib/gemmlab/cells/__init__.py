"""`%%kernel` cells: their text made into a kernel file, compiled, and their lines in every message.

passages and constants read a cell, text puts them into the parent's file, handmade compiles it,
diagnostics has the compiler's words. `magic.py` is what IPython calls.
"""

from __future__ import annotations

from .handmade import Built, in_the_cell, make

__all__ = ["Built", "in_the_cell", "make"]
