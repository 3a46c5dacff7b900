"""A cell with a kernel and no launcher: what its parameters are, and how it is to be launched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..core.errors import ArgumentError
from ..core.precision import Precision, of_types
from ..steps.cuda_text import closing
from .constants import listed
from .passages import at_offset

SIGNATURE = "const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta"
_BOUNDS = r"__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*"
_KERNEL = re.compile(rf"\b__global__\s+(?:static\s+)?(?:{_BOUNDS})?void\s+(?:{_BOUNDS})?(\w+)\s*\(")
_LAUNCH = re.compile(r"([\w:]+(?:\s*<[^<>;]*>)?)\s*<<<")
_TEMPLATE = re.compile(r"\btemplate\s*<[^<>]*>\s*$")
_QUALIFIERS = re.compile(r"\b(?:__restrict__|__restrict|restrict|__grid_constant__)\b")
_DECLARED = re.compile(r"//\s*(block|tile)\s*[:=]?\s*(\d+(?:\s*[x,]\s*\d+){0,2})\b", re.IGNORECASE)
_MATRICES, _SIZES, _FACTORS = ("A", "B", "C"), ("M", "N", "K"), ("alpha", "beta")
_IN_TORCH = {
    "float": "float32",
    "half": "float16",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
}
_WHOLE = {"int", "unsigned", "unsigned int", "uint32_t", "int32_t", "size_t", "long", "long long"}


@dataclass(frozen=True)
class Shape:
    """Threads of a block as x, y, and the tile of C and the depth that it works on; 0: not said."""

    block: tuple[int, int] = (0, 0)
    tile: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Plain:
    """A kernel's parameters in their order, and what launches it.

    lines: those of the cell (counted from 0) that belong to the host. body: the launcher's text for
    each of them, with that line.
    """

    kernel: str
    parameters: tuple[str, ...]
    types: Precision
    lines: frozenset[int]
    body: tuple[tuple[str, int], ...]

    @property
    def scales(self) -> bool:
        """Whether it takes alpha and beta."""
        return "alpha" in self.parameters

    def launcher(self, name: str) -> list[tuple[str, int]]:
        """The function that launches it, line by line, each with its line of the cell or -1."""
        given, made = self.types.template_arguments.strip("<>").split(", ")
        single = self.types.given == "float32"
        head = "inline" if single else "template <class T, class TC>"
        text = f"""
{head} cudaError_t launch_{name}(const GemmArgs& g, cudaStream_t stream) {{
  // Not const, as a kernel may have written its parameters without it.
  [[maybe_unused]] auto* A = const_cast<{given}*>(static_cast<const {given}*>(g.A));
  [[maybe_unused]] auto* B = const_cast<{given}*>(static_cast<const {given}*>(g.B));
  [[maybe_unused]] auto* C = static_cast<{made}*>(g.C);
  [[maybe_unused]] const int M = g.M, N = g.N, K = g.K;
  [[maybe_unused]] const float alpha = g.alpha, beta = g.beta;
  cudaError_t error = cudaSuccess;"""
        above = [(line, -1) for line in text.splitlines()[1:]]
        return [*above, *self.body, ("  return error;", -1), ("}", -1)]


def declared(lines: Sequence[str], numbers: Mapping[str, int], options: Mapping) -> Shape:
    """What options, then comments (`// block 16x16`), then constants say of block and tile."""
    said = {kind.lower(): _numbers(text) for kind, text in _DECLARED.findall("\n".join(lines))}
    own = [numbers.get(name, 0) for name in ("BM", "BN", "BK")]
    for i, side in enumerate(options.get("tile") or said.get("tile", ())):
        own[i] = side
    block = options.get("block") or said.get("block") or (numbers.get("THREADS", 0), 1)
    x, y = (*block, 1)[:2]
    if x and not (own[0] and own[1]):
        own[:2] = y, x
    return Shape((x, y) if x else (0, 0), (own[0], own[1], own[2]))


def read_plain(code: str, name: str, shape: Shape) -> Plain:
    """The kernel of a cell's text without comments.

    Raises ArgumentError, with the cell's line, for a text without a kernel, for several kernels
    without a launch that chooses one, and for parameters that are not those of a product.
    """
    launches = list(_launches(code))
    kernels = {match[1]: match for match in _KERNEL.finditer(code)}
    if not kernels:
        raise _no_kernel(code, name)
    own = _chosen(code, name, kernels, [launch[0] for launch in launches])
    match = kernels[own]
    parameters, types = _parameters(code, match)
    if launches:
        _check_count(code, own, parameters, launches)
        lines, body = _host_lines(code, launches)
        return Plain(own, parameters, types, lines, body)
    if _TEMPLATE.search(code[: match.start()]):
        raise ArgumentError(
            f"{at_offset(code, match.start())}: {own} is a template, so the cell has to say which "
            f"one is launched; write {own}<...><<<grid, block>>>({', '.join(parameters)}); below it"
        )
    return Plain(own, parameters, types, frozenset(), _declared_launch(own, parameters, shape))


def _declared_launch(
    kernel: str, parameters: Sequence[str], shape: Shape
) -> tuple[tuple[str, int], ...]:
    """The launch of a block for each tile."""
    if not shape.block[0]:
        call = f"{kernel}<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>"
        raise ArgumentError(
            f"line 1 of the cell: nothing says how {kernel} is launched; write "
            f"{call}({', '.join(parameters)}); below the kernel, or declare the threads of a block "
            "and its tile of C: --block 16x16 --tile 64x64"
        )
    (x, y), (BM, BN, _) = shape.block, shape.tile
    grid = f"dim3(ceil_div(N, {BN}), ceil_div(M, {BM}))"
    call = ", ".join((kernel, grid, f"dim3({x}, {y})", "0", "stream", *parameters))
    return ((f"  error = launch_next(error, {call});", -1),)


def _launches(code: str) -> Iterable[tuple[str, int, int, list[str], str]]:
    """Each `kernel<<<...>>>(...);`: the kernel, where it begins and ends, and what stands inside.

    Raises ArgumentError for one that is not complete, or stands inside of a function.
    """
    for match in _LAUNCH.finditer(code):
        where = at_offset(code, match.start())
        if code.count("{", 0, match.start()) > code.count("}", 0, match.start()):
            raise ArgumentError(
                f"{where}: the launch stands inside of a function; let it stand by itself below "
                "the kernel, where A, B, C, M, N, K, alpha and beta are known"
            )
        rest = re.compile(r"((?:[^>]|>(?!>>))*)>>>\s*\(").match(code, match.end())
        stop = closing(code, rest.end() - 1) if rest else -1
        if rest is None or stop < 0 or code[stop + 1 :].lstrip()[:1] != ";":
            raise ArgumentError(
                f"{where}: the launch is not complete; write "
                f"{match[1]}<<<grid, block>>>(A, B, C, M, N, K);"
            )
        sizes = listed(rest[1])
        if not 2 <= len(sizes) <= 4:
            raise ArgumentError(
                f"{where}: a launch has <<<grid, block>>>, or <<<grid, block, bytes of dynamic "
                f"shared memory>>>; found {len(sizes)} parts"
            )
        arguments = code[rest.end() : stop]
        end = code.index(";", stop)
        yield match[1], match.start(), end, sizes, arguments


def _check_count(
    code: str,
    kernel: str,
    parameters: Sequence[str],
    launches: Iterable[tuple[str, int, int, list[str], str]],
) -> None:
    """Refuse a launch with more or fewer arguments than the kernel has parameters."""
    for name, start, _, _, text in launches:
        passed = len(listed(text))
        if name == kernel and passed != len(parameters):
            raise ArgumentError(
                f"{at_offset(code, start)}: the launch passes {passed} arguments, and {kernel} has "
                f"{len(parameters)} parameters; write {kernel}<<<grid, block>>>"
                f"({', '.join(parameters)});"
            )


def _host_lines(
    code: str, launches: Sequence[tuple[str, int, int, list[str], str]]
) -> tuple[frozenset[int], tuple[tuple[str, int], ...]]:
    """The launches, and the `dim3` declarations at the outer level, for the launcher's body."""
    found: list[tuple[int, int, str]] = []
    for match in re.finditer(r"^[ \t]*(?:const\s+)?dim3\s+\w[^;{}]*;", code, re.MULTILINE):
        if code.count("{", 0, match.start()) == code.count("}", 0, match.start()):
            found.append((match.start(), match.end(), match[0].strip()))
    for kernel, start, end, sizes, arguments in launches:
        grid, block, smem = (*sizes, "0")[:3]
        call = f"{kernel}, dim3({grid}), dim3({block}), {smem}, stream, {arguments.strip()}"
        found.append((start, end, f"error = launch_next(error, {' '.join(call.split())});"))
    lines, body = set(), []
    for start, end, text in sorted(found):
        first = code.count("\n", 0, start)
        lines |= set(range(first, code.count("\n", 0, end) + 1))
        body.append((f"  {' '.join(text.split())}", first))
    return frozenset(lines), tuple(body)


def _chosen(code: str, name: str, kernels: Mapping[str, re.Match], launched: list[str]) -> str:
    """The kernel that is the product: the one that is launched, or the only one."""
    names = [launch.partition("<")[0].strip() for launch in launched]
    for launch in names:
        if launch not in kernels:
            raise ArgumentError(
                f"{at_offset(code, code.index('<<<'))}: launches {launch}, which the cell does not "
                f"define; it has {', '.join(kernels)}"
            )
    if names:
        return names[-1]
    if len(kernels) == 1:
        return next(iter(kernels))
    lines = " and ".join(at_offset(code, match.start()) for match in kernels.values())
    raise ArgumentError(
        f"{lines}: the cell has {len(kernels)} kernels, {', '.join(kernels)}, and nothing says "
        f"which one is launched; write {next(iter(kernels))}<<<grid, block>>>(...); below them, or "
        "keep one"
    )


def _parameters(code: str, match: re.Match) -> tuple[tuple[str, ...], Precision]:
    """Names and types of a kernel's parameters. Raises ArgumentError for any but a product's."""
    stop = closing(code, match.end() - 1)
    where = at_offset(code, match.start())
    read: dict[str, str] = {}
    for text in listed(code[match.end() : stop]) if stop > 0 else []:
        plain = _QUALIFIERS.sub(" ", text)
        if not (one := re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", plain, re.DOTALL)):
            raise _signature(where, match[1], f"`{text.strip()}` has no name")
        read[_known(one[2])] = " ".join(one[1].replace("*", " * ").split())
    unknown = [key for key in read if key not in (*_MATRICES, *_SIZES, *_FACTORS)]
    missing = [key for key in (*_MATRICES, *_SIZES) if key not in read]
    if unknown or missing or ("alpha" in read) != ("beta" in read):
        what = f"there is no {' and no '.join(missing)}" if missing else ""
        what = what or (
            f"{unknown[0]} is none of them" if unknown else "alpha and beta go together"
        )
        raise _signature(where, match[1], what)
    for key in (*_SIZES, *_FACTORS):
        wanted = _WHOLE if key in _SIZES else {"float"}
        if key in read and read[key].removeprefix("const ") not in wanted:
            noun = "int" if key in _SIZES else "float"
            raise _signature(where, match[1], f"{key} is {read[key]}, and it is to be {noun}")
    return tuple(read), _types(where, match[1], read)


def _types(where: str, kernel: str, read: Mapping[str, str]) -> Precision:
    elements = {}
    for key in _MATRICES:
        text = read[key].replace(" const *", " *")
        of = text.removesuffix(" *").removeprefix("const ")
        if not text.endswith(" *") or of not in _IN_TORCH:
            raise _signature(where, kernel, f"{key} is {read[key]}, and it is to be a pointer")
        elements[key] = _IN_TORCH[of]
    types = of_types(elements["A"], elements["C"])
    if elements["A"] != elements["B"] or types is None:
        raise _signature(where, kernel, "the types of A, B and C do not go together")
    return types


def _known(name: str) -> str:
    """A parameter's name as it stands in the documented signature."""
    if len(name) == 1:
        return name.upper()
    return name.lower() if name.lower() in _FACTORS else name


def _signature(where: str, kernel: str, what: str) -> ArgumentError:
    return ArgumentError(
        f"{where}: the parameters of {kernel} are known by their names, and {what}; write them as "
        f"in ({SIGNATURE}), in any order, with or without alpha and beta, 16-bit elements as "
        "__half. A kernel with others needs a launcher of its own, launch_<name>(const GemmArgs&, "
        "cudaStream_t): see the end of lab.source('sgemm_02_coalesced')"
    )


def _no_kernel(code: str, name: str) -> ArgumentError:
    if found := re.search(r"\bvoid\s+(\w+)\s*\(", code):
        where = f"{at_offset(code, found.start())}: {found[1]} is a function of the host"
        remedy = f"write __global__ before void {found[1]}"
    else:
        where, remedy = "line 2 of the cell: there is no kernel", "write one"
    return ArgumentError(
        f"{where}, since nothing is marked __global__; {remedy}, as in "
        f"__global__ void {name}({SIGNATURE}) {{ ... }}"
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.split(r"\s*[x,]\s*", text))
