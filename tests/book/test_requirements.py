"""Pinned packages are what pyproject.toml asks for, and it asks for what the library imports."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What of pyproject.toml each file has to have.
FILES = {
    "requirements.txt": ("dependencies", "course", "book", "build"),
    "requirements-dev.txt": ("dev",),
    "requirements-lab.txt": ("lab",),
}


@pytest.fixture(scope="module")
def declared(root: Path) -> dict[str, list[Requirement]]:
    """The requirements of pyproject.toml: the package's, those of each extra and of each group."""
    data = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    lists = {
        "dependencies": data["project"]["dependencies"],
        **data["project"]["optional-dependencies"],
        **data["dependency-groups"],
    }
    return {name: [Requirement(line) for line in lines] for name, lines in lists.items()}


def pins(root: Path, file: str) -> dict[str, str]:
    """Package -> version. Every line that is no comment has to be a pin."""
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    found = {}
    for line in (text.partition("#")[0].strip() for text in lines):
        if line:
            requirement = Requirement(line)
            (specifier,) = requirement.specifier
            assert specifier.operator == "==" and "*" not in specifier.version, line
            found[canonicalize_name(requirement.name)] = specifier.version
    return found


@pytest.mark.parametrize("file", FILES)
def test_what_is_declared_is_pinned_in_its_range(root, declared, file):
    pinned = pins(root, file)
    for requirement in (one for part in FILES[file] for one in declared[part]):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement}: make pins"
        assert requirement.specifier.contains(version, prereleases=True), (
            f"{requirement}: make pins"
        )


def test_the_files_agree(root):
    """They are installed into one environment."""
    book = pins(root, "requirements.txt")
    for file in ("requirements-dev.txt", "requirements-lab.txt"):
        other = {k: v for k, v in pins(root, file).items() if k in book and book[k] != v}
        assert not other, f"{file}: make pins"


@pytest.mark.parametrize("file", FILES)
def test_no_file_names_a_package_index(root, file):
    text = (root / file).read_text(encoding="utf-8")
    assert "://" not in text and "--index" not in text and "--find-links" not in text


def test_what_the_library_imports_is_declared(root, declared):
    distributions = importlib.metadata.packages_distributions()
    allowed = {
        canonicalize_name(one.name) for part in ("dependencies", "course") for one in declared[part]
    }
    for path in sorted((root / "lib" / "gemmlab").rglob("*.py")):
        for module in imported(path) - sys.stdlib_module_names - {"gemmlab"}:
            names = {canonicalize_name(name) for name in distributions.get(module, [module])}
            assert names & allowed, f"{path.relative_to(root)} imports {module}"


def imported(path: Path) -> set[str]:
    """The top-level modules that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
