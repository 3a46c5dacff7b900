"""Compile a kernel file for the CPU with g++, once per source text; the runtime once for all."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from ..core import commands
from ..core.cache import DIGITS, Store
from ..core.errors import BackendError, BuildError
from ..core.paths import kernels_folder, repository_root
from ..core.progress import busy
from ..steps.text import included_files, workspace_name
from .alignment import dynamic_alignment
from .lines import DYNAMIC_ARRAY, LineTable, read_library, shared_arrays
from .unsupported import explain, refuse_unsupported

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
RUNTIME = HERE / "runtime"
STORE = Store("sim")

_COMMON = ("-std=c++17", "-fPIC", "-fdiagnostics-color=never", "-U_FORTIFY_SOURCE")
_RUNTIME_FLAGS = (*_COMMON, "-O2", "-fvisibility=hidden", "-pthread")
# Only the calls that -fsanitize inserts are wanted; the runtime has its own functions for them.
# -O1 keeps one call for each access of the source. Without jump threading, a call of a barrier or
# a shuffle is copied less often. Without gnu-unique, two libraries whose kernel templates have one
# name do not share their shared memory. Stack clash protection makes large local arrays hit the
# guard page instead of the next fiber's stack. Where variables live is not asked for, and finding
# it out takes a third of the time.
_KERNEL_FLAGS = (
    *_COMMON,
    "-O1",
    "-g1",
    "-gdwarf-4",
    "-w",
    "-fmax-errors=20",
    "-ffp-contract=off",
    "-fsanitize=thread,bounds",
    "--param=tsan-instrument-func-entry-exit=0",
    "--param=tsan-distinguish-volatile=1",
    "-fno-strict-aliasing",
    "-fno-extern-tls-init",
    "-fno-thread-jumps",
    "-fno-plt",
    "-fno-gnu-unique",
    "-fstack-clash-protection",
    "-fno-var-tracking",
)
# Of these functions a kernel gets the runtime's (runtime/operations/host_library.cpp).
_PRINTING = ("printf", "vprintf", "puts", "putchar")
_ENDING = ("exit", "_exit", "_Exit", "quick_exit", "raise", "kill")
_RECIPE = ("alignment.py", "build.py", "elf.py", "lines.py")
_PRELUDE = "#include <cuda_runtime.h>\n"  # which nvcc includes by itself, too
_UNIT = """#include "{path}"
extern "C" int gemmlab_sim_entry(const GemmArgs* args) {{
  return static_cast<int>({launch}(*args, nullptr));
}}
"""
# Called like a launcher, so that a fault of it is a finding, too; library.py's WorkspaceCall.
_WORKSPACE = """struct WorkspaceCall {{
  GemmArgs args;
  size_t bytes;
}};
extern "C" int gemmlab_sim_workspace(WorkspaceCall* call) {{
  call->bytes = {workspace}(call->args);
  return 0;
}}
"""


@dataclass(frozen=True)
class KernelLibrary:
    """A compiled kernel file, and where its code comes from.

    workspace: it has a function that says how much scratch memory a launch needs.
    """

    library: Path
    source: Path
    table: LineTable = field(compare=False)  # the library's, whose name tells its content
    workspace: bool = False


def compiler() -> str:
    """Path of g++. Raises BackendError if there is none."""
    found = shutil.which("g++")
    if found is None:
        raise BackendError(
            "g++: not found, so the simulator cannot compile kernels. Install it (Debian and "
            "Ubuntu: apt install g++; Fedora: dnf install gcc-c++). Stored outputs and recorded "
            "measurements can be read without it."
        )
    return found


def runtime(portable: bool = False) -> Path:
    """The runtime's library, compiled at the first call on this machine (about 3 s).

    `portable` builds it on ucontext, as it would be on a processor without a stack switch of ours.
    $GEMMLAB_SIM_FLAGS: further options for the compiler, such as sanitizers.
    """
    own = shlex.split(os.environ.get("GEMMLAB_SIM_FLAGS", ""))
    flags = (*_RUNTIME_FLAGS, *own, *(("-DGEMMLAB_SIM_UCONTEXT",) if portable else ()))
    sources = sorted((*RUNTIME.rglob("*.[cSh]*"), *INCLUDE.rglob("*.*h")))
    key = _hash(flags, *((str(p.relative_to(HERE)), p.read_bytes()) for p in sources))
    name = f"libgemmlab_sim-{key}"

    def make(work: Path) -> None:
        made = work / f"{name}.so"
        source = str(RUNTIME / "runtime.cpp")
        linking = ("-shared", f"-Wl,-soname,{made.name}", "-o", str(made))
        with busy("Compiling the simulator (once)"):
            _run([compiler(), *flags, f"-I{RUNTIME}", source, *linking], work)

    (library,) = STORE.get(name, (".so",), make)
    return library


def kernel(
    path: Path, launch: str, portable: bool = False, workspace: bool = False
) -> KernelLibrary:
    """The library of a kernel file, whose function `launch` takes (const GemmArgs&, cudaStream_t).

    workspace: it also has `workspace_name(launch)` (const GemmArgs&) -> size_t.
    Raises BackendError without g++, BuildError with the compiler's message.
    """
    path = path.resolve()
    base = runtime(portable)
    unit = _UNIT.format(path=path, launch=launch)
    unit += _WORKSPACE.format(workspace=workspace_name(launch)) if workspace else ""
    texts = ((str(p), p.read_bytes()) for p in included_files(path))
    headers = ((p.name, p.read_bytes()) for p in sorted(INCLUDE.rglob("*.*h")))
    key = _hash(_KERNEL_FLAGS, (unit, base.name), *texts, *headers)

    def make(work: Path) -> None:
        own = [file for file in included_files(path) if file.parent != kernels_folder() / "ptx"]
        refuse_unsupported(own, INCLUDE / "ptx", display_name)
        with busy(f"Compiling {path.name} for the simulator"):
            built = _compile_kernel(path, unit, base, work)
        (work / f"{name}.lines.json").write_text(read_library(built).to_json())
        built.rename(work / f"{name}.so")

    name = f"{path.stem}-{key}"
    library, table = STORE.get(name, (".so", ".lines.json"), make)
    return KernelLibrary(library, path, _table(table), workspace)


@lru_cache(maxsize=64)
def _table(path: Path) -> LineTable:
    """What was written beside a library; the name of both tells their content."""
    return LineTable.from_json(path.read_text())


def forget(built: KernelLibrary) -> None:
    """Remove a kernel that will not be asked for again from the cache."""
    STORE.remove(built.library.stem)


def _prelude() -> Path:
    """A header that includes what every kernel needs; g++ takes what was compiled of it, beside."""
    headers = ((p.name, p.read_bytes()) for p in sorted(INCLUDE.rglob("*.*h")))
    name = f"prelude-{_hash(_KERNEL_FLAGS, *headers)}"

    def make(work: Path) -> None:
        header = work / f"{name}.h"
        header.write_text(_PRELUDE)
        command = [compiler(), *_KERNEL_FLAGS, f"-I{INCLUDE}", "-x", "c++-header", str(header)]
        _run([*command, "-o", f"{header}.gch"], work)

    header, _ = STORE.get(name, (".h", ".h.gch"), make)
    return header


def _compile_kernel(path: Path, unit: str, base: Path, work: Path) -> Path:
    """The library, made in the folder `work`."""
    source, compiled, built = work / "unit.cpp", work / "unit.o", work / "a.so"
    source.write_text(unit)
    includes = (f"-I{INCLUDE}", "-include", str(_prelude()))
    compiling = (*_KERNEL_FLAGS, *includes, "-c", str(source), "-o", str(compiled))
    _run([compiler(), *compiling], work, kernel=path)
    arrays = _lay_out_shared_arrays(path, compiled, work)
    # Linked without -fsanitize: that would add the sanitizer's own library.
    wrapped = [f"-Wl,--wrap={name}" for name in (*_PRINTING, *_ENDING)]
    linking = ("-shared", *wrapped, "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN", "-o", str(built))
    _run([compiler(), *arrays, str(base), *linking], work, kernel=path)
    return built


def _lay_out_shared_arrays(path: Path, compiled: Path, work: Path) -> list[str]:
    """The objects to link, in the order in which their __shared__ arrays are to stand."""
    arrays = shared_arrays(compiled)
    if not arrays:
        return [str(compiled)]
    objects = [_assembled("static_shared", work), str(compiled)]
    dynamic = [name for name, own in arrays.items() if not own]
    if dynamic:
        # Whatever its name, type and namespace, it is the one array.
        for name in dynamic:  # objcopy gives a name to one symbol at a time
            if name != DYNAMIC_ARRAY:
                rename = f"--redefine-sym={name}={DYNAMIC_ARRAY}"
                _run(["objcopy", rename, str(compiled)], work, path)
        asked = dynamic_alignment(file.read_text() for file in included_files(path))
        objects.append(_assembled("dynamic_shared", work, f"-DALIGNMENT={asked}"))
    return objects


def _assembled(name: str, work: Path, *options: str) -> str:
    """The object of one of the runtime's assembler files."""
    source, made = RUNTIME / "memory" / f"{name}.S", work / f"{name}.o"
    _run([compiler(), *options, "-c", str(source), "-o", str(made)], work)
    return str(made)


