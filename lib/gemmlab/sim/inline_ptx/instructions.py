"""Which call each instruction becomes: one rule a group of mnemonics, by families."""

from __future__ import annotations

import re

from .asynchronous import RULES as ASYNCHRONOUS
from .matrices import RULES as MATRICES
from .memory import RULES as MEMORY
from .numbers import RULES as NUMBERS
from .operands import Operands
from .rules import plain
from .statement import NotTranslatedError

_RULES = [
    (re.compile(pattern), rule)
    for family in (MATRICES, ASYNCHRONOUS, MEMORY, NUMBERS)
    for pattern, rule in family.items()
]


def call_of(mnemonic: str, operands: Operands) -> str:
    """The C++ of an instruction. Raises NotTranslatedError if it is not known."""
    name, has_policy = plain(mnemonic)
    if has_policy and operands.texts:
        operands.texts.pop()
    for pattern, rule in _RULES:
        if found := pattern.fullmatch(name):
            try:
                return rule(found, operands)
            except NotTranslatedError as error:
                raise NotTranslatedError(f"{mnemonic}, {error}") from None
    raise NotTranslatedError(mnemonic)
