"""What went wrong with the run that is shown, once it has failed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QClipboard

from gui.engine.errors import PreflightError
from gui.engine.plan.changes import ACTION
from gui.engine.runs.diagnosing import DiagnosisReport, diagnose_run
from gui.engine.runs.diagnosis_models import DiagnosisFix
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.reuse import DATA_ACTIONS
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.window.bridges.tasks import Tasks
from gui.window.widgets.diagnosis_card import DiagnosisCard

_KEY = "run-diagnosis"

IN_PLAN = frozenset(
    {
        "check-plan",
        "check-model-file",
        "choose-ae",
        "choose-family",
        "choose-model",
        "choose-output-dir",
        "choose-tokenizer-cache",
        "folder-to-subset",
    }
)
"""Actions that a person does in the plan."""

IN_SETTINGS = frozenset({"choose-python", "choose-trainer", "open-settings"})
"""Likewise in the settings."""


def _leads_to(fix: DiagnosisFix) -> str:
    action = fix.changes.get(ACTION)
    if action in IN_SETTINGS:
        return _("Opens the settings.")
    if action in DATA_ACTIONS:
        return _("Opens the plan’s images.")
    if action in IN_PLAN:
        return _("Opens the plan of this run; nothing starts yet.")
    if fix.changes and action is None:
        return _("Opens a new plan with this change; nothing starts yet.")
    return ""


class RunDiagnosis(DiagnosisCard):
    """The card, filled off the window's thread; hidden while the run is well.

    Args:
        tasks: Where the log is read.
        clipboard: Takes the report as text.
    """

    plan_wanted = Signal(object)
    """What a new plan changes: target to value, None for nothing."""
    settings_wanted = Signal()

    def __init__(self, tasks: Tasks, clipboard: QClipboard) -> None:
        super().__init__(clipboard, name="run-diagnosis", leads_to=_leads_to)
        self.fix_wanted.connect(self._take_fix)
        self._tasks = tasks
        self._run: RunFolder | None = None
        self._asked = False

    def _take_fix(self, changes: dict[str, Any]) -> None:
        action = changes.get(ACTION)
        if action in IN_SETTINGS:
            self.settings_wanted.emit()
        else:
            self.plan_wanted.emit(None if action in IN_PLAN else changes)

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self._run, self._asked = run, False
        self._tasks.cancel(_KEY)
        self.hide()

    def look(self, status: RunStatus) -> None:
        """Read its log once it has failed."""
        run, verdict = self._run, status.verdict
        if (
            run is None
            or self._asked
            or verdict is None
            or verdict.verdict not in ("failed", "nothing-trained")
        ):
            return
        self._asked = True
        self._tasks.run(lambda _handle: diagnose_run(run), self._take, self._stay_hidden, key=_KEY)

    def _take(self, report: DiagnosisReport) -> None:
        if report.diagnoses or report.last_lines:
            # The verdict's sentence stands above it on the page.
            self.show_report(report.model_copy(update={"sentence": ""}))

    def _stay_hidden(self, _error: PreflightError) -> None:
        """Leave it out: the page's other parts tell that the folder cannot be read."""
        self.hide()
