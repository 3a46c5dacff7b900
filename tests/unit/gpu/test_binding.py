"""The binding of a kernel's library is compiled once, and each library is a module of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import needs
import pytest

from gemmlab.gpu import build

pytestmark = [
    pytest.mark.slow,
    needs.gxx,
]

# What nvcc makes of a kernel, without a kernel: `launch` says which library it is in.
LIBRARY = """
#include <cstddef>
#include <cstdint>
using Address = uintptr_t;
int launch(Address, Address, Address, int, int, int, float, float, Address, Address, int, int) {{
  return {number};
}}
size_t workspace_bytes(Address, Address, Address, int, int, int, float, float, int, int) {{
  return 0;
}}
const char* error_string(int code) {{ return "{number}"; }}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory):
    """A function: number -> the module of a library with that number in it."""
    folder = tmp_path_factory.mktemp("binding")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMMLAB_CACHE", str(folder / "kernels, gebaut für später"))

        def library_(number: int):
            source, made = folder / f"{number}.cpp", folder / f"step_{number}.so"
            source.write_text(LIBRARY.format(number=number))
            files = [str(source), str(build._binding(build._BINDING)), "-o", str(made)]
            subprocess.run(["g++", "-shared", "-fPIC", *files], check=True)
            return build._import(f"step_{number}", made)

        yield library_


def test_two_libraries_with_one_binding_are_two_modules(library):
    modules = [library(number) for number in (1, 2)]
    assert [m.launch(0, 0, 0, 1, 1, 1, 1.0, 0.0, 0) for m in modules] == [1, 2]
    assert [m.error_string(0) for m in modules] == ["1", "2"]
    assert [Path(m.__file__).stem for m in modules] == ["step_1", "step_2"]


def test_the_binding_is_compiled_once(library, monkeypatch):
    library(3)

    def again(*_):
        raise AssertionError("it was compiled again")

    monkeypatch.setattr(build.commands, "run", again)
    assert build._binding(build._BINDING).exists()
    with pytest.raises(AssertionError, match="again"):
        build._binding("another binding")
