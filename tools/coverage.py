"""Which systems of the four articles the course has: a table, made from the registry.

    python -m tools.coverage [--check]

writes it into README.md and book/coverage.md; --check writes nothing, and fails if they are old.
"""

from __future__ import annotations

import re
from pathlib import Path

from gemmlab.core.files import write_whole
from gemmlab.steps.articles import ARTICLES, covered_by
from gemmlab.steps.spec import KernelSpec

from . import command

ROOT = Path(__file__).resolve().parents[1]


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


def table(kernels: str = "kernels/") -> str:
    """The coverage as markdown; `kernels` is the path of the kernel files, empty for no links."""
    steps = covered_by()
    done = {name for name in steps if steps[name] or name in BASELINES}
    lines = [f"{len(done)} of {len(steps)} systems.", ""]
    for article in ARTICLES:
        keys = {name: f"{article.key}/{name}" for name in article.systems}
        rows = [
            f"| `{name}` | {_step(steps[key], kernels) or BASELINES[key]} "
            f"| {_departs(steps[key])} |"
            for name, key in keys.items()
            if key in done
        ]
        to_come = ", ".join(f"`{name}`" for name, key in keys.items() if key not in done)
        lines += [f"**Article {article.key}: {article.subject}**", ""]
        lines += (
            ["| system | step | how the step differs |", "|---|---|---|", *rows, ""] if rows else []
        )
        lines += [f"To come: {to_come}.", ""] if to_come else []
    return "\n".join(lines).strip()


def _step(specs: list[KernelSpec], kernels: str) -> str:
    return ", ".join(
        f"[`{spec.name}`]({kernels}{spec.file})" if kernels else f"`{spec.name}`" for spec in specs
    )


def _departs(specs: list[KernelSpec]) -> str:
    """In what the steps differ from the article; a baseline is the library itself."""
    return "; ".join(spec.departs.replace("|", "\\|") for spec in specs) or "none"


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
