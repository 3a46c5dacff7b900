"""Runs what a check has planned, and keeps what came out: cases, findings, what was left out."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .. import sim
from ..core import progress
from ..core.errors import ContextLostError, LaunchError, RefusedError, SlowRunError
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..sim.apart import PROCESS
from ..sim.findings import Finding
from ..sim.module import SMS, SimModule
from ..sim.unset import unset_variable
from .compare import Problem, describe, problem
from .coverage import Done
from .fragments import fragments_in
from .k_tiles import k_tiles_in
from .plan import Run
from .report import Case

# Of this machine's processors together, for all runs of a check; a default check takes a fraction.
BUDGET_SECONDS = 150.0
STOPPED = "it does not run to its end"
# Without any k, pipelines still load their first fragment, of a tile that was never copied, and do
# not use it; if one did, the values would tell.
_UNINITIALISED = "uninitialised-read"


class Runner:
    """One check under way.

    Ends early, with what was found, after a run that does not come to its end, and after
    BUDGET_SECONDS. A shape whose simulation would take minutes is left out. modules: what the
    simulator runs in each precision and layout, as far as another check of the same kernel has
    compiled it. stopped: a run did not come to its end.
    """

    def __init__(
        self,
        handle: Kernel,
        device: str,
        backend: str,
        allow_slow: bool,
        modules: dict[tuple[str, str], SimModule] | None = None,
    ) -> None:
        self._handle, self._device, self._backend = handle, device, backend
        self._allow_slow = allow_slow
        self._modules = {} if modules is None else modules
        self._cases: list[Case] = []
        self._refused: dict[str, Case] = {}  # by configuration: the last refusal
        self._findings: dict[tuple, Finding] = {}
        self._without_k: dict[tuple, Finding] = {}
        self._bits: dict[Run, bytes] = {}
        self._slow: dict[tuple, str] = {}
        self.stopped = False
        self._printed = self._unset_looked_for = False
        self.done: list[Done] = []
        self.left_out: list[str] = []

    def run(self, runs: Sequence[Run]) -> None:
        """Run all, one after the other."""
        if self._backend == "sim":
            self._compile({(run.precision, run.layout) for run in runs})
        end = _processor_seconds() + BUDGET_SECONDS
        for i, run in enumerate(progress.bar(runs, f"checking {self._handle.title}")):
            if self.stopped:
                break
            if _processor_seconds() > end and not self._allow_slow:
                rest = len(runs) - i
                self.left_out.append(f"not covered: {rest} of {len(runs)} runs, for lack of time")
                break
            if run.shape not in self._slow:
                self._one(run)
        self.left_out += [f"not covered: {why}" for why in self._slow.values()]

    @property
    def cases(self) -> tuple[Case, ...]:
        """What came out, and of a configuration that refused all shapes one refusal."""
        ran = {case.config for case in self._cases}
        none = (case for config, case in self._refused.items() if config not in ran)
        return (*self._cases, *none)

    @property
    def refused(self) -> tuple[str, ...]:
        """The configurations that refused a shape, as they may."""
        return tuple(self._refused)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Each once, however many runs have it."""
        return tuple(self._findings.values())

    @property
    def findings_without_k(self) -> tuple[Finding, ...]:
        """Those of runs with K = 0 that no other run has."""
        return tuple(self._without_k.values())

    def _compile(self, builds: Iterable[tuple[str, str]]) -> None:
        """Once: looking whether a library is still that of its sources takes as long as a run."""
        with progress.busy(f"compiling {self._handle.title}"):
            for one in sorted(builds):
                if one not in self._modules:
                    self._modules[one] = sim.compile_step(self._handle, *one)

    def _one(self, run: Run) -> None:
        given = problem(run, self._device)
        try:
            self._cases.append(self._outcome(run, given))
        except SlowRunError as slow:
            self._slow[run.shape] = str(slow)
        except ContextLostError:
            raise
        except LaunchError as stopped:
            case = _case(run, math.inf, str(stopped))
            if isinstance(stopped, RefusedError) and run.config != self._handle.config:
                self._refused[run.config] = case
            else:
                self._cases.append(case)

    def _outcome(self, run: Run, given: Problem) -> Case:
        """Launch, and look at the result."""
        if not self._launched(run, given):
            self.stopped = True
            return _case(run, math.inf, STOPPED)
        error = given.error()
        largest = float(error.max()) if error.numel() else 0.0
        said = describe(self._handle.spec, given, error, run.config)
        if said and self._backend == "sim":
            self._look_for_unset(run, given)
        if largest > 1:
            said += self._why(run, given)
        return _case(run, largest, said or self._other_bits(run, given))

    def _why(self, run: Run, given: Problem) -> str:
        """What the values of a wrong C say of their cause, behind a description."""
        alpha, depth = run.factors[0], self._handle.spec.tile_of(run.config)[2]
        why = k_tiles_in(given, alpha, depth) or fragments_in(given, alpha)
        return f"; {why}" if why else ""

    def _look_for_unset(self, run: Run, given: Problem) -> None:
        """Once in a check: is C wrong because a variable was used before it had a value?"""
        if self._unset_looked_for:
            return
        self._unset_looked_for = True
        handle = handle_of(self._handle, run.config)

        def again(module: SimModule) -> bytes:
            fresh = problem(run, self._device)
            matrices = (fresh.A.matrix, fresh.B.matrix, fresh.C.matrix)
            machine = {"sms": run.sms or SMS, "order": run.order}
            handle.traced(
                matrices, run.factors, module=module, **machine, allow_slow=self._allow_slow
            )
            return _bits(fresh)

        found = unset_variable(handle, _bits(given), again, run.precision, run.layout)
        if found:
            self._findings[found.kind, found.file, found.line] = found

    def _launched(self, run: Run, given: Problem) -> bool:
        """Whether the launch came to its end; what was found on the way is kept."""
        handle = handle_of(self._handle, run.config)
        A, B, C = (one.matrix for one in (given.A, given.B, given.C))
        if self._backend == "gpu":
            handle(A, B, *run.factors, out=C)
            self.done.append(Done(run))
            return True
        trace = handle.traced(
            (A, B, C),
            run.factors,
            module=self._modules[run.precision, run.layout],
            sms=run.sms or SMS,
            order=run.order,
            allow_slow=self._allow_slow,
        )
        if trace.output and not self._printed:
            print(trace.output, end="")
            print("(what the other runs of this check print is left out)")
            self._printed = True
        for found in trace.findings:
            if found.kind == _UNINITIALISED and run.shape[2] == 0:
                continue
            place = (found.kind, found.file, found.line, found.other_file, found.other_line)
            if place not in self._findings:
                (self._findings if run.shape[2] else self._without_k).setdefault(place, found)
        if any(found.fatal for found in trace.findings):
            return False
        self.done.append(Done.of(run, trace.launches))
        return True

    def _other_bits(self, run: Run, given: Problem) -> str:
        """Compares with the same run whose blocks came in order, bit for bit."""
        if not self._handle.spec.deterministic or self._backend == "gpu":
            return ""
        bits = _bits(given)
        usual = replace(run, order=0)
        if self._bits.setdefault(usual, bits) == bits:
            return ""
        return "C has other bits where blocks come in another order"


def _bits(given: Problem) -> bytes:
    """C, bit for bit."""
    import torch

    return given.C.matrix.contiguous().view(torch.uint8).numpy().tobytes()


def _processor_seconds() -> float:
    """What this process has used, and the one in which readers' kernels run."""
    return time.process_time() + PROCESS.processor_seconds


def _case(run: Run, error: float, said: str) -> Case:
    return Case(
        *run.shape,
        *run.factors,
        error,
        said,
        config=run.config,
        precision=run.precision,
        offsets=run.offsets,
        sms=run.sms,
        order=run.order,
        layout=run.layout,
    )
