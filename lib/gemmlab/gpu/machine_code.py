"""Fingerprints of machine code: a step compiled for sm_90a, and the instructions of its cubin.

What is recorded with them, and what follows from them, is in `measurements/staleness.py`.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from ..core.errors import BuildError, MeasurementError
from ..core.paths import kernels_folder
from ..measurements.staleness import TARGET, Code, load_manifest, name_of
from ..steps.program import Program
from ..steps.text import source_digest
from .build import source_text
from .toolchain import FLAGS, compiler_lines, gencode, nvcc

_REGISTERS = (4, 0x2F)  # format and attribute of an entry of .nv.info: (symbol, registers)


def compiled(step: Program, precisions: Iterable[str] | None = None) -> Code:
    """A kernel's digests, its machine code compiled now, in all its precisions or in these.

    Needs nvcc and no GPU; takes from one to fifteen seconds a precision.
    Raises BackendError without nvcc, BuildError for what does not compile.
    """
    wanted = step.spec.precisions if precisions is None else precisions
    source = source_digest(step.source.path)
    return Code(source, {name: digest_of(cubin(step, name)) for name in wanted})


def cubin(step: Program, precision: str = "") -> bytes:
    """The kernel for sm_90a as nvcc and ptxas make it. Raises BackendError and BuildError."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.cubin"
        source.write_text(
            source_text(step.source.path, step.launch(precision), step.spec.workspace)
        )
        options = [*FLAGS, f"-I{kernels_folder()}", gencode(TARGET)]
        command = [nvcc(), *options, "-cubin", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BuildError(f"{name_of(step)} did not compile:\n{compiler_lines(done.stderr)}")
        return made.read_bytes()


def digest_of(cubin: bytes) -> str:
    """Fingerprint of the functions in a cubin, in whatever order: 16 hex digits.

    What counts of a function: its instructions, all 128 bits of each, with the control bits that
    ptxas has set, the registers of a thread, the bytes of static shared memory and of parameters,
    and constants. Its name, the name of the file and the table of lines do not.
    """
    found = sorted(functions(cubin).values())
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]


def functions(cubin: bytes) -> dict[str, str]:
    """The fingerprint of each function of a cubin, by the name it has in the cubin."""
    elf = ELFFile(io.BytesIO(cubin))
    sections = list(elf.iter_sections())
    registers = dict(_registers(elf))
    return {
        section.name.removeprefix(".text."): _of_function(section, sections, registers)
        for section in sections
        if section.name.startswith(".text.")
    }


def stamp(kernels: Iterable[tuple[Program, Iterable[str]]]) -> dict[str, dict]:
    """What a recorded section says of its kernels: "sources", and "machine_code" by precision.

    kernels: each with the precisions that were measured. What the manifest knows of the present
    source and the present nvcc is taken from it, the rest is compiled.
    Raises BackendError without nvcc, BuildError for what does not compile.
    """
    sources, code = {}, {}
    try:
        manifest = load_manifest()
    except MeasurementError:
        manifest = None
    for step, precisions in kernels:
        name, wanted = name_of(step), tuple(precisions)
        known = manifest.kernels.get(name) if manifest and manifest.nvcc == version() else None
        if (
            not known
            or known.source != source_digest(step.source.path)
            or not set(wanted) <= set(known.code)
        ):
            known = compiled(step, wanted)
        sources[name] = known.source
        code[name] = {types: known.code[types] for types in wanted}
    return {"sources": sources, "machine_code": code}


@lru_cache(maxsize=1)
def version() -> str:
    """The present nvcc: "13.0.88". Raises BackendError without one."""
    said = subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout
    found = re.search(r"release [\d.]+, V([\d.]+)", said)
    return found[1] if found else "unknown"


def _of_function(section, sections: list, registers: Mapping[str, int]) -> str:
    name = section.name.removeprefix(".text.")
    digest = hashlib.sha256(section.data())
    digest.update(f"registers {registers.get(name)}".encode())
    for other in sections:
        kind = other.name.removesuffix(f".{name}")
        if kind == other.name:
            continue
        if kind == ".nv.shared" or kind == ".nv.constant0":  # of parameters
            digest.update(f"{kind} {other.data_size}".encode())
        elif kind.startswith(".nv.constant"):
            digest.update(kind.encode() + other.data())
        elif kind in (".rela.text", ".rel.text"):  # the places that a loader will fill in
            places = (f"{r['r_offset']} {r['r_info_type']}" for r in other.iter_relocations())
            digest.update(f"{kind} {','.join(places)}".encode())
    return digest.hexdigest()


def _registers(elf: ELFFile) -> Iterator[tuple[str, int]]:
    """Function -> registers of a thread, as the cubin's .nv.info has them."""
    info = elf.get_section_by_name(".nv.info")
    symbols: Any = elf.get_section_by_name(".symtab")
    data, at = (info.data() if info else b""), 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form != 4:  # the value stands in the place of its size
            continue
        if (form, attribute) == _REGISTERS:
            symbol, count = struct.unpack_from("<II", data, at)
            yield symbols.get_symbol(symbol).name, count
        at += size
