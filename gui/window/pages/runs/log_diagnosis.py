"""Says what went wrong in a log that is opened, dropped or pasted; no run is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QFileDialog, QMenu, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.runs.diagnosing import DiagnosisReport, diagnose_output
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.icons import Icons
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.diagnosis_card import DiagnosisCard
from gui.window.widgets.page import Scroll

_KEY = "log-diagnosis"


class LogDiagnosis(QWidget):
    """The button that asks for a log, and the place for what is found in it.

    Args:
        tasks: Where logs are read.
        icons: Pictures.
        clipboard: Gives pasted words, takes the report.
    """

    changed = Signal()
    """It is shown or hidden now."""

    def __init__(self, tasks: Tasks, icons: Icons, clipboard: QClipboard) -> None:
        super().__init__()
        self.setObjectName("log-diagnosis")
        self._tasks = tasks
        self._clipboard = clipboard
        self._title = ""
        self.button = Button(_("Diagnose a log"), name="runs-diagnose")
        menu = QMenu(self.button)
        menu.addAction(_("Choose a file…")).triggered.connect(self._choose)
        menu.addAction(_("Paste from the clipboard")).triggered.connect(self.paste)
        self.button.setMenu(menu)
        self.button.setToolTip(_("Drop a log here, or paste one (Ctrl+V)."))
        self._busy = Busy(_("Reading the log …"), name="log-diagnosis-busy")
        self._busy.cancelled.connect(self._end)
        self._trouble = Banner(icons, "bad", name="log-diagnosis-trouble")
        self._trouble.make_closable(self._end)
        self.card = DiagnosisCard(clipboard, name="log-diagnosis-card", closable=True)
        self.card.closed.connect(self._end)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        inner = QWidget()
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(0, 0, 0, 0)
        for part in (self._busy, self._trouble, self.card):
            inside.addWidget(part)
        inside.addStretch(1)
        layout.addWidget(Scroll(inner, name="log-diagnosis-scroll"))
        self.hide()

    def read(self, path: Path) -> None:
        """Say what went wrong in a file."""
        self._title = path.name
        self._run(lambda _handle: diagnose_output(path))

    def paste(self) -> None:
        """Say what went wrong in what the clipboard holds: words, or a file that was copied."""
        data = self._clipboard.mimeData()  # none on some systems while nothing is held
        files = [url.toLocalFile() for url in data.urls() if url.isLocalFile()] if data else []
        words = self._clipboard.text()
        if files:
            self.read(Path(files[0]))
        elif words.strip():
            self._title = _("Pasted words")
            self._run(lambda _handle: diagnose_output([words.encode("utf-8", "replace")]))
        else:
            self._fail_with(_("The clipboard holds no words."))

    def _choose(self) -> None:
        kinds = ";;".join((_("Logs (*.log *.txt *.out)"), _("All files (*)")))
        path, _kind = QFileDialog.getOpenFileName(self, _("Choose a log"), "", kinds)
        if path:
            self.read(Path(path))

    def _run(self, work: Callable[[TaskHandle], DiagnosisReport]) -> None:
        self._show(self._busy)
        self._tasks.run(work, self._done, self._failed, key=_KEY)

    def _done(self, report: DiagnosisReport) -> None:
        self.card.show_report(report, self._title)
        self._show(self.card)

    def _failed(self, error: PreflightError) -> None:
        self._fail_with(error.message())

    def _fail_with(self, sentence: str) -> None:
        self._trouble.show_words(_("This log was not read."), sentence)
        self._show(self._trouble)

    def _show(self, shown: QWidget) -> None:
        for part in (self._busy, self._trouble, self.card):
            part.setVisible(part is shown)
        self.show()
        self.changed.emit()

    def _end(self) -> None:
        self._tasks.cancel(_KEY)
        self.hide()
        self.changed.emit()
