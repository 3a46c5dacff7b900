"""What a compiled library says about its kernels: __launch_bounds__ and static shared memory."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass

# include/gemmlab_sim/qualifiers.h turns __launch_bounds__(N) into N one-instruction "nop"s before
# the function; this section lists where they start. They are never executed.
_BOUNDS_SECTION = "__patchable_function_entries"
# Where include/gemmlab_sim/qualifiers.h notes a kernel's __cluster_dims__: how far from here it is,
# and the three numbers.
_CLUSTERS_SECTION, _CLUSTER_ENTRY = "gemmlab_clusters", struct.Struct("<iIII")
# How the name of a function's local begins, and each part of the function's name in it.
_LOCAL, _LENGTH = re.compile(r"_ZZ(?:N|L)?"), re.compile(r"\d+")
_NOP_BYTES = {"EM_X86_64": 1, "EM_AARCH64": 4}


# What a kernel may call of the runtime without ordering some of its threads and not others.
_PLAIN = re.compile(
    r"sim_(syncthreads(_count)?|threadfence|grid_dependency_wait|(thread|block)_index|"
    r"(block|grid)_size|atomic\w*|assertion_failed|not_simulated|launch|set_attribute|"
    r"device_attribute|(last|device)_error|error_\w+|allocate|free|copy(_rows)?|fill|memory_\w+|refuse|"
    r"open_memory|driver_function|clock|on_device|(un)?register|heap_bytes|use_heap|"
    r"shared_address|shared_pointer)"
)


# By what the blocks of a grid may tell each other something.
_COMMUNICATION = re.compile(
    r"sim_atomic|sim_threadfence|sim_grid_sync|__tsan_volatile_(read|write)\d+"
)


@dataclass(frozen=True)
class KernelFacts:
    """A function of a kernel library, by its address there.

    max_threads: its __launch_bounds__, 0 if there is none. static_bytes: of the __shared__ arrays
    that a launch of it has: its own, and those of no function that stands alone. cluster: its
    __cluster_dims__, zeros if it has none.
    """

    offset: int
    max_threads: int
    static_bytes: int
    cluster_x: int = 0
    cluster_y: int = 0
    cluster_z: int = 0


def read_facts(elf, kernels: Collection[str] = ()) -> tuple[KernelFacts, ...]:
    """Facts of every function that has any.

    kernels: names. One that is launched stands alone; arrays of one that does not belong to none.
    """
    symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
    functions = {
        s["st_value"]: s.name for s in symbols if s["st_info"]["type"] == "STT_FUNC" and s.name
    }
    arrays = {
        s.name: s["st_size"]
        for s in symbols
        if s["st_info"]["type"] == "STT_TLS" and s["st_shndx"] != "SHN_UNDEF"
    }
    bounds = _bounds(elf, sorted(functions))
    clusters = _clusters(elf, sorted(functions))
    owned = {name: _owner(name, set(functions.values())) for name in arrays}
    shared = sum(
        size
        for name, size in arrays.items()
        if owned[name] is None and name != "smem" and _function_of(name) not in kernels
    )
    facts = []
    for offset, function in functions.items():
        own = sum(size for name, size in arrays.items() if owned[name] == function)
        size = clusters.get(offset, (0, 0, 0))
        facts.append(KernelFacts(offset, bounds.get(offset, 0), own + shared, *size))
    return tuple(f for f in facts if f.max_threads or f.static_bytes or f.cluster_x)


def has_plain_order(elf) -> bool:
    """Whether nothing but __syncthreads can order the threads of the library's kernels."""
    return all(_PLAIN.fullmatch(name) for name in _imports(elf) if name.startswith("sim_"))


def communicates(elf) -> bool:
    """Whether blocks of the library's kernels may communicate: atomics, fences, volatile."""
    return any(_COMMUNICATION.fullmatch(name) for name in _imports(elf))


def _imports(elf) -> list[str]:
    return [symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()]


def _owner(array: str, functions: set[str]) -> str | None:
    """The function whose local an array is: _ZZ, the function's name without _Z, E, its own."""
    if not array.startswith("_ZZ"):
        return None
    return next((f for f in functions if array.startswith(f"_ZZ{f[2:]}E")), None)


def _function_of(array: str) -> str:
    """The name of the function whose local an array is, without scopes; "" if it is no local."""
    found = _LOCAL.match(array)
    at, name = (found.end(), "") if found else (len(array), "")
    while length := _LENGTH.match(array, at):
        start = length.end()
        at = start + int(length[0])
        name = array[start:at]
    return name


def _bounds(elf, functions: list[int]) -> dict[int, int]:
    """__launch_bounds__ by the function's address."""
    section = elf.get_section_by_name(_BOUNDS_SECTION)
    relocations = elf.get_section_by_name(".rela.dyn")
    if section is None or relocations is None:
        return {}
    first, nop = section["sh_addr"], _NOP_BYTES[elf["e_machine"]]
    bounds = {}
    for entry in relocations.iter_relocations():
        if first <= entry["r_offset"] < first + section["sh_size"]:
            start = entry["r_addend"]
            function = functions[bisect_left(functions, start + 1)]
            bounds[function] = (function - start) // nop
    return bounds


def _clusters(elf, functions: list[int]) -> dict[int, tuple[int, int, int]]:
    """__cluster_dims__ by the function's address."""
    section = elf.get_section_by_name(_CLUSTERS_SECTION)
    found = {}
    if section is not None:
        for number, (way, *size) in enumerate(_CLUSTER_ENTRY.iter_unpack(section.data())):
            inside = section["sh_addr"] + number * _CLUSTER_ENTRY.size + way
            found[functions[bisect_right(functions, inside) - 1]] = (size[0], size[1], size[2])
    return found