def _run(command: list[str], work: Path, kernel: Path | None = None) -> None:
    """Run a compiler; its temporary files lie in `work`, and go with it even if all is killed."""
    what = display_name(kernel) if kernel else "the simulator's runtime"
    code, said = commands.run(command, what, work)
    if code:
        message = _readable(said)
        hints = explain(message)
        raise BuildError(f"{what}: g++ could not compile it\n{hints}{message}")


def _readable(message: str) -> str:
    """The compiler's message with paths of this repository, without the unit that wraps it."""
    root = f"{repository_root()}{os.sep}"
    lines = [line.replace(root, "") for line in message.strip().splitlines()]
    return "\n".join(line for line in lines if not line.startswith("In file included from /"))


def display_name(file: str | Path) -> str:
    """A file as it is shown: relative to the repository, or its name alone."""
    path, root = Path(file), repository_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _hash(flags: tuple[str, ...], *texts: tuple[str, str | bytes]) -> str:
    digest = hashlib.sha256(repr((flags, _compiler_identity())).encode())
    # How it is compiled counts as much as what.
    recipe = [(name, (HERE / name).read_bytes()) for name in _RECIPE]
    for name, text in (*recipe, *texts):
        digest.update(repr((name, text)).encode())
    return digest.hexdigest()[:DIGITS]


@cache
def _compiler_identity() -> tuple[str, int, int]:
    path = os.path.realpath(compiler())
    status = os.stat(path)
    return path, status.st_size, int(status.st_mtime)
