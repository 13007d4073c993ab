"""The trainers of this machine: found, asked what they are, and one of them in use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preferences import OwnTrainer
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import (
    PRACTICE,
    KnownTrainer,
    Trainer,
    choose_install,
    known_trainers,
    open_trainer,
)
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall, missing_part
from gui.engine.trainer.probe import remembered_facts, require_torch
from gui.window.bridges.lane import Answer, Lane
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import TaskHandle, Tasks

_OPEN = "trainers-open"
_FIND = "trainers-find"
_ADD = "trainers-add"
_Seen = tuple[list[KnownTrainer], dict[Path, TrainerFacts]]
_Then = Callable[[Trainer], None]
_Work = Callable[[TaskHandle], Trainer]

WATCH_MS = 3000
"""How often it is seen whether the one in use is still there."""


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

    refused = Signal(object)
    """`PreflightError`: why something that the user wanted was not done; all is as before."""

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
        self._plan_trainers = PlanTrainers(home)
        self._known: list[KnownTrainer] | None = None
        self._facts: dict[Path, TrainerFacts] = {}
        self._troubles: dict[Path, str] = {}
        self._asking: Path | None = None
        self._current: Trainer | None = None
        self._problem: PreflightError | None = None
        self._opening = False
        self._gone: TrainerInstall | None = None
        self._bundled: Catalogue | None = None
        self._lane = Lane("trainer there")
        self._lane.answered.connect(self._looked_whether_there)
        self._timer = QTimer(self)
        self._timer.setInterval(WATCH_MS)
        self._timer.timeout.connect(self.look_whether_there)

    @property
    def known(self) -> list[KnownTrainer]:
        """All that were found, the practice trainer last."""
        return [self._as_used(each) for each in self._known or []]

    @property
    def installs(self) -> list[TrainerInstall]:
        """Those of them that have a Python."""
        return [each.install for each in self.known if each.install is not None]

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
    def asking(self) -> Path | None:
        """The folder of the one that is being asked, where that is not the one in use."""
        return self._asking

    @property
    def catalogue(self) -> Catalogue:
        """The arguments of the one in use; the bundled ones where there is none."""
        if self._current is not None:
            return self._current.catalogue
        self._bundled = self._bundled or Catalogue.bundled()
        return self._bundled

    def facts_of(self, known: KnownTrainer) -> TrainerFacts | None:
        """Return what is known about one; None when it was not asked since it last changed."""
        return self._facts.get(known.checkout.root)

    def trouble_of(self, known: KnownTrainer) -> str:
        """Return why one could not be asked; empty where all is well or nobody tried."""
        trouble = self._troubles.get(known.checkout.root, "")
        if not trouble and known.install is None:
            return _("No Python was found for it. Name its interpreter.")
        return trouble

    def trainer_for(self, plan: TrainingPlan, base: Path) -> Trainer | None:
        """Return the trainer of a plan: its own where it names one. For a thread: it may have to be asked.

        Args:
            plan: The plan.
            base: The folder against which its trainer's path counts.

        Raises:
            TrainerNotFound: The plan's own trainer is not there.
            InterpreterNotFound: It has no Python that could be found.
            TrainerBroken: It cannot train.
        """
        return self._plan_trainers.of(plan, base, self._current)

    def start(self) -> None:
        """Find all, and ask the one in use; from then on see whether it stays there."""
        self.look_again()
        self._open()
        self._timer.start()

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._lane.close()

    def look_again(self) -> None:
        """Find all again."""
        self._tasks.run(self._find, self._found, self._not_found, key=_FIND)

    def probe_again(self) -> None:
        """Ask the one in use again, even when nothing seems to have changed."""
        self._open(refresh=True)

    def cancel(self) -> None:
        """Ask no further; the one in use before stays."""
        self._tasks.cancel(_OPEN)
        self._opening, self._asking = False, None
        self.changed.emit()

    def examine(self, install: TrainerInstall) -> None:
        """Ask any of them again what it is, without using it."""
        if self._is_current(install.root):
            self.probe_again()
            return
        self._asking = install.root
        self._ask(install, then=lambda trainer: None, refresh=True)

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
        """Use one from now on, here and on the command line, once it has shown that it can train."""
        self._asking = install.root
        self._ask(install, then=self._remember_default)

    def add(self, path: str | Path, python: str | None = None) -> None:
        """Remember a trainer in an unusual place, or another interpreter for a known one.

        Args:
            path: Its folder.
            python: Its interpreter; None looks for it.
        """
        place = str(Path(path).expanduser().absolute())

        def work(_handle: TaskHandle) -> TrainerInstall:
            return choose_install(self._home, trainer=place, python=python or None)

        self._tasks.run(work, lambda install: self._add(install, python or None), self._refuse, key=_ADD)

    def remove(self, path: str | Path) -> None:
        """Forget a trainer that was added; nothing on the disk is touched."""
        values = self._settings.values
        changes: dict[str, object] = {
            "trainers": tuple(each for each in values.trainers if Path(each.path) != Path(path))
        }
        if values.trainer and Path(values.trainer) == Path(path):
            changes |= {"trainer": None, "trainer_python": None}
        if self._keep(**changes):
            if self._is_current(Path(path)):
                self._named = self._python = None
                self._open()
            self.look_again()

    def may_remove(self, path: str | Path) -> bool:
        """Whether it was added by the user."""
        return any(Path(each.path) == Path(path) for each in self._settings.values.trainers)

    def remember_python(self, install: TrainerInstall, python: str | None) -> None:
        """Remember an install, and the interpreter that the user or a search named for it.

        Raises:
            CannotWrite: It cannot be remembered.
        """
        own = OwnTrainer(path=PRACTICE if install.practice else str(install.root), python=python)
        values = self._settings.values
        others = tuple(each for each in values.trainers if each.path != own.path)
        changes: dict[str, object] = {"trainers": (*others, own)}
        if values.trainer == own.path:
            changes["trainer_python"] = python
        self._settings.change(**changes)

    def _add(self, install: TrainerInstall, python: str | None) -> None:
        try:
            self.remember_python(install, python)
        except PreflightError as error:
            self._refuse(error)
            return
        self._troubles.pop(install.root, None)
        if self._is_current(install.root) or (self._current is None and not install.practice):
            self.use(install)
        self.look_again()

    def _remember_default(self, trainer: Trainer) -> None:
        install = trainer.install
        name = PRACTICE if install.practice else str(install.root)
        if self._keep(trainer=name, trainer_python=None if install.practice else str(install.python)):
            self._named = self._python = None
            self._opened(trainer)
            self.look_again()

    def _keep(self, **changes: object) -> bool:
        try:
            self._settings.change(**changes)
        except PreflightError as error:
            self._refuse(error)
            return False
        return True

    def _refuse(self, error: PreflightError) -> None:
        self._asking = None
        self.changed.emit()
        self.refused.emit(error)

    def _ask(self, install: TrainerInstall, then: _Then, *, refresh: bool = False) -> None:
        """Ask an install that is not in use yet."""

        def work(handle: TaskHandle) -> Trainer:
            trainer = self._work(handle, lambda: install, refresh)
            require_torch(install, trainer.facts)
            return trainer

        def done(trainer: Trainer) -> None:
            self._asking, self._opening = None, False
            self._learn(trainer)
            then(trainer)
            self.changed.emit()

        def failed(error: PreflightError) -> None:
            self._opening = False
            self._facts.pop(install.root, None)
            self._troubles[install.root] = str(error)
            self._refuse(error)

        self._begin(work, done, failed)

    def _open(self, *, refresh: bool = False) -> None:
        """Ask the one that is to be in use."""
        named, python = self._named, self._python

        def choose() -> TrainerInstall:
            return choose_install(self._home, trainer=named, python=python)

        self._asking = None
        self._begin(lambda handle: self._work(handle, choose, refresh), self._opened, self._not_opened)

    def _begin(self, work: _Work, done: _Then, failed: Callable[[PreflightError], None]) -> None:
        self._opening = True
        self._tasks.run(work, done, failed, key=_OPEN, progress=self.progress.emit)
        self.changed.emit()

    def _work(self, handle: TaskHandle, choose: Callable[[], TrainerInstall], refresh: bool) -> Trainer:
        return open_trainer(
            self._home, choose(), refresh=refresh, progress=handle.progress, cancelled=handle.is_cancelled
        )

    def _learn(self, trainer: Trainer) -> None:
        self._facts[trainer.install.root] = trainer.facts
        self._troubles.pop(trainer.install.root, None)

    def _opened(self, trainer: Trainer) -> None:
        self._opening, self._gone = False, None
        self._learn(trainer)
        self._current, self._problem = trainer, None
        self.changed.emit()

    def _not_opened(self, error: PreflightError) -> None:
        self._opening = False
        self._current, self._problem = None, error
        root = getattr(error, "root", None)
        if isinstance(root, Path):
            self._facts.pop(root, None)
            self._troubles[root] = str(error)
        self.changed.emit()

    def _find(self, _handle: TaskHandle) -> _Seen:
        known = known_trainers(self._home)
        facts = {
            each.checkout.root: told
            for each in known
            if each.install is not None
            if (told := remembered_facts(each.install, self._home.cache)) is not None
        }
        return known, facts

    def _found(self, seen: _Seen) -> None:
        self._known, self._facts = seen
        if self._current is not None:
            self._facts.setdefault(self._current.install.root, self._current.facts)
        self.changed.emit()

    def _not_found(self, error: PreflightError) -> None:
        self._known = self._known or []
        self._problem = self._problem or error
        self.changed.emit()

    def _as_used(self, known: KnownTrainer) -> KnownTrainer:
        """Return one with the interpreter that this window uses for it."""
        current = self._current
        if current is not None and current.install.root == known.checkout.root:
            return known._replace(install=current.install)
        return known

    def _is_current(self, root: Path) -> bool:
        return self._current is not None and self._current.install.root == root

    def look_whether_there(self) -> None:
        """See whether the trainer in use is still there, or there again."""
        install = self._current.install if self._current else self._gone
        if install is not None and not self._opening and not self._lane.working:
            self._lane.ask(lambda: (install, missing_part(install)))

    def _looked_whether_there(self, answer: Answer) -> None:
        if answer.error is not None or self._opening:
            return
        install, missing = answer.value
        if self._current is None:
            if missing is None and install == self._gone:
                self._open()
        elif missing is not None and self._current.install == install:
            self._gone = install
            self._not_opened(missing)
            self.look_again()
