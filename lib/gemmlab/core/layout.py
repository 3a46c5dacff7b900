"""How A and B lie in memory, in BLAS's letters: n as they are, t as their transposes."""

from __future__ import annotations

from .arguments import choice

# GemmArgs.layout: bit 0 for B, bit 1 for A.
LAYOUTS = ("nn", "nt", "tn", "tt")
PLAIN = LAYOUTS[0]


def layout(name: str) -> str:
    """The layout called `name`. Raises ArgumentError, naming those there are."""
    return choice("layout", name, LAYOUTS, lead="; there are ")


def words(name: str) -> str:
    """The shapes in memory, both row-major: "A as (M, K), B as (N, K)" for "nt"."""
    a, b = (letter == "t" for letter in name)
    return f"A as {'(K, M)' if a else '(M, K)'}, B as {'(N, K)' if b else '(K, N)'}"
