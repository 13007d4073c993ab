"""The trainers of this machine: found, asked what they are, and one of them in use."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.preferences import OwnTrainer
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import (
    PRACTICE,
    KnownTrainer,
    Trainer,
    choose_install,
    known_trainers,
    open_trainer,
)
from gui.engine.trainer.installs import TrainerInstall
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import TaskHandle, Tasks

_OPEN = "trainers-open"
_FIND = "trainers-find"


class Trainers(QObject):
    """Finds trainers, asks the one in use, and remembers what the user decides about them.

    Args:
        home: Holds what is known of trainers.
        settings: Keeps which one is the default, and which were added.
        tasks: Where it is done.
        trainer: Use this one in this window instead of the default.
        python: Its interpreter.
    """

    changed = Signal()
    """Found ones, the one in use, its problem, or whether one is being asked."""

    progress = Signal(str, int, int)
    """What is being asked, how much is done, how much there is."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        tasks: Tasks,
        *,
        trainer: str | None = None,
        python: str | None = None,
    ) -> None:
        super().__init__()
        self._home = home
        self._settings = settings
        self._tasks = tasks
        self._named = trainer
        self._python = python
        self._known: list[KnownTrainer] | None = None
        self._current: Trainer | None = None
        self._problem: PreflightError | None = None
        self._opening = False
        self._bundled: Catalogue | None = None

    @property
    def known(self) -> list[KnownTrainer]:
        """All that were found, the practice trainer last."""
        return self._known or []

    @property
    def looked(self) -> bool:
        """Whether it is known what there is: found, and the one in use asked."""
        return self._known is not None and not self._opening

    @property
    def current(self) -> Trainer | None:
        """The one in use; None while it is asked for the first time, or when there is none."""
        return self._current

    @property
    def problem(self) -> PreflightError | None:
        """Why none is in use."""
        return self._problem

    @property
    def busy(self) -> bool:
        """Whether one is being asked."""
        return self._opening

    @property
    def catalogue(self) -> Catalogue:
        """The arguments of the one in use; the bundled ones where there is none."""
        if self._current is not None:
            return self._current.catalogue
        if self._bundled is None:
            self._bundled = Catalogue.bundled()
        return self._bundled

    def start(self) -> None:
        """Find all, and ask the one in use."""
        self.look_again()
        self._open()

    def look_again(self) -> None:
        """Find all again."""
        self._tasks.run(lambda _handle: known_trainers(self._home), self._found, self._failed, key=_FIND)

    def probe_again(self) -> None:
        """Ask the one in use again, even when nothing seems to have changed."""
        self._open(refresh=True)

    def cancel(self) -> None:
        """Ask no further; the one in use before stays."""
        self._tasks.cancel(_OPEN)
        self._opening = False
        self.changed.emit()

    def use(self, trainer: str | Path | TrainerInstall, python: str | None = None) -> None:
        """Use another one in this window.

        Args:
            trainer: A folder, ``practice``, or an install.
            python: Its interpreter; None looks for it.
        """
        if isinstance(trainer, TrainerInstall):
            python = str(trainer.python)
            trainer = PRACTICE if trainer.practice else trainer.root
        self._named, self._python = str(trainer), python
        self._open()

    def make_default(self, install: TrainerInstall) -> None:
        """Use one from now on, here and on the command line.

        Raises:
            CannotWrite: That cannot be remembered.
        """
        name = PRACTICE if install.practice else str(install.root)
        self._settings.change(trainer=name, trainer_python=None if install.practice else str(install.python))
        self.use(install)
        self.look_again()

    def add(self, path: str | Path, python: str | None = None) -> None:
        """Remember a trainer in an unusual place.

        Raises:
            TrainerNotFound: There is none.
            InterpreterNotFound: It has no Python that could be found.
            CannotWrite: It cannot be remembered.
        """
        install = choose_install(self._home, trainer=str(path), python=python)
        own = OwnTrainer(path=str(install.root), python=python)
        others = [each for each in self._settings.values.trainers if each.path != own.path]
        self._settings.change(trainers=(*others, own))
        if self._current is None:
            self.use(install)
        self.look_again()

    def remove(self, path: str | Path) -> None:
        """Forget a trainer that was added; nothing on the disk is touched.

        Raises:
            CannotWrite: That cannot be remembered.
        """
        own = tuple(each for each in self._settings.values.trainers if Path(each.path) != Path(path))
        changes: dict[str, object] = {"trainers": own}
        if self._settings.values.trainer and Path(self._settings.values.trainer) == Path(path):
            changes |= {"trainer": None, "trainer_python": None}
        self._settings.change(**changes)
        self.look_again()

    def may_remove(self, path: str | Path) -> bool:
        """Whether it was added by the user."""
        return any(Path(each.path) == Path(path) for each in self._settings.values.trainers)

    def _open(self, *, refresh: bool = False) -> None:
        named, python = self._named, self._python

        def work(handle: TaskHandle) -> Trainer:
            install = choose_install(self._home, trainer=named, python=python)
            return open_trainer(
                self._home,
                install,
                refresh=refresh,
                progress=handle.progress,
                cancelled=handle.is_cancelled,
            )

        self._opening = True
        self._tasks.run(work, self._opened, self._not_opened, key=_OPEN, progress=self.progress.emit)
        self.changed.emit()

    def _opened(self, trainer: Trainer) -> None:
        self._opening = False
        self._current, self._problem = trainer, None
        self.changed.emit()

    def _not_opened(self, error: PreflightError) -> None:
        self._opening = False
        self._current, self._problem = None, error
        self.changed.emit()

    def _found(self, known: list[KnownTrainer]) -> None:
        self._known = known
        self.changed.emit()

    def _failed(self, error: PreflightError) -> None:
        self._known = self._known or []
        self._problem = self._problem or error
        self.changed.emit()
