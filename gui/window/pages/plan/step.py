"""What all steps of the wizard have in common."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.findings import Finding
from gui.window.pages.plan.finding_lines import FindingLines
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.places import StepName, step_of_finding
from gui.window.pages.plan.rows import FieldCard, row_of
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.page import Scroll


class Step(QWidget):
    """One page of the wizard. It follows the plan only while it is seen.

    Args:
        parts: The plan and what is known about it.
        name: Which step it is.
    """

    refused = Signal(str)
    """Why something could not be done, in one sentence."""

    def __init__(self, parts: Parts, name: StepName) -> None:
        super().__init__()
        self.setObjectName(f"step-{name}")
        self.parts = parts
        self.name = name
        self.cards: list[FieldCard] = []
        self._stale = True
        inner = QWidget()
        self.content = QVBoxLayout(inner)
        self.content.setContentsMargins(0, 0, Space.S, Space.S)
        self.content.setSpacing(Space.L)
        self.scroller = Scroll(inner, name=f"scroll-{name}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.scroller)
        self._others = FindingLines(parts.document)
        self._others_card = Card(margins=Space.M, name=f"others-{name}")
        self._others_card.body.addWidget(self._others)
        self._others_card.hide()
        self.content.addWidget(self._others_card)
        parts.document.changed.connect(self._changed)
        parts.document.opened.connect(self._opened)
        parts.checks.changed.connect(self._checked)

    def update_now(self) -> None:
        """Show what the plan has now."""
        for card in self.cards:
            card.refresh()

    def show_findings(self) -> None:
        """Show what preflight says now."""
        for card in self.cards:
            card.show_findings()
        findings = [each for each in self.findings() if not self.has_place(each)]
        self._others.show_findings(findings)
        self._others_card.setVisible(bool(findings))

    def findings(self) -> Sequence[Finding]:
        """Return what preflight says about this step."""
        report = self.parts.checks.report
        return [each for each in (report.findings if report else ()) if step_of_finding(each) == self.name]

    def has_place(self, finding: Finding) -> bool:
        """Whether a finding is shown beside a field of this step."""
        return any(row_of(self.cards, target) is not None for target in finding.arguments)

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        row = row_of(self.cards, target)
        if row is None:
            return False
        self.scroller.ensureWidgetVisible(row)
        row.flash(target)
        return True

    def come(self) -> None:
        """Become the step that is seen."""
        if self._stale:
            self._stale = False
            self.update_now()
        self.show_findings()

    def _changed(self, _targets: object) -> None:
        if self.isVisible():
            self.update_now()
        else:
            self._stale = True

    def _opened(self) -> None:
        self._changed(None)

    def _checked(self) -> None:
        if self.isVisible():
            self.show_findings()
