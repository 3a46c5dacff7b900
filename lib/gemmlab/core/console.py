"""What all commands have in common: how they end, and how they print."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

import click

from .errors import ArgumentError, GemmlabError, UnknownKernelError

# Exit statuses, as the help of `gemmlab` lists them; click's own for wrong usage is 2, too.
FAILED, USAGE, MISTAKE, INTERRUPTED = 1, 2, 70, 130


class Group(click.Group):
    """Commands that end with a message and one of the statuses above, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see the class."""
        try:
            return super().invoke(ctx)
        except (ArgumentError, UnknownKernelError) as error:
            raise ended(str(error), USAGE) from None
        except GemmlabError as error:
            raise ended(str(error), FAILED) from None
        except (KeyboardInterrupt, click.Abort):
            raise ended("interrupted", INTERRUPTED) from None
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            closed = isinstance(error, OSError) and error.errno == errno.EPIPE
            if closed or os.environ.get("GEMMLAB_DEBUG", "0") not in ("", "0"):
                raise  # click ends quietly if nobody reads on
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ended(
                f"{what}. This is a mistake in gemmlab; GEMMLAB_DEBUG=1 shows where it happened",
                MISTAKE,
            ) from None


def ended(message: str, status: int) -> click.ClickException:
    """What click shows as a message, and exits with a status of its own."""
    error = click.ClickException(message)
    error.exit_code = status  # type: ignore[misc]  # click's class has one for all
    return error


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def print_json(data: object) -> None:
    """As all commands print it."""
    click.echo(json.dumps(data, indent=1))
