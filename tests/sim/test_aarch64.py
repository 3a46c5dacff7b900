"""The simulator on an ARM processor: built by a cross compiler, run by qemu, equal to this one.

Needs aarch64-linux-gnu-g++ and qemu-aarch64 (Debian: g++-aarch64-linux-gnu, qemu-user).
"""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.sim import build
from gemmlab.sim.abi import CountRow, GemmArgs, RawFinding
from gemmlab.sim.counts import count_lines
from gemmlab.sim.findings import explain
from gemmlab.steps import registry

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
SYSTEM = "/usr/aarch64-linux-gnu"  # where the emulator finds the C library
NAMES, SHAPE = ("sgemm_03_block_tiling", "sgemm_06_swizzled_a"), (128, 128, 32)
DRIVER = Path(__file__).parent / "aarch64" / "driver.cpp"

pytestmark = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
    reason=f"{COMPILER} or {EMULATOR} is not installed",
)


@pytest.fixture(scope="module")
def native():
    """What this machine's processor counts; before the compiler is replaced."""
    matrices = sim.integer_matrices(*SHAPE)
    return {n: sim.compile_step(registry.get(n)).trace(*matrices, *SHAPE).lines for n in NAMES}


@pytest.fixture(scope="module")
def cross(native, tmp_path_factory):
    """Folder with the driver; until the end of the module everything is built for aarch64."""
    folder = tmp_path_factory.mktemp("aarch64")
    run = build._run

    def cross_run(command, work, kernel=None):
        tools = {"ar": "aarch64-linux-gnu-ar", "objcopy": "aarch64-linux-gnu-objcopy"}
        run([tools.get(command[0], command[0]), *command[1:]], work, kernel)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMMLAB_CACHE", str(folder / "cache"))
        patch.setenv("GEMMLAB_SIM_FLAGS", "-O0")  # compiling takes longer than running
        patch.setattr(build, "compiler", lambda: shutil.which(COMPILER))
        patch.setattr(build, "_run", cross_run)
        build._compiler_identity.cache_clear()
        flags = ("-std=c++17", "-O1", "-Wall")
        subprocess.run(
            [COMPILER, *flags, str(DRIVER), "-o", str(folder / "driver"), "-ldl"], check=True
        )
        yield folder
    build._compiler_identity.cache_clear()


def packed(items: bytes, size: int) -> bytes:
    """An array as the driver reads it: the number of items, then the items."""
    return struct.pack("<I", len(items) // size) + items


def integers(values) -> bytes:
    return packed(np.asarray(values, np.uint32).tobytes(), 4)


def emulate(folder: Path, path: Path, launch: str, matrices, shape):
    """(lines, findings) of a traced run; C is overwritten."""
    base = build.runtime()
    built = build.kernel(path, launch)
    table = built.table
    arrays = [n for a in table.static_arrays for n in (a.offset, a.bytes)]
    kernels = [n for kernel in table.kernels for n in astuple(kernel)]
    text = integers(table.starts) + integers(table.sites) + integers(arrays) + integers(kernels)
    text += packed(struct.pack("<q", table.dynamic_offset), 8)
    text += packed(bytes(GemmArgs(0, 0, 0, *shape, 1.0, 0.0, 0, -1)), ctypes.sizeof(GemmArgs))
    text += b"".join(packed(m.tobytes(), 1) for m in matrices)
    (folder / "input").write_bytes(text)
    command = [EMULATOR, "-L", SYSTEM, str(folder / "driver"), str(base)]
    command += [str(built.library), str(folder / "input"), str(folder / "output")]
    subprocess.run(command, check=True, timeout=300)
    return read_output((folder / "output").read_bytes(), matrices[2], table, path)


def read_output(output: bytes, C: np.ndarray, table, path: Path):
    source = path.read_text().splitlines()

    def line_of(pc: int):
        frame = table.locate(pc, {str(path)}, build.INCLUDE)
        return frame and (build.display_name(frame[0]), frame[1], source[frame[1] - 1].strip())

    def take(kind, at: int):
        (count,) = struct.unpack_from("<I", output, at)
        size = ctypes.sizeof(kind)
        items = [kind.from_buffer_copy(output, at + 4 + i * size) for i in range(count)]
        return items, at + 4 + count * size

    letters, at = take(ctypes.c_char, 0)
    C.ravel()[:] = np.frombuffer(b"".join(c.value or b"\0" for c in letters), C.dtype)
    rows, at = take(CountRow, at)
    raw, at = take(RawFinding, at)
    for finding in raw:  # pointers into the emulated process
        finding.name = finding.other_name = b"?"
    return count_lines(rows, line_of), explain(raw, line_of)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_counts_the_same(native, cross, name):
    spec = registry.get(name)
    A, B, C = sim.integer_matrices(*SHAPE)
    lines, findings = emulate(cross, spec.path, f"launch_{name}", (A, B, C), SHAPE)
    assert findings == []
    assert np.array_equal(C, A @ B)
    assert lines == native[name]
