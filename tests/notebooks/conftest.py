"""Gives the tests the scripts of book/_ext, which are no package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def book_script(root: Path) -> Callable[[str], ModuleType]:
    """Imports book/_ext/<name>.py."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, root / f"book/_ext/{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
