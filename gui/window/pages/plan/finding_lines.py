"""What preflight says about a field, in a line or two below it, with the ways out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.changes import ACTION
from gui.engine.texts import _
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.plan.words import breakable
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, held
from gui.window.widgets.way_button import WayButton

TONES: dict[Severity, Tone] = {"stop": "bad", "danger": "bad", "warning": "warn", "hint": "accent"}
MOST_FIXES = 2


def severity_words(severity: Severity) -> str:
    """Return what a severity is called."""
    words = {"stop": _("stops"), "danger": _("danger"), "warning": _("warning"), "hint": _("hint")}
    return words[severity]


class FindingLines(QWidget):
    """Findings, each with its first ways out.

    Args:
        document: Where the ways out are taken.
    """

    def __init__(self, document: PlanDocument) -> None:
        super().__init__()
        self._document = document
        self._shown: tuple[Finding, ...] = ()
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(Space.XS)
        self.hide()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show other findings; the same ones again cost nothing."""
        wanted = tuple(findings)
        if wanted == self._shown:
            return
        self._shown = wanted
        clear(self._lines)
        for finding in wanted:
            self._lines.addWidget(self._line(finding))
        self.setVisible(bool(wanted))

    def _line(self, finding: Finding) -> QWidget:
        words = Label(breakable(finding.title), "small")
        words.setToolTip(finding.detail)
        text = QVBoxLayout()
        text.setSpacing(0)
        text.addWidget(words)
        fixes = [fix for fix in finding.fixes if ACTION not in fix.changes][:MOST_FIXES]
        if fixes and not self._document.read_only:
            text.addLayout(FlowLayout(*(self._button(finding, fix) for fix in fixes)))
        layout = QHBoxLayout()
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        chip = Chip(severity_words(finding.severity), TONES[finding.severity])
        layout.addWidget(chip, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(text, 1)
        line = held(layout, f"finding-{finding.id}")
        line.setAccessibleName(f"{severity_words(finding.severity)}: {finding.title}")
        return line

    def _button(self, finding: Finding, fix: Fix) -> Button:
        label = fix.label[:1].upper() + fix.label[1:]
        button = WayButton(label, "link", name=f"fix-{finding.id}-{fix.id}")
        button.set_tip("\n".join((label, *(f"{name}: {value}" for name, value in fix.changes.items()))))
        button.clicked.connect(lambda: self._document.change(fix.changes, label))
        return button
