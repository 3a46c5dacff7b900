"""python -m gemmlab."""

from __future__ import annotations

import importlib
import sys


def main(prog_name: str | None = None) -> None:
    """Run a command. The simulator's skips what the others import, and needs fewer packages."""
    alone = sys.argv[1:2] == ["sim"]
    name = ".sim.program.command" if alone else ".cli"
    try:
        module = importlib.import_module(name, __package__)
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("gemmlab"):
            raise
        raise SystemExit(
            f"this command needs the package {error.name}: install gemmlab with its extra course, "
            "as in pip install 'gemmlab[course]'; without it there is python -m gemmlab sim"
        ) from None
    module.main(prog_name=prog_name)


if __name__ == "__main__":
    main(prog_name="python -m gemmlab")
