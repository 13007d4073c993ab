"""Whatever has the keyboard is in sight."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from gui.window.theme.space import Space


class Sight(QObject):
    """Scrolls to what takes the keyboard.

    Qt's scroll areas do so only where Tab goes from one thing in them to another: who came into them from
    outside, or was led to a field, wrote into something that could not be seen.

    Args:
        application: Tells who has the keyboard.
        window: In which it is looked after.
    """

    def __init__(self, application: QApplication, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.look)
        application.focusChanged.connect(self._moved)

    def _moved(self, _old: object, _new: object) -> None:
        self._timer.start()

    def look(self) -> None:
        """Scroll now, where it is needed; what was just shown has its place by then."""
        part = self._window.focusWidget()
        if part is None or not part.isVisible() or not part.visibleRegion().isEmpty():
            return
        above = part.parentWidget()
        while above is not None and not above.isWindow():
            if isinstance(above, QScrollArea):
                above.ensureWidgetVisible(part, Space.XL, Space.XL)
            above = above.parentWidget()
