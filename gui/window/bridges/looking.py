"""Something of this machine that is looked at again and again, in a thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from gui.window.bridges.lane import Answer, Lane

LOOK_MS = 1000


class Looking(QObject):
    """When it is looked; sub-classes look, and keep what they saw.

    Args:
        name: Of the thread.
        milliseconds: Between two looks.
    """

    changed = Signal()
    """Something is other than before."""

    def __init__(self, name: str, milliseconds: int) -> None:
        super().__init__()
        self._known = False
        self._lane = Lane(name)
        self._lane.answered.connect(self._answered)
        self._timer = QTimer(self)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self.refresh)

    @property
    def known(self) -> bool:
        """Whether it was looked yet."""
        return self._known

    def start(self) -> None:
        """Begin to look."""
        self.refresh()
        self._timer.start()

    def refresh(self) -> None:
        """Look now, unless a look is on its way."""
        if not self._lane.working:
            self._lane.ask(self._look)

    def close(self) -> None:
        """Look no more; what is looked at goes on."""
        self._timer.stop()
        self._lane.close()

    def _look(self) -> object:
        """Look, in the thread."""
        raise NotImplementedError

    def _take(self, answer: Answer) -> bool:
        """Keep what was seen; return whether it is other than before."""
        raise NotImplementedError

    def _answered(self, answer: Answer) -> None:
        fresh = self._take(answer) or not self._known
        self._known = True
        if fresh:
            self.changed.emit()
