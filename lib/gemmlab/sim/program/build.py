"""Compile a program for the simulator; what stands in the way, all at once."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ...core import commands
from ...core.errors import BuildError
from ...core.progress import busy
from .. import build
from ..lines import LineTable, read_library
from . import rewrite
from .blockers import Blocker, NotRunnableError, blockers_of, stand_in_for
from .rewrite import NotCovered, Rewritten

FLAGS = (
    "-std=gnu++17",
    "-DGEMMLAB_PROGRAM",
    # Names by which headers see that nvcc compiles them, and that CUDA's own were included.
    "-D__CUDACC__",
    "-D__CUDA_RUNTIME_H__",
    "-D__DRIVER_TYPES_H__",
    *(f for f in build.KERNEL_FLAGS if not f.startswith("-std=")),
)
# Without a trace no access has to be seen, and g++ may do what it does at -O2. But a loop that
# reads a volatile variable until another thread changes it has to let that one run: there, accesses
# are seen all the same. A call at a function's end stays a call, which has a line.
_HOOKS = tuple(f for f in FLAGS if f.startswith("--param=tsan") or "-fsanitize" in f)
_AT_O2 = ("-O2", "-fno-finite-loops", "-fno-optimize-sibling-calls")
_FAST = (*(f for f in FLAGS if f != "-O1"), *_AT_O2)
_UNSEEN = (*(f for f in _FAST if f not in _HOOKS), "-fsanitize=bounds")
_HOST_SUFFIXES = (".cpp", ".cc", ".c")  # which nvcc gives to the host's compiler as they are
_POLLS = re.compile(r"\bvolatile\b(?!\s*\()")  # not that of asm
_PRELUDE = '#include <cuda_runtime.h>\n#include "gemmlab_sim/program_launch.h"\n'
_PTX = '#include "gemmlab_sim/inline_ptx.h"\n'
_MAIN = """
extern "C" int gemmlab_sim_main(int, char**, char**) __asm__("main");
struct GemmlabArguments {
  int count;
  char** texts;
};
extern "C" int gemmlab_sim_entry(const GemmlabArguments* given) {
  return gemmlab_sim_main(given->count, given->texts, nullptr);
}
"""
# Of these a program gets the runtime's (runtime/memory/heap.cpp): malloc, calloc, free, new, new[],
# and of delete and delete[] those with and without a size.
_ALLOCATING = (
    *("malloc", "calloc", "free", "_Znwm", "_Znam"),
    *("_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
_OPENMP = re.compile(r"^[ \t]*#[ \t]*(?:pragma[ \t]+omp\b|include[ \t]*<omp\.h>)", re.MULTILINE)
_HEAP = """
extern "C" int sim_use_heap();
[[maybe_unused]] static const int gemmlab_sim_heap = sim_use_heap();
"""
_MOST_MISSING = 8  # headers that are looked for, one after the other
_RECIPE = tuple(
    Path(__file__).parent / name for name in ("build.py", "edits.py", "rewrite.py", "../build.py")
)


@dataclass(frozen=True)
class Source:
    """What is compiled, and how. options: of g++, such as -DN=64. folders: of its headers.

    traced: so that each access of a kernel can be counted and compared, which makes it slower.
    """

    files: tuple[Path, ...]
    folders: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    entry: str = _MAIN
    traced: bool = True

    @property
    def name(self) -> str:
        """As it is shown."""
        return self.files[0].name


@dataclass(frozen=True)
class ProgramLibrary:
    """A compiled program.

    sources: the user's files that are part of it. not_covered: places in them that the simulator
    does not execute. missing: headers that are not there and that it did not need.
    """

    library: Path
    runtime: Path
    table: LineTable
    sources: tuple[Path, ...]
    not_covered: tuple[NotCovered, ...]
    missing: tuple[str, ...] = ()


@dataclass
class _Attempt:
    """A compilation under way, in the folder `work`."""

    source: Source
    changed: Rewritten
    work: Path
    missing: list[str] = field(default_factory=list)


def build_program(source: Source) -> ProgramLibrary:
    """The library of a program, compiled if it is not in the cache.

    Raises NotRunnableError with all that stands in the way, BackendError without g++.
    """
    changed = rewrite.rewrite(source.files, source.folders, build.INCLUDE)
    _check_main(source, changed)
    base = build.runtime()
    recipe = repr([path.read_bytes() for path in _RECIPE])
    texts = (("", changed.key()), ("", repr(source)), ("", base.name), ("", recipe))
    key = build.content_hash((*FLAGS, *_UNSEEN), *texts, ("", build.own_headers()))
    name = f"{source.files[0].stem}-{key}"

    def make(work: Path) -> None:
        attempt = _Attempt(source, changed, work)
        with busy(f"Compiling {source.name} for the simulator"):
            built = _compile(attempt, base)
        (work / f"{name}.lines.json").write_text(
            read_library(built, attempt.changed.kernels).to_json()
        )
        (work / f"{name}.missing").write_text("\n".join(attempt.missing))
        built.rename(work / f"{name}.so")

    library, table, missing = build.STORE.get(name, (".so", ".lines.json", ".missing"), make)
    return ProgramLibrary(
        library,
        base,
        LineTable.from_json(table.read_text()),
        tuple(changed.copies),
        tuple(changed.not_covered),
        tuple(missing.read_text().split()),
    )


def check_compiles(source: Source) -> None:
    """Compile a program's files, each by itself, and keep nothing; what they call may be elsewhere.

    Raises NotRunnableError with all that stands in the way, BackendError without g++.
    """
    changed = rewrite.rewrite(source.files, source.folders, build.INCLUDE)
    with tempfile.TemporaryDirectory(prefix="gemmlab-sim-") as folder:
        attempt = _Attempt(source, changed, Path(folder))
        rewrite.write(changed, attempt.work)
        for number in range(len(source.files)):
            _compile_unit(attempt, number)


def _check_main(source: Source, changed: Rewritten) -> None:
    if source.entry == _MAIN and not changed.has_main:
        raise NotRunnableError(
            (
                Blocker(
                    str(source.files[0]),
                    None,
                    "there is no main()",
                    "name the file that has it as well, or call a kernel alone with "
                    'lab.sim.load("file.cu", "kernel")',
                ),
            )
        )


def _compile(attempt: _Attempt, base: Path) -> Path:
    """The library, made in the attempt's folder."""
    work, changed = attempt.work, attempt.changed
    rewrite.write(changed, work)
    # What a header has for both, such as a template, is taken from the first object that has it:
    # from one of the device's, whose accesses are seen.
    order = sorted(range(len(attempt.source.files)), key=lambda n: _is_host_code(attempt, n))
    compiled = [_compile_unit(attempt, number) for number in order]
    try:
        texts = changed.texts.values()
        options = [f"-Wl,--wrap={name}" for name in (*_ALLOCATING, "clock")]
        options += ["-fopenmp"] if _uses_openmp(changed) else []
        return build.link(compiled, texts, base, work / "a.so", *options, as_on_a_gpu=True)
    except BuildError as error:
        raise NotRunnableError(tuple(blockers_of(str(error)))) from None


