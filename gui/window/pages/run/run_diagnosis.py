"""What went wrong with the run that is shown, once it has failed."""

from __future__ import annotations

from PySide6.QtGui import QClipboard

from gui.engine.errors import PreflightError
from gui.engine.runs.diagnosing import DiagnosisReport, diagnose_run
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import RunStatus
from gui.window.bridges.tasks import Tasks
from gui.window.widgets.diagnosis_card import DiagnosisCard

_KEY = "run-diagnosis"


class RunDiagnosis(DiagnosisCard):
    """The card, filled off the window's thread; hidden while the run is well.

    Args:
        tasks: Where the log is read.
        clipboard: Takes the report as text.
    """

    def __init__(self, tasks: Tasks, clipboard: QClipboard) -> None:
        super().__init__(clipboard, name="run-diagnosis", fixable=True)
        self._tasks = tasks
        self._run: RunFolder | None = None
        self._asked = False

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
