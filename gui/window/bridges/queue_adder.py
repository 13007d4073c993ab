"""Puts plans into the queue: the open one, or files; what would refuse them hours later is said now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError, TrainerNotFound
from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.queue_items import QueueItem
    from gui.window.bridges.trainers import Trainers
    from gui.window.models.plan_document import PlanDocument


class Refusal(NamedTuple):
    """Why a plan was not put into the queue.

    Attributes:
        name: The plan's.
        findings: What stands against it whenever its turn comes.
        path: Its file; None for the plan that is open.
    """

    name: str
    findings: tuple[Finding, ...]
    path: Path | None = None


class Added(NamedTuple):
    """A plan that is in the queue now.

    Attributes:
        item: It.
        passing: What would refuse it just now, and may be over by its turn.
        path: Its file; None for the plan that is open.
    """

    item: QueueItem
    passing: tuple[Finding, ...]
    path: Path | None = None


class QueueAdder(QObject):
    """Checks plans and adds them, one after the other, off the GUI thread.

    Args:
        trainers: The trainer that is used.
        tasks: Where it is done.
        home: Where the queue is.
    """

    changed = Signal()
    """`busy` is other than before."""
    added = Signal(object)
    """`Added`."""
    refused = Signal(object)
    """`Refusal`."""
    failed = Signal(object, object)
    """The plan's `Path`, None for the open one, and a `PreflightError`: why it could not even be checked."""

    def __init__(self, trainers: Trainers, tasks: Tasks, home: Home) -> None:
        super().__init__()
        self._trainers = trainers
        self._tasks = tasks
        self._home = home
        self._plan_trainers = PlanTrainers(home)
        self._under_way = 0

    @property
    def busy(self) -> bool:
        """Whether a plan is being checked."""
        return self._under_way > 0

    def add_open(self, document: PlanDocument, accepted: Sequence[str] = ()) -> None:
        """Add the open plan as it is now.

        Args:
            document: The plan.
            accepted: Ids of the dangers that the user says yes to.
        """
        file, current, trouble = document.as_file(), self._trainers.current, self._trainers.problem
        self._begin(None, lambda: self._add(file, (), tuple(accepted), current, trouble))

    def add_file(self, path: Path, accepted: Sequence[str] = ()) -> None:
        """Add a plan file, or anything that can be read as one.

        Args:
            path: The file.
            accepted: Ids of the dangers that the user says yes to.
        """
        current, trouble, catalogue = self._trainers.current, self._trainers.problem, self._trainers.catalogue

        def work() -> Added | Refusal:
            from gui.engine.importers.reading import read_setup  # heavy, and not for the first paint

            given = read_setup(path, None, catalogue)
            answer = self._add(given.file, given.findings, tuple(accepted), current, trouble)
            return answer._replace(path=path)

        self._begin(path, work)

    def _begin(self, path: Path | None, work: Callable[[], Added | Refusal]) -> None:
        self._under_way += 1
        self._tasks.run(lambda _handle: work(), self._done, lambda error: self._failed(path, error))
        self.changed.emit()

    def _add(
        self,
        file: PlanFile,
        given: Sequence[Finding],
        accepted: tuple[str, ...],
        current: Trainer | None,
        trouble: PreflightError | None,
    ) -> Added | Refusal:
        from gui.engine.runs.preparing import look_before_launch
        from gui.engine.runs.queue_foresight import foresee
        from gui.engine.runs.queue_store import QueueStore, Wish

        file.require_known()
        trainer = self._plan_trainers.of(file.plan, file.base, current)
        if trainer is None:
            raise trouble or TrainerNotFound()
        look = look_before_launch(self._home, trainer, file.base, given)
        lasting, passing = foresee(look.judge(file), accepted)
        if lasting:
            return Refusal(file.plan.name, lasting)
        item = QueueStore(self._home).add(file, Wish(trainer.install, accepted=accepted))
        return Added(item, passing)

    def _done(self, answer: Added | Refusal) -> None:
        self._over()
        if isinstance(answer, Added):
            self.added.emit(answer)
        else:
            self.refused.emit(answer)

    def _failed(self, path: Path | None, error: PreflightError) -> None:
        self._over()
        self.failed.emit(path, error)

    def _over(self) -> None:
        self._under_way -= 1
        self.changed.emit()
