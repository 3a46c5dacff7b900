"""The four articles that the course grew out of: what they are, and the systems that they measure.

A system is a kernel of an article, or a library that it is compared with. A step names those it
reproduces in `seed`, as "003/sgemm_tiling", and in `departs` how it differs from them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .registry import KERNELS
from .spec import KernelSpec


@dataclass(frozen=True)
class Article:
    """An article. key: how steps name it. gpu: that it measured on."""

    key: str
    subject: str
    title: str
    author: str
    gpu: str
    systems: tuple[str, ...]


def _article(key: str, subject: str, systems: str, title: str, author: str, gpu: str) -> Article:
    return Article(key, subject, title, author, gpu, tuple(systems.split()))


# The copy of 001 that the course works from gives neither its title nor its author's name.
ARTICLES = (
    _article(
        "003",
        "SGEMM on CUDA cores",
        "sgemm_naive sgemm_tiling sgemm_at_tiling sgemm_at_bcf_swizzling sgemm_at_bcf_swizzling_rw"
        " sgemm_at_bcf_swizzling_dbf_rw sgemm_cublas sgemm_cublas_tf32",
        "[CUDA 优化实战] sgemm - 超越 cuBLAS: 带你学会极致优化的矩阵乘法 cuda c++ 实现",
        "WingEdge777",
        "RTX 5060 for laptops",
    ),
    _article(
        "001",
        "SGEMM and mixed precision in fifteen kernels",
        "01 02 03 04 05 06 07 08 mp01 mp02 mp04 mp05 mp06 09 10 11 12 13 14 15 cublas cublas_mp",
        "",
        "",
        "RTX 5070 Ti",
    ),
    _article(
        "000",
        "HGEMM with cp.async, ldmatrix and mma",
        "hgemm_cublas hgemm_naive hgemm_bcf hgemm_bcf_dbf hgemm_bcf_dbf_rw",
        "[CUDA in Practice] HGEMM — Beating cuBLAS: Tensor Core, cp.async, ldmatrix, mma",
        "WingEdge777",
        "RTX 5060 for laptops",
    ),
    _article(
        "002",
        "HGEMM with TMA",
        "hgemm_cublas hgemm_bcf_dbf_rw hgemm_k_stages hgemm_tma_r_k_stages_64"
        " hgemm_tma_r_k_stages_32 hgemm_tma_rw_k_stages",
        "[CUDA in Practice] HGEMM SM120 — Micro-Sculpture Warfare in 100KB SMEM: Tensor Core, TMA, "
        "ldmatrix, mma",
        "WingEdge777",
        "RTX 5060 for laptops",
    ),
)


def systems() -> list[str]:
    """All systems of all articles, as `article/system`."""
    return [f"{article.key}/{name}" for article in ARTICLES for name in article.systems]


def covered_by() -> dict[str, list[KernelSpec]]:
    """For each system the steps that reproduce it, none if there is no such step."""
    return {name: [s for s in KERNELS if name in s.seed] for name in systems()}
