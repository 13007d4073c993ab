"""Somebody before the whole window: clicks and types where it is seen, and reads what is visible."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import sight
from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QMimeData,
    QObject,
    QPoint,
    QPointF,
    Qt,
    QUrl,
)
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.preferences import load_preferences
from gui.window.main_window import MainWindow
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme
from gui.window.workbench import Workbench


class Person:
    """Has one window open, as `gui.window.app` opens it.

    Attributes:
        read_first: What could be read before anything had been looked for.

    Args:
        qtbot: Clicks and types.
        application: The one that there is.
        home: Where runs, caches and preferences are.
        trainer: Named on the command line; None for none.
        python: The trainer's interpreter.
        plan: Named on the command line.
        size: Of the window, pixels.
    """

    def __init__(
        self,
        qtbot: QtBot,
        application: QApplication,
        home: Home,
        *,
        trainer: str | None = "practice",
        python: str | None = None,
        plan: Path | None = None,
        size: tuple[int, int] = (1100, 700),
    ) -> None:
        self.qtbot = qtbot
        preferences = load_preferences(home.preferences)
        application.setDesktopFileName("kohya-preflight")  # as the program does; badges need it
        self.theme = Theme(application, preferences.appearance, preferences.text_percent)
        self.window = MainWindow(Icons(self.theme))
        self.window.resize(*size)
        self.window.show()
        self.bench = Workbench(
            application, self.window, Icons(self.theme), home, trainer=trainer, python=python
        )
        self.is_open, self.is_gone = True, False
        self.window.closed.connect(self._let_go)
        self._strays = _Strays()
        application.installEventFilter(self._strays)
        self.bench.begin(plan)
        self.read_first = "\n".join(sight.texts_at_once(self.window))
        self.come()

    def come(self) -> None:
        """Bring the window to the front, as a click on its frame would."""
        self.window.activateWindow()
        self.qtbot.waitUntil(self.window.isActiveWindow)

    def leave(self) -> None:
        """Close the window for good, whatever it asks, and wait until it is gone."""
        if self.is_gone:
            return
        self.is_gone = True
        if self.is_open:
            self.window.may_close = lambda: True
            self.window.close()
        self.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QApplication.instance().removeEventFilter(self._strays)
        assert not self._strays.seen, f"these flashed up as windows of their own: {self._strays.seen}"

    def find(self, name: str, within: str | None = None) -> QWidget:
        """Return the one visible thing of a name."""
        place: QWidget = self.find(within) if within else self.window
        found = sight.visible(place, name)
        assert found, f"{name} is not seen; seen is: {self.reads()}"
        return found[0]

    def is_seen(self, name: str) -> bool:
        """Whether something of a name is visible."""
        return sight.sees(self.window, name)

    def click(self, name: str, within: str = "") -> None:
        """Click on something as soon as it can be hit."""
        sight.click(self.qtbot, self.window, name, within)

    def type_into(self, name: str, text: str) -> None:
        """Click into a field, and write something else into it."""
        self.click(name)
        field = self.find(name)
        inner = field if isinstance(field, QLineEdit) else field.findChild(QLineEdit) or field
        inner.setFocus()
        self.qtbot.keyClick(inner, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        self.qtbot.keyClicks(inner, text)
        self.qtbot.keyClick(inner, Qt.Key.Key_Return)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        at = QApplication.focusWidget() or self.window
        self.qtbot.keyClick(at, key, modifier)

    def says(self, name: str) -> str:
        """Return all visible words of a part; "" where it is not seen."""
        return sight.says(self.window, name)

    def rows(self, name: str) -> list[str]:
        """Return the lines of a list or table, as a screen reader has them."""
        view = self.find(name)
        assert isinstance(view, QAbstractItemView)
        return sight.rows_of(view.model())

    def reads(self) -> str:
        """Return everything that can be read in the window now."""
        return sight.says(self.window)

    def reads_until(self, text: str, name: str = "main-window", ms: int = sight.PATIENCE_MS) -> None:
        """Wait until a part says something."""
        self.until(lambda: text in self._all(name), f"{text!r} in {name}", ms)

    def until(self, true: Callable[[], object], what: str = "it", ms: int = sight.PATIENCE_MS) -> None:
        """Wait until something is true; fail with what can be read instead."""
        try:
            self.qtbot.waitUntil(lambda: bool(true()), timeout=ms)
        except self.qtbot.TimeoutError:
            raise AssertionError(f"waited for {what}; seen is:\n{self.reads()}") from None

    def go(self, page: str) -> None:
        """Go to a page by the side bar."""
        self.click(f"side-{page}")

    def drop(self, path: Path, on: str = "") -> None:
        """Drop a file or folder on the middle of the window, or of a part that takes it."""
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        target: QWidget = self.find(on) if on else self.window
        middle = target.rect().center()
        held = (Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(target, QDragEnterEvent(QPoint(middle), *held))
        QApplication.sendEvent(target, QDropEvent(QPointF(middle), *held))

    def choose_row(self, name: str, row: int) -> None:
        """Click on a row of a list or table."""
        view = self.find(name)
        assert isinstance(view, QAbstractItemView)
        sight.click_item(self.qtbot, view, view.model().index(row, 1))

    def open_plan(self, path: Path) -> None:
        """Drop a plan on the window, and wait until it was checked."""
        self.drop(path)
        self.until(lambda: self.is_seen("launch-safely"), "the review")
        self.until(lambda: self.says("review-headline") not in ("", "Checking …"), "the check's end")
        self.until(lambda: not self.is_seen("review-looking"), "the look at the files")

    def _all(self, name: str) -> str:
        return self.reads() if name == "main-window" else self.says(name)

    def _let_go(self) -> None:
        self.is_open = False
        self.bench.close()


class _Strays(QObject):
    """Notes parts that are shown before they are put in their place: each is a window for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if (
            event.type() == QEvent.Type.Show
            and isinstance(watched, QWidget)
            and watched.isWindow()
            and watched.windowType() in (Qt.WindowType.Widget, Qt.WindowType.Window)
            and not isinstance(watched, MainWindow)
        ):
            self.seen.append(watched.objectName() or type(watched).__name__)
        return False


@contextlib.contextmanager
def persons(qtbot: QtBot, application: QApplication) -> Iterator[Callable[..., Person]]:
    """Give windows to persons; all are closed at the end."""
    made: list[Person] = []

    def sit_down(home: Home, **options: object) -> Person:
        person = Person(qtbot, application, home, **options)  # type: ignore[arg-type]
        made.append(person)
        return person

    try:
        yield sit_down
    finally:
        for person in made:
            person.leave()
