"""Products of small integers, in every layout and width that wgmma has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from wgmma_probes import FORMS, SHARED_BYTES, product
from wgmma_tiles import SPANS, Tile, bits_of, canonical

NAN = 0xFFFF


@dataclass(frozen=True)
class Product:
    """One wgmma. name: of fixtures/wgmma_layouts.cu's launcher. gap: patterns left out between."""

    name: str
    form: str
    n: int
    span_a: int
    span_b: int
    bfloat: bool = False
    scale_d: int = 1
    gap: int = 0

    def tiles(self) -> tuple[Tile, Tile]:
        """A and B, one after the other. A is not used where it goes by registers."""
        a = canonical(64, self.span_a, self.form in ("a_trans", "both_trans"), gap=self.gap)
        start = -(-a.bytes() // 1024) * 1024
        b_major = self.form in ("b_trans", "both_trans", "rs.b_trans")
        return a, canonical(self.n, self.span_b, b_major, start, self.gap)

    def run(self, launch) -> tuple[np.ndarray, np.ndarray]:
        """D, and what it should be. launch(call, memory, D, form, n, bfloat, name)."""
        random = np.random.default_rng(self.n + FORMS.index(self.form))
        A, B = random.integers(-8, 9, (64, 16)), random.integers(-8, 9, (self.n, 16))
        D = random.integers(-99, 99, (64, self.n)).astype(np.float32)
        expected = A @ B.T + self.scale_d * D
        a, b = self.tiles()
        memory = np.full(SHARED_BYTES // 2, NAN, np.uint16)
        memory[b.addresses() // 2] = bits_of(B, self.bfloat)
        by_registers = self.form.startswith("rs")
        if not by_registers:
            memory[a.addresses() // 2] = bits_of(A, self.bfloat)
        call = product(bits_of(A, self.bfloat) if by_registers else a, b, self.scale_d)
        form = FORMS.index(self.form)
        launch(call, memory, D, form, self.n, self.bfloat, self.name)
        return D, expected


def products() -> Iterator[Product]:
    """Both types, all forms and spans in some widths; all widths in one form; D left out."""
    for form in FORMS:
        for span in SPANS:
            for n in (8, 16, 96, 256):
                for bfloat in (False, True):
                    yield Product("forms", form, n, span, span, bfloat, gap=n < 256)
        yield Product("forms", form, 96, 128, 32, scale_d=0)
    for n in range(8, 257, 8):
        yield Product("widths", "k_major", n, 128, 64)
