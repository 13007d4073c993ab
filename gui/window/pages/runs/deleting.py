"""Throws a run's folder into the system's trash: says what goes with it, asks, and never more than that."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFile, QStandardPaths, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.models.run_words import name_of
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

if TYPE_CHECKING:
    from gui.engine.runs.listing import RunEntry
    from gui.engine.runs.removal import RemovalLoss

_KEY = "runs-delete"


class NoTrash(PreflightError):
    """The system did not take a folder into its trash.

    Attributes:
        folder: It is where it was.
    """

    def __init__(self, run: RunFolder) -> None:
        super().__init__(run.path)
        self.folder = run.path

    def message(self) -> str:
        """Say that nothing happened, and what is left to do."""
        return _(
            "The system's trash did not take {folder}; nothing was removed. "
            "You can delete the folder yourself."
        ).format(folder=self.folder)


class Deleting(QWidget):
    """Asks in the page, and tells what came of it.

    Args:
        tasks: For looking and moving.
        icons: For the message.
    """

    deleted = Signal()
    """A folder went into the trash."""
    done = Signal()
    """The question was answered; the keyboard belongs to the table again."""

    def __init__(self, tasks: Tasks, icons: Icons) -> None:
        super().__init__()
        self._tasks = tasks
        self._run: RunFolder | None = None
        self._ask = Ask("", "", _("Move to the trash"), _("Keep it"), tone="bad", name="runs-delete")
        self._said = Banner(icons, "warn", name="runs-said")
        close = Button(_("Understood"), compact=True, name="runs-said-close")
        close.clicked.connect(self._said.hide)
        self._said.set_buttons(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        for part in (self._ask, self._said):
            part.hide()
            layout.addWidget(part)
        self._ask.yes.connect(self._move)
        self._ask.no.connect(self.done)

    def ask(self, entry: RunEntry) -> None:
        """Find out what would go with a run, and ask."""
        self._run = RunFolder(entry.folder)
        self._said.hide()
        self._ask.hide()
        run, name = self._run, name_of(entry)

        def work(_handle: TaskHandle) -> RemovalLoss:
            from gui.engine.runs.removal import what_removal_loses  # slow to import

            return what_removal_loses(run)

        self._tasks.run(work, lambda loss: self._answer(loss, name), self._failed, key=_KEY)

    def _answer(self, loss: RemovalLoss, name: str) -> None:
        if loss.living:
            self._said.show_words(_("This run cannot be deleted now."), loss.sentence, "warn")
            self._said.show()
            return
        self._ask.ask(_("Delete the run “{name}”?").format(name=name), loss.sentence)

    def _move(self) -> None:
        run = self._run
        if run is not None:
            self._tasks.run(lambda _handle: _to_trash(run), self._moved, self._failed, key=_KEY)

    def _moved(self, _nothing: None) -> None:
        self.deleted.emit()
        self.done.emit()

    def _failed(self, error: PreflightError) -> None:
        self._said.show_words(_("The run was not deleted."), str(error), "bad")
        self._said.show()
        self.done.emit()


def _to_trash(run: RunFolder) -> None:
    """Move a run's folder into the trash.

    Raises:
        RunRefused: The run lives.
        NoTrash: The system did not take it.
    """
    from gui.engine.runs.removal import require_removable  # slow to import

    require_removable(run)
    # Where no program has kept data of the user yet, Qt does not make the place of the trash.
    data = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    with contextlib.suppress(OSError):
        Path(data).mkdir(parents=True, exist_ok=True)
    moved = QFile.moveToTrash(str(run.path))
    # Some versions of the binding give the new path along.
    if not (moved[0] if isinstance(moved, tuple) else moved):
        raise NoTrash(run)
