"""Inline PTX: `asm volatile("...")` becomes calls of the functions that kernels/ptx has, too.

`statement` reads an asm statement of CUDA C++, `template` the PTX in it, `instructions` knows what
each instruction is called in C++ (include/gemmlab_sim/inline_ptx*.h), `translate` puts the call in
the statement's place.
"""

from .translate import Translated, translated

__all__ = ["Translated", "translated"]
