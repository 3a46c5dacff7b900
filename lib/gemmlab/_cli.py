"""What the command line is made of: how errors are shown, and how sizes are read."""

from __future__ import annotations

import click

from .errors import GemmlabError


class Group(click.Group):
    """Commands whose expected errors are one message and exit code 1, without a traceback."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except GemmlabError as error:
            raise click.ClickException(str(error)) from None


class Sizes(click.ParamType):
    """ "1024,4096" or "1024x512x256" (MxNxK), or both."""

    name = "sizes"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        sizes: list[int | tuple[int, ...]] = []
        for part in value.split(","):
            numbers = part.strip().lower().split("x")
            if len(numbers) not in (1, 3) or not all(n.isdecimal() for n in numbers):
                self.fail(f"{part!r} is neither a number such as 4096 nor MxNxK", param, ctx)
            sizes.append(int(part) if len(numbers) == 1 else tuple(map(int, numbers)))
        return sizes
