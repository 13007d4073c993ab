"""The undo steps of a plan document."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtGui import QUndoCommand

from gui.engine.plan.changes import same_value
from gui.engine.plan.model import TrainingPlan


class Snapshot(NamedTuple):
    """A plan at one moment.

    Attributes:
        plan: The plan; nobody changes it.
        base: The folder against which its relative paths are meant.
    """

    plan: TrainingPlan
    base: str


class PlanStep(QUndoCommand):
    """One step from a plan to another.

    Args:
        show: Makes a plan the document's.
        before: The plan until then.
        after: The plan from then on.
        text: What was done, for the undo button.
        merge: Steps of the same number become one; -1 for a step of its own.
    """

    def __init__(
        self, show: Callable[[Snapshot], None], before: Snapshot, after: Snapshot, text: str, merge: int
    ) -> None:
        super().__init__(text)
        self._show = show
        self._before = before
        self._after = after
        self._merge = merge

    def id(self) -> int:
        """Which steps become one."""
        return self._merge

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802 - Qt's name
        """Take over what a later step of the same typing did."""
        if not isinstance(other, PlanStep):
            return False
        self._after = other._after
        self.setText(other.text())
        self.setObsolete(same_value(self._before.plan.data(), self._after.plan.data()))
        return True

    def undo(self) -> None:
        """Show the plan before."""
        self._show(self._before)

    def redo(self) -> None:
        """Show the plan after."""
        self._show(self._after)
