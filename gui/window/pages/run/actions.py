"""What one can do with a run: stop, pause, open its folder; and the question before something is lost."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gui.engine.runs.events import RequestKind
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.window.pages.run.words import loss_on_stop, why_not
from gui.window.theme.icons import Icons
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button


class RunActions(QObject):
    """The buttons of a run, and the question before it is stopped.

    Args:
        icons: Draws their pictures.
    """

    asked = Signal(str)
    """A `RequestKind` for the supervisor."""

    folder_wanted = Signal()
    plan_wanted = Signal()
    report_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._status: RunStatus | None = None
        self._sent: RequestKind | None = None
        self.stop_after_save = Button(_("Stop after next save"), name="run-stop-after-save")
        self.stop = Button(_("Stop now"), "danger", name="run-stop")
        self.pause = Button(_("Pause"), name="run-pause", shortcut="Ctrl+P")
        self.folder = Button(_("Open folder"), name="run-folder")
        self.reuse = Button(_("Use as plan again"), name="run-reuse")
        self.report = Button(_("Report…"), name="run-report", tip=_("A zip for those who help"))
        self.question = Ask("", "", _("Stop now"), _("Let it train"), tone="bad", name="run-stop-question")
        self.question.hide()
        self.stop_after_save.clicked.connect(lambda: self._ask("stop-after-save"))
        self.stop.clicked.connect(self._question)
        self.pause.clicked.connect(lambda: self._ask("resume" if self._is_paused else "pause"))
        self.folder.clicked.connect(self.folder_wanted)
        self.reuse.clicked.connect(self.plan_wanted)
        self.report.clicked.connect(self.report_wanted)
        self.question.yes.connect(self._stop)
        self.question.no.connect(self.stop.setFocus)
        icons.theme.changed.connect(self._draw)
        self.reuse.hide()
        self._draw()

    @property
    def buttons(self) -> tuple[Button, ...]:
        """All of them, in their order."""
        return (self.pause, self.stop_after_save, self.stop, self.reuse, self.report, self.folder)

    @property
    def _is_paused(self) -> bool:
        return self._status is not None and self._status.state == "paused"

    def show_status(self, status: RunStatus | None) -> None:
        """Offer what can be done now; each button says why it cannot be used."""
        if status is None or self._status is None or status.state != self._status.state:
            self._sent = None
        was_paused, self._status = self._is_paused, status
        if self._is_paused != was_paused:
            self._draw()
        over = status is not None and status.state in ("checking", "ended")
        for button in (self.stop_after_save, self.stop, self.pause):
            button.setVisible(not over)
        self.reuse.setVisible(over)
        self.pause.setText(_("Go on") if self._is_paused else _("Pause"))
        tips: dict[RequestKind, str] = {
            "stop-after-save": _("Trains on until the next file is saved and complete."),
            "stop": _("Ends the training at once; a save in progress is let finish."),
            "pause": _("Halts the training; it keeps its memory, on the GPU too."),
            "resume": _("Lets the training go on."),
        }
        pause: RequestKind = "resume" if self._is_paused else "pause"
        for button, kind in (
            (self.stop_after_save, "stop-after-save"),
            (self.stop, "stop"),
            (self.pause, pause),
        ):
            self._offer(button, why_not(kind, status), tips[kind], sent=self._sent == kind)  # type: ignore[arg-type, index]
        if over or status is None:
            self.question.hide()

    def _offer(self, button: Button, problem: str, tip: str, *, sent: bool) -> None:
        # The one with the keyboard stays: its neighbour would get the next press of Space.
        button.setEnabled(not problem and (not sent or button.hasFocus()))
        button.set_tip(problem or (_("Asked; it is done in a moment.") if sent else tip))

    def _ask(self, kind: RequestKind) -> None:
        if self._sent == kind:
            return
        self._sent = kind
        self.asked.emit(kind)
        self.show_status(self._status)
        self._sent = kind

    def _question(self) -> None:
        self.question.ask(*loss_on_stop(self._status))

    def _stop(self) -> None:
        self._ask("stop")

    def answered(self) -> None:
        """Something was answered or refused: it may be asked again."""
        self._sent = None
        self.show_status(self._status)

    def _draw(self) -> None:
        self.pause.setIcon(self._icons.icon("play" if self._is_paused else "pause", "muted", 18))
        self.folder.setIcon(self._icons.icon("folder", "muted", 18))
