"""Runs: all of this machine, found by words and kind, opened, used again, thrown away."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QMenu, QStackedWidget, QWidget

from gui.engine.runs.run_search import Kind, RunFilter, is_of_kind, words_of
from gui.engine.texts import _, ngettext
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.models.run_table import RunTable
from gui.window.models.shown_runs import ShownRuns
from gui.window.pages.runs.deleting import Deleting
from gui.window.pages.runs.log_diagnosis import LogDiagnosis
from gui.window.pages.runs.run_view import RunView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import TextField
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.page import Empty, Page

SEARCH_PX = 220


class RunsPage(Page):
    """The page.

    Args:
        runs: Those of this machine.
        tasks: For what takes time.
        theme: Colours, fonts and sizes.
        icons: For pictures.
    """

    open_run = Signal(object)
    """`Path` of the folder of a run that is to be shown."""
    reuse = Signal(object)
    """`Path` of the folder of a run of which a plan is to be made."""

    def __init__(self, *, runs: RunList, tasks: Tasks, theme: Theme, icons: Icons) -> None:
        super().__init__(_("Runs"), scrolls=False, name="runs-page")
        self._runs = runs
        self._theme = theme
        self._icons = icons
        self._kind: Kind = "all"
        self._table = RunTable(self)
        self._shown = ShownRuns(self._table)
        self._view = RunView(theme, self._shown)
        self._deleting = Deleting(tasks, icons)
        self.log = LogDiagnosis(tasks, icons, QGuiApplication.clipboard())
        self.buttons.addWidget(self.log.button)
        self._search = TextField(
            placeholder=_("Search runs"), live=True, name="runs-search", words=_("Search runs")
        )
        self._search.setClearButtonEnabled(True)
        self._kinds = self._make_kinds()
        self._stack = self._make_stack()
        self._make_actions()
        filters = FlowLayout(self._search, *self._kinds.values())
        actions = FlowLayout(self._open, self._reuse, self._folder, self._delete)
        self.content.setSpacing(Space.M)
        self.content.addLayout(filters)
        self.content.addWidget(self._deleting)
        self.content.addWidget(self.log, 2)
        self.content.addWidget(self._stack, 1)
        self._action_bar = held(actions)
        self.content.addWidget(self._action_bar)
        self._connect()
        self._measure()
        self._draw()

    def diagnose(self, path: Path) -> None:
        """Say what went wrong in a log."""
        self.log.read(path)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Give the keyboard to the table."""
        super().showEvent(event)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_kinds(self) -> dict[Kind, Button]:
        words: dict[Kind, str] = {
            "all": _("All"),
            "running": _("Running"),
            "finished": _("Finished"),
            "trouble": _("Trouble"),
            "practice": _("Practice"),
        }
        group = QButtonGroup(self)
        made: dict[Kind, Button] = {}
        for kind, text in words.items():
            button = Button(text, "segment", name=f"runs-kind-{kind}")
            button.clicked.connect(lambda _checked, kind=kind: self._choose(kind))
            group.addButton(button)
            made[kind] = button
        made["all"].setChecked(True)
        self._words = words
        return made

    def _make_stack(self) -> QStackedWidget:
        stack = QStackedWidget()
        card = Card(margins=1, name="runs-card")
        card.body.addWidget(self._view)
        self._looking = Busy(_("Looking for runs …"), cancellable=False, name="runs-looking")
        picture = self._icons.pixmap("runs", 40, "faint")
        self._empty = Empty(
            _("No runs yet"),
            _(
                "Each training that you launch will stand here with how it ended, also those that were "
                "launched on the command line. Make a plan and press “Launch safely”, or practise first."
            ),
            picture=picture,
            name="runs-empty",
        )
        everything = Button(_("Show all runs"), name="runs-show-all")
        everything.clicked.connect(self._show_all)
        self._nothing = Empty(
            _("Nothing fits"),
            _("No run is of this kind and has these words."),
            picture=self._icons.pixmap("search", 40, "faint"),
            button=everything,
            name="runs-nothing",
        )
        for part in (card, self._looking, self._empty, self._nothing):
            stack.addWidget(part)
        self._card = card
        return stack

    def _make_actions(self) -> None:
        self._open = Button(
            _("Open"), "primary", name="runs-open", tip=_("Key: {key}").format(key=_("Enter"))
        )
        self._reuse = Button(_("Use again as plan"), name="runs-reuse")
        self._folder = Button(_("Open folder"), name="runs-folder")
        self._delete = Button(
            _("Delete…"), "danger", name="runs-delete-button", tip=_("Key: {key}").format(key=_("Delete"))
        )

    def _connect(self) -> None:
        self._runs.changed.connect(self._draw)
        self._theme.changed.connect(self._measure)
        self._search.textChanged.connect(lambda _text: self._filter())
        self._view.opened.connect(self._open_current)
        self._view.delete_wanted.connect(self._delete_current)
        self._view.menu_wanted.connect(self._show_menu)
        self._view.selectionModel().currentRowChanged.connect(lambda *_rows: self._draw_actions())
        self._open.clicked.connect(self._open_current)
        self._reuse.clicked.connect(self._reuse_current)
        self._folder.clicked.connect(self._open_folder)
        self._delete.clicked.connect(self._delete_current)
        self._deleting.deleted.connect(self._runs.refresh)
        self.log.changed.connect(self._choose_view)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.activated.connect(self.log.paste)
        self._deleting.done.connect(self._view.setFocus)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._search.setFocus)
        self._search.setToolTip(_("Key: {key}").format(key=find.key().toString()))

    def _measure(self) -> None:
        self._search.setFixedWidth(self._theme.px(SEARCH_PX))

    def _draw(self) -> None:
        entry, row = self._view.current_entry(), self._view.currentIndex().row()
        place = self._view.verticalScrollBar().value()
        self._table.show(self._runs.entries, self._runs.family_titles)
        self._view.measure()
        self._view.select(entry.name if entry else "", max(0, row))
        self._view.verticalScrollBar().setValue(place)
        self.subtitle.setText(self._summary())
        for kind, button in self._kinds.items():
            count = sum(is_of_kind(each, kind) for each in self._runs.entries)
            button.setText(f"{self._words[kind]} {count:,}" if count else self._words[kind])
        self._choose_view()

    def _summary(self) -> str:
        if self._runs.problem:
            return self._runs.problem
        count, living = len(self._runs.entries), len(self._runs.living)
        if not count:
            return ""
        words = ngettext("{count} run", "{count} runs", count).format(count=f"{count:,}")
        if living:
            words += " · " + ngettext("{count} is running", "{count} are running", living).format(
                count=living
            )
        return words

    def _choose_view(self) -> None:
        part: QWidget
        if not self._runs.known:
            part = self._looking
        elif not self._runs.entries:
            part = self._empty
        else:
            part = self._card if self._shown.rowCount() else self._nothing
        self._stack.setCurrentWidget(part)
        asked = not self.log.isHidden()
        self._stack.setHidden(asked)
        for kind in self._kinds.values():
            kind.setVisible(bool(self._runs.entries) and not asked)
        self._search.setVisible(bool(self._runs.entries) and not asked)
        self._action_bar.setVisible(part is self._card and not asked)
        self._draw_actions()

    def _draw_actions(self) -> None:
        entry = self._view.current_entry()
        there = entry is not None
        readable = entry is not None and entry.condition in ("fine", "unattended")
        self._open.setEnabled(readable)
        self._reuse.setEnabled(readable)
        self._folder.setEnabled(there)
        self._delete.setEnabled(entry is not None and entry.condition != "foreign")

    def _choose(self, kind: Kind) -> None:
        self._kind = kind
        self._filter()

    def _filter(self) -> None:
        entry = self._view.current_entry()
        self._shown.choose(RunFilter(self._kind, words_of(self._search.text())))
        self._view.select(entry.name if entry else "")
        self._choose_view()

    def _show_all(self) -> None:
        self._search.clear()
        self._kinds["all"].setChecked(True)
        self._choose("all")
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None and self._open.isEnabled():
            self.open_run.emit(entry.folder)

    def _reuse_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None:
            self.reuse.emit(entry.folder)

    def _open_folder(self) -> None:
        entry = self._view.current_entry()
        if entry is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(entry.folder)))

    def _delete_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None and self._delete.isEnabled():
            self._deleting.ask(entry)

    def _show_menu(self, place: object) -> None:
        menu = QMenu(self)
        for button in (self._open, self._reuse, self._folder, self._delete):
            action = menu.addAction(button.text())
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(cast("QPoint", place))
