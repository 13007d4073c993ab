"""What would make a plan fit, or what room that is left is good for: each with its price, one click to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gui.engine.hardware.memory.advice import Advice
from gui.engine.preflight.estimate import PlanEstimate
from gui.engine.texts import _
from gui.window.pages.review.diff_chip import DiffChip
from gui.window.pages.review.memory_words import (
    AdviceShown,
    advice_shown,
    confidence_words,
    saving_words,
)
from gui.window.pages.review.words import differences
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, held, line

Values = Mapping[str, Any]


class AdviceCard(Card):
    """The list, the cheapest first; the same widgets stay while it says the same."""

    wanted = Signal(object, str)
    """The changes that the user wants (target to value), and what they are called."""

    def __init__(self) -> None:
        self._all = Button(_("Apply all"), compact=True, name="apply-advice")
        super().__init__(_("What would help"), self._all, name="memory-advice")
        self._all.clicked.connect(self._apply_all)
        self._shown: tuple[AdviceShown, tuple[Any, ...], bool] | None = None
        self._text = Label("", "small")
        self._text.setObjectName("memory-advice-text")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(Space.M)
        self.body.addWidget(self._text)
        self.body.addLayout(self._rows)
        self._changes: Values = {}
        self.show_estimate(None, {}, editable=False)

    def show_estimate(self, estimate: PlanEstimate | None, now: Values, *, editable: bool) -> None:
        """Show what helps a plan.

        Args:
            estimate: What is known of it.
            now: Target to what counts there now.
            editable: Whether the plan can be changed.
        """
        shown = advice_shown(estimate)
        advice = shown.advised.advice if shown.advised else ()
        state = (shown, tuple(now.get(target) for each in advice for target in each.changes), editable)
        if state == self._shown:
            return
        self._shown = state
        self.title.setText(shown.title)
        self._text.setText(shown.text)
        apply = [each for each in advice if each.changes]
        together = estimate is not None and shown.advised is estimate.advice
        self._changes = shown.advised.changes if shown.advised else {}
        self._all.setVisible(editable and together and len(apply) > 1)
        focused = next((each.objectName() for each in self.focus_order() if each.hasFocus()), "")
        clear(self._rows)
        for each in advice:
            self._rows.addWidget(line())
            self._rows.addWidget(self._row(each, now, editable=editable))
        if focused:
            self._give_keyboard_back(focused)

    def focus_order(self) -> list[QPushButton]:
        """Return the buttons in the order of the eye."""
        return self.findChildren(QPushButton)

    def _give_keyboard_back(self, name: str) -> None:
        """Put the keyboard on the same button, else on the next best: who applies one thing goes on here."""
        usable = [each for each in self.focus_order() if not each.isHidden() and each.isEnabled()]
        again = [each for each in usable if each.objectName() == name]
        for button in [*again, *usable][:1]:
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _row(self, advice: Advice, now: Values, *, editable: bool) -> QWidget:
        row = QWidget()
        row.setObjectName(f"advice-{advice.id}")
        layout = QVBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.XS)
        if advice.reason:
            layout.addWidget(Label(advice.reason))
        chips = [DiffChip(each) for each in differences(advice.changes, now)]
        if chips:
            layout.addWidget(held(FlowLayout(*chips, spacing=Space.XS)))
        layout.addWidget(Label(advice.cost, "small"))
        foot = FlowLayout(spacing=Space.S)
        saving = Chip(saving_words(advice), "good" if advice.saves_gib > 0 else "neutral", mark="")
        sure = Chip(confidence_words(advice.confidence))
        sure.setToolTip(_("How sure the figure is. From: {source}").format(source=advice.source))
        foot.addWidget(saving)
        foot.addWidget(sure)
        if advice.changes and editable:
            apply = Button(_("Apply"), compact=True, name=f"apply-advice-{advice.id}")
            apply.setAccessibleName(_("Apply: {what}").format(what=_what(advice)))
            apply.clicked.connect(lambda: self.wanted.emit(dict(advice.changes), _what(advice)))
            foot.addWidget(apply)
        layout.addWidget(held(foot))
        return row

    def _apply_all(self) -> None:
        self.wanted.emit(dict(self._changes), _("Make it fit the GPU"))


def _what(advice: Advice) -> str:
    """Return what advice changes, for the undo button and a screen reader."""
    return ", ".join(target.rpartition(".")[2] for target in advice.changes)
