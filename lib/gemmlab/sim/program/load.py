"""A kernel of a file without a program around it, called with arrays.

The program that it lacks is written here: its main() reads a file of arguments, makes buffers of
the arrays, launches the kernel, and writes the arrays back.
"""

from __future__ import annotations

import ctypes
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from ...core import arguments as checks
from ...core.errors import ArgumentError, LaunchError
from . import run
from .build import ProgramLibrary, Source, build_program
from .launch import Launch

_NAME = re.compile(r"[A-Za-z_][\w:]*(<.*>)?")
_DIMENSIONS = 3
_ENTRY = """
#include <fstream>
#include <tuple>
#include <vector>
namespace gemmlab_load {{
struct Reader {{
  std::ifstream file;
  std::vector<std::pair<void*, size_t>> buffers;
  template <class T> T number() {{ T value; file.read((char*)&value, sizeof value); return value; }}
  template <class P> P argument() {{
    const auto bytes = number<uint64_t>();
    if constexpr (std::is_pointer_v<P>) {{
      std::vector<char> data(bytes);
      file.read(data.data(), bytes);
      void* memory = nullptr;
      cudaMalloc(&memory, bytes);
      cudaMemcpy(memory, data.data(), bytes, cudaMemcpyHostToDevice);
      buffers.emplace_back(memory, bytes);
      return static_cast<P>(memory);
    }} else {{
      if (bytes) {{ printf("an array is given for a number\\n"); exit(2); }}
      const double given = number<double>();
      const auto whole = number<int64_t>();
      if constexpr (std::is_integral_v<P>) return static_cast<P>(whole);
      else return static_cast<P>(given);
    }}
  }}
}};
template <class... P>
int call(void (*kernel)(P...), const char* path) {{
  Reader in{{std::ifstream(path, std::ios::binary), {{}}}};
  unsigned size[6];
  for (unsigned& one : size) one = in.number<uint32_t>();
  const auto bytes = in.number<uint64_t>(), count = in.number<uint64_t>();
  if (count != sizeof...(P)) {{
    printf("the kernel has %zu parameters\\n", sizeof...(P));
    return 2;
  }}
  std::tuple<P...> values{{in.argument<P>()...}};
  if (bytes > 49152)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  std::apply([&](auto... value) {{
    gemmlab_sim::configured(GEMMLAB_KERNEL(kernel), dim3(size[0], size[1], size[2]),
                            dim3(size[3], size[4], size[5]), bytes)(value...);
  }}, values);
  in.file.close();
  std::ofstream out(path, std::ios::binary);
  for (const auto& [memory, size] : in.buffers) {{
    std::vector<char> data(size);
    cudaMemcpy(data.data(), memory, size, cudaMemcpyDeviceToHost);
    out.write(data.data(), size);
  }}
  return 0;
}}
}}
int main(int, char** given) {{ return gemmlab_load::call({kernel}, given[1]); }}
"""


class LoadedKernel:
    """A __global__ function, compiled for the simulator; `load` makes it.

    source: what was compiled. built: its library. name: the function's.
    """

    def __init__(self, source: Source, built: ProgramLibrary, name: str) -> None:
        self.name = name
        self._source, self._built = source, built

    def __call__(
        self,
        *values: Any,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        shared: int = 0,
        trace: bool = True,
        seconds: float = run.SECONDS,
    ) -> Launch:
        """Run it once. Arrays are read and written, as on a GPU.

        values: what the kernel is called with: contiguous NumPy arrays or torch tensors of the CPU
        for pointers, numbers for the others. grid, block: sizes, a number or up to three. shared:
        bytes of dynamic shared memory. trace: count, and look for races. seconds: that it may take.
        Raises ArgumentError, and LaunchError if the kernel did not run to its end.
        """
        sizes = [*_dimensions("grid", grid), *_dimensions("block", block)]
        shared = int(checks.integer("shared", shared, 0, 2**31 - 1, kind=Integral))
        arrays = [array for array in map(_array, values) if array is not None]
        with tempfile.TemporaryDirectory(prefix="gemmlab-load-") as work:
            file = Path(work) / "arguments"
            file.write_bytes(_written(sizes, shared, values))
            options = run.Options(
                [str(file)],
                trace=checks.flag("trace", trace),
                seconds=run.checked_seconds(seconds),
            )
            report = run.execute(self._source, self._built, options)
            if report.exit_status:
                raise ArgumentError(f"{self.name}: {report.output.strip()}; {len(values)} given")
            if not report.launches or report.exit_status is None:
                why = "\n".join((*map(str, report.findings), *report.gaps)) or report.output
                raise LaunchError(f"{self.name}: did not run to its end\n{why}")
            _read_back(file.read_bytes(), arrays)
        print(report.output, end="")
        return replace(report.launches[0], kernel=self.name, place="")

    def __repr__(self) -> str:
        return f"{self.name} of {self._source.name}, for the simulator; call it with arrays"


