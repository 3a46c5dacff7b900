"""Which kernel is compiled for the simulator, and how: what names it in another process, too."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from . import build


@dataclass(frozen=True)
class SimSource:
    """A kernel file and its launcher.

    name: as it is shown. launch: the function that launches it. portable, workspace: as those of
    `compile_source`.
    """

    name: str
    path: Path
    launch: str
    portable: bool = False
    workspace: bool = False

    def kernel(self) -> build.KernelLibrary:
        """Its library, compiled if it is not in the cache."""
        return build.kernel(self.path, self.launch, self.portable, self.workspace)

    def runtime(self) -> Path:
        """The simulator's library, on which it runs."""
        return build.runtime(self.portable)

    def plain(self) -> dict:
        """As plain data, for JSON."""
        return {**asdict(self), "path": str(self.path)}

    @classmethod
    def from_plain(cls, data: dict) -> SimSource:
        """What `plain` gave."""
        return cls(**{**data, "path": Path(data["path"])})
