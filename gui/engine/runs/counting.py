"""Brings the counts of a trainer that goes on from a state to the run's own: steps from 1, as its bar counts.

Beside ``skip_until_initial_step`` the trainer's count begins amid an epoch: names of files and the tracker
go by that, the bar by 1 (``resume_course``). Its bar also expects more steps than there will be.
"""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.run_course import CourseReader, RunCourse
from gui.engine.texts import _
from gui.engine.trainer.events import Setting
from gui.engine.trainer.saved_state import StateNumbers
from gui.engine.trainer.tracker import TrackerPoint


class Counting:
    """Knows how the trainer counts once it has said how much it trains; a new training counts as it is.

    Args:
        ledger: Told where the run stands in the whole training.
        settings: With what it was launched.
        state: What the state that it goes on from told.
    """

    def __init__(self, ledger: Ledger, settings: LaunchedSettings, state: StateNumbers | None) -> None:
        self._ledger = ledger
        self._reader = CourseReader(settings, state) if settings.resumed else None
        self.course: RunCourse | None = None

    def take(self, event: Setting) -> None:
        """Take a fact that the trainer printed."""
        if self._reader is None or self.course is not None:
            return
        self._reader.take(event.name, event.value)
        self.course = self._reader.course
        if self.course is None or not self.course.begun_at:
            return
        self._ledger.board.put(begun_at=self.course.begun_at, whole=self.course.whole)
        text = _("Continues at step {done} of {whole}: {steps} steps are to be done.")
        self._ledger.notice(
            "continues",
            text.format(
                done=f"{self.course.begun_at:,}",
                whole=f"{self.course.whole:,}",
                steps=f"{self.course.steps:,}",
            ),
        )

    def run_step(self, counted: int) -> int:
        """Return the run's step at one of the trainer's own counts."""
        return counted if self.course is None else self.course.run_step(counted)

    def of_run(self, points: Sequence[TrackerPoint]) -> Sequence[TrackerPoint]:
        """Return points of the tracker at the run's steps."""
        if self.course is None or not self.course.counted_from:
            return points
        return [point._replace(step=self.run_step(point.step)) for point in points]
