"""Tells of runs that nobody looks at: what goes wrong with them, and that they are over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gui.window.bridges.alerts import Alerts
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.alarm import Alarm
    from gui.engine.runs.run_entry import RunEntry

_TOLD_AS_END = ("failed", "oom")


class Elsewhere(QObject):
    """Watches the list of runs for trouble and for ends that the Run page does not show.

    Args:
        runs: Those of this machine.
        alerts: Tell outside the window; the Run page does so for the run that it has open.
        tasks: Read what is wrong with a run.
        is_open: Whether the Run page has the run of a folder.
        in_sight: Whether the user sees it there.
    """

    alarmed = Signal(object, object)
    """A run (RunEntry) out of sight, and what must be told about it (Alarm)."""

    def __init__(
        self,
        runs: RunList,
        alerts: Alerts,
        tasks: Tasks,
        *,
        is_open: Callable[[Path], bool],
        in_sight: Callable[[Path], bool],
    ) -> None:
        super().__init__()
        self._runs = runs
        self._alerts = alerts
        self._tasks = tasks
        self._is_open = is_open
        self._in_sight = in_sight
        self._living: set[Path] = set()
        self._troubles: dict[Path, tuple[str, ...]] = {}
        self._told: set[tuple[Path, str]] = set()
        runs.changed.connect(self._look)

    def _look(self) -> None:
        now = {entry.folder for entry in self._runs.living}
        for entry in self._runs.entries:
            if entry.folder not in now | self._living:
                continue
            over = entry.folder not in now and entry.verdict is not None
            if over and not self._is_open(entry.folder):
                self._tell_end(entry)
            if entry.troubles != self._troubles.get(entry.folder, ()) or over:
                self._troubles[entry.folder] = entry.troubles
                self._read_alarms(entry)
        self._living = now

    def _tell_end(self, entry: RunEntry) -> None:
        from gui.engine.runs.status import Verdict  # heavy, and the list has imported it by now

        if entry.verdict is not None:
            verdict = Verdict(verdict=entry.verdict, reason=entry.reason, sentence=entry.sentence)
            self._alerts.ended(entry.plan_name or entry.name, verdict)

    def _read_alarms(self, entry: RunEntry) -> None:
        from gui.engine.runs.alarms import alarms
        from gui.engine.runs.folder import RunFolder

        self._tasks.run(
            lambda _handle: alarms(RunFolder(entry.folder)),
            lambda found: self._tell(entry, found),
            key=f"alarms of {entry.folder}",
        )

    def _tell(self, entry: RunEntry, found: tuple[Alarm, ...]) -> None:
        for alarm in found:
            if (entry.folder, alarm.id) in self._told:
                continue
            self._told.add((entry.folder, alarm.id))
            if not self._is_open(entry.folder) and alarm.id not in _TOLD_AS_END:
                self._alerts.alarm(entry.plan_name or entry.name, alarm)
            if not self._in_sight(entry.folder):
                self.alarmed.emit(entry, alarm)
