"""What the measured memory of a run is good for: a new plan that uses its room, or that has more of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.hardware.memory.advice import Advice
from gui.engine.plan.changes import changes_in_words
from gui.engine.runs.memory_advice import RunAdvice
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, held, line
from gui.window.widgets.way_button import WayButton


class MemoryTips(QWidget):
    """A sentence, what could be changed, and a button that opens a new plan with it; nothing starts."""

    changes_wanted = Signal(object)
    """Target to value: the same plan, but with these."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("run-memory-tips")
        self._text = Label("", "small")
        self._text.setObjectName("run-memory-tips-text")
        self._ways = FlowLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(line())
        layout.addWidget(self._text)
        self._held = held(self._ways)
        layout.addWidget(self._held)
        self._shown: RunAdvice | None = None
        self.hide()

    def show_advice(self, advice: RunAdvice | None) -> None:
        """Show this; nothing is touched where it is the same as before."""
        if advice == self._shown:
            return
        self._shown = advice
        clear(self._ways)
        self.setVisible(advice is not None)
        if advice is None:
            return
        words = [advice.sentence]
        if advice.kind == "room":
            for each in advice.advised.advice:
                words.append(each.reason)
                self._offer(each.id, each.changes, _details(each))
        else:
            words += _tight_words(advice)
            if advice.advised.changes:
                costs = "\n".join(_details(each) for each in advice.advised.advice)
                self._offer("fit", advice.advised.changes, costs)
        self._text.setText(" ".join(words))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for the height that the words need at this width: the column around does not ask."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Ask again when the words or their size are others."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        words = self._text.fontMetrics().boundingRect(
            QRect(0, 0, max(1, self.width()), 0), int(Qt.TextFlag.TextWordWrap), self._text.text()
        )
        self._text.setMinimumHeight(words.height())
        self._held.setMinimumHeight(self._ways.heightForWidth(self.width()))

    def _offer(self, name: str, changes: Mapping[str, Any], details: str) -> None:
        values = dict(changes)
        text = _("Same, but {changes}").format(changes=changes_in_words(values))
        way = WayButton(text, "quiet", name=f"run-same-but-{name}")
        way.set_tip("\n".join((text, details, _("Opens a new plan with this change; nothing starts yet."))))
        way.clicked.connect(lambda: self.changes_wanted.emit(values))
        self._ways.addWidget(way)


def _tight_words(advice: RunAdvice) -> list[str]:
    advised = advice.advised
    words = [each.reason for each in advised.advice if each.reason]
    if advised.changes and advised.fits:
        words.append(_("Next time this would make room:"))
    elif advised.changes:
        words.append(_("Next time this would help, though hardly enough:"))
    return words


def _details(advice: Advice) -> str:
    return _("{changes}: {cost}").format(changes=changes_in_words(advice.changes), cost=advice.cost)
