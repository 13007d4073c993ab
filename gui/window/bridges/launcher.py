"""Launches the plan that is open, and tells what became of it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import Cancelled, PlanNotRunnable, PracticeNeedsTorch, PreflightError, TrainerNotFound
from gui.engine.hardware.gpu import GpuMonitor, machine_gpus
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.installs import missing_part
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.prepare import Prepared
    from gui.window.bridges.trainers import Trainers
    from gui.window.models.plan_document import PlanDocument

KEY = "launch"


class _Gate:
    """Lets a launch through once, unless it was called off before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: Literal["open", "passed", "shut"] = "open"

    def shut(self) -> bool:
        """Call the launch off; return whether it was in time."""
        with self._lock:
            if self._state == "open":
                self._state = "shut"
            return self._state == "shut"

    def go_through(self) -> bool:
        """Return whether to go on; from then on nothing calls it off."""
        with self._lock:
            if self._state == "open":
                self._state = "passed"
            return self._state == "passed"


@dataclass(frozen=True)
class _Order:
    """What is to be launched, taken from the window at the moment of the click."""

    file: PlanFile
    accepted: tuple[str, ...]
    trainer: Trainer | None
    trouble: PreflightError | None
    practice: bool
    gate: _Gate


class Launcher(QObject):
    """Launches one plan at a time, off the GUI thread.

    Whatever the window shows, the whole preflight is done once more: files may have gone since.

    Args:
        trainers: The trainer that is used.
        tasks: Where it is done.
        home: Where runs are kept.
        store: Where tokens are kept.
        gpus: Looks at the GPUs.
    """

    changed = Signal()
    """`starting` is other than before."""
    launched = Signal(object)
    """`RunFolder`: the supervisor has taken over, the run goes on without this window."""
    refused = Signal(object)
    """Tuple of `Finding`: what blocks the launch, or needs a yes first."""
    failed = Signal(object)
    """`PreflightError`: why nothing was started."""
    notes = Signal(object)
    """Tuple of sentences that the user should know about the run."""

    def __init__(
        self,
        trainers: Trainers,
        tasks: Tasks,
        home: Home,
        store: TokenStore,
        *,
        gpus: GpuMonitor | None = None,
    ) -> None:
        super().__init__()
        self._trainers = trainers
        self._tasks = tasks
        self._home = home
        self._store = store
        self._plan_trainers = PlanTrainers(home)
        self._gpus = gpus or machine_gpus()
        self._order: _Order | None = None

    @property
    def starting(self) -> bool:
        """Whether a launch is on its way."""
        return self._order is not None

    def get_ready(self) -> None:
        """Import what a launch needs, in a thread, so that the click need not wait for it."""
        self._tasks.run(lambda _handle: _import_parts(), lambda _nothing: None, key="launch-ready")

    def launch(self, document: PlanDocument, accepted: Sequence[str] = (), practice: bool = False) -> None:
        """Launch a plan as it is now; nothing happens while another launch is on its way.

        Args:
            document: The plan.
            accepted: Ids of the dangers that the user says yes to; the run keeps a record of them.
            practice: Whether to train with the practice trainer, on the CPU.
        """
        if self._order is not None:
            return
        trainers = self._trainers
        order = _Order(
            document.as_file(), tuple(accepted), trainers.current, trainers.problem, practice, _Gate()
        )
        self._order = order
        self._tasks.run(lambda _handle: self._start(order), self._done, self._failed, key=KEY)
        self.changed.emit()

    def cancel(self) -> bool:
        """Call the launch off; return False when it is too late for that and the run begins."""
        order = self._order
        if order is None or not order.gate.shut():
            return False
        self._over()
        return True

    def _start(self, order: _Order) -> Prepared:
        from gui.engine.runs.preparing import look_before_launch, preparation_for
        from gui.engine.runs.start import start_supervisor

        trainer = self._trainer(order)
        missing = missing_part(trainer.install)  # it may have gone since it was looked at
        if missing is not None:
            raise missing
        look = look_before_launch(self._home, trainer, order.file.base)
        preparation = preparation_for(self._home, trainer, look, self._gpus)
        prepared = preparation.prepare(order.file, order.accepted, self._tokens(order, trainer))
        if not order.gate.go_through():
            shutil.rmtree(prepared.run.path, ignore_errors=True)
            raise Cancelled
        start_supervisor(prepared.run, prepared.order)
        return prepared

    def _tokens(self, order: _Order, trainer: Trainer) -> dict[str, str]:
        """Return the tokens for the trainer's environment; the practice trainer has no use for any."""
        said = {**os.environ, **order.file.plan.launch.env}
        return {} if trainer.install.practice else self._store.for_run(said)

    def _trainer(self, order: _Order) -> Trainer:
        if order.practice:
            return self._practice_trainer()
        trainer = self._plan_trainers.of(order.file.plan, order.file.base, order.trainer)
        if trainer is None:
            raise order.trouble or TrainerNotFound()
        return trainer

    def _practice_trainer(self) -> Trainer:
        """Return the practice trainer with whatever Python can run it."""
        from gui.engine.trainer.practice import practice_trainer, torch_needed

        trainer = practice_trainer(self._home)
        if trainer is None:
            needed = torch_needed()
            raise PracticeNeedsTorch(needed.words() if needed else "")
        return trainer

    def _done(self, prepared: Prepared) -> None:
        self._over()
        if prepared.notes:
            self.notes.emit(prepared.notes)
        self.launched.emit(prepared.run)

    def _failed(self, error: PreflightError) -> None:
        self._over()
        if isinstance(error, PlanNotRunnable):
            self.refused.emit(error.findings)
        else:
            self.failed.emit(error)

    def _over(self) -> None:
        self._order = None
        self.changed.emit()


def _import_parts() -> None:
    import gui.engine.runs.preparing
    import gui.engine.runs.start  # noqa: F401 - so that they are there
