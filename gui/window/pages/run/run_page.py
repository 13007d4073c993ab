"""The Run page: watches one run and shows it; says what will be here while none is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import FileNow, RunStatus
from gui.engine.texts import _
from gui.window.bridges.alerts import Alerts
from gui.window.bridges.memory_advisor import MemoryAdvisor
from gui.window.bridges.run_watch import RunWatch
from gui.window.bridges.tasks import Tasks
from gui.window.pages.report.report_panel import ReportPanel
from gui.window.pages.run.actions import RunActions
from gui.window.pages.run.alarm_stack import AlarmStack
from gui.window.pages.run.file_viewer import FileViewer
from gui.window.pages.run.head import RunHead
from gui.window.pages.run.notes import RunNotes
from gui.window.pages.run.recovery_desk import RecoveryDesk
from gui.window.pages.run.run_body import RunBody
from gui.window.pages.run.run_diagnosis import RunDiagnosis
from gui.window.pages.run.verdict_card import VerdictCard
from gui.window.pages.run.viewer import SampleViewer
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.layouts import column, held
from gui.window.widgets.page import Empty, Picture, Scroll

END_ALARMS = ("loss-nonfinite", "oom", "disk-short", "trainer-gone", "failed")
"""Their banner tells how the run ended."""


def open_in_system(path: Path) -> bool:
    """Show a file or folder as the system does."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class RunPage(QWidget):
    """One run, live or past.

    Args:
        tasks: Where pictures and small files are read.
        theme: Colours and sizes.
        icons: Pictures.
        alerts: Tells outside the window.
        opener: Shows a folder as the system does.
    """

    open_as_plan = Signal(object, object)
    """`RunFolder`, and what to change in its plan: target to value, None for nothing."""

    plan_wanted = Signal()
    settings_wanted = Signal()

    launched = Signal(object)
    """`RunFolder` of a try that was launched from here; it is shown already."""

    def __init__(
        self,
        *,
        tasks: Tasks,
        theme: Theme,
        icons: Icons,
        alerts: Alerts | None = None,
        opener: Callable[[Path], bool] = open_in_system,
    ) -> None:
        super().__init__()
        self.setObjectName("run-page")
        self._tasks = tasks
        self._theme = theme
        self._icons = icons
        self._alerts = alerts
        self._opener = opener
        self._watch: RunWatch | None = None
        self._alarms: tuple[Alarm, ...] = ()
        self._told: set[str] = set()
        clipboard = QGuiApplication.clipboard()
        self.controls = RunActions(icons)
        self.head = RunHead(theme, self.controls)
        self.notes = RunNotes(icons)
        self.alarms = AlarmStack(icons, clipboard)
        self.verdict = VerdictCard(icons, clipboard)
        self.diagnosis = RunDiagnosis(tasks, clipboard)
        self.recovery = RecoveryDesk(tasks)
        self.body = RunBody(theme, icons, tasks)
        self.advisor = MemoryAdvisor(tasks)
        self.file_viewer = FileViewer(icons, tasks, self)
        self.file_samples = SampleViewer(icons, tasks, self.file_viewer.samples.model, self, "file-sample")
        self.viewer = SampleViewer(icons, tasks, self.body.samples.model, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._make_empty())
        self._stack.addWidget(self._make_run())
        self.report = ReportPanel(tasks, icons, clipboard)
        margins = (Space.XXL, Space.XL, Space.XXL, Space.XL)
        self._stack.addWidget(held(column(self.report, margins=margins)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._connect()

    @property
    def run_folder(self) -> RunFolder | None:
        """The run that is shown."""
        return self._watch.run if self._watch is not None else None

    def open(self, run: RunFolder) -> None:
        """Show a run, from its beginning; nothing changes where it is shown already."""
        if self._watch is not None and self._watch.run == run and not self._watch.is_gone:
            return
        self.close_run()
        self._begin(run)
        watch = RunWatch(run)
        self._watch = watch
        watch.status.connect(self._show_status)
        watch.alarms.connect(self._show_alarms)
        watch.events.connect(self.body.add_events)
        watch.rows.connect(self.body.add_rows)
        watch.memory.connect(self.body.add_memory)
        watch.advice.connect(self.body.curves.show_advice)
        watch.trouble.connect(self.notes.show_trouble)
        watch.gone.connect(self._gone)
        watch.taken_over.connect(self.notes.say)
        watch.refused.connect(self._refused)
        watch.start()

    def close_run(self) -> None:
        """Stop watching; the run goes on."""
        if self._watch is not None:
            self._watch.close()
            self._watch.deleteLater()
            self._watch = None
        self.viewer.close_it()
        self.file_viewer.close_it()
        self.body.end()
        self._stack.setCurrentIndex(0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the large sample over the whole page."""
        super().resizeEvent(event)
        for over in (self.viewer, self.file_viewer, self.file_samples):
            over.setGeometry(self.rect().adjusted(Space.L, Space.L, -Space.L, -Space.L))

    def _begin(self, run: RunFolder) -> None:
        self._alarms, self._told = (), set()
        self.notes.clear()
        self.alarms.show_alarms((), over=False)
        self.verdict.show_verdict(None, told=False)
        self.head.begin(run.name)
        self.controls.show_status(None)
        self.body.begin(run)
        self.advisor.begin(run)
        self.diagnosis.begin(run)
        self.recovery.begin(run)
        self._stack.setCurrentIndex(1)

    def _connect(self) -> None:
        self.controls.asked.connect(self._ask)
        self.controls.folder_wanted.connect(self._open_folder)
        self.controls.plan_wanted.connect(lambda: self._reuse(None))
        self.controls.report_wanted.connect(self._report)
        self.report.closed.connect(self._leave_report)
        self.alarms.answered.connect(self._ask)
        self.diagnosis.plan_wanted.connect(self._reuse)
        self.diagnosis.settings_wanted.connect(self.settings_wanted)
        self.recovery.changed.connect(self._show_ways)
        self.recovery.plan_ready.connect(self.open_as_plan)
        self.recovery.run_wanted.connect(self.open)
        self.recovery.launched.connect(self._launched)
        self.advisor.expected.connect(self.body.gpu.show_expected)
        self.advisor.advised.connect(self.body.gpu.tips.show_advice)
        self.body.gpu.tips.changes_wanted.connect(self._reuse)
        self.body.samples.strip.wanted.connect(self.viewer.open_row)
        self.viewer.closed.connect(self.body.samples.strip.setFocus)
        self.body.files.chosen.connect(self._show_file)
        self.file_viewer.closed.connect(self.body.files.list.setFocus)
        self.file_viewer.plan_wanted.connect(self._reuse)
        self.file_viewer.folder_wanted.connect(lambda path: self._open(Path(path).parent))
        self.file_viewer.samples.strip.wanted.connect(self.file_samples.open_row)
        self.file_samples.closed.connect(self.file_viewer.samples.strip.setFocus)

    def _show_status(self, status: RunStatus) -> None:
        before_end = self._watch is not None and self._watch.all_read
        self.head.show_status(status)
        self.body.show_status(status)
        self.advisor.look(status)
        self.diagnosis.look(status)
        self.recovery.look(status)
        self._show_ends(status)
        if status.verdict is not None and before_end and self._alerts is not None:
            self._tell_end(status)

    def _tell_end(self, status: RunStatus) -> None:
        if "end" not in self._told and status.verdict is not None and self._alerts is not None:
            self._told.add("end")
            self._alerts.ended(status.plan_name or status.name, status.verdict)

    def _show_alarms(self, alarms: tuple[Alarm, ...]) -> None:
        watch = self._watch
        news = [alarm for alarm in alarms if alarm.id not in self._told]
        self._told = (self._told & {"end"}) | {alarm.id for alarm in alarms}
        self._alarms = alarms
        status = watch.last if watch is not None else None
        if status is not None:
            self._show_ends(status)
        if self._alerts is not None and watch is not None and watch.all_read and status is not None:
            for alarm in news:
                if not (alarm.id in ("failed", "oom") and "end" in self._told):  # told as its end
                    self._alerts.alarm(status.plan_name or status.name, alarm)

    def _show_ends(self, status: RunStatus) -> None:
        """Show banners and verdict; where a banner tells how it ended, the verdict need not."""
        over = status.verdict is not None
        told = any(alarm.id in END_ALARMS and alarm.tone == "bad" for alarm in self._alarms)
        ways = self.recovery.ways if over else None
        self.alarms.show_alarms(self._alarms, over=over, ways=ways)
        self.verdict.show_verdict(status.verdict, told=told, ways=None if self._alarms else ways)

    def _show_ways(self) -> None:
        if self._watch is not None and self._watch.last is not None:
            self._show_ends(self._watch.last)

    def _launched(self, run: RunFolder) -> None:
        self.open(run)
        self.launched.emit(run)

    def _ask(self, kind: Any) -> None:
        if self._watch is not None:
            self._watch.ask(kind)

    def _refused(self, sentence: str) -> None:
        self.notes.say(sentence, tone="bad")
        self.controls.answered()

    def _gone(self, sentence: str) -> None:
        self.notes.show_trouble(sentence)
        self.controls.show_status(None)

    def _reuse(self, changes: object) -> None:
        if self._watch is not None:
            self.open_as_plan.emit(self._watch.run, changes)

    def _report(self) -> None:
        if self._watch is not None:
            self._stack.setCurrentIndex(2)
            self.report.show_run(self._watch.run)

    def _leave_report(self) -> None:
        self._stack.setCurrentIndex(0 if self._watch is None else 1)
        self.controls.report.setFocus()

    def _show_file(self, file: FileNow) -> None:
        if self._watch is not None:
            self.file_viewer.open_file(self._watch.run, self.body.files.files, file)

    def _open_folder(self) -> None:
        if self._watch is not None:
            self._open(self._watch.run.path)

    def _open(self, path: Path) -> None:
        if not path.exists():
            self.notes.say(_("It is no longer there: {path}").format(path=path), tone="bad")
        elif not self._opener(path):
            self.notes.say(_("No program of the system shows folders. It is here: {path}").format(path=path))

    def _make_empty(self) -> QWidget:
        plan = Button(_("Go to the plan"), "primary", name="run-to-plan")
        plan.clicked.connect(self.plan_wanted)
        return Empty(
            _("No run is open"),
            _(
                "A training shows here while it runs: how far it is, its loss, memory, samples and files, "
                "and a warning the moment something goes wrong. Launch a plan, or open one under Runs."
            ),
            picture=Picture(self._icons, "run"),
            button=plan,
            name="run-empty",
        )

    def _make_run(self) -> QWidget:
        inner = _Content()
        content = QVBoxLayout(inner)
        content.setContentsMargins(Space.XXL, Space.XL, Space.XXL, Space.XL)
        content.setSpacing(Space.L)
        for part in (
            self.head,
            self.notes,
            self.controls.question,
            self.alarms,
            self.verdict,
            self.recovery.card,
            self.recovery.chain,
            self.diagnosis,
        ):
            content.addWidget(part)
        content.addWidget(self.body, 1)
        return Scroll(inner, name="run-scroll")


class _Content(QWidget):
    """What scrolls: as high as its texts need at the width that there is, not at the least one."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The height follows from the width."""
        return QSize(super().minimumSizeHint().width(), 0)
