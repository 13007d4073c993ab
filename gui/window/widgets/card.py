"""Cards: what belongs together, on a surface with a thin line around it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from gui.window.theme.space import Space
from gui.window.widgets.chip import Tone
from gui.window.widgets.labels import Label
from gui.window.widgets.styled import style


class Card(QFrame):
    """A surface.

    Args:
        title: Translated; empty for none.
        aside: At the right of the title.
        edge: Colours its left edge, as findings have it.
        margins: Inside, in pixels.
    """

    def __init__(
        self,
        title: str = "",
        aside: QWidget | None = None,
        *,
        edge: Tone | None = None,
        margins: int = Space.L,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        if name:
            self.setObjectName(name)
        style(self, role="card", edge=edge or "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(margins, margins, margins, margins)
        layout.setSpacing(Space.M)
        self.head = QHBoxLayout()
        self.head.setSpacing(Space.M)
        self.title = Label(title, "card", wrap=True)
        self.head.addWidget(self.title, 1)
        if aside is not None:
            self.head.addWidget(aside, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(self.head)
        self.title.setVisible(bool(title))
        self.body = QVBoxLayout()
        self.body.setSpacing(Space.S)
        layout.addLayout(self.body, 1)


class ChoiceCard(QFrame):
    """A card that is chosen by a click, by Enter or by Space; one of several.

    Args:
        words: Its accessible name.
    """

    chosen = Signal()

    def __init__(self, words: str, *, name: str = "", margins: int = Space.M) -> None:
        super().__init__()
        self.setAccessibleName(words)
        if name:
            self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        style(self, role="card", clickable=True, chosen=False)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(margins, margins, margins, margins)
        self.body.setSpacing(Space.XS)

    def set_chosen(self, chosen: bool) -> None:
        """Show whether this is the one."""
        style(self, chosen=chosen)
        self.setAccessibleDescription("✓" if chosen else "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose it."""
        inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and inside and self.isEnabled():
            self.chosen.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose it by key."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Show by the pointer whether it can be chosen."""
        if event.type() == QEvent.Type.EnabledChange:
            shape = Qt.CursorShape.PointingHandCursor if self.isEnabled() else Qt.CursorShape.ArrowCursor
            self.setCursor(shape)
        super().changeEvent(event)
