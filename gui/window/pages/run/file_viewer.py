"""One saved file, over the page: what it is, how it moved, its samples, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QFrame, QVBoxLayout, QWidget

from gui.engine.plan.changes import difference_in_words
from gui.engine.runs.file_look import FileLook, comparable, place_of
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import FileNow
from gui.engine.texts import _
from gui.window.bridges.file_desk import FileDesk
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.file_parts import BlocksPart, CardPart, OnPart, SamplesPart
from gui.window.pages.run.words import TONES, file_chip, file_line
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, column, held, row
from gui.window.widgets.page import Scroll
from gui.window.widgets.styled import style

_BESIDE_WIDTH = 720


class FileViewer(QFrame):
    """Lies over the page until Escape or its button closes it.

    Args:
        icons: Draws its buttons; with the theme.
        tasks: Where files are read.
        parent: What it lies over.
    """

    closed = Signal()
    plan_wanted = Signal(object)
    """What to change in the run's plan: target to value."""
    folder_wanted = Signal(object)
    """The file's path: show it in its folder."""

    def __init__(self, icons: Icons, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("file-viewer")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        style(self, role="card")
        self._icons = icons
        self._theme = icons.theme
        self._run: RunFolder | None = None
        self._file: FileNow | None = None
        self._others: list[Path] = []
        self._desk = FileDesk(tasks)
        self._desk.looked.connect(self._show_look)
        self._desk.said.connect(self._say)
        self._desk.working.connect(self._show_working)
        self.name = ElidedLabel("", "card", middle=True)
        self.name.setObjectName("file-name")
        self.chip = Chip(name="file-chip")
        self.close_button = IconButton(icons.icon("cross"), _("Close (Esc)"), name="file-close")
        self.close_button.clicked.connect(self.close_it)
        self.words = Label("", "muted", selectable=True)
        self.words.setObjectName("file-words")
        self.said = Label("", "strong", selectable=True)
        self.said.setObjectName("file-said")
        self._make_parts(tasks)
        self._make_layout()
        self._theme.changed.connect(self._redraw)
        self.hide()

    def _make_parts(self, tasks: Tasks) -> None:
        self.on = OnPart()
        self.on.wanted.connect(self._go_on)
        self.blocks = BlocksPart(self._theme)
        self.blocks.against_chosen.connect(self._look)
        self.card = CardPart()
        self.samples = SamplesPart(self._theme, tasks)
        self.send_button = Button(_("Send a copy to…"), compact=True, name="file-send")
        self.send_button.set_tip(_("To the folder of an image program; nothing there is overwritten."))
        self.send_button.clicked.connect(self._ask_folder)
        self.again_button = Button("", compact=True, name="file-send-again")
        self.again_button.clicked.connect(lambda: self._send(self.again_button.property("folder")))
        self.hash_button = Button(_("Write SHA-256 beside it"), compact=True, name="file-hash")
        self.hash_button.clicked.connect(self._hash)
        self.folder_button = Button(_("Show in folder"), compact=True, name="file-folder")
        self.folder_button.clicked.connect(lambda: self.folder_wanted.emit(self._path()))

    def _make_layout(self) -> None:
        buttons = (self.again_button, self.send_button, self.hash_button, self.folder_button)
        head = row(self.name, self.chip, self.close_button, spacing=Space.M)
        head.setStretch(0, 1)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(Space.XL)
        left = column(self.on, self.blocks, None, spacing=Space.L)
        right = column(self.samples, self.card, None, spacing=Space.L)
        self._columns.addLayout(left, 1)
        self._columns.addLayout(right, 1)
        content = QWidget()
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, Space.S, 0)
        inside.addLayout(self._columns)
        inside.addStretch(1)
        whole = column(
            head,
            self.words,
            held(FlowLayout(*buttons)),
            self.said,
            Scroll(content, name="file-scroll"),
            spacing=Space.S,
            margins=(Space.L,) * 4,
        )
        whole.setStretch(4, 1)
        self.setLayout(whole)

    def open_file(self, run: RunFolder, files: Sequence[FileNow], file: FileNow) -> None:
        """Show a file of a run."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect().adjusted(Space.L, Space.L, -Space.L, -Space.L))
        self._run, self._file = run, file
        self._others = comparable(files, file)
        self._say("", "")
        chip = file_chip(file)
        self.name.setText(place_of(file).name)
        self.chip.show_state(chip.text, TONES[chip.tone])
        sentence = "" if file.judgement == "clean" else file.sentence[:1].upper() + file.sentence[1:]
        facts = (sentence, file_line(file), str(place_of(file)))
        self.words.setText("\n".join(part for part in facts if part))
        self.blocks.show_others(self._others, model=file.kind == "model")
        self.hash_button.setVisible(file.kind == "model" and place_of(file).is_file())
        self._show_again()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._look(self._others[0] if self._others else None)

    def close_it(self) -> None:
        """Go back to the page."""
        if self.isVisible():
            self.hide()
            self._desk.leave()
            self.samples.clear()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set the columns below each other where there is no room for two."""
        super().resizeEvent(event)
        beside = self.width() >= self._theme.px(_BESIDE_WIDTH)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._columns.direction() != way:
            self._columns.setDirection(way)

    def _look(self, against: object) -> None:
        if self._run is not None and self._file is not None:
            for part in (self.on, self.card, self.samples):
                part.hide()
            self.blocks.wait()
            self._desk.look(self._run, self._file, against if isinstance(against, Path) else None)

    def _show_look(self, look: FileLook) -> None:
        if self._file is None or look.path != self._path():
            return
        words = [difference_in_words(each.target, each.before, each.after) for each in look.changes]
        self.on.show_way(look.on, words, look.why_not)
        self.blocks.show_growth(look)
        self.card.show_card(look.card)
        self.samples.show_samples(look.samples)

    def _path(self) -> Path | None:
        return place_of(self._file) if self._file is not None else None

    def _show_again(self) -> None:
        """Offer the folder that the last copy went to."""
        is_file = self._path() is not None and self._file is not None and self._file.kind == "model"
        before = self._desk.folder_before(self._run) if self._run is not None else ""
        self.again_button.setVisible(is_file and bool(before))
        self.again_button.setText(_("Send a copy to {folder}").format(folder=Path(before).name))
        self.again_button.set_tip(before)
        self.again_button.setProperty("folder", before)
        self.send_button.setVisible(is_file)

    def _ask_folder(self) -> None:
        before = str(self.again_button.property("folder") or "")
        folder = QFileDialog.getExistingDirectory(self, _("Send a copy to"), before)
        if folder:
            self._send(folder)

    def _send(self, folder: object) -> None:
        path = self._path()
        if self._run is not None and path is not None and folder:
            self._desk.send(self._run, path, Path(str(folder)))

    def _hash(self) -> None:
        path = self._path()
        if path is not None:
            self._desk.hash_beside(path)

    def _say(self, sentence: str, tone: str) -> None:
        self.said.setText(sentence)
        self.said.setVisible(bool(sentence))
        if tone == "good":
            self._show_again()

    def _show_working(self, words: str) -> None:
        """Say what is being done, and take no other wish until it is over."""
        self._say(words, "")
        for button in (self.again_button, self.send_button, self.hash_button):
            button.setEnabled(not words)

    def _go_on(self, changes: object) -> None:
        """Open the plan; what is known here of free names and steps is old by the time one comes back."""
        self.close_it()
        self.plan_wanted.emit(changes)

    def _redraw(self) -> None:
        self.close_button.setIcon(self._icons.icon("cross"))
