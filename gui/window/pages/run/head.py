"""The top of the page: what runs, in which state, how far, how fast, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from gui.engine.runs.status import RunStatus
from gui.engine.runs.words import state_words
from gui.engine.texts import _
from gui.window.pages.run.actions import RunActions
from gui.window.pages.run.words import TONES, phase_line, progress_of, progress_words
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, column, held
from gui.window.widgets.styled import style

_WORDS_WIDTH = 420
"""Where the sentence has less room beside the buttons, they go below it."""


class RunHead(QWidget):
    """Title, chips, the sentence of how far it is, the bar, and the buttons.

    Args:
        theme: For what grows with the text.
        actions: With the buttons.
    """

    def __init__(self, theme: Theme, actions: RunActions) -> None:
        super().__init__()
        self._theme = theme
        self._actions = actions
        self.title = ElidedLabel("", "title")
        self.title.setObjectName("run-title")
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.state = Chip(name="run-state")
        self.practice = Chip(_("practice"), "accent", name="run-practice")
        self.practice.setToolTip(_("The practice trainer runs, on the CPU; its files are for practice only."))
        self.facts = Label("", "muted")
        self.facts.setObjectName("run-progress-words")
        self.phase = Label("", "muted")
        self.phase.setObjectName("run-phase")
        self.bar = QProgressBar()
        self.bar.setObjectName("run-progress")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(_("How far the run is"))
        self._buttons = held(FlowLayout(*actions.buttons, spacing=Space.M))
        self._title_row = QHBoxLayout()
        self._title_row.setSpacing(Space.S)
        for part in (self.title, self.state, self.practice):
            self._title_row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self._title_row.addStretch(1)
        words = column(self._title_row, self.facts, spacing=Space.XS)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(Space.M)
        self._line.addLayout(words, 1)
        self._line.addWidget(self._buttons, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(column(self._line, self.phase, self.bar, spacing=Space.S))
        theme.changed.connect(self._arrange)

    def begin(self, name: str) -> None:
        """Show a run of which nothing is known yet but its name."""
        self.show_status(RunStatus(name=name))
        for part in (self.state, self.bar):
            part.hide()
        self.facts.setText("")

    def show_status(self, status: RunStatus) -> None:
        """Show what is true now; only what is other than before is drawn anew."""
        self.title.setText(status.plan_name or status.name)
        words = state_words(status)
        living = status.verdict is None
        tone = "accent" if living and words.tone == "plain" else TONES[words.tone]
        self.state.show_state(words.text, tone, "●" if living and words.tone == "plain" else None)
        self.state.show()
        self.practice.setVisible(status.practice)
        self.facts.setText(progress_words(status))
        self.phase.setText(phase_line(status))
        self.phase.setVisible(bool(self.phase.text()))
        self._show_bar(status)
        self._actions.show_status(status)
        self._arrange()

    def _show_bar(self, status: RunStatus) -> None:
        done, total = progress_of(status)
        if (self.bar.maximum(), self.bar.value()) != (total, done):
            self.bar.setRange(0, total)
            self.bar.setValue(done)
        self.bar.setVisible(status.verdict is None)
        style(self.bar, tone="warn" if status.state in ("paused", "stopping") else "")

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the buttons where there is room."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        layout = self._buttons.layout()
        wanted = layout.sizeHint().width() if layout is not None else 0
        beside = wanted + self._theme.px(_WORDS_WIDTH) <= self.width()
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if beside:
            self._buttons.setFixedWidth(wanted)
        else:
            self._buttons.setMinimumWidth(0)
            self._buttons.setMaximumWidth(16_777_215)
        if self._line.direction() != way:
            self._line.setDirection(way)
            place = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag(0)
            self._line.setAlignment(self._buttons, place)
