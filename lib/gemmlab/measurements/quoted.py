"""Recorded numbers in prose: a key names one number of a recording, and how it is written.

A chapter's text holds `<span data-figure="sgemm_06 4096 tflops">29.1</span>`. The key is a subject,
a size and what is meant of it, then options:

- subject: a step ("sgemm_06"), a baseline ("cublas", with family=), a row of an experiment or of a
  probe in single quotes ("'04, one block an SM'"), or "probes";
- size: "4096", "64x8192x8192", or "-" where a row has none;
- what: tflops, ratio, percent, time_us, time_ms, ...: of a timed row; a column of another section,
  such as l1_data or registers; speedup:<other>, gain:<other>, loss:<other>, saved_us:<other>;
- gpu=H100: of that GPU's recording, which the sentence then names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..core.arguments import text
from ..core.errors import ArgumentError
from ..display.numbers import show_rate
from ..steps import registry
from ..steps.spec import FAMILIES
from .columns import Columns, Found
from .metrics import LIMITS
from .provenance import origin
from .store import load

# The chapters speak of this GPU, whatever else has been recorded beside it since.
GPU = "H200"
OPTIONS = (
    "precision",
    "mode",
    "section",
    "layout",
    "config",
    "family",
    "load",
    "over",
    "minus",
    "scale",
    "digits",
    "gpu",
)
SPAN = re.compile(r'<span data-figure="([^"]*)">([^<]*)</span>')
_STEP = re.compile(rf"(?:{'|'.join(FAMILIES)})_\d")
_RELATIVE = ("speedup", "gain", "loss", "saved_us")
_RATES = ("tflops", "_tbs", "_us", "_ms")
_DIGITS = {"ratio": 2, "speedup": 2, "clock_ghz": 2, "pj_per_flop": 2}
_SHARES = {name for name in LIMITS if not name.startswith("stall_")} | {"tensor_pipe"}
_WHOLE = {"percent", "gain", "loss", "power_w", "share", "tensor_cycles"} | _SHARES
Runs = Mapping[str, Columns]


@dataclass(frozen=True)
class Key:
    """A key in its parts. options: the text behind each `name=`."""

    subject: str
    size: str
    what: str
    options: dict[str, str]
    text: str

    def refuse(self, why: str) -> ArgumentError:
        """The error that says what is wrong with this key."""
        return ArgumentError(f"key {self.text!r}: {why}")


@dataclass(frozen=True)
class Quoted:
    """A number as prose shows it. value: unrounded. origin: GPU, date and commit, in words."""

    text: str
    value: float
    origin: str


@cache
def recordings(gpu: str = GPU) -> Runs:
    """The recording of each family of steps on a GPU: where a key is looked up.

    gpu: its name, or a part of it. Raises MeasurementError if a family has none.
    """
    return {family: Columns(load(family=family, gpu=gpu)) for family in FAMILIES}


def number(key: str) -> float:
    """The number that a key names, rounded as prose shows it: for the answer of `lab.predict`.

    key: such as "sgemm_06 4096 tflops". Raises ArgumentError for a key that names nothing, and
    says what there is.
    """
    return float(quoted(key).text.replace(",", ""))


def quoted(key: str, runs: Runs | None = None) -> Quoted:
    """The number that a key names.

    key: such as "sgemm_06 4096 tflops". runs: where to look it up; None: the recordings of the
    GPU that the key names, or else of the one that the chapters speak of. Raises ArgumentError for
    a key that names nothing.
    """
    parsed = parse(key)
    if runs is None:
        runs = recordings(parsed.options.get("gpu", GPU))
    found = _found(parsed, runs)
    scale = _real(parsed, "scale", 1.0)
    value = found.value * scale
    return Quoted(_shown(parsed, value, scale), value, origin(_short(found.environment)))


def rewritten(markdown: str, runs: Runs | None = None) -> str:
    """Markdown with the number that the recording has in each of its spans.

    markdown: of a cell. runs: as for `quoted`. Raises ArgumentError, naming the key, for a span
    whose key names nothing.
    """
    return SPAN.sub(
        lambda span: f'<span data-figure="{span[1]}">{quoted(span[1], runs).text}</span>', markdown
    )


def parse(key: str) -> Key:
    """A key in its parts. Raises ArgumentError for one that is not made as the module says."""
    text("key", key)
    try:
        words = shlex.split(key)
    except ValueError as error:
        raise ArgumentError(f"key {key!r}: {error}; quote a name with '...'") from None
    parts = [word for word in words if not re.match(r"\w+=", word)]
    options = dict(word.split("=", 1) for word in words if word not in parts)
    if len(parts) != 3:
        raise ArgumentError(
            f"key {key!r}: has {len(parts)} parts, expected a subject, a size and what is meant "
            "of it, as in 'sgemm_06 4096 tflops'"
        )
    subject, size, what = parts
    parsed = Key(subject, size, what, options, key)
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise parsed.refuse(f"{unknown[0]}= is no option; there is {', '.join(OPTIONS)}")
    return parsed


def _found(key: Key, runs: Runs) -> Found:
    word, _, other = key.what.partition(":")
    if word in _RELATIVE:
        if not other:
            raise key.refuse(f"{word} needs another row, as in {word}:sgemm_05")
        return _compared(key, word, other, runs)
    found = _look_up(key, key.subject, key.what, runs)
    for option, combine in _COMBINED.items():
        if option in key.options:
            beside = _look_up(key, key.options[option], key.what, runs, found)
            found = Found(combine(found.value, beside.value), found.environment, found.family)
    return found


_COMBINED: dict[str, Callable[[float, float], float]] = {
    "over": lambda value, other: value / other,
    "minus": lambda value, other: value - other,
}


def _compared(key: Key, word: str, other: str, runs: Runs) -> Found:
    """How much faster or slower than another row of the same recording."""
    time = _look_up(key, key.subject, "time_us", runs)
    if other == "cublas":  # interleaved with it, which two medians are not
        ratio = _look_up(key, key.subject, "ratio", runs).value
        beside = time.value * ratio
    else:
        beside = _look_up(key, other, "time_us", runs, time).value
        ratio = beside / time.value
    change = {
        "speedup": ratio,
        "gain": 100 * (ratio - 1),
        "loss": 100 * (1 - ratio),
        "saved_us": beside - time.value,
    }[word]
    if change < 0:
        raise key.refuse(
            f"is negative ({change:.2f}), so the sentence around it would say the opposite of what "
            "was recorded; write the sentence anew"
        )
    return Found(change, time.environment, time.family)


def _look_up(key: Key, subject: str, what: str, runs: Runs, beside: Found | None = None) -> Found:
    """One number of one row. beside: another row, in whose recording this one has to be."""
    name = _full_name(key, subject)
    family = key.options.get("family") or (beside.family if beside else _family(name))
    if family is not None and family not in runs:
        raise key.refuse(f"there is no recording of {family!r}, only of {', '.join(runs)}")
    families = [family] if family else list(runs)
    tried = [runs[one].find(name, key.size, what, key.options) for one in families]
    found = [one for one in tried if one]
    if len(found) == 1:
        return found[0]
    if found:
        raise key.refuse(f"{name} is in several recordings; add family={found[0].family} or other")
    raise key.refuse(_nothing(name, key, what, [runs[one] for one in families]))


def _nothing(name: str, key: Key, what: str, columns: list[Columns]) -> str:
    """Why there is no such number, and what there is instead."""
    where = " and ".join(f"the recording of {one.run.family}" for one in columns)
    has = dict.fromkeys(w for one in columns for w in one.columns(name, key.size, key.options))
    if has:
        return f"{where} has no {what} of {name} at size {key.size}; there is {', '.join(has)}"
    sizes = dict.fromkeys(size for one in columns for size in one.sizes(name))
    at = f"; there is {name} at {', '.join(sizes)}" if sizes else ""
    asked = " ".join(f"{k}={v}" for k, v in key.options.items() if k in OPTIONS[:7])
    return f"{where} has no row {name} at size {key.size} {asked}".rstrip() + at


def _full_name(key: Key, subject: str) -> str:
    """The step that a short name means: "sgemm_03" is not "sgemm_03b"."""
    if not _STEP.match(subject):
        return subject
    base, bracket, config = subject.partition(" [")
    known = [one for one in registry.names() if one == base or one.startswith(f"{base}_")]
    if len(known) != 1:
        raise key.refuse(f"{subject} is no step; see `python -m gemmlab list`")
    return known[0] + bracket + config


def _family(name: str) -> str | None:
    """The family of a step; None for what may be in any recording."""
    base = name.partition(" [")[0]
    return registry.get(base).family if base in registry.names() else None


def _shown(key: Key, value: float, scale: float) -> str:
    word = key.what.partition(":")[0]
    if "digits" in key.options:
        digits = int(_real(key, "digits", 0))
    elif "over" in key.options:
        digits = 2
    elif scale == 1 and (word in _WHOLE or word.endswith("_mhz")):
        digits = 0
    elif word in _DIGITS:
        digits = _DIGITS[word]
    elif value.is_integer() and not word.endswith(_RATES):
        digits = 0
    else:
        digits = len(show_rate(value).partition(".")[2])
    shown = f"{round(value, digits):,.{max(digits, 0)}f}"
    if value and not float(shown.replace(",", "")):
        raise key.refuse(f"is {value:.2g}, which {digits} digits round to zero; add digits=")
    return shown.replace(",", "") if word.endswith("_mhz") else shown


def _real(key: Key, option: str, default: float) -> float:
    given = key.options.get(option)
    try:
        return default if given is None else float(given)
    except ValueError:
        raise key.refuse(f"{option}={given} is no number") from None


def _short(environment: dict[str, Any]) -> dict[str, Any]:
    """What a reader wants to know on the spot: GPU, date and commit."""
    return {name: environment.get(name) for name in ("gpu", "date", "commit")}