def load(
    file: str | Path,
    name: str,
    *,
    include: Sequence[str | Path] = (),
    define: Mapping[str, object] | Sequence[str] = (),
) -> LoadedKernel:
    """One kernel of a .cu file, to be called with arrays, a grid and a block.

    name: of a __global__ function, with its template's arguments if it has any, "copy<float>".
    include: folders of headers. define: macros. The file's own main(), if it has one, is left out.
    Raises ArgumentError for a file that is not there, NotRunnableError with all reasons.
    """
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ArgumentError(
            f"name: got {checks.brief(name)}, expected the name of a __global__ function, such as "
            "'add' or 'copy<float>'"
        )
    source = run.source_of(file, include, define)
    # The file's own main() gets a name that nobody calls.
    entry = f"#undef main\n{_ENTRY.format(kernel=name)}{Source.entry}"
    source = replace(source, options=(*source.options, "-Dmain=gemmlab_own_main"), entry=entry)
    return LoadedKernel(source, build_program(source), name)


def _dimensions(name: str, value: int | Sequence[int]) -> list[int]:
    given = [value] if isinstance(value, Integral) else checks.sequence(name, value, "(16, 16)")
    if not 1 <= len(given) <= _DIMENSIONS:
        raise ArgumentError(f"{name}: got {checks.brief(value)}, expected one to three numbers")
    sizes = [int(checks.integer(name, one, 1, 2**32 - 1, kind=Integral)) for one in given]
    return sizes + [1] * (_DIMENSIONS - len(sizes))


def _array(value: Any) -> np.ndarray | None:
    """The memory of an array or a tensor, as bytes to read and write; None for a number."""
    if isinstance(value, Real):
        return None
    if hasattr(value, "data_ptr"):  # torch's, of any of its types
        if value.device.type != "cpu" or not value.is_contiguous():
            raise ArgumentError("values: a tensor is not contiguous or not on the CPU; use .cpu()")
        size = value.numel() * value.element_size()
        kept = (ctypes.c_char * size).from_address(value.data_ptr())
        return np.frombuffer(kept, np.uint8)
    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
        raise ArgumentError(
            f"values: got {checks.brief(value)}, expected contiguous NumPy arrays, torch tensors "
            "of the CPU, and numbers"
        )
    if not value.flags.writeable:
        raise ArgumentError("values: an array is read-only, and a kernel may write it; copy it")
    return value.reshape(-1).view(np.uint8)


def _written(sizes: Sequence[int], shared: int, values: Sequence[Any]) -> bytes:
    """What main() reads: sizes, then each argument behind its bytes, 0 for a number."""
    parts = [struct.pack("<6IQQ", *sizes, shared, len(values))]
    for value in values:
        array = _array(value)
        if array is None:
            whole = int(value) if isinstance(value, Integral) else 0
            parts.append(struct.pack("<QdQ", 0, float(value), whole % 2**64))
        else:
            parts += [struct.pack("<Q", array.nbytes), array.tobytes()]
    return b"".join(parts)


def _read_back(data: bytes, arrays: Sequence[np.ndarray]) -> None:
    at = 0
    for array in arrays:
        array[...] = np.frombuffer(data[at : at + array.nbytes], np.uint8)
        at += array.nbytes
