"""Compile a step for the GPU with `torch.utils.cpp_extension.load_inline`, once per source text."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from ..core import commands
from ..core.cache import DIGITS, Store
from ..core.errors import BackendError, BuildError, LaunchError
from ..core.layout import PLAIN
from ..core.paths import kernels_folder
from ..core.progress import busy
from ..steps.program import Program
from ..steps.text import included_files, workspace_name
from .toolchain import FLAGS, arch, compiler_lines, find_ninja, gencode, nvcc

STORE = Store("gpu")

# Only pybind11 on the C++ side and no torch header anywhere: 5 s to build instead of 40. Tensors
# are checked in Python, and the binding takes their addresses.
_BINDING = """
#include <pybind11/pybind11.h>
#include <cstdint>
int launch(uintptr_t A, uintptr_t B, uintptr_t C, int M, int N, int K, float alpha, float beta,
           uintptr_t stream, uintptr_t workspace, int config, int layout);
size_t workspace_bytes(uintptr_t A, uintptr_t B, uintptr_t C, int M, int N, int K, float alpha,
                       float beta, int config, int layout);
const char* error_string(int code);
PYBIND11_MODULE(GEMMLAB_MODULE, m) {
  using pybind11::arg;
  m.def("launch", &launch, arg("A"), arg("B"), arg("C"), arg("M"), arg("N"), arg("K"),
        arg("alpha"), arg("beta"), arg("stream"), arg("workspace") = 0, arg("config") = -1,
        arg("layout") = 0);
  m.def("workspace_bytes", &workspace_bytes, arg("A"), arg("B"), arg("C"), arg("M"), arg("N"),
        arg("K"), arg("alpha"), arg("beta"), arg("config"), arg("layout") = 0);
  m.def("error_string", &error_string);
}
"""

# A kernel may print and assert without an include, as in the simulator.
_LAUNCH = """
#include <cassert>
#include <cstdint>
#include <cstdio>
#include "{path}"
static size_t no_workspace(const GemmArgs&) {{ return 0; }}
int launch(uintptr_t A, uintptr_t B, uintptr_t C, int M, int N, int K, float alpha, float beta,
           uintptr_t stream, uintptr_t workspace, int config, int layout) {{
  const GemmArgs args = {{reinterpret_cast<const void*>(A), reinterpret_cast<const void*>(B),
                         reinterpret_cast<void*>(C), M, N, K, alpha, beta,
                         reinterpret_cast<void*>(workspace), config, layout}};
  const cudaError_t error = {launch}(args, reinterpret_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) cudaGetLastError();  // or the next to ask takes it for its own
  return error;
}}
size_t workspace_bytes(uintptr_t A, uintptr_t B, uintptr_t C, int M, int N, int K, float alpha,
                       float beta, int config, int layout) {{
  (void)no_workspace;
  const GemmArgs args = {{reinterpret_cast<const void*>(A), reinterpret_cast<const void*>(B),
                         reinterpret_cast<void*>(C), M, N, K, alpha, beta, nullptr, config,
                         layout}};
  return {workspace}(args);
}}
const char* error_string(int code) {{ return cudaGetErrorString(static_cast<cudaError_t>(code)); }}
"""

# What every library has behind its PyInit_, so that all are linked to one object file of a binding.
_MODULE = "gemmlab_kernel"

# torch takes the operators of __half and its relatives away; kernels use them.
_HALF_FLAGS = (
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__",
)


def load(program: Program, precision: str = "", layout: str = PLAIN) -> ModuleType:
    """The compiled binding of a step for a precision (its first, if not given), two functions.

    launch(A, B, C, M, N, K, alpha, beta, stream, workspace=0, config=-1, layout=0) -> error code
    workspace_bytes(A, B, C, M, N, K, alpha, beta, config, layout=0) -> what `workspace` needs
    Raises BackendError without nvcc or a GPU, BuildError if the source does not compile.
    """
    launch, scratch = program.launch(precision, layout), program.spec.workspace
    return load_source(program.source.path, launch, program.name, workspace=scratch)


def texts(program: Program, precision: str = "", layout: str = PLAIN) -> tuple[str, str]:
    """C++ and CUDA text of a step's binding: what `compile_binding` takes."""
    launch, scratch = program.launch(precision, layout), program.spec.workspace
    return _BINDING, source_text(program.source.path, launch, scratch)


def with_functions(cpp: str, declared: str, bound: str) -> str:
    """A binding with further functions: how C++ declares them, and how the module binds them."""
    head, brace, functions = cpp.partition("PYBIND11_MODULE(GEMMLAB_MODULE, m) {")
    return f"{head}{declared}{brace}\n  {bound}{functions}"


def load_source(path: Path, launch: str, name: str, *, workspace: bool = False) -> ModuleType:
    """Any kernel file with a function `launch` (const GemmArgs&, cudaStream_t) -> cudaError_t.

    launch: with its arguments, if it is a template. name: what the compiled module is called.
    workspace: the file also has the function `workspace_name(launch)` (const GemmArgs&) -> size_t.
    Raises as `load` does.
    """
    source = source_text(path, launch, workspace)
    return compile_binding(name, _BINDING, source, headers=included_files(path))


