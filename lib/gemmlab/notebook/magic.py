"""`%%kernel`: the reader's own version of a step, compiled from a notebook's cell."""

from __future__ import annotations

import keyword
from types import ModuleType
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from ..core.errors import ArgumentError, GemmlabError, UnknownKernelError
from ..run.kernel import Kernel
from ..steps import registry
from ..steps.spec import KernelSpec
from . import below, stale, watch
from .cell import Built, make
from .cuda import CudaMagics

if TYPE_CHECKING:
    from argparse import Namespace

    from IPython.core.interactiveshell import InteractiveShell

_USAGE = "%%kernel my_sgemm --like sgemm_06_swizzled_a"
_FIRST_LINE = "line 1 of the cell"


def _sizes(count: int, least: int = 0):
    """A type for argparse: `count` whole numbers above 0, "128,128,16" or "128x128x16".

    least: how many will do, if not all.
    """

    def sizes(text: str) -> tuple[int, ...]:
        parts = text.replace("x", ",").split(",")
        if not (least or count) <= len(parts) <= count or not all(
            p.strip().isdecimal() and int(p) for p in parts
        ):
            raise ValueError(text)
        return tuple(int(p) for p in parts)

    sizes.__name__ = {1: "number", 2: "M,N", 3: "M,N,K"}[count]
    return sizes


def _number(text: str) -> int:
    return _sizes(1)(text)[0]


_number.__name__ = "number"


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


@magics_class
class KernelMagics(Magics):
    """The cell magic `%%kernel`."""

    @magic_arguments()
    @argument("name", help="the variable that the kernel becomes")
    @argument("--like", metavar="STEP", help="the step that it is a version of")
    @argument("--block", type=_sizes(2, 1), metavar="X,Y", help="threads of a block, as 16x16")
    @argument(
        "--tile",
        type=_sizes(3, 2),
        metavar="BM,BN,BK",
        help="rows and columns of C of a block, and the depth of its k tiles",
    )
    @argument("--thread-tile", type=_sizes(2), metavar="TM,TN", help="elements of C of a thread")
    @argument("--threads", type=_number, metavar="N", help="threads of a block")
    @argument(
        "--multiple-of",
        type=_sizes(3),
        metavar="M,N,K",
        help="what M, N, K are multiples of: the kernel is run with no other sizes",
    )
    @argument(
        "--alignment",
        type=_number,
        metavar="BYTES",
        help="A, B and C begin at multiples of so many bytes, as 16 for copies of 16 bytes and TMA",
    )
    @argument(
        "--precisions",
        type=_names,
        metavar="NAMES",
        help="the types of A and B, and of C if it has another, as fp32 or fp16_fp32",
    )
    @argument("--min-arch", type=_number, metavar="N", help="such as 80 for compute capability 8.0")
    @cell_magic
    def kernel(self, line: str, cell: str) -> Built:
        """Compile the cell as a kernel and make it a variable, for lab.check and the others.

        The cell holds `__global__ void NAME(const float* A, const float* B, float* C, int M, int N,
        int K, float alpha, float beta)`, in any order, with or without alpha and beta. It is
        launched by a line `NAME<<<grid, block>>>(A, ...);` below it, or by its block and tile of C,
        which stand in the first line (`--block 16x16 --tile 64x64`), in a comment (`// block
        16x16`), or in constants (BM, BN, BK, THREADS). With a tile, M, N and K are multiples of it
        unless `--multiple-of` says otherwise; with a block alone they are any.

        With `--like STEP` the cell holds passages of the step's file, from `// [name]` to
        `// [/name]`, and constants (`constexpr int BK = 8;`): the rest stays as it is there. Or it
        holds a whole file with `cudaError_t launch_NAME(const GemmArgs&, cudaStream_t)`; what is
        not given as an option is then the step's, or without `--like` a careful default.
        """
        name, like, options = first_line(line)
        assert self.shell is not None  # IPython calls it
        variables = self.shell.user_ns
        held = variables.get(name)
        try:
            _check_name(name, held)
            built = make(name, cell, _parent(like, variables), options)
        except GemmlabError as error:
            if isinstance(held, Kernel):
                stale.note(held)
            raise type(error)(f"{error}\n{_kept(name, held)}") from None
        variables[name] = built.kernel
        return built


def first_line(line: str) -> tuple[str, str | None, dict[str, object]]:
    """What stands behind `%%kernel`: the name, the step that it is like, fields of KernelSpec.

    Raises ArgumentError.
    """
    try:
        options = parse_argstring(KernelMagics.kernel, line)
    except UsageError as error:
        raise ArgumentError(f"{_FIRST_LINE}: {error}; write it as in {_USAGE}") from None
    return options.name, options.like, _given(options)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Give a shell the magic, and note solved exercises. `import gemmlab` in a notebook does it."""
    shell.register_magics(KernelMagics, CudaMagics)
    if below.first not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(below.first)
    watch.start(shell)


def _given(options: Namespace) -> dict[str, object]:
    """The fields of KernelSpec that options set."""
    fields = {k: v for k, v in vars(options).items() if k not in ("name", "like")}
    return {name: value for name, value in fields.items() if value is not None}


def _check_name(name: str, held: object) -> None:
    """Refuse a name that a kernel cannot have. held: what the notebook has under it."""
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise ArgumentError(
            f"{_FIRST_LINE}: {name!r} cannot be a variable; take letters, digits and underscores, "
            f"as in {_USAGE}"
        )
    if name in registry.names():
        raise ArgumentError(
            f"{_FIRST_LINE}: {name} is a step of the course, which stays as it is; take a name of "
            f"your own, as in %%kernel my_{name} --like {name}"
        )
    if isinstance(held, ModuleType):
        raise ArgumentError(
            f"{_FIRST_LINE}: {name} is the module {held.__name__} in this notebook, which the "
            "kernel would replace; take another name"
        )


def _parent(like: str | None, variables: dict) -> KernelSpec | None:
    """The spec of the step that `--like` names."""
    if like is None:
        return None
    try:
        return registry.get(like)
    except UnknownKernelError as error:
        if isinstance(held := variables.get(like), Kernel) and held.spec.parent:
            raise UnknownKernelError(
                f"{_FIRST_LINE}: --like takes a step of the course, and {like} is a kernel of this "
                f"notebook; it is like {held.spec.parent}"
            ) from None
        text = str(error).removeprefix("kernel: ")
        raise UnknownKernelError(f"{_FIRST_LINE}: --like: {text}") from None


def _kept(name: str, held: object) -> str:
    if isinstance(held, Kernel):
        return f"{name} is still the kernel that it was before this cell."
    return f"{name} was not made."
