"""Pages: a title, what can be done, and content that scrolls when it must; and what an empty one says."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import column
from gui.window.widgets.styled import style


class Scroll(QScrollArea):
    """Content that scrolls up and down only.

    Args:
        content: What is inside.
    """

    def __init__(self, content: QWidget, *, name: str = "") -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        style(content, role="content")
        self.setWidget(content)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)


class Page(QWidget):
    """The frame of a page.

    Attributes:
        title: At the top left.
        subtitle: Below it.
        beside_title: Holds chips beside the title.
        buttons: Holds buttons at the top right.
        content: Everything below.

    Args:
        title: Translated.
        subtitle: Translated.
        scrolls: Whether the content scrolls as a whole.
    """

    def __init__(self, title: str = "", subtitle: str = "", *, scrolls: bool = True, name: str = "") -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        self.title = ElidedLabel(title, "title")
        self.subtitle = ElidedLabel(subtitle, "muted")
        self.beside_title = QHBoxLayout()
        self.beside_title.setSpacing(Space.S)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(Space.M)
        top = QHBoxLayout()
        top.setSpacing(Space.S)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        top.addWidget(self.title)
        top.addLayout(self.beside_title)
        top.addStretch(1)
        words = column(top, self.subtitle, spacing=Space.XS)
        head = QHBoxLayout()
        head.setSpacing(Space.L)
        head.addLayout(words, 1)
        head.addLayout(self.buttons)
        self.head = head
        self.content = QVBoxLayout()
        self.content.setSpacing(Space.L)
        layout = QVBoxLayout(self)
        layout.setSpacing(Space.L)
        layout.setContentsMargins(Space.XXL, Space.XL, Space.XXL, Space.XL if not scrolls else 0)
        layout.addLayout(head)
        if scrolls:
            inner = QWidget()
            inner.setLayout(self.content)
            self.content.setContentsMargins(0, 0, Space.XS, Space.XL)
            self.scroller: Scroll | None = Scroll(inner)
            layout.addWidget(self.scroller, 1)
        else:
            self.scroller = None
            layout.addLayout(self.content, 1)


class Picture(QLabel):
    """An icon that stands for itself; it follows the theme.

    Args:
        icons: Draws it.
        name: Which.
        color: Token.
        size: Side in pixels at a text size of 100 %.
    """

    def __init__(self, icons: Icons, name: str, color: str = "faint", size: int = 48) -> None:
        super().__init__()
        self._icons = icons
        self._what = (name, size, color)
        icons.theme.changed.connect(self._draw)
        self._draw()

    def _draw(self) -> None:
        self.setPixmap(self._icons.pixmap(*self._what))


class Empty(QWidget):
    """What an empty page says: what will be here, and how to get it.

    Args:
        title: What will be here.
        text: How to get it.
        picture: Above them.
        button: The way there.
    """

    def __init__(
        self,
        title: str,
        text: str,
        *,
        picture: Picture | None = None,
        button: QWidget | None = None,
        name: str = "",
    ) -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        layout = QVBoxLayout(self)
        layout.setSpacing(Space.S)
        layout.addStretch(1)
        if picture is not None:
            layout.addWidget(picture, 0, Qt.AlignmentFlag.AlignHCenter)
        self.title = Label(title, "card")
        self.text = Label(text, "muted")
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMaximumWidth(560)
            # Between stretches and not aligned: only so is the height that its width asks for heard.
            beside = QHBoxLayout()
            beside.addStretch(1)
            beside.addWidget(label, 100)
            beside.addStretch(1)
            layout.addLayout(beside)
        if button is not None:
            layout.addSpacing(Space.S)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
