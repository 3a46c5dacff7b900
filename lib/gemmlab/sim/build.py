"""Compile a kernel file for the CPU with g++, once per source text; the runtime once for all."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from ..core import commands
from ..core.cache import DIGITS, Store
from ..core.errors import BackendError, BuildError
from ..core.paths import kernels_folder, repository_root
from ..core.progress import busy
from ..steps.text import included_files, workspace_name
from .alignment import MOST, dynamic_alignment
from .helpers import helper_lines
from .lines import DYNAMIC_ARRAY, LineTable, read_library, shared_arrays
from .unsupported import explain, refuse_unsupported

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
RUNTIME = HERE / "runtime"
STORE = Store("sim")

_COMMON = ("-std=c++17", "-fPIC", "-fdiagnostics-color=never", "-U_FORTIFY_SOURCE")
_RUNTIME_FLAGS = (*_COMMON, "-fvisibility=hidden", "-pthread")
# Only the calls that -fsanitize inserts are wanted; the runtime has its own functions for them.
# -O1 keeps one call for each access of the source. Without jump threading, a call of a barrier or
# a shuffle is copied less often. Without gnu-unique, two libraries whose kernel templates have one
# name do not share their shared memory. Stack clash protection makes large local arrays hit the
# guard page instead of the next fiber's stack. Where variables live is not asked for, and finding
# it out takes a third of the time.
KERNEL_FLAGS = (
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
# Small functions become a part of their callers, whose lines can then be named.
_INLINING = ("-finline-small-functions", "-fno-semantic-interposition")
# Of these functions a kernel gets the runtime's (runtime/operations/host_library.cpp).
_PRINTING = ("printf", "vprintf", "puts", "putchar")
_ENDING = ("exit", "_exit", "_Exit", "quick_exit", "raise", "kill")
_RUNTIME_NAME = "the simulator's runtime"
_ONCE = "Compiling the simulator (once)"
# Files of RUNTIME, which include the others, those first that take longest. What runs at each
# access and product is 5 to 15 % slower with -O1; for the rest that takes two thirds of the time to
# compile, and no run is slower.
_RUNTIME_UNITS = {"runtime": "-O2", "operations": "-O1", "tensor": "-O2"}
_SWITCH = "engine/context.cpp"  # a unit of its own, which alone depends on `portable`
_RECIPE = ("alignment.py", "build.py", "dwarf.py", "elf.py", "lines.py")
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

    workspace: it has a function that says how much scratch memory a launch needs. helpers: lines
    of its source that are not named if they have a caller there.
    """

    library: Path
    source: Path
    table: LineTable = field(compare=False)  # the library's, whose name tells its content
    workspace: bool = False
    helpers: frozenset[int] = frozenset()


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


def runtime(portable: bool = False, quietly: bool = False) -> Path:
    """The runtime's library, compiled at the first call on this machine (about 10 s).

    `portable` builds it on ucontext, as it would be on a processor without a stack switch of ours.
    quietly: without a line of progress.
    $GEMMLAB_SIM_FLAGS: further options for the compiler, such as sanitizers.
    """
    flags, name = _runtime_flags(portable), _runtime_name(portable)

    def make(work: Path) -> None:
        library, switch = work / f"{name}.so", work / "switch.o"
        with nullcontext() if quietly else busy(_ONCE):
            parts = _runtime_objects()
            compiling = _compiling(("-O2", *flags))
            _run([*compiling, str(RUNTIME / _SWITCH), "-o", str(switch)], work)
            linking = ("-shared", "-Wl,-z,defs", f"-Wl,-soname,{name}.so", "-o", str(library))
            _run([compiler(), *flags, str(switch), *map(str, parts), *linking], work)

    (library,) = STORE.get(name, (".so",), make)
    return library


def _runtime_objects() -> list[Path]:
    """The compiled parts of the runtime that are the same however stacks are switched."""
    flags = _runtime_flags(portable=False)
    name = f"runtime-{content_hash(flags, ('', _runtime_files()))}"

    def make(work: Path) -> None:
        together = []
        for unit, level in _RUNTIME_UNITS.items():
            files = (str(RUNTIME / f"{unit}.cpp"), "-o", str(work / f"{name}.{unit}.o"))
            together.append([*_compiling((level, *flags)), *files])
        for code, said in commands.run_together(together, _RUNTIME_NAME, work):
            _refuse(code, said, _RUNTIME_NAME)

    return STORE.get(name, [f".{unit}.o" for unit in _RUNTIME_UNITS], make)


def _compiling(flags: Iterable[str]) -> list[str]:
    """The beginning of a command that compiles a file of the runtime."""
    return [compiler(), *flags, f"-I{RUNTIME}", "-c"]


def _runtime_flags(portable: bool) -> tuple[str, ...]:
    own = shlex.split(os.environ.get("GEMMLAB_SIM_FLAGS", ""))
    return (*_RUNTIME_FLAGS, *own, *(("-DGEMMLAB_SIM_UCONTEXT",) if portable else ()))


