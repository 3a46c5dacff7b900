"""What gemmlab raises: messages name the argument, what was given, and what to do."""

from __future__ import annotations


class GemmlabError(Exception):
    """Base of every error that gemmlab raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message, which says what to do, and not how we got there."""
        return [f"{type(self).__name__}: {self}"]


class ArgumentError(GemmlabError, ValueError):
    """An argument has the wrong device, dtype, rank, layout, shape or range."""


class UnknownKernelError(GemmlabError, LookupError):
    """No kernel of that name is registered."""


class BackendError(GemmlabError, RuntimeError):
    """The backend that was chosen cannot work here (no GPU, GPU too old, no nvcc, no g++)."""


class BuildError(GemmlabError, RuntimeError):
    """A kernel did not compile; the message carries the compiler's own."""


class LaunchError(GemmlabError, RuntimeError):
    """A kernel compiled but its launch or its run failed."""


class RefusedError(LaunchError):
    """A launch was refused before anything ran: by the step, or because this GPU has too little."""

    # cudaErrorInvalidValue, cudaErrorInvalidConfiguration, cudaErrorLaunchOutOfResources. Other
    # codes may be those of an earlier launch.
    CODES = (1, 9, 701)


class WrongResultError(LaunchError):
    """A kernel ran to its end, and its result is wrong."""


class TrialError(LaunchError):
    """A reader's kernel failed in a process of its own; it was not launched in this one."""


class ContextLostError(LaunchError):
    """A kernel failed so that this process cannot use the GPU any more."""


class SlowRunError(LaunchError):
    """A run on the simulator would take minutes, and was not allowed to."""


class MeasurementError(GemmlabError, RuntimeError):
    """A recorded measurement is missing, corrupt or of another schema."""


class WriteError(GemmlabError, OSError):
    """A file could not be written; what was there before is unchanged."""
