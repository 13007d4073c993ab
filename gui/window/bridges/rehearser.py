"""Rehearses the plan that is open: a few steps of its real trainer, in a folder of their own."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple, cast

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import Cancelled, PreflightError, TrainerNotFound
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.tasks import TaskHandle, Tasks

if TYPE_CHECKING:
    from gui.engine.runs.rehearsal_result import RehearsalKind, RehearsalResult
    from gui.engine.trainer.events import PhaseName
    from gui.window.bridges.trainers import Trainers
    from gui.window.models.plan_document import PlanDocument

KEY = "rehearsal"

WAIT_SECONDS = 0.2


class _Wanted(NamedTuple):
    """What is to be rehearsed, and what for."""

    file: PlanFile
    kind: RehearsalKind


class Rehearser(QObject):
    """Makes one rehearsal at a time, off the GUI thread; what it has shown stays until the next.

    Args:
        document: The open plan.
        trainers: The trainer that is used.
        tasks: Where it is done.
        home: Where rehearsals are kept.
        store: Where tokens are kept.
    """

    changed = Signal()
    """It began, ended or failed, or what it has shown is of an older plan now."""
    progressed = Signal(str, int, int)
    """What is done, steps done, and how many there are to be; 0 where that is not known."""

    def __init__(
        self, document: PlanDocument, trainers: Trainers, tasks: Tasks, home: Home, store: TokenStore
    ) -> None:
        super().__init__()
        self._document = document
        self._trainers = trainers
        self._tasks = tasks
        self._home = home
        self._store = store
        self._plan_trainers = PlanTrainers(home)
        self._plan: TrainingPlan | None = None
        self._alone = threading.Lock()
        self.busy = False
        self.kind: RehearsalKind = "rehearsal"
        self.result: RehearsalResult | None = None
        self.problem: PreflightError | None = None
        document.changed.connect(lambda _targets: self.changed.emit())
        document.opened.connect(self.forget)

    @property
    def is_older(self) -> bool:
        """Whether the plan was changed since."""
        return self._plan is not None and self._plan != self._document.plan

    def start(self, kind: RehearsalKind) -> None:
        """Rehearse the plan as it is now; nothing happens while a rehearsal is on its way.

        Args:
            kind: What for: the whole plan, or one or two images.
        """
        if self.busy:
            return
        file, trainer, trouble = self._document.as_file(), self._trainers.current, self._trainers.problem
        self.busy, self.result, self.problem, self._plan = True, None, None, file.plan
        self.kind = kind
        self._tasks.run(
            lambda handle: self._rehearse(_Wanted(file, kind), trainer, trouble, handle),
            self._done,
            self._failed,
            key=KEY,
            progress=self.progressed.emit,
        )
        self.changed.emit()
        self.progressed.emit(_("Copying a few images …"), 0, 0)

    def cancel(self) -> None:
        """End it; it leaves nothing but its record."""
        self._tasks.cancel(KEY)
        self.forget()

    def forget(self) -> None:
        """Show nothing of it any more."""
        self._tasks.cancel(KEY)
        self.busy, self.result, self.problem, self._plan = False, None, None, None
        self.changed.emit()

    def _rehearse(
        self, wanted: _Wanted, current: Trainer | None, trouble: PreflightError | None, handle: TaskHandle
    ) -> RehearsalResult:
        """Rehearse when the one before, which may have been called off just now, has left the GPU."""
        while not self._alone.acquire(timeout=WAIT_SECONDS):
            if handle.cancelled:
                raise Cancelled
            handle.progress(_("The rehearsal before is ending …"), 0, 0)
        try:
            return self._rehearse_alone(wanted, current, trouble, handle)
        finally:
            self._alone.release()

    def _rehearse_alone(
        self, wanted: _Wanted, current: Trainer | None, trouble: PreflightError | None, handle: TaskHandle
    ) -> RehearsalResult:
        from gui.engine.preflight.checking import checker_for
        from gui.engine.runs.neighbours import living_runs
        from gui.engine.runs.rehearsal import RehearsalProgress, Rehearsals, rehearse, remove_rehearsal
        from gui.engine.trainer.output.sentences import phase_words

        file = wanted.file
        trainer = self._plan_trainers.of(file.plan, file.base, current)
        if trainer is None:
            raise trouble or TrainerNotFound()
        checker = checker_for(file.base, trainer, self._home, runs=living_runs)
        said = {**os.environ, **file.plan.launch.env}
        tokens = {} if trainer.install.practice else self._store.for_run(said)
        prepared = Rehearsals(self._home, trainer, checker).prepare(file, wanted.kind, tokens)
        if handle.cancelled:
            remove_rehearsal(prepared.run)
            raise Cancelled

        def tell(progress: RehearsalProgress) -> None:
            phase = cast("PhaseName", progress.phase)
            words = phase_words(phase) if phase else _("starting the trainer")
            handle.progress(_("Rehearsing: {what}").format(what=words), progress.step, progress.steps)

        return rehearse(prepared, progress=tell, cancelled=handle.is_cancelled)

    def _done(self, result: RehearsalResult) -> None:
        self.busy, self.result = False, result
        self.changed.emit()

    def _failed(self, error: PreflightError) -> None:
        self.busy, self.problem = False, error
        self.changed.emit()
