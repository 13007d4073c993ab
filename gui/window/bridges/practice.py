"""Gets everything ready for a first training without a GPU: the sample project, a trainer, its torch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.plan.sample import copy_sample_project
from gui.engine.trainer.choosing import DEFAULT, PRACTICE
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.practice import TorchFetch, practice_trainer, torch_needed
from gui.engine.trainer.torch_fetch import fetch_torch
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.bridges.trainers import Trainers

_KEY = "practice"
FOLDER = "practice"
"""Of the sample project, in the home."""


class _Ready(NamedTuple):
    plan: Path
    install: TrainerInstall


class Practice(QObject):
    """Prepares practice, a click at a time.

    Args:
        home: Gets the sample project.
        trainers: Remember whose Python the practice trainer borrows.
        tasks: Where it is done.
    """

    changed = Signal()
    """`busy`, `needed` or `problem`."""

    progress = Signal(str, int, int)
    """What is done, how much of it, of how much."""

    ready = Signal(object)
    """`Path` of the sample project's plan: it can be launched."""

    def __init__(self, home: Home, trainers: Trainers, tasks: Tasks) -> None:
        super().__init__()
        self._home = home
        self._trainers = trainers
        self._tasks = tasks
        self.busy = False
        self.needed: TorchFetch | None = None
        """What must be fetched first; somebody has to say yes to it."""
        self.problem: PreflightError | None = None

    def begin(self) -> None:
        """Get ready; ends with `ready`, with something `needed`, or with a `problem`."""
        self._run(self._prepare)

    def fetch(self) -> None:
        """Fetch what is needed, and get ready."""

        def work(handle: TaskHandle) -> _Ready | TorchFetch | None:
            fetch_torch(self._home, progress=handle.progress, cancelled=handle.is_cancelled)
            return self._prepare(handle)

        self._run(work)

    def cancel(self) -> None:
        """Stop what is being done; what was fetched so far is thrown away."""
        self._tasks.cancel(_KEY)
        self._over(None, None)

    def _run(self, work: Callable[[TaskHandle], _Ready | TorchFetch | None]) -> None:
        self.busy, self.needed, self.problem = True, None, None
        self._tasks.run(work, self._done, self._failed, key=_KEY, progress=self.progress.emit)
        self.changed.emit()

    def _prepare(self, handle: TaskHandle) -> _Ready | TorchFetch | None:
        trainer = practice_trainer(self._home, progress=handle.progress, cancelled=handle.is_cancelled)
        if trainer is None:
            return torch_needed()
        plan = copy_sample_project(self._home.root / FOLDER)
        _train_with_practice(plan)
        return _Ready(plan, trainer.install)

    def _done(self, outcome: _Ready | TorchFetch | None) -> None:
        if not isinstance(outcome, _Ready):
            self._over(outcome, None)
            return
        try:
            if outcome.install.python != Path(sys.executable):  # borrowed: all parts must know of it
                self._trainers.remember_python(outcome.install, str(outcome.install.python))
        except PreflightError as error:
            self._over(None, error)
            return
        self._over(None, None)
        self.ready.emit(outcome.plan)

    def _failed(self, error: PreflightError) -> None:
        self._over(None, error)

    def _over(self, needed: TorchFetch | None, problem: PreflightError | None) -> None:
        self.busy, self.needed, self.problem = False, needed, problem
        self.changed.emit()


def _train_with_practice(path: Path) -> None:
    """Name the practice trainer in the copied plan, unless the user has named another since."""
    file = load_plan(path)
    if file.plan.trainer in ("", DEFAULT):
        file.save(file.plan.model_copy(update={"trainer": PRACTICE}))
