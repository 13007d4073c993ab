"""The parts of what is shown of a saved file: going on, blocks, card, samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gui.engine.runs.continuing import Continuation
from gui.engine.runs.file_look import FileLook
from gui.engine.runs.file_origin import SamplesThen
from gui.engine.runs.model_card import ModelCard
from gui.engine.texts import _
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.block_bars import BlockBars
from gui.window.pages.run.samples import Sample, SampleModel, SampleStrip
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear, row


class _Part(QWidget):
    """A title and what belongs to it."""

    def __init__(self, title: str, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(Space.S)
        self.title = Label(title, "strong")
        self.body.addWidget(self.title)


class OnPart(_Part):
    """How a training goes on from the file, and the button that opens the plan."""

    wanted = Signal(object)
    """Target to value."""

    def __init__(self) -> None:
        super().__init__(_("Continue from this one"), "file-on")
        self._changes: dict[str, object] = {}
        self.words = Label("", "body")
        self.words.setObjectName("file-on-words")
        self.diff = Label("", "code", selectable=True)
        self.diff.setObjectName("file-on-diff")
        self.diff.setAccessibleName(_("What changes in the plan"))
        self.button = Button(_("Open as plan"), "primary", name="file-continue")
        self.button.set_tip(_("Opens a new plan with this change; nothing starts yet."))
        self.button.clicked.connect(lambda: self.wanted.emit(dict(self._changes)))
        for part in (self.words, self.diff, self.button):
            self.body.addWidget(part)

    def show_way(self, on: Continuation | None, changes: Sequence[str], why_not: str) -> None:
        """Show the way on, or why there is none."""
        self._changes = dict(on.changes) if on is not None else {}
        self.words.setText(on.sentence if on is not None else why_not)
        self.diff.setText("\n".join(changes))
        self.diff.setVisible(bool(changes))
        self.button.setVisible(on is not None)
        self.show()


class BlocksPart(_Part):
    """How large each block is beside another file, and what differs in how both were made.

    Args:
        theme: For the bars.
    """

    against_chosen = Signal(object)
    """The path of the file to compare with; None for none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(_("How far each block has moved"), "file-growth")
        self.choice = Choice((), name="file-against", words=_("Compared with"))
        self.choice.setMinimumContentsLength(22)
        self.choice.changed.connect(self.against_chosen)
        self._line = QWidget()
        self._line.setLayout(
            row(Label(_("Compared with"), "muted", wrap=False), self.choice, None, spacing=Space.S)
        )
        self.bars = BlockBars(theme)
        self.note = Label("", "muted")
        self.note.setObjectName("file-differences")
        for part in (self._line, self.bars, self.note):
            self.body.addWidget(part)

    def show_others(self, others: Sequence[Path], *, model: bool) -> None:
        """Offer files to compare with."""
        options: list[tuple[object, str]] = [(path, path.name) for path in others]
        self.choice.set_options([*options, (None, _("nothing"))])
        self._line.setVisible(bool(others))
        self.setVisible(model)
        self.bars.show_blocks(())
        self.note.setText("")

    def wait(self) -> None:
        """Say that it is being read."""
        self.note.setText(_("Reading the file …"))
        self.note.show()

    def show_growth(self, look: FileLook) -> None:
        """Show what was read."""
        self.bars.show_blocks(look.growth)
        lines = [f"{each.what}: {each.first or '–'} → {each.second or '–'}" for each in look.differences]
        if not look.growth:
            lines = [_("Its numbers cannot be read.")]
        self.note.setText("\n".join(lines))
        self.note.setVisible(bool(lines))


class CardPart(_Part):
    """What the file says of itself."""

    def __init__(self) -> None:
        super().__init__(_("What the file says"), "file-card")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(Space.M)
        self._grid.setVerticalSpacing(Space.XS)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)

    def show_card(self, card: ModelCard | None) -> None:
        """Show this; nothing where there is none."""
        clear(self._grid)
        self.setVisible(card is not None)
        for number, line in enumerate(card.rows if card is not None else ()):
            value = Label(line.value, "body", selectable=True)
            self._grid.addWidget(Label(line.what, "muted", wrap=False), number, 0)
            self._grid.addWidget(value, number, 1)


class SamplesPart(_Part):
    """The samples of the file's step.

    Args:
        theme: Their size.
        tasks: Where pictures are read.
    """

    def __init__(self, theme: Theme, tasks: Tasks) -> None:
        super().__init__("", "file-samples")
        self.model = SampleModel(theme, tasks)
        self.strip = SampleStrip(theme, self.model)
        self.strip.setObjectName("file-samples-strip")
        self.body.addWidget(self.strip)

    def clear(self) -> None:
        """Let go of the pictures."""
        self.model.clear()

    def show_samples(self, samples: SamplesThen) -> None:
        """Show these; nothing where there are none."""
        self.model.clear()
        pictures = [
            Sample(path, _("prompt {number}").format(number=number))
            for number, path in enumerate(samples.paths, start=1)
        ]
        self.model.add(reversed(pictures))
        self.title.setText(_("Samples of this step") if samples.exact else _("Last samples before it"))
        self.setVisible(bool(pictures))
