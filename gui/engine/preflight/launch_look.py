"""The look at a plan right before its launch: what stands against it, and what memory it will need."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gui.engine.findings import Finding
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.plan.plan_file import PlanFile
from gui.engine.preflight.check import Checker
from gui.engine.preflight.rules.memory_needs import forecast_memory, room_of, ways_of
from gui.engine.preflight.rules.memory_question import question_of

ABOUT_MEMORY = ("vram", "vram-preflight", "sample-vram")
"""Findings that rest on the forecast of the GPU's memory."""


class LaunchLook:
    """Answers what ``runs.prepare`` asks.

    Args:
        checker: Checks the plan.
        given: What was found before, such as in the file that the plan was imported from.
        superseded: Findings, by id, that something known better has replaced; stops stay.
    """

    def __init__(
        self, checker: Checker, given: Sequence[Finding] = (), superseded: Collection[str] = ()
    ) -> None:
        self._checker = checker
        self._given = given
        self._superseded = superseded

    def judge(self, plan_file: PlanFile) -> Sequence[Finding]:
        """Return the findings; hints are for reading at leisure, not before a launch."""
        report = self._checker.report(plan_file.plan, self._given)
        return [finding for finding in report.findings if not self._is_idle(finding)]

    def _is_idle(self, finding: Finding) -> bool:
        superseded = finding.id in self._superseded and finding.severity != "stop"
        return superseded or finding.severity == "hint"

    def expect(self, plan_file: PlanFile) -> MemoryExpectation | None:
        """Return what memory the plan will need, for learning from what it then needs; None when unknown."""
        view = self._checker.view(plan_file.plan)[0]
        forecast = None if view is None else forecast_memory(view)
        if view is None or forecast is None or forecast.unknown is not None:
            return None
        return MemoryExpectation(
            question=question_of(view), forecast=forecast, room=room_of(view), ways=ways_of(view)
        )