def source_text(path: Path, launch: str, workspace: bool) -> str:
    """CUDA text that instantiates a launcher, and the function for its workspace if it has one."""
    scratch = workspace_name(launch) if workspace else "no_workspace"
    return _LAUNCH.format(path=path.resolve(), launch=launch, workspace=scratch)


def checked(code: int, what: str) -> None:
    """Raise LaunchError, naming what went wrong, unless CUDA's error code is 0."""
    if code:
        raise LaunchError(f"{what}: launch failed with CUDA error {code}")


def compile_binding(name: str, cpp: str, cuda: str, headers: tuple[Path, ...]) -> ModuleType:
    """Build (or find in the cache) an extension of one C++ and one CUDA source text.

    `headers` are all project files the sources include: their contents go into the module's name,
    because torch would not notice that a header changed.
    """
    flags = (*FLAGS, *_HALF_FLAGS, *_arch_flags())
    digest = hashlib.sha256("\0".join((_toolchain(), cpp, cuda, *flags)).encode())
    for header in headers:
        digest.update(header.read_bytes())
    module_name = f"{name}_{digest.hexdigest()[:DIGITS]}"

    def make(work: Path) -> None:
        _compile(module_name, cpp, cuda, list(flags), work)

    (library,) = STORE.get(module_name, (".so",), make)
    return _import(module_name, library)


def _arch_flags() -> tuple[str, ...]:
    import torch

    if not torch.cuda.is_available():
        raise BackendError(
            "no CUDA GPU is visible to torch, so the kernel can be built but not run; pass CPU "
            "tensors to run it on the simulator, or see `python -m gemmlab doctor`"
        )
    return (gencode(arch()),)


@lru_cache(maxsize=1)
def _toolchain() -> str:
    import torch

    version = subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout
    return f"torch {torch.__version__}\n{version}"


def _compile(name: str, cpp: str, cuda: str, flags: list[str], work: Path) -> None:
    """Build the library `name` in a folder of its own.

    torch's lock file would make the next build in the same one wait for ever, if this is killed.
    """
    from torch.utils import cpp_extension

    nvcc()
    _put_ninja_on_path()
    _quote_torchs_folder()
    shutil.copy(_binding(cpp), work / "binding.o")
    try:
        with busy(f"building {name.rsplit('_', 1)[0]} with nvcc"):
            cpp_extension.load_inline(
                name=name,
                cpp_sources=[],
                cuda_sources=cuda,
                extra_cuda_cflags=flags,
                extra_include_paths=[str(kernels_folder())],
                extra_ldflags=["binding.o"],  # ninja runs in the folder
                build_directory=str(work),
                with_cuda=True,
                no_implicit_headers=True,
                is_python_module=False,  # torch may add a version to the name; we import it
            )
    except (RuntimeError, OSError) as error:
        raise BuildError(
            f"{name.rsplit('_', 1)[0]} did not compile:\n{compiler_lines(str(error))}"
        ) from None
    (built,) = work.glob("*.so")
    built.rename(work / f"{name}.so")


def _put_ninja_on_path() -> None:
    """torch looks for ninja there only."""
    if shutil.which("ninja") is None and (found := find_ninja()):
        os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), str(Path(found).parent)])


def _quote_torchs_folder() -> None:
    """torch hands the folder of its libraries to a shell as it is, with the spaces in it."""
    from torch.utils import cpp_extension

    if " " in cpp_extension.TORCH_LIB_PATH and not cpp_extension.TORCH_LIB_PATH.startswith("'"):
        cpp_extension.TORCH_LIB_PATH = shlex.quote(cpp_extension.TORCH_LIB_PATH)


def _binding(cpp: str) -> Path:
    """The object file of a binding, compiled once: it takes longer than most kernels do."""
    import pybind11
    from torch.utils import cpp_extension

    includes = (pybind11.get_include(), sysconfig.get_paths()["include"])
    compiler = cpp_extension.get_cxx_compiler()
    command = [compiler, "-std=c++17", "-O1", "-fPIC", f"-DGEMMLAB_MODULE={_MODULE}"]
    command += [f"-I{include}" for include in includes]
    digest = hashlib.sha256("\0".join((cpp, *command, sys.version)).encode()).hexdigest()
    name = f"binding_{digest[:DIGITS]}"

    def make(work: Path) -> None:
        source = work / "binding.cpp"
        source.write_text(cpp)
        files = ["-c", str(source), "-o", str(work / f"{name}.o")]
        code, said = commands.run([*command, *files], "the binding of kernels", work)
        if code:
            raise BuildError(f"the binding of kernels did not compile:\n{said}")

    (made,) = STORE.get(name, (".o",), make)
    return made


def _import(name: str, library: Path) -> ModuleType:
    # Python calls PyInit_ with what is behind the dot; pybind11 tells modules by the whole name.
    spec = importlib.util.spec_from_file_location(f"{name}.{_MODULE}", library)
    assert spec is not None and spec.loader is not None  # they are of every path to a library
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
