"""Runs: all of this machine, found by words and kind, noted, compared, opened, used again, thrown away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from gui.engine.runs.folder import RunFolder
from gui.engine.texts import _, ngettext
from gui.window.bridges.run_list import RunList
from gui.window.bridges.run_notes import NotesWriter
from gui.window.bridges.tasks import Tasks
from gui.window.models.run_table import RunTable
from gui.window.models.shown_runs import ShownRuns
from gui.window.pages.report.report_panel import ReportPanel
from gui.window.pages.runs.compare_view import CompareView
from gui.window.pages.runs.deleting import Deleting
from gui.window.pages.runs.filters import RunFilters
from gui.window.pages.runs.log_diagnosis import LogDiagnosis
from gui.window.pages.runs.notes_card import NotesCard
from gui.window.pages.runs.run_view import RunView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.page import Empty, Page, Picture

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry


MOST_COMPARED = 6
"""Beyond that neither a table nor a chart can be read."""


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
        self._notes = NotesWriter(tasks)
        self._table = RunTable(self)
        self._shown = ShownRuns(self._table)
        self._view = RunView(theme, self._shown)
        self._deleting = Deleting(tasks, icons)
        self.log = LogDiagnosis(tasks, icons, QGuiApplication.clipboard())
        self.compare = CompareView(tasks, icons, runs.home, QGuiApplication.clipboard())
        self.report = ReportPanel(tasks, icons, QGuiApplication.clipboard())
        self.buttons.addWidget(self.log.button)
        self._filters = RunFilters(theme)
        self._notes_card = NotesCard(self._notes, theme)
        self._stack = self._make_stack()
        self._make_actions()
        actions = FlowLayout(*self._action_buttons)
        self.content.setSpacing(Space.M)
        self.content.addWidget(self._filters)
        self.content.addWidget(self._deleting)
        self.content.addWidget(self.log, 2)
        self.content.addWidget(self.compare, 2)
        self.content.addWidget(self.report, 2)
        self.content.addWidget(self._stack, 1)
        self.content.addWidget(self._notes_card)
        self._action_bar = held(actions)
        self.content.addWidget(self._action_bar)
        self._connect()
        self._draw()

    def diagnose(self, path: Path) -> None:
        """Say what went wrong in a log."""
        self.log.read(path)

    def close_page(self) -> None:
        """Write down what was typed last."""
        self._notes.close()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Give the keyboard to the table."""
        super().showEvent(event)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_stack(self) -> QStackedWidget:
        stack = QStackedWidget()
        card = Card(margins=1, name="runs-card")
        card.body.addWidget(self._view)
        self._looking = Busy(_("Looking for runs …"), cancellable=False, name="runs-looking")
        self._empty = Empty(
            _("No runs yet"),
            _(
                "Each training that you launch will stand here with how it ended, also those that were "
                "launched on the command line. Make a plan and press “Launch safely”, or practise first."
            ),
            picture=Picture(self._icons, "runs", size=40),
            name="runs-empty",
        )
        everything = Button(_("Show all runs"), name="runs-show-all")
        everything.clicked.connect(self._show_all)
        self._nothing = Empty(
            _("Nothing fits"),
            _("No run is of this kind and has these words."),
            picture=Picture(self._icons, "search", size=40),
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
        self._compare = Button(_("Compare"), name="runs-compare")
        self._report = Button(_("Report…"), name="runs-report", tip=_("A zip for those who help"))
        self._folder = Button(_("Open folder"), name="runs-folder")
        self._delete = Button(
            _("Delete…"), "danger", name="runs-delete-button", tip=_("Key: {key}").format(key=_("Delete"))
        )
        self._action_buttons = (
            self._open, self._reuse, self._compare, self._report, self._folder, self._delete,
        )  # fmt: skip

    def _connect(self) -> None:
        self._runs.changed.connect(self._draw)
        self._filters.changed.connect(self._filter)
        self._notes.written.connect(lambda folder, _notes: self._runs.look_at(folder.name))
        self._view.opened.connect(self._open_current)
        self._view.remove_wanted.connect(self._delete_current)
        self._view.menu_wanted.connect(self._show_menu)
        self._view.selectionModel().selectionChanged.connect(lambda *_rows: self._draw_actions())
        self._open.clicked.connect(self._open_current)
        self._reuse.clicked.connect(self._reuse_current)
        self._compare.clicked.connect(self._compare_chosen)
        self._report.clicked.connect(self._report_current)
        self._folder.clicked.connect(self._open_folder)
        self._delete.clicked.connect(self._delete_current)
        self._deleting.deleted.connect(self._runs.refresh)
        self.log.changed.connect(self._choose_view)
        self.compare.opened.connect(self._choose_view)
        self.report.opened.connect(self._choose_view)
        for part in (self.compare, self.report):
            part.closed.connect(self._show_list)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.activated.connect(self.log.paste)
        self._deleting.done.connect(self._view.setFocus)

    def _draw(self) -> None:
        entry, row = self._view.current_entry(), self._view.currentIndex().row()
        also = [each.name for each in self._view.chosen_entries()]
        place = self._view.verticalScrollBar().value()
        self._table.show(self._runs.entries, self._runs.family_titles)
        self._view.measure()
        self._view.select(entry.name if entry else "", max(0, row), also)
        self._view.verticalScrollBar().setValue(place)
        self.subtitle.setText(self._summary())
        self._filters.show_entries(self._runs.entries, self._runs.family_titles)
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
        asked = not all(part.isHidden() for part in (self.log, self.compare, self.report))
        self._stack.setHidden(asked)
        self._filters.setVisible(bool(self._runs.entries) and not asked)
        self._action_bar.setVisible(part is self._card and not asked)
        self._draw_actions()

    def _draw_actions(self) -> None:
        chosen = self._view.chosen_entries()
        one = chosen[0] if len(chosen) == 1 else None
        readable = one is not None and one.condition in ("fine", "unattended")
        self._open.setEnabled(readable)
        self._reuse.setEnabled(readable)
        self._folder.setEnabled(one is not None)
        self._report.setEnabled(one is not None and one.condition != "foreign")
        comparable = [each for each in chosen if each.condition in ("fine", "unattended")]
        self._compare.setEnabled(readable or 1 < len(comparable) <= MOST_COMPARED)
        self._compare.setText(_("What changed?") if one is not None else _("Compare"))
        self._compare.set_tip(_compare_tip(len(comparable)))
        self._delete.setEnabled(bool(_removable(chosen)))
        self._notes_card.show_entry(one)
        self._notes_card.setVisible(one is not None and not self._action_bar.isHidden())

    def _filter(self) -> None:
        entry = self._view.current_entry()
        also = [each.name for each in self._view.chosen_entries()]
        self._shown.choose(self._filters.wanted())
        self._view.select(entry.name if entry else "", also=also)
        self._choose_view()

    def _show_all(self) -> None:
        self._filters.clear()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None and self._open.isEnabled():
            self.open_run.emit(entry.folder)

    def _reuse_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None:
            self.reuse.emit(entry.folder)

    def _compare_chosen(self) -> None:
        chosen = [each for each in self._view.chosen_entries() if each.condition in ("fine", "unattended")]
        if chosen:
            oldest_first = sorted(chosen, key=lambda each: each.name)
            self.compare.compare([RunFolder(each.folder) for each in oldest_first])

    def _report_current(self) -> None:
        entry = self._view.current_entry()
        if entry is not None:
            self.report.show_run(RunFolder(entry.folder))

    def _show_list(self) -> None:
        self._choose_view()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_folder(self) -> None:
        entry = self._view.current_entry()
        if entry is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(entry.folder)))

    def _delete_current(self) -> None:
        removable = _removable(self._view.chosen_entries())
        if removable:
            self._deleting.ask(removable)

    def _show_menu(self, place: object) -> None:
        menu = QMenu(self)
        for button in self._action_buttons:
            action = menu.addAction(button.text())
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(cast("QPoint", place))


def _compare_tip(count: int) -> str:
    """Say what comparing does with so many runs."""
    if count > MOST_COMPARED:
        return _("At most {count} runs are compared at once.").format(count=MOST_COMPARED)
    if count == 1:
        return _(
            "Compares it with the last good run before it. Select several with Ctrl or Shift to compare them."
        )
    return _("Puts the selected runs side by side.")


def _removable(entries: list[RunEntry]) -> list[RunEntry]:
    """Return those that are runs: a folder of somebody else's is left alone."""
    return [entry for entry in entries if entry.condition != "foreign"]
