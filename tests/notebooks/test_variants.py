"""Variants and `%%kernel` cells of chapters: the texts that they replace are still in their steps.

Executing the cell would show it, too, but not every run executes every cell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

import gemmlab as lab
from gemmlab.core.errors import GemmlabError
from gemmlab.notebook import cell as cells
from gemmlab.notebook import magic
from gemmlab.notebook.compose import compose
from gemmlab.steps import registry

MAGIC = "%%kernel "
MADE = ("lab.variant", "lab.experiment")


class _Values(ast.NodeTransformer):
    """Puts the values of names in their places."""

    def __init__(self, known: dict[str, object]):
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        return ast.parse(repr(self.known[name]), mode="eval").body if name in self.known else node


def made(path: Path) -> Iterator[tuple[str, list]]:
    """The calls in a chapter whose arguments can be read without running it."""
    known: dict[str, object] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or cell.source.startswith("%"):
            continue
        tree = ast.parse(cell.source)
        for line in tree.body:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                name = line.targets[0].id
                try:
                    known[name] = ast.literal_eval(line.value)
                except ValueError:
                    known.pop(name, None)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in MADE:
                try:
                    arguments = [ast.literal_eval(_Values(known).visit(a)) for a in node.args]
                except ValueError:
                    continue
                yield ast.unparse(node.func).removeprefix("lab."), arguments


def test_variants_of_the_chapters_still_fit_their_steps(root):
    wrong, count = [], 0
    for path in sorted((root / "book").glob("*.ipynb")):
        for how, arguments in made(path):
            count += 1
            try:
                getattr(lab, how)(*arguments)
            except GemmlabError as error:
                wrong.append(f"{path.stem}: {how}({arguments[0]!r}, ...): {error}")
    assert not wrong and count > 80


def test_a_text_may_have_a_name(tmp_path):
    nb = nbformat.v4.new_notebook()
    nb.cells = [
        nbformat.v4.new_code_cell('OLD = "no such text"'),
        nbformat.v4.new_code_cell('lab.variant("sgemm_01_naive", {OLD: ""})'),
    ]
    nbformat.write(nb, tmp_path / "x.ipynb")
    assert list(made(tmp_path / "x.ipynb")) == [
        ("variant", ["sgemm_01_naive", {"no such text": ""}])
    ]


def composed(source: str) -> None:
    """What a `%%kernel` cell does before it takes the compiler. Raises GemmlabError."""
    line, _, body = source.removeprefix(MAGIC).partition("\n")
    name, like, options = magic.first_line(line)
    parent = registry.get(like) if like else None
    cells._spec(name, compose(body, name, parent, options), parent, options)


def test_kernel_cells_of_the_chapters_still_fit_their_steps(root):
    wrong, count = [], 0
    for path in sorted((root / "book").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and cell.source.startswith(MAGIC):
                count += 1
                try:
                    composed(cell.source)
                except GemmlabError as error:
                    wrong.append(f"{path.stem}: {cell.source.splitlines()[0]}: {error}")
    assert not wrong and count > 100


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("mine --like sgemm_03_block_tiling\n// [nowhere]\n// [/nowhere]", "nowhere"),
        ("mine --like no_such_step\nint x;", "no_such_step"),
        ("mine --no-such-option\nint x;", "--no-such-option"),
    ],
)
def test_a_kernel_cell_that_does_not_fit_is_refused(source, why):
    with pytest.raises(GemmlabError, match=why):
        composed(MAGIC + source)
