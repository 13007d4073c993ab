"""The captions that a captioner made, each as it would be written; written or thrown away here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QListView

from gui.engine.dataset.caption_edits import EditPreview
from gui.engine.runs.captioning_job import CaptionJob
from gui.engine.runs.captioning_results import CaptionProposal, previews_of
from gui.engine.texts import _, ngettext
from gui.window.pages.data.caption_edit_list import CaptionEditLook, CaptionEdits
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.switch import Switch

LIST_HEIGHT = 420
SHOWN_NAMES = 5


class FoundCaptions(Card):
    """Every caption before any is written.

    Args:
        icons: With the theme.
    """

    write_wished = Signal()
    """Write what is shown."""
    thrown_away = Signal()
    """Forget what is shown; nothing was written."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(_("Captions that were made"), name="captioning-found")
        self._theme = icons.theme
        self._found: tuple[CaptionProposal, ...] = ()
        self._previews: tuple[EditPreview, ...] = ()
        self._edits = CaptionEdits()
        self.about = Label("", "muted")
        self.list = QListView()
        self.list.setObjectName("captioning-list")
        self.list.setAccessibleName(_("Captions that were made"))
        self.list.setUniformItemSizes(True)
        self.list.setModel(self._edits)
        self._look = CaptionEditLook(icons.theme)
        self.list.setItemDelegate(self._look)
        self.over = Switch(_("Write over captions that say something"), name="captioning-over")
        self.write = Button("", kind="primary", name="captioning-write")
        self.throw = Button(_("Throw away"), name="captioning-throw")
        for part in (self.about, self.list, self.over):
            self.body.addWidget(part)
        self.body.addWidget(held(FlowLayout(self.write, self.throw, spacing=Space.S)))
        self.over.changed.connect(lambda _on: self._preview())
        self.write.clicked.connect(self.write_wished)
        self.throw.clicked.connect(self.thrown_away)
        icons.theme.changed.connect(self._fit)
        self._fit()
        self.hide()

    def previews(self) -> tuple[EditPreview, ...]:
        """Return what would be written."""
        return self._previews

    def show_captions(self, found: Sequence[CaptionProposal], job: CaptionJob | None) -> None:
        """Show other captions; the card is away where there are none."""
        self.setVisible(bool(found))
        if tuple(found) == self._found:
            return
        self._found = tuple(found)
        self.over.show_value(False)
        self.over.setVisible(any(each.existing for each in found))
        self.about.setText(_left_out(found, job))
        self.about.setVisible(bool(self.about.text()))
        self._preview()

    def _preview(self) -> None:
        self._previews = previews_of(self._found, over_existing=self.over.isChecked())
        self._edits.show_previews(self._previews)
        count = self._edits.rowCount()
        words = ngettext("Write {count} caption", "Write {count} captions", count)
        self.write.setText(words.format(count=f"{count:,}"))
        self.write.setEnabled(count > 0)

    def _fit(self) -> None:
        self.list.setMinimumHeight(self._theme.px(LIST_HEIGHT))


def _left_out(found: Sequence[CaptionProposal], job: CaptionJob | None) -> str:
    """Say which images got no caption."""
    if job is None:
        return ""
    without = len(job.images) - len(found)
    words = []
    if without > 0:
        text = ngettext("{count} image got no caption.", "{count} images got no caption.", without)
        words.append(text.format(count=f"{without:,}"))
    if job.unreadable:
        names = [Path(path).name for path in job.unreadable]
        shown = ", ".join(names[:SHOWN_NAMES]) + (" …" if len(names) > SHOWN_NAMES else "")
        words.append(_("Left out, they cannot be decoded: {names}").format(names=shown))
    return " ".join(words)
