"""Traces the open plan's training step in its own trainer: a minute of work for a forecast that is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import TaskHandle, Tasks

if TYPE_CHECKING:
    from gui.engine.hardware.memory.tables import TracedStep
    from gui.engine.trainer.installs import TrainerInstall

KEY = "exact-forecast"


class ExactForecast(QObject):
    """Runs one trace at a time, and lets the checks forecast by what comes of it.

    Args:
        checks: Know the plan and its trainer, and take what was traced.
        tasks: Where it is done.
    """

    changed = Signal()
    """It began, ended or failed."""
    progressed = Signal(str, int, int)
    """What is done, how much of it, and of how much; 0 where nobody knows."""

    def __init__(self, checks: Checks, tasks: Tasks) -> None:
        super().__init__()
        self._checks = checks
        self._tasks = tasks
        self._problem: PreflightError | None = None
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether a trace is being made."""
        return self._busy

    @property
    def possible(self) -> bool:
        """Whether the plan can be traced, and was not yet."""
        checked = self._checks.checked
        return checked is not None and checked.exact is not None and not checked.is_exact

    @property
    def problem(self) -> PreflightError | None:
        """Why the last trace came to nothing."""
        return self._problem

    def start(self) -> None:
        """Trace the plan as it was last checked."""
        checked = self._checks.checked
        if self._busy or checked is None or checked.exact is None or checked.trainer is None:
            return
        question, install, cache = checked.exact, checked.trainer.install, self._checks.home.cache
        words = _("Playing a training step through without a GPU …")

        def work(handle: TaskHandle) -> tuple[TrainerInstall, TracedStep]:
            from gui.engine.hardware.memory.tracing import Tracer  # seldom wanted
            from gui.engine.preflight.exact_forecast import trace_exactly

            def tell(operations: int) -> None:
                total = question.operations
                handle.progress(words, min(operations, total), total)

            tracer = Tracer(install, cache, progress=tell, cancelled=handle.is_cancelled)
            return install, trace_exactly(question, tracer)

        self._busy, self._problem = True, None
        self._tasks.run(work, self._done, self._failed, key=KEY, progress=self.progressed.emit)
        self.changed.emit()
        self.progressed.emit(_("Starting the trainer’s Python …"), 0, 0)

    def cancel(self) -> None:
        """End the trace; what was forecast before stays."""
        self._tasks.cancel(KEY)
        self._busy = False
        self.changed.emit()

    def forget_problem(self) -> None:
        """Say no more why the last trace came to nothing: another plan is looked at."""
        if self._problem is not None:
            self._problem = None
            self.changed.emit()

    def _done(self, found: tuple[TrainerInstall, TracedStep]) -> None:
        self._busy = False
        self._checks.use_traced(*found)
        self.changed.emit()

    def _failed(self, error: PreflightError) -> None:
        self._busy, self._problem = False, error
        self.changed.emit()
