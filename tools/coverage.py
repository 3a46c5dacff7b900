"""Which systems of the four articles the course has: a table, made from the registry.

    python -m tools.coverage [--check]

writes it into README.md and book/coverage.md; --check writes nothing, and fails if they are old.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gemmlab.core.files import write_whole
from gemmlab.steps.registry import KERNELS
from gemmlab.steps.spec import KernelSpec

from . import command

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Article:
    """One of the articles that the course builds on, and the systems that it measures."""

    key: str
    subject: str
    systems: tuple[str, ...]


def _article(key: str, subject: str, systems: str) -> Article:
    return Article(key, subject, tuple(systems.split()))


ARTICLES = (
    _article(
        "003",
        "SGEMM on CUDA cores",
        "sgemm_naive sgemm_tiling sgemm_at_tiling sgemm_at_bcf_swizzling sgemm_at_bcf_swizzling_rw"
        " sgemm_at_bcf_swizzling_dbf_rw sgemm_cublas sgemm_cublas_tf32",
    ),
    _article(
        "001",
        "SGEMM and mixed precision in fifteen kernels",
        "01 02 03 04 05 06 07 08 mp01 mp02 mp04 mp05 mp06 09 10 11 12 13 14 15 cublas cublas_mp",
    ),
    _article(
        "000",
        "HGEMM with cp.async, ldmatrix and mma",
        "hgemm_cublas hgemm_naive hgemm_bcf hgemm_bcf_dbf hgemm_bcf_dbf_rw",
    ),
    _article(
        "002",
        "HGEMM with TMA",
        "hgemm_cublas hgemm_bcf_dbf_rw hgemm_k_stages hgemm_tma_r_k_stages_64"
        " hgemm_tma_r_k_stages_32 hgemm_tma_rw_k_stages",
    ),
)

# Systems that are no kernel of ours but something that `lab.bench` measures beside them.
BASELINES = {
    "003/sgemm_cublas": "baseline of every benchmark (`torch.matmul`)",
    "003/sgemm_cublas_tf32": "baseline `cublas_tf32` (`torch.matmul` with TF32 on)",
    "001/cublas": "baseline of every benchmark (`torch.matmul`)",
    "001/cublas_mp": "baseline of every benchmark with C in fp32 (`torch.mm`)",
    "000/hgemm_cublas": "baseline of every benchmark in bf16 or fp16 (`torch.matmul`)",
    "002/hgemm_cublas": "baseline of every benchmark in bf16 or fp16 (`torch.matmul`)",
}
FILES = ("README.md", "book/coverage.md")
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"


def systems() -> list[str]:
    """All systems of all articles, as `article/system`."""
    return [f"{article.key}/{name}" for article in ARTICLES for name in article.systems]


def covered_by() -> dict[str, list[KernelSpec]]:
    """For each system the steps that reproduce it, none if it is still to come."""
    return {name: [s for s in KERNELS if name in s.seed] for name in systems()}


def table(kernels: str = "kernels/") -> str:
    """The coverage as markdown; `kernels` is the path of the kernel files, empty for no links."""
    steps = covered_by()
    done = {name for name in steps if steps[name] or name in BASELINES}
    lines = [f"{len(done)} of {len(steps)} systems so far.", ""]
    for article in ARTICLES:
        keys = {name: f"{article.key}/{name}" for name in article.systems}
        rows = [
            f"| `{name}` | {_step(steps[key], kernels) or BASELINES[key]} |"
            for name, key in keys.items()
            if key in done
        ]
        to_come = ", ".join(f"`{name}`" for name, key in keys.items() if key not in done)
        lines += [f"**Article {article.key}: {article.subject}**", ""]
        lines += ["| system | step |", "|---|---|", *rows, ""] if rows else []
        lines += [f"To come: {to_come}.", ""] if to_come else []
    return "\n".join(lines).strip()


def _step(specs: list[KernelSpec], kernels: str) -> str:
    return ", ".join(
        f"[`{spec.name}`]({kernels}{spec.file})" if kernels else f"`{spec.name}`" for spec in specs
    )


def updated(text: str, kernels: str = "kernels/") -> str:
    """`text` with the passage between the two markers replaced by the current table.

    Raises ValueError if a marker is missing.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"the markers {BEGIN} and {END} are missing")
    passage = f"{BEGIN}\n\n{table(kernels)}\n\n{END}"
    return re.sub(f"{BEGIN}.*{END}", lambda _: passage, text, flags=re.DOTALL)


def outdated(root: Path = ROOT) -> dict[Path, str]:
    """The files whose table is not the current one, each with the text that it should have."""
    result = {}
    for name in FILES:
        path = root / name
        text = path.read_text(encoding="utf-8")
        # The book has no kernel files beside its pages, so its table has no links to them.
        new = updated(text, "kernels/" if name == "README.md" else "")
        if new != text:
            result[path] = new
    return result


def main() -> int:
    """The command line."""
    parser = command.parser("coverage", __doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    old = outdated()
    for path, text in old.items():
        if not check:
            write_whole(path, text)
        print(f"{path.name}: {'the table is old' if check else 'table brought up to date'}")
    return 1 if check and old else 0


if __name__ == "__main__":
    command.run(main)