def _runtime_name(portable: bool) -> str:
    """Known before it is compiled."""
    return f"libgemmlab_sim-{content_hash(_runtime_flags(portable), ('', _runtime_files()))}"


class _Meanwhile:
    """The runtime, compiled while something else is: only linking a kernel needs it."""

    def __init__(self, portable: bool) -> None:
        self._made: list[Path] = []
        self._failed: list[BaseException] = []
        # If the kernel does not compile, it goes on in the background, for the next cell.
        self._thread = threading.Thread(target=self._make, args=(portable,))
        self._thread.start()

    def _make(self, portable: bool) -> None:
        try:
            self._made.append(runtime(portable, quietly=True))
        except BaseException as error:
            self._failed.append(error)

    def path(self) -> Path:
        """Its library, when it is there. Raises what `runtime` raises."""
        self._thread.join()
        if self._failed:
            raise self._failed[0]
        return self._made[0]


def knows_fills() -> bool:
    """Whether the compiler can give variables without a value one (g++ 12 and later)."""
    return _knows_fills(_compiler_identity())


@cache
def _knows_fills(_: tuple[str, int, int]) -> bool:
    command = [compiler(), "-ftrivial-auto-var-init=zero", "-E", "-x", "c++", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


def kernel(
    path: Path,
    launch: str,
    portable: bool = False,
    workspace: bool = False,
    inline: bool = False,
    fill: str = "",
) -> KernelLibrary:
    """The library of a kernel file, whose function `launch` takes (const GemmArgs&, cudaStream_t).

    workspace: it also has `workspace_name(launch)` (const GemmArgs&) -> size_t. inline: what is
    counted or found in a small function, such as load4(p), is that of the line that calls it. fill:
    what a local variable that is declared without a value holds, if the compiler `knows_fills`:
    "zero", or "pattern" for the bytes 0xFE, a huge or no number of each type; "": what happens to
    be there.
    Raises BackendError without g++, BuildError with the compiler's message.
    """
    path = path.resolve()
    unit = _unit(path, launch, workspace)
    texts = ((str(p), p.read_bytes()) for p in included_files(path))
    base_name = f"{_runtime_name(portable)}.so"
    flags = _kernel_flags(inline, fill)
    key = content_hash(flags, (unit, base_name), *texts, ("", own_headers()))

    def make(work: Path) -> None:
        own = [file for file in included_files(path) if file.parent != kernels_folder() / "ptx"]
        refuse_unsupported(own, INCLUDE / "ptx", display_name)
        base = _Meanwhile(portable)
        is_there = (work.parent / base_name).exists()
        what = f"Compiling {path.name} for the simulator"
        with busy(what if is_there else _ONCE):
            built = _compile_kernel(path, unit, flags, base, work)
        (work / f"{name}.lines.json").write_text(read_library(built).to_json())
        built.rename(work / f"{name}.so")

    name = f"{path.stem}-{key}"
    library, table = STORE.get(name, (".so", ".lines.json"), make)
    runtime(portable)  # which is there, unless somebody has removed it
    helpers = helper_lines(path.read_text()) if inline else frozenset()
    return KernelLibrary(library, path, _table(table), workspace, helpers)


def _unit(path: Path, launch: str, workspace: bool) -> str:
    """The C++ text that is compiled: the file, and what the runtime calls."""
    entry = _UNIT.format(path=path, launch=launch)
    return entry + (_WORKSPACE.format(workspace=workspace_name(launch)) if workspace else "")


def _kernel_flags(inline: bool, fill: str) -> tuple[str, ...]:
    fills = [f"-ftrivial-auto-var-init={fill}"] * bool(fill and knows_fills())
    return (*KERNEL_FLAGS, *fills, *_INLINING * inline)


@lru_cache(maxsize=64)
def _table(path: Path) -> LineTable:
    """What was written beside a library; the name of both tells their content."""
    return LineTable.from_json(path.read_text())


def forget(built: KernelLibrary) -> None:
    """Remove a kernel that will not be asked for again from the cache."""
    STORE.remove(built.library.stem)


def prelude(flags: Sequence[str] = KERNEL_FLAGS, text: str = _PRELUDE) -> Path:
    """A header that includes what every kernel needs; g++ takes what was compiled of it, beside."""
    name = f"prelude-{content_hash(tuple(flags), ('', text), ('', own_headers()))}"

    def make(work: Path) -> None:
        header = work / f"{name}.h"
        header.write_text(text)
        command = [compiler(), *flags, f"-I{INCLUDE}", "-x", "c++-header", str(header)]
        _run([*command, "-o", f"{header}.gch"], work)

    header, _ = STORE.get(name, (".h", ".h.gch"), make)
    return header


def _compile_kernel(
    path: Path, unit: str, flags: Sequence[str], base: _Meanwhile, work: Path
) -> Path:
    """The library, made in the folder `work`."""
    source, compiled, built = work / "unit.cpp", work / "unit.o", work / "a.so"
    source.write_text(unit)
    includes = (f"-I{INCLUDE}", "-include", str(prelude(flags)))
    compiling = (*flags, *includes, "-c", str(source), "-o", str(compiled))
    _run([compiler(), *compiling], work, kernel=path)
    texts = [file.read_text() for file in included_files(path)]
    return link([compiled], texts, base.path(), built)


def link(
    compiled: Sequence[Path],
    texts: Iterable[str],
    base: Path,
    built: Path,
    *options: str,
    as_on_a_gpu: bool = False,
) -> Path:
    """Link object files with the runtime `base` to the library `built`, which is returned.

    texts: the sources, for how they align dynamic shared memory. as_on_a_gpu: where no array is
    static, the dynamic one begins at a multiple of 1024, as it does on a GPU since sm_80, and not
    only where it has declared to. Raises BuildError.
    """
    work, what = built.parent, compiled[0]
    arrays = _lay_out_shared_arrays(compiled, texts, work, as_on_a_gpu)
    # Linked without -fsanitize: that would add the sanitizer's own library.
    wrapped = [f"-Wl,--wrap={name}" for name in (*_PRINTING, *_ENDING)]
    linking = ("-shared", *wrapped, "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN", "-o", str(built))
    _run([compiler(), *arrays, str(base), *linking, *options], work, kernel=what)
    return built


def _lay_out_shared_arrays(
    compiled: Sequence[Path], texts: Iterable[str], work: Path, as_on_a_gpu: bool
) -> list[str]:
    """The objects to link, in the order in which their __shared__ arrays are to stand."""
    arrays = {one: shared_arrays(one) for one in compiled}
    objects = list(map(str, compiled))
    if not any(arrays.values()):
        return objects
    objects = [_assembled("static_shared"), *objects]
    dynamic = [(one, name) for one in compiled for name, own in arrays[one].items() if not own]
    if dynamic:
        # Whatever its name, type and namespace, it is the one array.
        for one, name in dynamic:  # objcopy gives a name to one symbol at a time
            if name != DYNAMIC_ARRAY:
                rename = f"--redefine-sym={name}={DYNAMIC_ARRAY}"
                _run(["objcopy", rename, str(one)], work, one)
        alone = not any(own for names in arrays.values() for own in names.values())
        alignment = MOST if as_on_a_gpu and alone else dynamic_alignment(texts)
        objects.append(_assembled("dynamic_shared", f"-DALIGNMENT={alignment}"))
    return objects


def _assembled(name: str, *options: str) -> str:
    """The object of one of the runtime's assembler files."""
    source = RUNTIME / "memory" / f"{name}.S"
    whole = f"{name}-{content_hash(options, (name, source.read_bytes()))}"

    def make(work: Path) -> None:
        _run([compiler(), *options, "-c", str(source), "-o", str(work / f"{whole}.o")], work)

    (made,) = STORE.get(whole, (".o",), make)
    return str(made)


def _run(command: list[str], work: Path, kernel: Path | None = None) -> None:
    """Run a compiler; its temporary files lie in `work`, and go with it even if all is killed."""
    what = display_name(kernel) if kernel else _RUNTIME_NAME
    _refuse(*commands.run(command, what, work), what)


def _refuse(code: int, said: str, what: str) -> None:
    """Raise BuildError if a compiler has ended with another status than 0."""
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


def own_headers() -> str:
    """What kernels include, and where it is: lines of it are told from theirs by that place."""
    return f"{INCLUDE} {_own_files(INCLUDE)}"


def content_hash(flags: tuple[str, ...], *texts: tuple[str, str | bytes]) -> str:
    """Of what is compiled, and how: the end of an artefact's name."""
    # How it is compiled counts as much as what.
    digest = hashlib.sha256(repr((flags, _compiler_identity(), _recipe())).encode())
    for name, text in texts:
        digest.update(repr((name, text)).encode())
    return digest.hexdigest()[:DIGITS]


@cache
def _recipe() -> str:
    return _digest(HERE / name for name in _RECIPE)


@cache
def _own_files(*folders: Path) -> str:
    """The digest of the simulator's sources there: once in a process, as modules are read once."""
    return _digest(file for folder in folders for file in folder.rglob("*") if file.is_file())


@cache
def _runtime_files() -> str:
    """The digest of the runtime's sources, with the headers that kernels have in common with it."""
    files = {file for source in RUNTIME.rglob("*.[cSh]*") for file in included_files(source)}
    return _digest(files)


def _digest(files: Iterable[Path]) -> str:
    named = ((file.relative_to(HERE).as_posix(), file.read_bytes()) for file in sorted(files))
    return hashlib.sha256(repr([*named]).encode()).hexdigest()


@cache
def _compiler_identity() -> tuple[str, int, int]:
    path = os.path.realpath(compiler())
    status = os.stat(path)
    return path, status.st_size, int(status.st_mtime)
