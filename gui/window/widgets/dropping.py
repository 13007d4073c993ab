"""Takes what is dropped on a widget, and shows by its frame that it would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from gui.window.widgets.styled import style


class Drops(QObject):
    """Watches a widget for files and folders that are dropped on it.

    Args:
        widget: Takes them, and gets the property ``dropping`` while something that is wanted is held over it.
        take: Takes the paths of what was dropped, as text.
        wants: Whether some paths are wanted; None wants whatever lies on the disk.
        take_text: Takes a text that was dropped instead; None wants no texts.
        shows: What gets the property, where it is not the widget itself.
    """

    def __init__(
        self,
        widget: QWidget,
        take: Callable[[list[str]], object],
        *,
        wants: Callable[[list[str]], bool] | None = None,
        take_text: Callable[[str], object] | None = None,
        shows: QWidget | None = None,
    ) -> None:
        super().__init__(widget)
        self._shows = shows or widget
        self._take = take
        self._wants = wants or bool
        self._take_text = take_text
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Handle what is dragged over the widget."""
        if event.type() == QEvent.Type.DragLeave:
            style(self._shows, dropping=False)
        elif isinstance(event, QDropEvent) and self._is_wanted(event):
            event.acceptProposedAction()
            is_dropped = event.type() == QEvent.Type.Drop
            style(self._shows, dropping=not is_dropped)
            if is_dropped:
                self._use(event)
            return True
        return super().eventFilter(watched, event)

    def _is_wanted(self, event: QDropEvent) -> bool:
        paths = dropped_paths(event)
        if paths:
            return self._wants(paths)
        return self._take_text is not None and event.mimeData().hasText()

    def _use(self, event: QDropEvent) -> None:
        paths = dropped_paths(event)
        if paths:
            self._take(paths)
        elif self._take_text is not None:
            self._take_text(event.mimeData().text())


def dropped_paths(event: QDropEvent) -> list[str]:
    """Return the local files and folders of a drop."""
    return [
        str(Path(url.toLocalFile()))
        for url in event.mimeData().urls()
        if url.isLocalFile() and url.toLocalFile()
    ]
