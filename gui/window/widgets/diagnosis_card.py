"""What went wrong, of a run or of any log: the cause, the lines that show it, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QWidget

from gui.engine.personal import for_others
from gui.engine.plan.changes import changes_in_words
from gui.engine.runs.diagnosing import DiagnosisReport
from gui.engine.runs.diagnosis_lines import evidence_lines, nothing_words, report_lines, unknown_words
from gui.engine.runs.diagnosis_models import Diagnosis, DiagnosisFix, Evidence
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, column, held
from gui.window.widgets.way_button import WayButton


def _nowhere(_fix: DiagnosisFix) -> str:
    """A pasted log has no plan that could be changed."""
    return ""


class DiagnosisCard(Card):
    """A card that is hidden until there is something to say.

    Args:
        clipboard: Takes the report as text.
        name: Its object name; its parts' names begin with it.
        closable: Whether it has a button that takes it away.
        leads_to: Says what the button of a way out does; "" leaves the way out words.
    """

    closed = Signal()
    fix_wanted = Signal(object)
    """The changes of a way out whose button was pressed."""

    def __init__(
        self,
        clipboard: QClipboard,
        *,
        name: str,
        closable: bool = False,
        leads_to: Callable[[DiagnosisFix], str] = _nowhere,
    ) -> None:
        super().__init__(_("What went wrong"), name=name)
        self._clipboard = clipboard
        self._name = name
        self._leads_to = leads_to
        self._text = ""
        self._copy = Button(_("Copy as text"), "link", name=f"{name}-copy")
        self._copy.clicked.connect(lambda: self._clipboard.setText(for_others(self._text)))
        self._copy.set_tip(_("Without tokens, user names and the name of this machine"))
        buttons = [self._copy]
        if closable:
            close = Button(_("Close"), "link", name=f"{name}-close")
            close.clicked.connect(self._close)
            buttons.append(close)
        self.parts = column(spacing=Space.L)
        self.body.addLayout(self.parts)
        self.body.addLayout(FlowLayout(*buttons))
        self.hide()

    def show_report(self, report: DiagnosisReport, title: str = "") -> None:
        """Show what was found.

        Args:
            report: What was found.
            title: Over it; the usual words by default.
        """
        clear(self.parts)
        self._text = "\n".join(report_lines(report))
        self.title.setText(title or _("What went wrong"))
        if report.sentence:
            self.parts.addWidget(Label(report.sentence, "strong"))
        for found in report.diagnoses:
            self.parts.addWidget(self._part(found))
        if report.last_lines:
            self.parts.addWidget(Label(unknown_words(), "strong"))
            self.parts.addWidget(self._lines(report.last_lines, f"{self._name}-last-lines"))
        elif not report.diagnoses and not report.failed:
            self.parts.addWidget(Label(nothing_words(), "body"))
        self.show()

    def _part(self, found: Diagnosis) -> QWidget:
        """Return one diagnosis."""
        name = f"{self._name}-{found.id}"
        parts: list[QWidget] = [Label(found.title, "strong")]
        if found.evidence:
            parts.append(self._lines(found.evidence, f"{name}-evidence"))
        parts.append(Label(found.explanation, "muted"))
        parts += [self._way(fix, f"{name}-fix-{number}") for number, fix in enumerate(found.fixes, start=1)]
        return held(column(*parts, spacing=Space.XS), name)

    def _way(self, fix: DiagnosisFix, name: str) -> QWidget:
        """Return a way out: a button where it leads somewhere, else words."""
        leads = self._leads_to(fix)
        if not leads:
            return Label(f"• {fix.label}", "body")
        way = WayButton(fix.label, "quiet", name=name)
        way.set_tip("\n".join(filter(None, (fix.label, changes_in_words(fix.changes), leads))))
        way.clicked.connect(lambda: self.fix_wanted.emit(dict(fix.changes)))
        return held(FlowLayout(way))

    def _lines(self, evidence: tuple[Evidence, ...], name: str) -> Label:
        label = Label("\n".join(line.strip() for line in evidence_lines(evidence)), "code", selectable=True)
        label.setObjectName(name)
        label.setAccessibleName(_("Lines of the log"))
        return label

    def _close(self) -> None:
        self.hide()
        self.closed.emit()
