"""Fingerprints of machine code: a recorded figure belongs to instructions, not to text.

A step is compiled for sm_90a as `build.ptxas_log` does it, and its instructions are read from the
cubin. Their digests stand in `book/measurements/machine_code/sm_90a.json`, which
`python tools/machine_code.py` writes, with the nvcc that made them and the digest of the source
that they were made from. A recording holds the digests of what it measured. So a change of text
that leaves the instructions as they were, such as another name of a header, leaves the recorded
figures valid, and this can be told without nvcc and without a GPU.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

from .. import build, paths
from .._files import json_text, write_whole
from ..errors import BuildError, MeasurementError
from ..spec import KernelSpec
from ._digests_draft import source_digest_by_content

TARGET = "90a"
CURRENT = "current"
SAME = "same machine code"
CHANGED = "machine code changed"
NOT_COMPARED = "not compared"

_REGISTERS = (4, 0x2F)  # format and attribute of an entry of .nv.info: (symbol, registers)


@dataclass(frozen=True)
class Code:
    """The digests of one kernel: of its source, and of its instructions for each precision."""

    source: str
    code: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """Digests of the kernels as they stood when they were last compiled.

    kernels: by the step's name, or by the label of a variant. nvcc: "13.0.88". date: of the last
    compilation, "2026-11-22".
    """

    nvcc: str
    date: str
    kernels: Mapping[str, Code]

    def to_dict(self) -> dict:
        """The file's content."""
        kernels = {n: {"source": k.source, "code": dict(k.code)} for n, k in self.kernels.items()}
        return {
            "nvcc": self.nvcc,
            "target": TARGET,
            "flags": list(build.FLAGS),
            "date": self.date,
            "kernels": kernels,
        }


def manifest_path() -> Path:
    """Where the manifest lies."""
    folder = paths.repository_root() / "book" / "measurements" / "machine_code"
    return folder / f"sm_{TARGET}.json"


def load_manifest(path: Path | None = None) -> Manifest:
    """The manifest. Raises MeasurementError if it is missing or not whole."""
    path = path or manifest_path()
    again = "`python tools/machine_code.py` writes it, with nvcc"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kernels = {n: Code(one["source"], one["code"]) for n, one in data["kernels"].items()}
        return Manifest(data["nvcc"], data["date"], kernels)
    except FileNotFoundError:
        raise MeasurementError(
            f"{path.name}: there are no digests of machine code; {again}"
        ) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise MeasurementError(f"{path.name}: damaged ({error!r}); {again}") from None


def save_manifest(manifest: Manifest, path: Path | None = None) -> Path:
    """Write the manifest, in one step."""
    return write_whole(path or manifest_path(), json_text(manifest.to_dict()))


def name_of(spec: KernelSpec) -> str:
    """What a kernel is called in the manifest and in recordings: its label, or the step's name."""
    return spec.label or spec.name


def source_of(spec: KernelSpec) -> str:
    """The digest of a kernel's present source; see `source_digest_by_content`."""
    return source_digest_by_content(spec.path, build.kernels_folder())


def compiled(spec: KernelSpec, precisions: Iterable[str] | None = None) -> Code:
    """A kernel's digests, its machine code compiled now, in all its precisions or in these.

    Needs nvcc and no GPU; takes from one to fifteen seconds a precision.
    Raises BackendError without nvcc, BuildError for what does not compile.
    """
    wanted = spec.precisions if precisions is None else precisions
    return Code(source_of(spec), {name: digest_of(cubin(spec, name)) for name in wanted})


def cubin(spec: KernelSpec, precision: str = "") -> bytes:
    """The kernel for sm_90a as nvcc and ptxas make it. Raises BackendError and BuildError."""
    launch = spec.launch + spec.template_arguments(precision)
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.cubin"
        source.write_text(build.source_text(spec.path, launch, spec.workspace))
        options = [*build.FLAGS, f"-I{build.kernels_folder()}", build.gencode(TARGET)]
        command = [build.nvcc(), *options, "-cubin", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BuildError(
                f"{name_of(spec)} did not compile:\n{build.compiler_lines(done.stderr)}"
            )
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


def currency(
    spec: KernelSpec, recorded_source: str, recorded_code: Mapping[str, str], manifest: Manifest
) -> str:
    """Whether figures that were recorded with these digests hold for a kernel as it stands now.

    "current": the source is the one that was recorded. "same machine code": it is another one that
    compiles to the same instructions, in each recorded precision, so the figures hold. "machine
    code changed": it does not, and they are old. "not compared": the source is another one, and its
    machine code, or the recorded one, is not known.
    """
    present, name = source_of(spec), name_of(spec)
    if present == recorded_source:
        return CURRENT
    known = manifest.kernels.get(name)
    if known is None or known.source != present or not recorded_code:
        return NOT_COMPARED
    if not set(recorded_code) <= set(known.code):
        return NOT_COMPARED
    same = all(known.code[types] == code for types, code in recorded_code.items())
    return SAME if same else CHANGED


def today(
    specs: Iterable[KernelSpec],
    sources: Mapping[str, str],
    code: Mapping[str, Mapping[str, str]],
) -> dict[str, str]:
    """Recorded digests of sources, by kernel; the present one where the machine code is the same.

    code: what was recorded of the machine code, by kernel and precision.
    """
    found = dict(sources)
    for spec in specs:
        name = name_of(spec)
        if name not in sources or name not in code or source_of(spec) == sources[name]:
            continue
        if currency(spec, sources[name], code[name], load_manifest()) == SAME:
            found[name] = source_of(spec)
    return found


def stamp(kernels: Iterable[tuple[KernelSpec, Iterable[str]]]) -> dict[str, dict]:
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
    for spec, precisions in kernels:
        name, wanted = name_of(spec), tuple(precisions)
        known = manifest.kernels.get(name) if manifest and manifest.nvcc == version() else None
        if not known or known.source != source_of(spec) or not set(wanted) <= set(known.code):
            known = compiled(spec, wanted)
        sources[name] = known.source
        code[name] = {types: known.code[types] for types in wanted}
    return {"sources": sources, "machine_code": code}


@lru_cache(maxsize=1)
def version() -> str:
    """The present nvcc: "13.0.88". Raises BackendError without one."""
    said = subprocess.run([build.nvcc(), "--version"], capture_output=True, text=True).stdout
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
    info, symbols = elf.get_section_by_name(".nv.info"), elf.get_section_by_name(".symtab")
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
