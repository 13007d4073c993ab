"""What the curve tells, in a quiet line under it; more of it on a click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gui.engine.runs.loss_advice import LossAdvice, confidence_words
from gui.engine.texts import _, ngettext
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import clear, column, held, row


class AdviceLine(QWidget):
    """The most important piece of advice in one line; all of it below each other when it is opened."""

    picked = Signal(int)
    """Show this step on the curve."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("loss-advice")
        self._shown: tuple[LossAdvice, ...] = ()
        self._open = False
        self._line = ElidedLabel("", "small")
        self._line.setObjectName("loss-advice-line")
        self._more = Button("", "link", compact=True, name="loss-advice-more")
        self._more.clicked.connect(self._toggle)
        self._all = column(spacing=Space.XS)
        self._held = held(self._all)
        self._held.hide()
        self.setLayout(column(row(self._line, self._more, spacing=Space.S), self._held, spacing=Space.XS))
        self.hide()

    def show_advice(self, advice: Sequence[LossAdvice]) -> None:
        """Show this; nothing is touched where it is the same as before."""
        if tuple(advice) == self._shown:
            return
        self._shown = tuple(advice)
        self._open = self._open and bool(advice)
        self.setVisible(bool(advice))
        self._draw()

    def _toggle(self) -> None:
        self._open = not self._open
        self._draw()

    def _draw(self) -> None:
        clear(self._all)
        self._held.setVisible(self._open)
        if not self._shown:
            return
        self._line.setText(_("What the curve tells") if self._open else _words(self._shown[0]))
        others = len(self._shown) - 1
        more = ngettext("more, and {count} other", "more, and {count} others", others).format(count=others)
        self._more.setText(_("less") if self._open else more if others else _("more"))
        self._more.setAccessibleName(_("What the curve tells: {what}").format(what=self._more.text()))
        for advice in self._shown if self._open else ():
            self._all.addLayout(self._row(advice))

    def _row(self, advice: LossAdvice) -> QHBoxLayout:
        words = Label(_words(advice), "small", selectable=True)
        words.setObjectName(f"loss-advice-{advice.id}")
        if advice.step is None:
            return row(words)
        step = advice.step
        show = Button(_("show step {step}").format(step=f"{step:,}"), "link", compact=True)
        show.setObjectName(f"loss-advice-show-{advice.id}")
        show.clicked.connect(lambda: self.picked.emit(step))
        shown = row(words, show, spacing=Space.S)
        shown.setStretch(0, 1)
        return shown


def _words(advice: LossAdvice) -> str:
    text = _("{sure}: {sentence}")
    return text.format(sure=confidence_words(advice.confidence), sentence=advice.sentence)