def _unit(attempt: _Attempt, number: int) -> Path:
    """One file of the program's, with what is included before it; the last one has the entry."""
    files = attempt.source.files
    copy = attempt.changed.copies[files[number].resolve()]
    uses_ptx = any("gemmlab_ptx::" in text for text in attempt.changed.texts.values())
    text = f'{_PTX if uses_ptx else ""}#include "{copy}"\n'
    unit = attempt.work / f"unit{number}.cpp"
    if number == len(files) - 1:
        text += attempt.source.entry + (_HEAP if attempt.changed.allocates else "")
    unit.write_text(text)
    return unit


def _uses_openmp(changed: Rewritten) -> bool:
    return any(map(_OPENMP.search, changed.texts.values()))


def _is_host_code(attempt: _Attempt, number: int) -> bool:
    """Whether a file has nothing that runs on the device."""
    file = attempt.source.files[number]
    text = attempt.changed.texts[file.resolve()]
    words = ("__global__", "__device__", "gemmlab_sim::configured")
    return file.suffix in _HOST_SUFFIXES and not any(word in text for word in words)


def _flags(attempt: _Attempt, number: int) -> tuple[str, ...]:
    """The compiler's options for a file."""
    if _is_host_code(attempt, number):
        return _UNSEEN
    if attempt.source.traced:
        return FLAGS
    return _FAST if any(map(_POLLS.search, attempt.changed.texts.values())) else _UNSEEN


def _compile_unit(attempt: _Attempt, number: int) -> Path:
    """The object of a file. Headers that are missing are taken for empty, if that will do."""
    unit, flags = _unit(attempt, number), _flags(attempt, number)
    compiled, stand_ins = unit.with_suffix(".o"), attempt.work / "missing"
    folders = [f"-I{build.INCLUDE}", *(f"-I{folder}" for folder in attempt.source.folders)]
    own = [f"-iquote{file.parent}" for file in attempt.source.files]
    flags += ("-fopenmp",) if _uses_openmp(attempt.changed) else ()
    before = ("-include", str(build.prelude(flags, _PRELUDE)))
    options = (*attempt.source.options, *folders, *own, f"-idirafter{stand_ins}")
    command = [build.compiler(), *flags, *before, *options, "-c", str(unit), "-o", str(compiled)]
    found: list[Blocker] = []
    for _ in range(_MOST_MISSING):
        code, said = commands.run(command, attempt.source.name, attempt.work)
        if not code:
            _rename_main(compiled, attempt.work)
            break
        blockers = blockers_of(said)
        found += [one for one in blockers if one not in found]
        if not (missing := stand_in_for(said, stand_ins)):
            raise NotRunnableError(tuple(found))
        attempt.missing.append(missing)
    if any(not blocker.is_missing_header for blocker in found) or code:
        raise NotRunnableError(tuple(found))
    return compiled


def _rename_main(compiled: Path, work: Path) -> None:
    """The process that loads the library has a main, too."""
    rename = "--redefine-sym=main=gemmlab_sim_main"
    code, said = commands.run(["objcopy", rename, str(compiled)], compiled.name, work)
    if code:
        raise BuildError(f"objcopy: {said}")
