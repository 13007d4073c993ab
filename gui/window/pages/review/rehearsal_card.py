"""A rehearsal: its button, how far it is, and what it has shown, with a clear go or no-go."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gui.engine.runs.rehearsal_result import RehearsalResult
from gui.engine.runs.rehearsal_words import rehearsal_figures, rehearsal_verdict
from gui.engine.texts import _
from gui.window.bridges.rehearser import Rehearser
from gui.window.pages.review.words import sentence_case
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import Label


class RehearsalCard(Card):
    """Shows the rehearsal that runs, or the last one; hidden where there is none.

    Attributes:
        button: Begins a rehearsal; may stand elsewhere.
        isolate: Begins the isolation test (N3); stands beside it.

    Args:
        rehearser: Makes them.
    """

    def __init__(self, rehearser: Rehearser) -> None:
        self._chip = Chip(name="rehearsal-verdict")
        super().__init__(_("Rehearsal"), self._chip, name="rehearsal")
        self._rehearser = rehearser
        self.button = Button(_("Rehearse"), name="rehearse-plan", shortcut="Alt+R")
        self.button.set_tip(
            _(
                "Trains a few steps on the largest images in a folder of its own, which takes about two "
                "minutes: shows memory, speed and disk before a night is spent"
            )
        )
        self.button.clicked.connect(lambda: rehearser.start("rehearsal"))
        self.isolate = Button(_("Isolation test"), "link", name="isolate-plan")
        self.isolate.set_tip(
            _(
                "Trains 60 steps on one or two of the images at a low learning rate: what fails on them too "
                "lies in the settings; what does not, in the other images"
            )
        )
        self.isolate.clicked.connect(lambda: rehearser.start("isolation"))
        self._busy = Busy(name="rehearsal-busy")
        self._busy.cancel.setObjectName("rehearsal-cancel")
        self._busy.cancelled.connect(rehearser.cancel)
        self._words = Label("")
        self._words.setObjectName("rehearsal-words")
        self._figures = Label("", "muted")
        self._figures.setObjectName("rehearsal-figures")
        self._older = Label(_("The plan was changed since."), "small")
        self._older.setObjectName("rehearsal-older")
        self._close = Button(_("Close"), "link", name="rehearsal-close")
        self._close.clicked.connect(rehearser.forget)
        for part in (self._busy, self._words, self._figures, self._older, self._close):
            self.body.addWidget(part)
        rehearser.changed.connect(self._draw)
        rehearser.progressed.connect(self._busy.show_progress)
        self._draw()

    def focus_order(self) -> list[QPushButton]:
        """Return the buttons in the order of the eye."""
        return [self._busy.cancel, self._close]

    def _draw(self) -> None:
        rehearser = self._rehearser
        result, problem, busy = rehearser.result, rehearser.problem, rehearser.busy
        had_keyboard = any(button.hasFocus() for button in self.focus_order())
        for button in (self.button, self.isolate):
            button.setEnabled(not busy)
        self.title.setText(_("Rehearsal") if rehearser.kind == "rehearsal" else _("Isolation test"))
        self.setVisible(busy or result is not None or problem is not None)
        self._busy.setVisible(busy)
        self._close.setVisible(not busy)
        if had_keyboard and not busy:
            began = self.button if rehearser.kind == "rehearsal" else self.isolate
            (began if self.isHidden() else self._close).setFocus(Qt.FocusReason.OtherFocusReason)
        self._older.setVisible(result is not None and rehearser.is_older)
        self._chip.setVisible(not busy)
        if problem is not None:
            self._chip.show_state(_("not rehearsed"), "warn")
            self._show(str(problem), "")
        elif result is not None:
            self._chip.show_state(*_verdict(result))
            words = "\n".join((sentence_case(rehearsal_verdict(result)), *result.reasons))
            self._show(words, "\n".join((*rehearsal_figures(result), *result.notes)))
        else:
            self._show("", "")

    def _show(self, words: str, figures: str) -> None:
        for label, text in ((self._words, words), (self._figures, figures)):
            label.setText(text)
            label.setVisible(bool(text))


def _verdict(result: RehearsalResult) -> tuple[str, Tone]:
    if result.verdict == "go":
        return _("go"), "good"
    return (_("no-go"), "bad") if result.verdict == "no-go" else (_("not known"), "neutral")
