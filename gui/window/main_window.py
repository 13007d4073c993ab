"""The frame around the pages: side bar, messages, content, status line. It knows no page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QIcon, QKeySequence
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import SIDE_BAR_WIDTH, Space
from gui.window.widgets.styled import style

SMALLEST = QSize(1024, 640)
USUAL = QSize(1280, 800)
BUTTON_PX = 50
"""Seven of them have room in the smallest window at the largest text."""


@dataclass
class _Place:
    """A page and its button.

    Attributes:
        make: Makes the page when it is first shown.
        page: The page, once it was.
        icon: Of the button, by name.
        button: In the side bar.
    """

    make: Callable[[], QWidget]
    page: QWidget | None
    icon: str
    button: QToolButton


class MainWindow(QMainWindow):
    """The frame.

    Args:
        icons: Draws the side bar's.
        may_close: Asked before the window closes; whoever says no also says why.
    """

    shown = Signal(str)
    """A page is in front now, by its name."""

    files_dropped = Signal(list)
    """Paths that were dropped where no page wanted them."""

    closed = Signal()

    def __init__(self, icons: Icons, may_close: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle(_("Kohya Preflight"))
        self._icons = icons
        self.may_close = may_close
        self._places: dict[str, _Place] = {}
        self._buttons = QButtonGroup(self)
        self._bar = QVBoxLayout()
        self._bar_end = QVBoxLayout()
        self.pages = QStackedWidget()
        self.messages = QVBoxLayout()
        self._status = QVBoxLayout()
        self._side = self._make_side()
        self.setCentralWidget(self._arrange())
        self.setMinimumSize(SMALLEST)
        self.resize(USUAL)
        self.setAcceptDrops(True)
        self._draw()
        icons.theme.changed.connect(self._draw)

    @property
    def current(self) -> str:
        """The name of the page in front."""
        page = self.pages.currentWidget()
        return next((name for name, place in self._places.items() if page and place.page is page), "")

    def add_page(self, name: str, words: str, icon: str, make: Callable[[], QWidget], key: str = "") -> None:
        """Add a page with a button at the top of the side bar, or at its end for ``settings``.

        Args:
            name: By which it is shown.
            words: Under the icon.
            icon: By name.
            make: Makes it when it is first shown.
            key: The shortcut.
        """
        button = QToolButton()
        button.setObjectName(f"side-{name}")
        button.setText(words)
        button.setAccessibleName(words)
        button.setToolTip(f"{words} ({QKeySequence(key).toString()})" if key else words)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setCheckable(True)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        style(button, kind="side")
        if key:
            button.setShortcut(QKeySequence(key))
        button.clicked.connect(lambda: self.show_page(name))
        self._buttons.addButton(button)
        (self._bar_end if name == "settings" else self._bar).addWidget(button)
        self._places[name] = _Place(make, None, icon, button)
        self._draw()

    def page(self, name: str) -> QWidget:
        """Return a page; made now if it was never shown."""
        place = self._places[name]
        if place.page is None:
            place.page = place.make()
            self.pages.addWidget(place.page)
        return place.page

    def made(self, name: str) -> QWidget | None:
        """Return a page if it was made already."""
        place = self._places.get(name)
        return place.page if place else None

    def show_page(self, name: str) -> QWidget:
        """Bring a page to the front."""
        page = self.page(name)
        self._places[name].button.setChecked(True)
        self.pages.setCurrentWidget(page)
        self.shown.emit(name)
        return page

    def set_status_line(self, widget: QWidget) -> None:
        """Put the status line in."""
        self._status.addWidget(widget)

    def say(self, message: QWidget) -> None:
        """Show something above the page until whoever made it takes it away."""
        self.messages.addWidget(message)
        message.show()

    def geometry_text(self) -> str:
        """Return the size and place of the window as text."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    def restore_geometry_text(self, text: str) -> None:
        """Use an earlier size and place; nonsense changes nothing."""
        self.restoreGeometry(QByteArray.fromBase64(text.encode("ascii", "replace")))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Hand on what was dropped."""
        paths = [str(Path(url.toLocalFile())) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(paths)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Close, if nobody minds."""
        if self.may_close():
            event.accept()
            self.closed.emit()
        else:
            event.ignore()

    def _make_side(self) -> QFrame:
        side = QFrame()
        side.setObjectName("side-bar")
        style(side, role="side-bar")
        layout = QVBoxLayout(side)
        layout.setContentsMargins(Space.S, Space.M, Space.S, Space.M)
        for part in (self._bar, self._bar_end):
            part.setSpacing(Space.XS)
        layout.addLayout(self._bar)
        layout.addStretch(1)
        layout.addLayout(self._bar_end)
        return side

    def _arrange(self) -> QWidget:
        right = QVBoxLayout()
        right.setSpacing(0)
        self.messages.setContentsMargins(0, 0, 0, 0)
        self.messages.setSpacing(0)
        right.addLayout(self.messages)
        right.addWidget(self.pages, 1)
        above = QWidget()
        beside = QHBoxLayout(above)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        beside.addWidget(self._side)
        beside.addLayout(right, 1)
        whole = QWidget()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(above, 1)
        layout.addLayout(self._status)
        return whole

    def _draw(self) -> None:
        theme = self._icons.theme
        self._side.setFixedWidth(theme.px(SIDE_BAR_WIDTH))
        self.setWindowIcon(QIcon(self._icons.pixmap("logo", 64, "accent")))
        for place in self._places.values():
            place.button.setIcon(self._icons.icon(place.icon, "muted", 22, checked="accent"))
            place.button.setIconSize(QSize(theme.px(22), theme.px(22)))
            place.button.setMinimumHeight(theme.px(BUTTON_PX))
