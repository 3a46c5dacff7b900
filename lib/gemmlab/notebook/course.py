"""The way through the book: which chapters are core, which are deep dives, and what each needs.

A core chapter is on the shortest way to the next part; a deep dive can be left out, and no core
chapter needs one. Pages that are no chapters (tracks, reference) are not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ..core.arguments import choice
from ..core.paths import repository_root
from .reading import Reading, reading

CORE, DEEP = "core", "deep dive"

# Chapter -> what a reader should have read; those in front, in the order of the book.
_CORE: dict[str, tuple[str, ...]] = {
    "primer": (),
    "sgemm_naive": ("primer",),
    "sgemm_block_tiling": ("sgemm_naive",),
    "sgemm_register_tiling": ("sgemm_block_tiling",),
    "sgemm_bank_conflicts": ("sgemm_register_tiling",),
    "sgemm_double_buffering": ("sgemm_bank_conflicts",),
    "sgemm_warp_tiling": ("sgemm_bank_conflicts",),
    "sgemm_async_copies": ("sgemm_double_buffering", "sgemm_warp_tiling"),
    "hgemm_ceiling": ("sgemm_bank_conflicts",),
    "hgemm_wmma": ("sgemm_async_copies", "hgemm_ceiling"),
    "hgemm_mma": ("hgemm_wmma",),
    "hgemm_swizzle": ("hgemm_mma",),
    "hgemm_stages": ("hgemm_swizzle",),
    "hgemm_wide_tile": ("hgemm_stages",),
    "tma_tensor_maps": ("hgemm_swizzle",),
    "tma_mbarriers": ("tma_tensor_maps", "hgemm_stages"),
    "tma_swizzle": ("tma_mbarriers",),
    "tma_producer_warp": ("tma_swizzle",),
    "tma_persistent": ("tma_producer_warp",),
    "wgmma_instruction": ("tma_swizzle",),
    "wgmma_descriptors": ("wgmma_instruction",),
    "wgmma_warpgroups": ("wgmma_descriptors", "tma_producer_warp"),
    "wgmma_store": ("wgmma_warpgroups", "tma_persistent"),
    "wgmma_clusters": ("wgmma_store",),
    "wgmma_ladder": ("wgmma_clusters",),
}
_DEEP: dict[str, tuple[str, ...]] = {
    "measuring": ("primer",),
    "sgemm_write_back": ("sgemm_bank_conflicts",),
    "sgemm_roofline": ("sgemm_register_tiling", "measuring"),
    "sgemm_thread_tile": ("sgemm_async_copies",),
    "sgemm_pipeline": ("sgemm_thread_tile",),
    "sgemm_block_order": ("sgemm_pipeline",),
    "sgemm_stream_k": ("sgemm_block_order",),
    "sgemm_any_shape": ("sgemm_stream_k",),
    "hgemm_mixed_precision": ("sgemm_warp_tiling",),
    "hgemm_wmma_pipeline": ("hgemm_wmma",),
    "hgemm_large_tile": ("hgemm_swizzle", "sgemm_block_order"),
    "hgemm_write_back": ("hgemm_large_tile",),
    "hgemm_stream_k": ("hgemm_wide_tile", "sgemm_stream_k"),
    "hgemm_any_shape": ("hgemm_stream_k", "sgemm_any_shape"),
    "layouts": ("hgemm_mma",),
    "tma_store": ("tma_swizzle",),
    "tma_wide_tile": ("tma_producer_warp", "hgemm_wide_tile"),
    "tma_any_shape": ("tma_persistent", "hgemm_any_shape"),
    "tma_where_it_ends": ("tma_persistent", "tma_wide_tile"),
    "wgmma_deferred": ("wgmma_clusters",),
    "wgmma_order": ("wgmma_clusters",),
    "wgmma_energy": ("wgmma_order",),
    "wgmma_small": ("wgmma_clusters",),
    "wgmma_ping_pong": ("wgmma_small", "wgmma_deferred"),
    "wgmma_any_shape": ("wgmma_ping_pong", "tma_any_shape"),
    "simulator": ("sgemm_bank_conflicts",),
    "own_kernel": ("simulator",),
    "race": ("tma_store", "own_kernel"),
    "estimate": ("sgemm_roofline",),
    "counters": ("sgemm_bank_conflicts",),
}
CHAPTERS = (*_CORE, *_DEEP)
_PART = re.compile(r'caption: "?([^"\n]+)"?|file: book/(\w+)')


@dataclass(frozen=True)
class Chapter:
    """A chapter's place on the way.

    part: the caption of the book's contents that it stands below. needs: chapters to read before.
    reading: what it has; None where there is no checkout.
    """

    name: str
    part: str
    needs: tuple[str, ...]
    reading: Reading | None

    @property
    def core(self) -> bool:
        """Whether it is on the shortest way."""
        return self.name in _CORE

    @property
    def kind(self) -> str:
        """ "core" or "deep dive"."""
        return CORE if self.core else DEEP

    @property
    def title(self) -> str:
        """Its heading without code's marks; its name where there is no checkout."""
        return self.reading.title.replace("`", "") if self.reading else self.name

    @property
    def short(self) -> str:
        """The title without what follows its colon or comma."""
        return re.split(r"[:,]", self.title, maxsplit=1)[0]

    @property
    def words(self) -> str:
        """Its kind, and how long it takes."""
        takes = f" {self.reading}." if self.reading else ""
        return f"{'Core' if self.core else 'Deep dive'}.{takes}"

    @property
    def minutes(self) -> int:
        """To read it, and to write its rungs of "Your kernel"; other exercises come on top."""
        return self.reading.path_minutes if self.reading else 0


def chapter(name: str) -> Chapter:
    """A chapter's place on the way. Raises ArgumentError for a page that is no chapter."""
    choice("chapter", name, CHAPTERS)
    path = repository_root() / "book" / f"{name}.ipynb"
    needs = _CORE.get(name, _DEEP.get(name, ()))
    return Chapter(name, _parts().get(name, ""), needs, reading(path) if path.is_file() else None)


def course() -> tuple[Chapter, ...]:
    """All chapters in the order of the book's contents; none without a checkout."""
    return tuple(map(chapter, names()))


def names() -> tuple[str, ...]:
    """The names of all chapters in that order; reads no chapter."""
    return tuple(name for name in _parts() if name in CHAPTERS)


def minutes(chapters: Iterable[Chapter]) -> int:
    """What these chapters take together, with their rungs of "Your kernel"."""
    return sum(one.minutes for one in chapters)


@cache
def _parts() -> dict[str, str]:
    """Page -> the caption that it stands below, in the order of the book's contents."""
    contents = repository_root() / "_toc.yml"
    if not contents.is_file():
        return {}
    return dict(_captioned(contents.read_text(encoding="utf-8")))


def _captioned(contents: str) -> Iterator[tuple[str, str]]:
    caption = ""
    for found in _PART.finditer(contents):
        if found[1]:
            caption = found[1]
        else:
            yield found[2], caption
