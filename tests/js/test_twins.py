"""Every rule that stands in JavaScript stands in Python, too, and a test holds the two equal."""

import importlib.util
from pathlib import Path

import pytest

import gemmlab.layouts
import gemmlab.widgets

HERE = Path(__file__).parent
LAYOUTS = Path(gemmlab.layouts.__file__).parent
MODEL = Path(gemmlab.widgets.__file__).parent / "model"
TWINS = sorted(f.relative_to(MODEL).with_suffix("").as_posix() for f in MODEL.rglob("*.js"))


def compared() -> set[str]:
    """What the tests beside this one are marked to compare; `ask` sees to it that they do."""
    names: set[str] = set()
    for file in HERE.glob("test_*.py"):
        if file == Path(__file__):
            continue
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, test in vars(module).items():
            if name.startswith("test_"):
                marks = getattr(test, "pytestmark", [])
                names.update(twin for mark in marks if mark.name == "twin" for twin in mark.args)
    return names


@pytest.mark.parametrize("name", TWINS)
def test_a_model_has_a_twin_of_its_name(name):
    assert (LAYOUTS / f"{name}.py").exists()


def test_every_pair_is_compared():
    assert compared() == set(TWINS)
