"""Plugin of the run of chapters: of most, the solutions of exercises are for `make campaign`.

A judge tries a solution at many shapes, which is dear. Each cell that is no solution runs in every
chapter; with `--all-solutions` the solutions of every chapter do as well.
"""

from __future__ import annotations

import pytest
from sampling import taken

ONE_IN = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-solutions", action="store_true", help="of every chapter, not of some")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-solutions"):
        return
    left = [item for item in items if _is_solution(item) and not taken(item.path.stem, ONE_IN)]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


def _is_solution(item: pytest.Item) -> bool:
    cell = getattr(item, "cell", None)
    return cell is not None and "solution" in cell.metadata.get("tags", [])
