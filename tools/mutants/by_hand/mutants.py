"""The mutants made by hand, as they stand in the .toml files, and the kernels they become.

id: family/what-is-wrong. step: whose text is changed, or, with `file` (below kernels/), which step
runs the changed header. kind: what several have in common. shows: what a reader of the results
would see. old, new: the text and what stands there instead; `old` occurs once. witness: an input at
which it goes wrong, for one that `lab.check` may not come upon (witness.py says what is in it).
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from gemmlab.core.cache import DIGITS, Store
from gemmlab.core.files import write_whole
from gemmlab.core.paths import kernels_folder
from gemmlab.run.kernel import Kernel, kernel
from gemmlab.steps import registry
from gemmlab.steps.text import included_files

HERE = Path(__file__).resolve().parent
KERNELS = Store("by_hand")


@dataclass(frozen=True)
class HandMade:
    """One mistake in one step. The fields are described above; `file` is never empty here."""

    id: str
    step: str
    kind: str
    shows: str
    old: str
    new: str
    file: str
    witness: dict = field(default_factory=dict)

    @property
    def before(self) -> str:
        """The text of the file without the mistake."""
        return (kernels_folder() / self.file).read_text()

    @property
    def after(self) -> str:
        """The text with it. Raises ValueError unless `old` occurs in it exactly once."""
        count = self.before.count(self.old)
        if count != 1:
            raise ValueError(f"{self.id}: `old` occurs {count} times in kernels/{self.file}")
        return self.before.replace(self.old, self.new)

    def files(self) -> dict[str, str]:
        """Every file of the step that is changed or may include what is: place -> text.

        Those in kernels/ptx are the compiler's business, which looks for them in its own folders.
        """
        root = kernels_folder()
        included = included_files(registry.get(self.step).path)
        texts = {
            file.relative_to(root).as_posix(): file.read_text()
            for file in included
            if file.is_relative_to(root) and not file.is_relative_to(root / "ptx")
        }
        if self.file not in texts:
            raise ValueError(f"{self.id}: {self.step} does not include kernels/{self.file}")
        return texts | {self.file: self.after}

    def kernel(self) -> Kernel:
        """The step with the mistake in it; its files are kept in the cache."""
        files = self.files()
        digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:DIGITS]
        folder = KERNELS.folder(f"{self.step}-{digest}") / "kernels"
        for place, text in files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / place, text)
        step = kernel(self.step)
        path = folder / step.spec.file
        return replace(step, source=replace(step.source, path=path, label=self.id))


def mutants(folder: Path = HERE) -> list[HandMade]:
    """All of them, in the order in which they stand."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutant"]:
            entry.setdefault("file", registry.get(entry["step"]).file)
            found.append(HandMade(**entry))
    return found
