"""Which address each element of an operand comes from: descriptors to ask a GPU and the simulator.

The elements of shared memory are numbers that tell their place, and the other operand is an
identity, so a product shows where wgmma has read, whatever the descriptor says.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

import numpy as np
from wgmma_tiles import SPANS, Tile, bits_of, canonical

SHARED_BYTES = 40960
FORMS = ("k_major", "a_trans", "b_trans", "both_trans", "rs", "rs.b_trans")
DIGIT = 1024  # numbers that half precision holds exactly
# Where the identity stands while A is probed: 16 columns, K-major, no swizzle.
IDENTITY = Tile(16, 16, False, SHARED_BYTES - 512, leading=128, stride=256)

# launch(call, memory, D, form, n): runs fixtures/wgmma_layouts.cu's launch_forms on half precision.
Launch = Callable[[np.ndarray, np.ndarray, np.ndarray, int, int], None]


def product(a: Tile | np.ndarray, b: Tile, scale_d: int = 1) -> np.ndarray:
    """fixtures/wgmma_layouts.cu's Product, and A's bits where it goes by registers."""
    in_memory = isinstance(a, Tile)
    descriptors = (a.descriptor() if in_memory else 0, b.descriptor(), scale_d)
    head = np.array(descriptors, np.uint64).view(np.uint16)
    return head if in_memory else np.concatenate([head, a.ravel()])


def addresses_read(launch: Launch, operand: str, tile: Tile) -> np.ndarray:
    """The byte offset that each element of operand "a" or "b" comes from, (rows, 16)."""
    numbers = np.arange(SHARED_BYTES // 2)
    low, high = (_read(launch, operand, tile, part) for part in (numbers % DIGIT, numbers // DIGIT))
    return ((high * DIGIT + low) * 2).astype(np.int64)


def _read(launch: Launch, operand: str, tile: Tile, values: np.ndarray) -> np.ndarray:
    memory = bits_of(values, False)
    identity = np.eye(16)
    if operand == "a":
        memory[IDENTITY.addresses() // 2] = bits_of(identity, False)
        D = np.zeros((64, 16), np.float32)
        form = FORMS.index("a_trans" if tile.mn_major else "k_major")
        launch(product(tile, IDENTITY, 0), memory, D, form, 16)
        return D
    rows = np.zeros((64, 16))
    rows[:16] = identity
    D = np.zeros((64, tile.rows), np.float32)
    form = FORMS.index("rs.b_trans" if tile.mn_major else "rs")
    launch(product(bits_of(rows, False), tile, 0), memory, D, form, tile.rows)
    return np.ascontiguousarray(D[:16].T)


def probes() -> Iterator[tuple[str, Tile]]:
    """Canonical layouts, then what the PTX ISA leaves open."""
    for span in SPANS:
        for mn_major in (False, True):
            for operand, rows in (("a", 64), ("b", 8), ("b", 96), ("b", 256)):
                yield operand, canonical(rows, span, mn_major, gap=rows < 256)
            tile = canonical(96, span, mn_major, gap=1)
            yield from (("b", other) for other in _variants(tile))
            yield "b", replace(canonical(8, span, mn_major), start=2048 + max(span // 2, 16))


def _variants(tile: Tile) -> Iterator[Tile]:
    for leading in (0, 16, 144, 512):
        yield replace(tile, leading=leading)
    for stride in (0, 16, 128, 272, 1040):
        yield replace(tile, stride=stride)
    for start in (16, 32, 64, 96, 128, 256, 384, 512, 896):
        yield replace(tile, start=2048 + start)
    for base in (1, 2, 3, 4, 7):
        yield replace(tile, start=2048, base=base)
        yield replace(tile, start=2048 + 128 * base, base=base)


# Addresses beyond 18 bits, and bits that must be 0: a GPU may end the process that tries them.
RISKY = tuple(
    ("b", Tile(16, 128, False, start=8192, leading=16, stride=stride))
    for stride in (2**18 - 1024, 2**18 - 2048)
)


def encode(addresses: np.ndarray) -> str:
    """Short text for a recording."""
    steps = np.diff(addresses.ravel(), prepend=0).astype("<i2")
    return base64.b64encode(
        zlib.compress(np.diff(steps, prepend=0).astype("<i2").tobytes(), 9)
    ).decode()


def decode(text: str, rows: int) -> np.ndarray:
    """What `encode` made text of."""
    steps = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i2")
    return np.cumsum(np.cumsum(steps, dtype="<i2"), dtype="<u2").reshape(rows, 16)


def entry(operand: str, tile: Tile, addresses: np.ndarray) -> dict:
    """A probe and its answer, as a recording has them."""
    return {"operand": operand, **asdict(tile), "addresses": encode(addresses)}


def read_entry(entry: dict) -> tuple[str, Tile, np.ndarray]:
    """What `entry` was made of."""
    fields = {name: entry[name] for name in Tile.__dataclass_fields__}
    tile = Tile(**fields)
    return entry["operand"], tile, decode(entry["addresses"], tile.rows)
