"""The words of the captions: what is said how often, in which images, and how to change it everywhere."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QWidget

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_folders import editable_captions
from gui.engine.dataset.caption_report import CaptionReport, WordShare
from gui.engine.dataset.word_search import all_words, images_with
from gui.engine.texts import _, ngettext
from gui.window.bridges.caption_work import CaptionOutcome, CaptionWork
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.pages.data.caption_change import CaptionChange
from gui.window.pages.data.caption_wish import CaptionWish, Mode
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.words_table import CAPTIONS, SHARE, TRIGGER, WORD, ShareBar, WordOrder, WordTable
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held, row

SHARE_WIDTH, LEAST_WORD = 170, 120
"""Of columns, in pixels at a text size of 100 %."""

_FOLDERS, _COUNT, _SEARCH = "words-folders", "words-count", "words-search"


class WordsPanel(QWidget):
    """A table of words beside what can be done about them.

    Args:
        tasks: Where captions are read.
        icons: With the theme.
        work: What writes captions; shared with whatever else changes them.
    """

    images_wished = Signal(object, object)
    """A folder and names: show these images."""
    files_changed = Signal()
    """Captions are other ones by now."""
    plan_wished = Signal(object, str)
    """Changes of the plan, and what they do in words."""

    def __init__(self, *, tasks: Tasks, icons: Icons, work: CaptionWork) -> None:
        super().__init__()
        self.setObjectName("words-panel")
        self._tasks = tasks
        self._work = work
        self._theme = icons.theme
        self._view: DatasetView | None = None
        self._folders: list[CaptionFolder] = []
        self._changed = False
        self._table = WordTable()
        self._order = WordOrder(self._table)
        self.folder = Choice(name="words-folder", words=_("In which folder"))
        self.filter = TextField(placeholder=_("Find words"), live=True, name="words-filter")
        self.about = Label("", "muted")
        self.about.setObjectName("words-about")
        self.table = self._make_table()
        self.images = Button("", name="words-images")
        self.remove = Button(_("Remove everywhere…"), name="words-remove")
        self.rename = Button(_("Rename everywhere…"), name="words-rename")
        self.change = CaptionChange(tasks, work, icons, "words")
        self._put_together()
        self._connect()
        self._restyle()
        self._chosen()

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("words-table")
        table.setAccessibleName(_("Words of the captions"))
        table.setModel(self._order)
        table.setSortingEnabled(True)
        table.setShowGrid(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.sortByColumn(CAPTIONS, Qt.SortOrder.DescendingOrder)
        self._bar = ShareBar(self._theme)
        table.setItemDelegateForColumn(SHARE, self._bar)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(WORD, QHeaderView.ResizeMode.Stretch)
        for section in (CAPTIONS, TRIGGER):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(SHARE, QHeaderView.ResizeMode.Fixed)
        return table

    def _put_together(self) -> None:
        card = Card()
        line = row(spacing=Space.S)
        line.addWidget(self.filter, 1)
        line.addWidget(self.folder, 1)
        card.body.addLayout(line)
        card.body.addWidget(self.about)
        card.body.addWidget(self.table, 1)
        card.body.addWidget(held(FlowLayout(self.images, self.rename, self.remove)))
        self._side = Card(_("In all captions"))
        self._side.body.addWidget(self.change)
        self._side.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.L)
        layout.addWidget(card, 1)
        layout.addWidget(self._side, 1)

    def _connect(self) -> None:
        self.filter.changed.connect(self._order.setFilterFixedString)
        self.folder.changed.connect(lambda _folder: self._count())
        self.table.selectionModel().selectionChanged.connect(self._selected)
        self.table.doubleClicked.connect(lambda _index: self._search())
        self.images.clicked.connect(self._search)
        self.remove.clicked.connect(lambda: self._propose("remove"))
        self.rename.clicked.connect(lambda: self._propose("rename"))
        self.change.closed.connect(lambda: self._show_side(shown=False))
        self._work.finished.connect(self._worked)
        self._theme.changed.connect(self._restyle)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the words their room."""
        super().resizeEvent(event)
        self._fit()

    def show_view(self, view: DatasetView) -> None:
        """Show the words of a dataset."""
        self._view = view
        self._tasks.run(lambda _handle: editable_captions(view.spec), self._take, key=_FOLDERS)

    def _take(self, folders: list[CaptionFolder]) -> None:
        if [where.folder for where in folders] != [where.folder for where in self._folders]:
            self.folder.set_options([(number, where.folder.name) for number, where in enumerate(folders)])
        self._folders = folders
        self.folder.setVisible(len(folders) > 1)
        self.change.show_folders(folders)
        self._count()

    def _where(self) -> CaptionFolder | None:
        number = self.folder.value()
        return self._folders[number] if isinstance(number, int) and number < len(self._folders) else None

    def _count(self) -> None:
        """Show the frequent words at once, and all of them when all captions are read."""
        where, captions = self._where(), self._captions()
        if where is None:
            self._show(())
            self.about.setText(_("There are no captions."))
            return
        self._show(captions.words if captions else ())
        trigger = self._trigger(captions)
        self._tasks.run(lambda handle: _words(where, trigger, handle), self._show, key=_COUNT)

    def _captions(self) -> CaptionReport | None:
        where = self._where()
        report = self._view.report if self._view else None
        for subset in report.subsets if report and where else ():
            if where is not None and subset.image_dir == str(where.folder):
                return subset.captions
        return None

    def _trigger(self, captions: CaptionReport | None) -> str:
        where = self._where()
        if where is not None and where.is_reg:
            return ""
        named = self._view.trigger if self._view else ""
        return named or (captions.trigger or "" if captions else "")

    def _show(self, words: tuple[WordShare, ...]) -> None:
        chosen = self._word()
        self._table.show_words(words)
        trigger = self._trigger(self._captions())
        bound = sum(word.bound for word in words)
        text = ngettext("{count} word or tag", "{count} words or tags", len(words))
        text = text.format(count=f"{len(words):,}")
        if trigger and bound:
            more = ngettext(
                "{count} is in every caption with “{word}”",
                "{count} are in every caption with “{word}”",
                bound,
            )
            text += " · " + more.format(count=f"{bound:,}", word=trigger)
        self.about.setText(text)
        self._fit()
        if chosen is not None:
            self._select(chosen.word)
        self._chosen()

    def _select(self, word: str) -> None:
        for number in range(self._order.rowCount()):
            there = self._order.word(number)
            if there is not None and there.word == word:
                self.table.selectRow(number)
                return

    def _word(self) -> WordShare | None:
        rows = self.table.selectionModel().selectedRows()
        return self._order.word(rows[0].row()) if rows else None

    def _selected(self, _now: QItemSelection, _before: QItemSelection) -> None:
        self._chosen()
        word, wish = self._word(), self.change.fields.wish()
        if word is not None and self._side.isVisible() and wish.find != word.word:
            self.change.propose(replace(wish, find=word.word))

    def _chosen(self) -> None:
        word = self._word()
        count = word.captions if word else 0
        text = ngettext("Show {count} image", "Show {count} images", count)
        self.images.setText(text.format(count=f"{count:,}") if word else _("Show images"))
        for button in (self.images, self.remove, self.rename):
            button.setEnabled(word is not None)

    def _search(self) -> None:
        where, word = self._where(), self._word()
        if where is None or word is None:
            return
        self._tasks.run(
            lambda handle: images_with(where, [word.word], handle.is_cancelled),
            lambda names: self.images_wished.emit(where.folder, names),
            key=_SEARCH,
        )

    def _propose(self, mode: Mode) -> None:
        word = self._word()
        if word is not None:
            self._show_side(shown=True)
            wish = CaptionWish(mode, word.word)
            if self._are_sentences():
                wish = CaptionWish("replace", word.word, whole_words=True)
            self.change.propose(wish)
            (self.change.fields.by if mode == "rename" else self.change.write).setFocus()

    def _show_side(self, *, shown: bool) -> None:
        """Show how words are changed; the table is as narrow as it can be then."""
        self._side.setVisible(shown)
        self.table.setColumnHidden(TRIGGER, shown)
        self._fit()
        for button in (self.remove, self.rename):
            button.setVisible(not shown)

    def _are_sentences(self) -> bool:
        captions = self._captions()
        return captions is not None and captions.sentences > captions.tags

    def _worked(self, _outcome: CaptionOutcome) -> None:
        if self.isVisible():
            self._count()
            self.files_changed.emit()

    def _fit(self) -> None:
        """Draw shares only where the words themselves can be read beside them."""
        header = self.table.horizontalHeader()
        others = header.sectionSize(CAPTIONS) + header.sectionSize(TRIGGER) + self._theme.px(SHARE_WIDTH)
        is_narrow = self.table.viewport().width() - others < self._theme.px(LEAST_WORD)
        self.table.setColumnHidden(SHARE, is_narrow or not self._side.isHidden())

    def _restyle(self) -> None:
        self.table.setColumnWidth(SHARE, self._theme.px(SHARE_WIDTH))
        self.table.verticalHeader().setDefaultSectionSize(self._theme.px(30))
        self._fit()


def _words(where: CaptionFolder, trigger: str, handle: TaskHandle) -> tuple[WordShare, ...]:
    return tuple(all_words(where, trigger, handle.is_cancelled))
