"""The program's own folders: where they are, and how much of them can be made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gui.engine.cache import clear_cache, folder_size
from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, CannotWrite, PreflightError
from gui.engine.paths import Home
from gui.engine.quantities import gib
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import column, line

_KEY = "settings-cache"


class FoldersCard(Card):
    """Home, runs and cache.

    Args:
        home: Where they are.
        tasks: Where the cache is counted and cleared.
        refused: Takes why something was not done.
    """

    def __init__(self, home: Home, tasks: Tasks, refused: Callable[[PreflightError], None]) -> None:
        super().__init__(_("Folders"), name="settings-folders")
        self._home = home
        self._tasks = tasks
        self._refused = refused
        self._size = Label("", "small", wrap=False)
        self._size.setObjectName("cache-size")
        self._clear = Button(_("Clear the cache…"), compact=True, name="clear-cache")
        self._clear.clicked.connect(self._ask)
        self._question = Ask(
            _("Clear the cache?"),
            "",
            _("Clear it"),
            _("Keep it"),
            name="ask-clear-cache",
        )
        self._question.hide()
        self._question.yes.connect(self._clear_it)
        self._bytes = 0
        settings = _("Settings, own presets, and drafts of plans that were not saved.")
        self.body.addWidget(self._row("home", _("Home"), settings, home.root))
        self.body.addWidget(line())
        runs = _("One folder for each run: its plan, its command, its log and its figures.")
        self.body.addWidget(self._row("runs", _("Runs"), runs, home.runs))
        self.body.addWidget(line())
        cache = _("What trainers said and what was seen in files. It is made again when it is needed.")
        self.body.addWidget(self._row("cache", _("Cache"), cache, home.cache, self._size, self._clear))
        self.body.addWidget(self._question)

    def count(self) -> None:
        """Count the cache again."""
        self._size.setText(_("counting …"))
        self._tasks.run(self._count, self._counted, self._refused, key=_KEY)

    def _count(self, handle: TaskHandle) -> int:
        return folder_size(self._home.cache, cancelled=handle.is_cancelled)

    def _counted(self, size: int) -> None:
        self._bytes = size
        self._size.setText(gib(size) if size else _("empty"))
        self._clear.setEnabled(size > 0)

    def _row(self, name: str, title: str, text: str, place: Path, *more: QWidget) -> QWidget:
        path = ElidedLabel(str(place), "mono", middle=True)
        path.setObjectName(f"folder-{name}")
        words = column(Label(title), Label(text, "small"), path, spacing=2)
        open_it = Button(_("Open"), compact=True, name=f"open-{name}", tip=str(place))
        open_it.setAccessibleName(_("Open: {name}").format(name=title))
        open_it.clicked.connect(lambda: self._open(place))
        buttons = QHBoxLayout()
        buttons.setSpacing(Space.S)
        for part in (*more, open_it):
            buttons.addWidget(part)
        row = QWidget()
        layout = QVBoxLayout(row) if more else QHBoxLayout(row)
        layout.setContentsMargins(0, Space.XS, 0, Space.XS)
        layout.setSpacing(Space.S if more else Space.XL)
        layout.addLayout(words, 1)
        if more:
            buttons.addStretch(1)
        layout.addLayout(buttons)
        return row

    def _open(self, place: Path) -> None:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._refused(CannotWrite(place, reason_of(error)))
            return
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(place))):
            self._refused(CannotRead(place, _("the desktop has no program that shows folders")))

    def _ask(self) -> None:
        text = _(
            "{size} become free. Trainers are asked again and files are read again when they are needed."
        )
        self._question.ask(detail=text.format(size=gib(self._bytes)))

    def _clear_it(self) -> None:
        self._size.setText(_("clearing …"))
        self._clear.setEnabled(False)
        self._tasks.run(
            lambda _handle: clear_cache(self._home), lambda _freed: self.count(), self._not_cleared, key=_KEY
        )

    def _not_cleared(self, error: PreflightError) -> None:
        self._refused(error)
        self.count()
