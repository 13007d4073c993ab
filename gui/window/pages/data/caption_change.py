"""Changes many captions: first what would become of each is shown, then nothing but that is written."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_edits import EditPreview, preview
from gui.engine.errors import PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.caption_work import CaptionOutcome, CaptionStep, CaptionWork, outcome_words
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.pages.data.caption_edit_list import CaptionEditLook, CaptionEdits
from gui.window.pages.data.caption_fields import CaptionFields
from gui.window.pages.data.caption_wish import CaptionWish
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import row

PREVIEW_DELAY_MS = 250


class CaptionChange(QWidget):
    """Fields, a preview, and the button that writes it.

    Args:
        tasks: Where previews are made.
        work: What writes captions.
        icons: With the theme.
        key: Tells its tasks from those of another one.
    """

    closed = Signal()

    def __init__(self, tasks: Tasks, work: CaptionWork, icons: Icons, key: str) -> None:
        super().__init__()
        self.setObjectName("caption-change")
        self._tasks = tasks
        self._work = work
        self._key = f"{key}-preview"
        self._previews: tuple[EditPreview, ...] = ()
        self._wish = CaptionWish()
        self._step: CaptionStep | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PREVIEW_DELAY_MS)
        self._timer.timeout.connect(self._look)
        self.fields = CaptionFields()
        self.count = Label("", "muted")
        self.count.setObjectName("change-count")
        self._edits = CaptionEdits()
        self.list = QListView()
        self.list.setObjectName("change-list")
        self.list.setAccessibleName(_("What would change"))
        self.list.setUniformItemSizes(True)
        self._look_of_edits = CaptionEditLook(icons.theme)
        self.list.setItemDelegate(self._look_of_edits)
        self.list.setModel(self._edits)
        self.write = Button("", "primary", name="change-write")
        self.back = Button(_("Back"), name="change-back")
        self.busy = Busy(name="change-busy")
        self.result = Banner(icons, "good", name="change-result")
        self._undo = Button(_("Undo"), compact=True, name="change-undo")
        self.result.set_buttons(self._undo)
        self.result.make_closable(self.result.hide, "change-result-close")
        self._put_together()
        self._connect()
        self._show()

    def _put_together(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self.fields)
        layout.addWidget(self.result)
        layout.addWidget(self.count)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.busy)
        layout.addLayout(row(self.write, self.back, None, spacing=Space.S))
        self.busy.hide()
        self.result.hide()

    def _connect(self) -> None:
        self.fields.changed.connect(self._begin)
        self.write.clicked.connect(self._write)
        self.back.clicked.connect(self.closed)
        self.busy.cancelled.connect(self._work.cancel)
        self._undo.clicked.connect(self._work.undo)
        self._work.changed.connect(self._show)
        self._work.progressed.connect(self._progress)
        self._work.finished.connect(self._finished)

    def show_folders(self, folders: Sequence[CaptionFolder]) -> None:
        """Work on other folders, or on the same ones with other images."""
        self.fields.show_folders(folders)
        self.look_again()

    def propose(self, wish: CaptionWish) -> None:
        """Fill the fields, and show what would come of it."""
        self.result.hide()
        self.fields.show_wish(wish)

    def look_again(self) -> None:
        """Make the preview anew: the captions may be other ones."""
        if self.isVisible():
            self._begin()

    def _begin(self) -> None:
        self._previews = ()
        self._timer.start()
        self._show()

    def _look(self) -> None:
        wish, folders = self.fields.wish(), self.fields.chosen()
        self._wish = wish
        if not wish.is_whole:
            self._tasks.cancel(self._key)
            self._take(())
            self.count.setText("")
            return
        self.count.setText(_("Looking at the captions …"))
        self._tasks.run(
            lambda handle: _previews(folders, wish, handle), self._take, self._refuse, key=self._key
        )

    def _take(self, previews: tuple[EditPreview, ...]) -> None:
        self._previews = previews
        self._edits.show_previews(previews)
        whole = sum(len(where.images) for where in self.fields.chosen())
        count = self._edits.rowCount()
        words = ngettext(
            "{count} caption would change, of {whole} images.",
            "{count} captions would change, of {whole} images.",
            count,
        )
        text = words.format(count=f"{count:,}", whole=f"{whole:,}")
        unreadable = sum(len(each.unreadable) for each in previews)
        if unreadable:
            more = ngettext(
                "{count} is in an encoding that cannot be told, and is left alone.",
                "{count} are in an encoding that cannot be told, and are left alone.",
                unreadable,
            )
            text += " " + more.format(count=f"{unreadable:,}")
        self.fields.wanted.show_trouble()
        self.count.setText(text)
        self._show()

    def _refuse(self, error: PreflightError) -> None:
        self._previews = ()
        self._edits.show_previews(())
        self.fields.wanted.show_trouble(str(error))
        self.count.setText(str(error))
        self._show()

    def _write(self) -> None:
        self.result.hide()
        self._step = self._work.write(self._wish.words(), self._previews)
        self._previews = ()
        self._show()

    def _progress(self, done: int, total: int) -> None:
        words = ngettext(
            "{done} of {total} caption is written", "{done} of {total} captions are written", total
        ).format(done=f"{done:,}", total=f"{total:,}")
        self.busy.show_progress(words, done, total)

    def _finished(self, outcome: CaptionOutcome) -> None:
        if outcome.step is not self._step:
            self.look_again()
            return
        title, more, whole = outcome_words(outcome)
        self.result.show_words(title, more, "good" if whole else "warn")
        self._undo.setVisible(outcome.deed != "undo")
        self.result.show()
        self.look_again()

    def _show(self) -> None:
        count = sum(len(each.edits) for each in self._previews)
        text = ngettext("Write {count} caption", "Write {count} captions", count).format(count=f"{count:,}")
        self.write.setText(text if count else _("Write"))
        self.write.setEnabled(count > 0 and not self._work.busy)
        self.busy.setVisible(self._work.busy and self._step is not None)
        self._undo.setEnabled(bool(self._work.undo_text))


def _previews(
    folders: Sequence[CaptionFolder], wish: CaptionWish, handle: TaskHandle
) -> tuple[EditPreview, ...]:
    """Return what would change, one preview a folder; in a thread."""
    return tuple(
        preview(where, wish.change(where.settings), create=wish.create, cancelled=handle.is_cancelled)
        for where in folders
    )
