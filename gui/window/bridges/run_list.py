"""The runs of this machine, looked at again and again: those of the command line show up too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.paths import Home
from gui.window.bridges.tasks import TaskHandle, Tasks

if TYPE_CHECKING:
    from gui.engine.errors import PreflightError
    from gui.engine.runs.listing import RunEntry

LOOK_MS = 1000
_KEY = "run-list"


class RunList(QObject):
    """All runs, newest first.

    Args:
        home: Where they are.
        tasks: Where the looking is done.
    """

    changed = Signal()
    """Something about them is other than before."""

    def __init__(self, home: Home, tasks: Tasks, milliseconds: int = LOOK_MS) -> None:
        super().__init__()
        self._home = home
        self._tasks = tasks
        self._entries: tuple[RunEntry, ...] = ()
        self._known = False
        self._looking = False
        self._problem = ""
        self._timer = QTimer(self)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self.refresh)

    @property
    def known(self) -> bool:
        """Whether they were looked at yet."""
        return self._known

    @property
    def entries(self) -> tuple[RunEntry, ...]:
        """All of them, newest first."""
        return self._entries

    @property
    def living(self) -> list[RunEntry]:
        """Those that are not over."""
        return [entry for entry in self._entries if entry.state not in (None, "ended")]

    @property
    def problem(self) -> str:
        """Why they cannot be looked at; empty when all is well."""
        return self._problem

    def start(self) -> None:
        """Begin to look."""
        self.refresh()
        self._timer.start()

    def refresh(self) -> None:
        """Look now, unless a look is on its way."""
        if not self._looking:
            self._looking = True
            self._tasks.run(self._look, self._seen, self._failed, key=_KEY)

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()

    def _look(self, _handle: TaskHandle) -> tuple[RunEntry, ...]:
        from gui.engine.runs.listing import list_runs  # heavy, and not for the first paint

        return list_runs(self._home).runs

    def _seen(self, entries: tuple[RunEntry, ...]) -> None:
        self._looking = False
        fresh = not self._known or entries != self._entries or self._problem != ""
        self._known, self._problem = True, ""
        if fresh:
            self._entries = entries
            self.changed.emit()

    def _failed(self, error: PreflightError) -> None:
        self._looking = False
        self._known = True
        if self._problem != str(error):
            self._problem = str(error)
            self.changed.emit()
