"""Throws the folders of runs into the system's trash: says what goes with them, asks, nothing more."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFile, QStandardPaths, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.models.run_words import name_of
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

if TYPE_CHECKING:
    from gui.engine.runs.removal import RemovalLoss
    from gui.engine.runs.run_entry import RunEntry

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
    """Folders went into the trash."""
    done = Signal()
    """The question was answered; the keyboard belongs to the table again."""

    def __init__(self, tasks: Tasks, icons: Icons) -> None:
        super().__init__()
        self._tasks = tasks
        self._runs: tuple[RunFolder, ...] = ()
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

    def ask(self, entries: Sequence[RunEntry]) -> None:
        """Find out what would go with runs, and ask."""
        runs = tuple(RunFolder(entry.folder) for entry in entries)
        names = [name_of(entry) for entry in entries]
        self._said.hide()
        self._ask.hide()

        def work(_handle: TaskHandle) -> tuple[RemovalLoss, ...]:
            from gui.engine.runs.removal import what_removal_loses  # slow to import

            return tuple(map(what_removal_loses, runs))

        self._tasks.run(work, lambda losses: self._answer(losses, names), self._failed, key=_KEY)

    def _answer(self, losses: tuple[RemovalLoss, ...], names: Sequence[str]) -> None:
        from gui.engine.runs.removal import what_removals_lose

        self._runs = tuple(RunFolder(loss.folder) for loss in losses if not loss.living)
        if not self._runs:
            refused = ngettext(
                "This run cannot be deleted now.", "These runs cannot be deleted now.", len(losses)
            )
            self._said.show_words(refused, " ".join(loss.sentence for loss in losses), "warn")
            self._said.show()
            return
        self._ask.refuse.setText(_("Keep it") if len(losses) == 1 else _("Keep them"))
        if len(losses) == 1:
            self._ask.ask(_("Delete the run “{name}”?").format(name=names[0]), losses[0].sentence)
        else:
            text = ngettext("Delete {count} run?", "Delete {count} runs?", len(self._runs))
            self._ask.ask(text.format(count=len(self._runs)), what_removals_lose(losses))

    def _move(self) -> None:
        runs, self._runs = self._runs, ()
        if runs:
            self._tasks.run(lambda _handle: _all_to_trash(runs), self._moved, self._failed, key=_KEY)

    def _moved(self, failure: PreflightError | None) -> None:
        self.deleted.emit()
        if failure is not None:
            self._failed(failure)
        else:
            self.done.emit()

    def _failed(self, error: PreflightError) -> None:
        self._said.show_words(_("The run was not deleted."), str(error), "bad")
        self._said.show()
        self.done.emit()


def _all_to_trash(runs: Sequence[RunFolder]) -> PreflightError | None:
    """Move the folders of runs into the trash; return what kept one of them, the others go all the same."""
    failure: PreflightError | None = None
    for run in runs:
        try:
            _to_trash(run)
        except PreflightError as error:
            failure = error
    return failure


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
