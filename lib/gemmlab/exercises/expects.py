"""What a chapter's judge expects of an answer, and a sentence for every answer of another kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast

from ..core.arguments import brief, choice
from ..core.errors import ArgumentError
from .answers import WrongAnswerError, real, truth, whole, words
from .verdict import Verdict

Judge = TypeVar("Judge", bound=Callable[..., Verdict])


class Kind(NamedTuple):
    """How a value is read, and what a reader is told of one and of several."""

    read: Callable[[object], Any]
    one: str
    several: str


_KINDS = {
    "integer": Kind(whole, "an integer", "{} integers"),
    "number": Kind(real, "a number", "{} numbers"),
    "truth": Kind(truth, "True or False", "{} values, each True or False"),
    "text": Kind(words, "a string", "{} strings"),
}
_COUNTS = ("no", "one", "two", "three", "four", "five", "six")


def expects(names: str, kind: str = "integer", *, listed: bool = False) -> Callable[[Judge], Judge]:
    """A decorator for a judge that a chapter defines: it gets plain values of that kind only.

    Any other answer, such as an object that is equal to everything, gets a verdict that says what
    is expected, and so does a value that the library refuses.

    names: what the reader's function returns, "row, column" for a tuple of two values. kind:
    "integer", "number", "truth" or "text". listed: the answer is no function, but a list of such
    tuples. Raises ArgumentError for an unknown kind.
    """
    choice("kind", kind, tuple(_KINDS))
    expected = _Expected(tuple(names.split(", ")), _KINDS[kind])

    def decorate(judge: Judge) -> Judge:
        @wraps(judge)
        def strict(answer: Any, *args: Any, **options: Any) -> Verdict:
            try:
                plain = expected.every(answer) if listed else expected.function(answer)
                return judge(plain, *args, **options)
            except (WrongAnswerError, ArgumentError) as wrong:
                return Verdict(False, f"{str(wrong).rstrip('.')}.")

        return cast(Judge, strict)

    return decorate


class _Expected(NamedTuple):
    """What one answer consists of: several values make a tuple, one stands alone."""

    names: tuple[str, ...]
    kind: Kind

    def __str__(self) -> str:
        """ "(row, column), two integers"."""
        count = len(self.names)
        if count == 1:
            return f"{self.names[0]}, {self.kind.one}"
        return f"({', '.join(self.names)}), {self.kind.several.format(_COUNTS[count])}"

    def function(self, answer: Any) -> Callable[..., Any]:
        """The reader's function, whose results are read."""
        if not callable(answer):
            raise WrongAnswerError(f"the answer must be a function; got {brief(answer)}")

        def called(*args: Any) -> Any:
            try:
                result = answer(*args)
            except ArithmeticError as error:
                raise WrongAnswerError(f"for {brief(args)}: {error}") from None
            return self.read(result, "the function must return")

        return called

    def every(self, answer: Any) -> list[Any]:
        """The entries of the reader's list."""
        if not isinstance(answer, (list, tuple)):
            raise WrongAnswerError(f"the answer must be a list; got {brief(answer)}")
        return [self.read(one, "each entry of the list must be") for one in list(answer)]

    def read(self, given: Any, must: str) -> Any:
        """The answer in Python's own values."""
        alone = len(self.names) == 1
        try:
            # One more than there may be, and not all of a sequence without an end.
            entries = [given] if alone else list(islice(given, len(self.names) + 1))
            values = tuple(map(self.kind.read, entries))
        except (TypeError, ValueError, ArithmeticError):
            values = ()
        if len(values) != len(self.names):
            raise WrongAnswerError(f"{must} {self}; got {brief(given)}")
        return values[0] if alone else values
