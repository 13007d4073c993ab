"""The caption editor: all images of a dataset, the text of one, and changes of many at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QWidget

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_drafts import CaptionDrafts
from gui.engine.dataset.caption_folders import editable_captions
from gui.engine.texts import _
from gui.window.bridges.caption_work import CaptionOutcome, CaptionWork
from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.caption_change import CaptionChange
from gui.window.pages.data.caption_desk import CaptionDesk
from gui.window.pages.data.caption_head import CaptionHead
from gui.window.pages.data.caption_rows import DRAFT, TROUBLE, CaptionImages, CaptionRowLook, CaptionRows
from gui.window.pages.data.caption_sheet import CaptionSheet
from gui.window.pages.data.caption_states import CaptionState, caption_states
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.page import Empty, Scroll

LIST_WIDTH = 270
_FOLDERS = "caption-folders"


class CaptionPanel(QWidget):
    """All captions of a dataset, to read and to change.

    Args:
        tasks: Where files are read.
        icons: With the theme.
        work: What writes captions; shared with whatever else changes them.
        pictures: Makes large pictures, and no others: many small ones would push them out.
        drafts: What was typed and is not written yet.
    """

    files_changed = Signal()
    """Captions are other ones by now; told when the user has gone elsewhere or changed many."""
    plan_wished = Signal(object, str)
    """Changes of the plan, and what they do in words."""

    def __init__(
        self,
        *,
        tasks: Tasks,
        icons: Icons,
        work: CaptionWork,
        pictures: DatasetPictures,
        drafts: CaptionDrafts,
    ) -> None:
        super().__init__()
        self.setObjectName("caption-panel")
        self._tasks = tasks
        self._work = work
        self._theme = icons.theme
        self._drafts = drafts
        self._view: DatasetView | None = None
        self._wanted: tuple[Path, str] | None = None
        self._touched = False
        self._has_images = True
        self.desk = CaptionDesk(tasks, work, drafts)
        self.rows = CaptionRows()
        self.sheet = CaptionSheet(self.desk, tasks, icons, pictures)
        self.change = CaptionChange(tasks, work, icons, "captions")
        self.head = CaptionHead(icons, work)
        self._make_list(icons)
        self._put_together()
        self._connect()
        self._restyle()

    def _make_list(self, icons: Icons) -> None:
        self.filter = TextField(
            placeholder=_("Find images"), live=True, name="caption-filter", words=_("Find images by name")
        )
        self.only = Choice(name="caption-only", words=_("Which captions are shown"))
        self.list = QListView()
        self.list.setObjectName("caption-list")
        self.list.setAccessibleName(_("Images and their captions"))
        self.list.setUniformItemSizes(True)
        self._look = CaptionRowLook(icons.theme)
        self.list.setItemDelegate(self._look)
        self.list.setModel(self.rows)
        self.many = Button(_("Change many…"), compact=True, shortcut="Ctrl+H", name="caption-many")
        self.many.set_tip(_("Search and replace, add or remove a tag in all captions"))

    def _put_together(self) -> None:
        self._side = Card(margins=Space.M)
        for part in (self.filter, self.only, self.list, self.many):
            self._side.body.addWidget(part)
        self._stack = QStackedWidget()
        self._stack.addWidget(Scroll(self.sheet, name="caption-scroll"))
        self._stack.addWidget(self.change)
        text = _(
            "There are no images, or their captions end otherwise than the plan says (caption_extension), or "
            "a file of metadata holds them."
        )
        self._stack.addWidget(Empty(_("No captions that could be changed"), text, name="caption-nothing"))
        right = Card()
        right.body.addWidget(self.head)
        right.body.addWidget(self._stack, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.L)
        layout.addWidget(self._side)
        layout.addWidget(right, 1)

    def _connect(self) -> None:
        self.filter.changed.connect(lambda _text: self._cut_down())
        self.only.changed.connect(lambda _key: self._cut_down())
        self.list.selectionModel().currentChanged.connect(self._chosen)
        self.head.step_wanted.connect(self.step)
        self.many.clicked.connect(self._begin_many)
        self.change.closed.connect(lambda: self._show_many(many=False))
        self.sheet.changed.connect(self._show_draft)
        self._work.finished.connect(self._worked)
        self._theme.changed.connect(self._restyle)
        save = QShortcut(QKeySequence("Ctrl+Return"), self)
        save.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        save.activated.connect(lambda: self.step(1))

    def show_view(self, view: DatasetView) -> None:
        """Show a dataset; where it is the one that is shown, what is typed stays."""
        self._view = view
        self._tasks.run(lambda _handle: _listed(view), self._take, key=_FOLDERS)

    def show_image(self, folder: Path, name: str) -> None:
        """Show the caption of an image."""
        self._show_many(many=False)
        self.filter.show_value("")
        self.only.show_value("")
        self._wanted = (folder, name)
        self._cut_down()

    def write_now(self) -> None:
        """Write what was typed at once: the window closes."""
        self.sheet.write_now()

    def step(self, by: int) -> None:
        """Go to the next image, or back; what was typed is written."""
        number = self.list.currentIndex().row() + by
        if 0 <= number < self.rows.rowCount():
            self.list.setCurrentIndex(self.rows.index(number))
        else:
            self.sheet.leave()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the caption most of the room."""
        super().resizeEvent(event)
        self._restyle()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Have the dataset looked at again when the user goes elsewhere."""
        super().hideEvent(event)
        self._tell()

    def _take(self, listed: tuple[list[CaptionFolder], CaptionImages]) -> None:
        folders, images = listed
        self._has_images = bool(images.rows)
        self._show_many(many=self._stack.currentIndex() == 1)
        self.many.setEnabled(self._has_images)
        drafts = {(where.folder, image) for where in folders for image in self._drafts.images(where.folder)}
        current = self.sheet.place()
        with QSignalBlocker(self.list.selectionModel()):
            self.rows.show_images(images, drafts)
        self.change.show_folders(folders)
        self._wanted = self._wanted or current
        self._offer(images.states)
        if self.sheet.place() == current and current is not None:
            self.desk.look_again()  # another program may have changed it

    def _offer(self, states: Mapping[tuple[Path, str], CaptionState]) -> None:
        """Offer to show only captions with some trouble."""
        counts: dict[tuple[str, str], int] = {}
        for state in states.values():
            counts[(state.key, state.words)] = counts.get((state.key, state.words), 0) + 1
        options: list[tuple[object, str]] = [
            ("", _("All images")),
            (TROUBLE, _("With trouble · {count}").format(count=f"{len(states):,}")),
            (DRAFT, _("Not written yet")),
        ]
        options += [(key, f"{words} · {count:,}") for (key, words), count in counts.items()]
        chosen = self.only.value()
        self.only.set_options(options)
        self.only.show_value(chosen if chosen in dict(options) else "")
        self._cut_down()

    def _cut_down(self) -> None:
        current = self.sheet.place()
        with QSignalBlocker(self.list.selectionModel()):
            self.rows.cut_down(self.filter.text().strip(), str(self.only.value() or ""))
        self._wanted = self._wanted or current
        self._find_wanted()

    def _find_wanted(self) -> None:
        """Show the image that is asked for; where it is not in the list, the first one."""
        number = self.rows.number_of(self._wanted) if self._wanted else -1
        if self.rows.rowCount() == 0:
            self._number_changed()
            return
        self._wanted = None
        self.list.setCurrentIndex(self.rows.index(max(0, number)))
        self.list.scrollTo(self.list.currentIndex())

    def _chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        if not index.isValid():
            return
        row = self.rows.row(index.row())
        if row.place != self.sheet.place():
            self.sheet.open(row.where, row.image, self._view.trigger if self._view else "")
        self._number_changed()

    def _number_changed(self) -> None:
        index = self.list.currentIndex()
        name = self.rows.row(index.row()).image if index.isValid() else ""
        self.head.show_place(name, index.row(), self.rows.rowCount())

    def _begin_many(self) -> None:
        self._show_many(many=True)
        self.change.fields.wanted.setFocus()

    def _show_many(self, *, many: bool) -> None:
        empty = 0 if self._has_images else 2
        self._stack.setCurrentIndex(1 if many else empty)
        self.head.show_many(many=many)
        self._side.setVisible(not many)
        if many:
            self.change.look_again()

    def _show_draft(self) -> None:
        place = self.sheet.place()
        if place is not None:
            self.rows.set_draft(place, draft=self.desk.dirty)

    def _worked(self, outcome: CaptionOutcome) -> None:
        self._touched = True
        for preview in outcome.step.previews if outcome.step.size == 1 else ():
            for edit in preview.edits:
                place = (Path(preview.folder), edit.image)
                self.rows.set_draft(place, draft=self._drafts.find(*place) is not None)
        if self.isVisible() == (outcome.step.size > 1):
            self._tell()  # whoever changed many while this is not seen tells it himself

    def _tell(self) -> None:
        if self._touched:
            self._touched = False
            self.files_changed.emit()

    def _restyle(self) -> None:
        self._side.setFixedWidth(min(self._theme.px(LIST_WIDTH), max(1, self.width() // 3)))


def _listed(view: DatasetView) -> tuple[list[CaptionFolder], CaptionImages]:
    """Return the folders with captions and their images; in a thread, since it lists folders."""
    folders = editable_captions(view.spec)
    return folders, CaptionImages.of(folders, caption_states(view.report))
