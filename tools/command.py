"""What the command lines of the tools share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from gemmlab.core.errors import BackendError, GemmlabError
from gemmlab.run.backend import why_no_gpu


def parser(name: str, about: str | None) -> argparse.ArgumentParser:
    """The parser of `python -m tools.<name>`, whose --help shows the module's text as it is."""
    return argparse.ArgumentParser(
        prog=f"python -m tools.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run a command line: its result is the exit status, and what is refused is said in a line."""
    try:
        sys.exit(main())
    except (GemmlabError, OSError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


def require_gpu() -> None:
    """Raise BackendError where no kernel can be built and run on a GPU."""
    if lacks := why_no_gpu():
        raise BackendError(f"this records what a GPU does, and {lacks}")
