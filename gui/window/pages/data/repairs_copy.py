"""A copy of the dataset in a folder of its own in which everything that can be mended is."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices

from gui.engine.dataset.clean_copy import CleanCopy, copy_clean
from gui.engine.dataset.copy_list import LIST
from gui.engine.dataset.scan import done_words
from gui.engine.errors import PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.models.short_list import in_short
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.tile_words import short_words
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Tone
from gui.window.widgets.inputs import PathField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.switch import Switch

_KEY = "repairs-copy"
SHOWN_NAMES = 8


class CopyCard(Card):
    """Where to, what is done, how far it is, and what came of it.

    Args:
        tasks: Where it is copied.
        icons: With the theme.
    """

    plan_wished = Signal(object, str)

    def __init__(self, tasks: Tasks, icons: Icons) -> None:
        super().__init__(_("Make a clean copy"), name="repairs-copy")
        self._tasks = tasks
        self._view: DatasetView | None = None
        self._handle: TaskHandle | None = None
        self._copy: CleanCopy | None = None
        self._copied: tuple[Path, ...] = ()
        self._target = Path()
        about = _(
            "Images become RGB of 8 bits, upright, in sRGB, with an ending that fits; captions become UTF-8; "
            "what cannot be read is left out. Your own files are only read."
        )
        self.place = PathField(
            "folder",
            placeholder=_("A new or empty folder"),
            name="copy-folder",
            words=_("Where the copy goes"),
        )
        self.shrink = Switch(_("Shrink images to what their buckets need"), name="copy-shrink")
        self.start = Button(_("Make the copy"), name="copy-start")
        self.busy = Busy(name="copy-busy")
        self.result = Banner(icons, "good", name="copy-result")
        self._use = Button(_("Train on the copy"), compact=True, name="copy-use")
        self._open = Button(_("Open the folder"), compact=True, name="copy-open")
        self.result.set_buttons(self._use, self._open)
        self.body.addWidget(Label(about, "muted"))
        self.body.addWidget(self.place)
        self.body.addWidget(held(FlowLayout(self.shrink, self.start, spacing=Space.M)))
        self.body.addWidget(self.busy)
        self.body.addWidget(self.result)
        self.busy.hide()
        self.result.hide()
        self.start.clicked.connect(self._start)
        self.busy.cancelled.connect(self._cancel)
        self.place.changed.connect(lambda _text: self._show())
        self._use.clicked.connect(self._wish)
        self._open.clicked.connect(self._open_folder)
        self._show()

    def show_view(self, view: DatasetView) -> None:
        """Offer a copy of a dataset."""
        if self._view is None or self._view.spec != view.spec:
            self.place.show_value(_proposed(view))
        self._view = view
        if self._handle is None and self._copied != view.spec.folders:
            self.result.hide()  # it tells of another dataset
        self._show()

    def _start(self) -> None:
        view, target, shrink = (
            self._view,
            Path(self.place.path()).expanduser().absolute(),
            self.shrink.isChecked(),
        )
        if view is None:
            return
        self._copy, self._copied, self._target = None, view.spec.folders, target
        self.result.hide()
        self.busy.show_progress(_("Copying …"))

        def work(handle: TaskHandle) -> CleanCopy:
            return copy_clean(
                view.spec,
                target,
                shrink=shrink,
                told=lambda done, total: handle.progress("", done, total),
                cancelled=handle.is_cancelled,
            )

        self._handle = self._tasks.run(work, self._done, self._failed, key=_KEY, progress=self._progress)
        self._show()

    def _progress(self, _text: str, done: int, total: int) -> None:
        self.busy.show_progress(done_words(done, total), done, total)

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            text = _("What is copied stays; the same copy goes on from there.")
            self._say(_("The copy was called off."), text, "neutral")

    def _done(self, copy: CleanCopy) -> None:
        self._handle = None
        self._copy = copy
        words = ngettext(
            "{count} image is in {folder}, {mended} of them mended",
            "{count} images are in {folder}, {mended} of them mended",
            copy.copied,
        )
        title = words.format(count=f"{copy.copied:,}", folder=self._target, mended=f"{copy.mended:,}")
        listed = _("What came of each file is written in “{name}” in its folder.").format(name=LIST)
        text = " ".join(filter(None, (_left_out(copy), listed)))
        self._say(title, text, "good" if not copy.left_out else "warn")

    def _failed(self, error: PreflightError) -> None:
        self._handle = None
        self._say(_("The copy was not finished."), str(error), "bad")

    def _say(self, title: str, text: str, tone: Tone) -> None:
        self.result.show_words(title, text, tone)
        self.result.show()
        self._show()

    def _show(self) -> None:
        self.busy.setVisible(self._handle is not None)
        self.start.setEnabled(self._view is not None and self._handle is None and bool(self.place.path()))
        self._open.setVisible(self._copy is not None)
        planned = (
            self._view is not None
            and self._view.document is not None
            and self._view.spec.folders == self._copied
        )
        self._use.setVisible(planned and self._copy is not None and self._copy.copied > 0)

    def _wish(self) -> None:
        if self._copy is not None:
            self.plan_wished.emit(self._copy.changes, _("Train on the clean copy"))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._target)))


def _proposed(view: DatasetView) -> str:
    """Return a folder beside that of the images."""
    if not view.spec.subsets:
        return ""
    folder = view.spec.subsets[0].image_dir
    return os.fspath(folder.with_name(f"{folder.name}_clean"))


def _left_out(copy: CleanCopy) -> str:
    if not copy.left_out:
        return ""
    names = [f"{name} ({short_words(key)})" for name, key in copy.left_out]
    return _("Left out: {names}.").format(names=", ".join(in_short(names, SHOWN_NAMES)))
