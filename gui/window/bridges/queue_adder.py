"""Puts plans into the queue: the open one, files, or one again; what would refuse it later is said now."""

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
from gui.window.bridges.in_turn import InTurn
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.queue_items import QueueItem
    from gui.window.bridges.trainers import Trainers
    from gui.window.models.plan_document import PlanDocument


Origin = Path | int | None
"""Where a plan comes from: its file, its number in the queue where it is tried again, None: it is open."""


class Refusal(NamedTuple):
    """Why a plan was not put into the queue.

    Attributes:
        name: The plan's.
        findings: What stands against it whenever its turn comes.
        accepted: Ids of the dangers to which the user has said yes already.
        origin: Where it comes from.
    """

    name: str
    findings: tuple[Finding, ...]
    accepted: tuple[str, ...] = ()
    origin: Origin = None


class Added(NamedTuple):
    """A plan that waits in the queue now.

    Attributes:
        item: It.
        passing: What would refuse it just now, and may be over by its turn.
        origin: Where it comes from.
    """

    item: QueueItem
    passing: tuple[Finding, ...]
    origin: Origin = None


class QueueAdder(QObject):
    """Checks plans and adds them, one after the other, off the GUI thread.

    Args:
        trainers: The trainer that is used.
        tasks: Where it is done.
        home: Where the queue is.
    """

    changed = Signal()
    """`left` is other than before."""
    added = Signal(object)
    """`Added`."""
    refused = Signal(object)
    """`Refusal`."""
    failed = Signal(object, object)
    """The plan's `Origin`, and a `PreflightError`: why it could not even be checked."""

    def __init__(self, trainers: Trainers, tasks: Tasks, home: Home) -> None:
        super().__init__()
        self._trainers = trainers
        self._in_turn = InTurn(tasks)
        self._home = home
        self._plan_trainers = PlanTrainers(home)

    @property
    def left(self) -> int:
        """How many plans are being checked, or wait for that."""
        return self._in_turn.left

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
            return self._add(given.file, given.findings, tuple(accepted), current, trouble)

        self._begin(path, work)

    def try_again(self, number: int, accepted: Sequence[str] = ()) -> None:
        """Let an item that is over wait for its turn again.

        Args:
            number: Which.
            accepted: Ids of more dangers that the user says yes to.
        """
        self._begin(number, lambda: self._retry(number, tuple(accepted)))

    def stop(self) -> None:
        """Check no more plans than the one that is being checked."""
        self._in_turn.drop()
        self.changed.emit()

    def _begin(self, origin: Origin, work: Callable[[], Added | Refusal]) -> None:
        self._in_turn.run(
            work, lambda answer: self._done(origin, answer), lambda error: self._failed(origin, error)
        )
        self.changed.emit()

    def _add(
        self,
        file: PlanFile,
        given: Sequence[Finding],
        accepted: tuple[str, ...],
        current: Trainer | None,
        trouble: PreflightError | None,
    ) -> Added | Refusal:
        from gui.engine.runs.queue_look import look_ahead
        from gui.engine.runs.queue_store import QueueStore, Wish

        file.require_known()
        trainer = self._plan_trainers.of(file.plan, file.base, current)
        if trainer is None:
            raise trouble or TrainerNotFound()
        store = QueueStore(self._home)
        lasting, passing = look_ahead(store, file, trainer, accepted, given=given)
        if lasting:
            return Refusal(file.plan.name, lasting, accepted)
        return Added(store.add(file, Wish(trainer.install, accepted=accepted)), passing)

    def _retry(self, number: int, accepted: tuple[str, ...]) -> Added | Refusal:
        from gui.engine.runs.queue_look import look_again
        from gui.engine.runs.queue_store import QueueStore

        store = QueueStore(self._home)
        item = store.item(number)
        item.require_over()
        lasting, passing = look_again(store, item, accepted)
        if lasting:
            return Refusal(item.name, lasting, accepted)
        return Added(store.retry(number, accepted), passing)

    def _done(self, origin: Origin, answer: Added | Refusal) -> None:
        self.changed.emit()
        signal = self.added if isinstance(answer, Added) else self.refused
        signal.emit(answer._replace(origin=origin))

    def _failed(self, origin: Origin, error: PreflightError) -> None:
        self.changed.emit()
        self.failed.emit(origin, error)
