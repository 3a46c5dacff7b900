"""Keep what the simulator says of each mistake in a ring of TMA stages: MbarrierTimeline quotes it.

    python -m tools.ring_findings [--check]

runs kernels/probes/ring.cuh with each mistake of gemmlab.experiments.ring, and writes findings.json
beside the widget; --check writes nothing, and fails if the file is old. Half a minute.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from gemmlab.core.files import write_whole
from gemmlab.core.paths import kernels_folder
from gemmlab.experiments.ring import CONSUMERS, PROBE, RING_MISTAKES, STAGES, TILES, ring_findings
from gemmlab.layouts.mbarrier.model import MODES, Ring, mistakes
from gemmlab.widgets import mbarrier_timeline

from . import command

RECORD = Path(mbarrier_timeline.__file__).with_name("findings.json")


def changed_lines(mode: str, mistake: str) -> list[list]:
    """The lines of the mode's kernel that a mistake changes: number, before, after."""
    before = _text().splitlines()
    after = _text(mistake).splitlines()
    kernels = [i for i, line in enumerate(before) if line.startswith("__global__")]
    first, last = (kernels[0], kernels[1]) if mode == "producer warp" else (kernels[1], len(before))
    return [
        [i + 1, _code(old), _code(new)]
        for i, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new and (i < kernels[0] or first <= i < last)
    ]


def _text(mistake: str = "none") -> str:
    """The probe's text, with a mistake in it."""
    text = (kernels_folder() / PROBE).read_text(encoding="utf-8")
    for old, new in RING_MISTAKES.get(mistake, {}).items():
        text = text.replace(old, new)
    return text


def record() -> dict:
    """What findings.json holds: each mistake's changed lines, and its sentences.

    quotes: by mode, mistake, consumers and stages the numbers of `texts`; of a text the message and
    the lines that it names.
    """
    texts: list[dict] = []
    data: dict = {"tiles": TILES, "changes": {}, "quotes": {}, "texts": texts}
    for mode in MODES:
        known = [mistake for mistake in mistakes(mode, max(CONSUMERS)) if mistake != "none"]
        data["changes"][mode] = {m: changed_lines(mode, m) for m in known}
        data["quotes"][mode] = {m: _quotes(mode, m, texts) for m in known}
    return data


def _quotes(mode: str, mistake: str, texts: list[dict]) -> dict[str, dict[str, list[int]]]:
    """By consumers and stages the numbers of the sentences; new ones are added to `texts`."""
    lines = _text(mistake).splitlines()
    found: dict[str, dict[str, list[int]]] = {}
    for consumers in CONSUMERS:
        if mistake not in mistakes(mode, consumers):
            continue
        found[str(consumers)] = {}
        for stages in STAGES:
            said = [
                _entry(f.message, lines)
                for f in ring_findings(Ring(mode, mistake, TILES, stages, consumers))
            ]
            texts += [entry for entry in said if entry not in texts]
            found[str(consumers)][str(stages)] = [texts.index(entry) for entry in said]
    return found


def _entry(message: str, lines: list[str]) -> dict:
    numbers = sorted({int(n) for n in re.findall(r"\b[Ll]ine (\d+)", message)})
    return {"message": message, "lines": [[n, _code(lines[n - 1])] for n in numbers]}


def _code(line: str) -> str:
    """A line without its comment."""
    return line.partition("//")[0].strip()


def written(data: dict) -> str:
    """The text of findings.json: a line for each mistake of a mode, and for each sentence."""
    by_mode = {
        part: _object({mode: _object(_dumped(rows)) for mode, rows in data[part].items()})
        for part in ("changes", "quotes")
    }
    texts = ",\n".join(map(json.dumps, data["texts"]))
    return _object({"tiles": data["tiles"], **by_mode, "texts": f"[\n{texts}\n]"}) + "\n"


def _dumped(rows: dict) -> dict[str, str]:
    return {key: json.dumps(row) for key, row in rows.items()}


def _object(parts: dict[str, str]) -> str:
    """A JSON object with a line for each key, of values that are JSON already."""
    rows = ",\n".join(f"{json.dumps(key)}: {text}" for key, text in parts.items())
    return f"{{\n{rows}\n}}"


def main() -> int:
    """The command line."""
    parser = command.parser("ring_findings", __doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    text = written(record())
    if RECORD.exists() and RECORD.read_text(encoding="utf-8") == text:
        print(f"{RECORD.name}: as it was")
        return 0
    if not check:
        write_whole(RECORD, text)
    print(f"{RECORD.name}: {'old' if check else 'written'}")
    return 1 if check else 0


if __name__ == "__main__":
    command.run(main)
