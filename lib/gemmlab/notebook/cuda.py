"""`%%cuda`: a CUDA program, or a kernel alone, in a notebook's cell."""

from __future__ import annotations

import shlex

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from ..core.errors import ArgumentError
from ..sim import LoadedKernel, ProgramReport, load, program
from ..sim.program import cells
from ..sim.program.run import SECONDS
from ..steps.cuda_text import has_main, kernel_names, masked

_USAGE = "%%cuda -D N=64 -- arguments of main()"


@magics_class
class CudaMagics(Magics):
    """The cell magic `%%cuda`."""

    @magic_arguments()
    @argument("name", nargs="?", help="the kernel that becomes a variable, of a cell without main")
    @argument("-I", "--include", action="append", default=[], metavar="FOLDER", help="of headers")
    @argument("-D", "--define", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    @argument("--kernel", default="", metavar="NAME", help="report the launches of this one only")
    @argument("--seconds", type=float, default=SECONDS, help="that the program may run")
    @cell_magic
    def cuda(self, line: str, cell: str) -> ProgramReport | LoadedKernel:
        """Compile the cell for the simulator, and run it if it is a program.

        A cell with main() is run; behind "--" stand its arguments. Under it stand what it prints,
        and for each launch what was found and what each line asks of memory. Of a cell without
        main() a kernel becomes a variable, to be called with arrays:
        add(a, b, c, n, grid=4, block=256).
        """
        own, _, given = line.partition(" -- ")
        try:
            options = parse_argstring(CudaMagics.cuda, own)
            arguments = shlex.split(given)
        except (UsageError, ValueError) as error:
            raise ArgumentError(f"line 1 of the cell: {error}; write it as in {_USAGE}") from None
        how = {"include": options.include, "define": options.define}
        file = cells.keep(f"\n{cell}")  # the first line is the magic's
        code = masked(cell)
        if has_main(code):
            if options.name:
                raise ArgumentError(
                    f"line 1 of the cell: {options.name} names a kernel, and the cell is a "
                    "program with main(); leave the name out, or take main() away"
                )
            limits = {"kernel": options.kernel, "seconds": options.seconds}
            return program(file, arguments=arguments, **how, **limits)
        name = options.name or _only_kernel(code)
        kernel = load(file, name, **how)
        assert self.shell is not None  # IPython calls it
        self.shell.user_ns[name.partition("<")[0]] = kernel
        return kernel


def _only_kernel(code: str) -> str:
    """The kernel of a cell that has one."""
    names = kernel_names(code)
    if len(names) == 1:
        return names[0]
    has = f"the kernels {', '.join(names)}" if names else "neither main() nor a __global__ function"
    raise ArgumentError(
        f"line 1 of the cell: the cell has {has}; write main(), or name a kernel, as in %%cuda add"
    )
