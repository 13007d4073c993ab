"""Tells of the end of runs that nobody has open: the Run page tells of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from gui.window.bridges.alerts import Alerts
from gui.window.bridges.run_list import RunList


class Ends(QObject):
    """Watches the list of runs for one that is over.

    Args:
        runs: Those of this machine.
        alerts: Tell outside the window.
        is_open: Whether the Run page shows the run of a folder.
    """

    def __init__(self, runs: RunList, alerts: Alerts, is_open: Callable[[Path], bool]) -> None:
        super().__init__()
        self._runs = runs
        self._alerts = alerts
        self._is_open = is_open
        self._living: set[Path] = set()
        runs.changed.connect(self._look)

    def _look(self) -> None:
        from gui.engine.runs.status import Verdict  # heavy, and the list has imported it by now

        for entry in self._runs.entries:
            if entry.verdict is None or entry.folder not in self._living:
                continue
            if not self._is_open(entry.folder):
                verdict = Verdict(verdict=entry.verdict, reason=entry.reason, sentence=entry.sentence)
                self._alerts.ended(entry.plan_name or entry.name, verdict)
        self._living = {entry.folder for entry in self._runs.living}
