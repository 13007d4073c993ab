"""One image in full: the picture with the crop on it, its caption, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent

from gui.engine.dataset.small_picture import PictureWish
from gui.engine.dataset.spec import SubsetSpec
from gui.engine.findings import Finding
from gui.engine.texts import _, ngettext
from gui.window.bridges.dataset_pictures import DatasetPictures, RoundWish
from gui.window.bridges.lane import Answer, Lane
from gui.window.pages.data.crop_picture import CropPicture
from gui.window.pages.data.image_findings import ImageFindings
from gui.window.pages.data.image_look import ImageLook, look_at_image
from gui.window.pages.data.marked_caption import MarkedCaption
from gui.window.pages.data.words import caption_words, scale_words, size_words
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, column, held, line, row
from gui.window.widgets.page import Scroll

WIDTH = 380
"""In pixels at a text size of 100 %."""

MOST_PICTURE = 0.42
"""So much of the panel's height the picture may take."""

LOWEST_PICTURE = 120

LOOK_MS = 60
"""Who leafs through images waits for none of them."""


@dataclass(frozen=True)
class ShownImage:
    """An image that is shown in full.

    Attributes:
        path: Where.
        subset: How its folder is meant.
        keys: What is wrong with it, the worst first.
        trigger: The word that calls up what is taught; empty for none.
        findings: Of the whole dataset; they have the ways out.
        memory: Where what was found out about images is remembered.
        selected: How many images are selected.
    """

    path: Path
    subset: SubsetSpec
    keys: tuple[str, ...]
    trigger: str
    findings: Sequence[Finding]
    memory: Path
    selected: int = 1


class ImagePanel(Card):
    """At the right of the grid.

    Args:
        icons: With the theme.
        pictures: Makes the large picture.
    """

    aside_wanted = Signal()
    edit_wanted = Signal()
    folder_wanted = Signal()
    fix_wanted = Signal(object)
    """`Fix`."""

    def __init__(self, *, icons: Icons, pictures: DatasetPictures) -> None:
        super().__init__(name="data-panel")
        self._lane = Lane("image look")
        self._lane.answered.connect(self._take)
        self._theme = icons.theme
        self._pictures = pictures
        self._shown: ShownImage | None = None
        self._most = WIDTH
        self.picture = CropPicture(icons)
        self.name = ElidedLabel("", "strong", middle=True)
        self.name.setObjectName("data-name")
        self.size_line = Label("", "muted")
        self.size_line.setObjectName("data-size")
        self.scale_line = Label("", "small")
        self.scale_line.setObjectName("data-scale")
        self.caption_line = Label("", "muted")
        self.caption_line.setObjectName("data-caption-line")
        self.caption = MarkedCaption(icons.theme)
        self.edit = Button(_("Edit captions"), "link", name="data-edit-caption", tip=_("Key: Enter"))
        self.findings = ImageFindings()
        self.aside = Button(_("Set aside"), name="data-set-aside", tip=_("Key: Delete"))
        self.reveal = Button(_("Show folder"), "link", name="data-show-folder")
        self.note = ElidedLabel(_("Your files are never changed."), "muted")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        self.aside.clicked.connect(self.aside_wanted)
        self.edit.clicked.connect(self.edit_wanted)
        self.reveal.clicked.connect(self.folder_wanted)
        self.findings.fix_wanted.connect(self.fix_wanted)
        pictures.arrived.connect(self._show_picture)
        icons.theme.changed.connect(self._measure)
        self._arrange()
        self._measure()
        self.caption.hide()
        self.show_image(None)

    def show_image(self, shown: ShownImage | None) -> None:
        """Show another image; None where there is none."""
        same = shown is not None and self._shown is not None and shown.path == self._shown.path
        self._shown = shown
        self._inner.setVisible(shown is not None)
        self.aside.setEnabled(shown is not None)
        if shown is None:
            return
        self.name.setText(shown.path.name)
        self.findings.show_findings(shown.keys, shown.findings, shown.subset.target)
        words = ngettext("Set {count} image aside", "Set {count} images aside", shown.selected)
        self.aside.setText(
            _("Set aside") if shown.selected == 1 else words.format(count=f"{shown.selected:,}")
        )
        if not same:
            self.picture.show_crop((0, 0), None)
            self.size_line.setText("")
            self.scale_line.hide()
            self.scroller.verticalScrollBar().setValue(0)
        self._show_picture()
        self._timer.start()

    def fit(self, most: int) -> None:
        """Be as wide as usual, but not wider than something."""
        self._most = most
        self._measure()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave room for the words where there is little."""
        super().resizeEvent(event)
        self.picture.fit(max(self._theme.px(LOWEST_PICTURE), round(self.height() * MOST_PICTURE)))

    def _arrange(self) -> None:
        self.body.setSpacing(Space.M)
        words = column(self.name, self.size_line, self.scale_line, spacing=2)
        links = FlowLayout(self.edit, self.reveal)
        inner = column(self.picture, words, self.caption_line, self.caption, links, self.findings, None)
        inner.setSpacing(Space.M)
        self._inner = held(inner)
        self._inner.setObjectName("data-panel-inner")
        self.scroller = Scroll(self._inner, name="data-panel-scroll")
        self.body.addWidget(self.scroller, 1)
        self.body.addWidget(line())
        bottom = row(self.aside, self.note)
        bottom.setStretchFactor(self.note, 1)
        self.body.addLayout(bottom)

    def _measure(self) -> None:
        self.setFixedWidth(min(self._theme.px(WIDTH), self._most))

    def _look(self) -> None:
        shown = self._shown
        if shown is None:
            return
        size = self.picture.box()
        wish = PictureWish(shown.path, (size.width(), size.height()), filling=False)
        self._pictures.want([RoundWish(wish)])
        self._lane.ask(lambda: look_at_image(shown.path, shown.subset, shown.memory, shown.trigger))

    def _show_picture(self) -> None:
        if self._shown is not None:
            image = self._pictures.find(self._shown.path)
            broken = image is None and self._pictures.knows(self._shown.path)
            self.picture.show_image(image, broken=broken)

    def _take(self, answer: Answer) -> None:
        if answer.error is not None:
            raise answer.error
        look: ImageLook = answer.value
        if self._shown is None or look.path != self._shown.path:
            return
        self.size_line.setText(size_words(look))
        self.scale_line.setText(scale_words(look))
        self.scale_line.setVisible(bool(self.scale_line.text()))
        self.picture.show_crop(look.facts.seen_size if look.facts else (0, 0), look.crop)
        self.caption_line.setText(caption_words(look.caption))
        self.caption.setVisible(bool(look.caption.read.text))
        self.caption.show_caption(look.caption)
