"""Kernels include kernels/ptx/: the simulator has a twin of each header, with equal functions."""

from __future__ import annotations

import re
import subprocess

import needs
import pytest

from gemmlab.core.paths import repository_root
from gemmlab.gpu.toolchain import nvcc
from gemmlab.sim import build

DEVICE = repository_root() / "kernels" / "ptx"
SIMULATED = build.INCLUDE / "ptx"
NAMES = sorted(path.name for path in DEVICE.glob("*.cuh"))
FUNCTION = re.compile(
    r"(?:template <(?P<template>[^>]*)>\s*)?"
    r"__device__ __forceinline__ (?P<type>[\w ]+?[ *&]*)\b(?P<name>\w+)"
    r"\((?P<parameters>.*?)\)\s*\{",
    re.DOTALL,
)
# What is no function for kernels: comments, macros, namespaces for a header's own use.
PRIVATE = re.compile(
    r"//[^\n]*|^ *#(?:[^\n]*\\\n)*[^\n]*|^namespace \w+ \{$.*?^\}", re.DOTALL | re.MULTILINE
)
LINE = re.compile(r",?\s*int line = __builtin_LINE\(\)")


def functions(text: str) -> list[tuple[str, ...]]:
    """Template parameters, type, name and parameters of each function, in their order."""
    found = []
    for match in FUNCTION.finditer(PRIVATE.sub("", text)):
        parts = match.groupdict(default="")
        parts["parameters"] = LINE.sub("", parts["parameters"])
        found.append(tuple(" ".join(part.split()) for part in parts.values()))
    return found


def test_the_same_headers():
    assert sorted(path.name for path in SIMULATED.glob("*.cuh")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_same_functions(name):
    device = functions((DEVICE / name).read_text())
    assert functions((SIMULATED / name).read_text()) == device
    names = [function[2] for function in device]
    assert len(set(names)) == len(names), "a name stands for one thing"


@pytest.mark.parametrize("name", NAMES)
def test_every_function_is_understood(name):
    """None is missed by the pattern above."""
    for folder in (DEVICE, SIMULATED):
        text = (folder / name).read_text()
        assert len(functions(text)) == PRIVATE.sub("", text).count("__device__"), folder


@pytest.mark.parametrize("name", NAMES)
def test_a_header_stands_alone(name, tmp_path):
    source = tmp_path / "unit.cpp"
    source.write_text(f"#include <ptx/{name}>\n")
    command = [build.compiler(), "-std=c++17", "-fsyntax-only", f"-I{build.INCLUDE}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs.nvcc
def test_the_device_compiles_them(tmp_path):
    source = tmp_path / "unit.cu"
    source.write_text("".join(f"#include <ptx/{name}>\n" for name in NAMES))
    gencode = "-gencode=arch=compute_90a,code=sm_90a"
    command = [nvcc(), "-std=c++17", gencode, f"-I{DEVICE.parent}", "-cubin", str(source)]
    done = subprocess.run([*command, "-o", str(tmp_path / "unit.cubin")], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
