"""How each step of the wizard stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from gui.engine.findings import Finding
from gui.engine.plan.model import LaunchSettings, TrainingPlan
from gui.engine.preflight.report import CheckReport
from gui.window.pages.plan.places import STEPS, StepName, step_of, step_of_finding
from gui.window.pages.plan.step_list import StepState


def touched(plan: TrainingPlan) -> set[StepName]:
    """Return the steps on which the plan itself says something."""
    found = {step_of(name) for name in plan.arguments}
    found |= {step_of(f"dataset.{name}") for name in plan.dataset}
    if plan.launch != LaunchSettings():
        found.add("memory")
    return found


def step_states(
    plan: TrainingPlan, report: CheckReport | None, visited: Collection[StepName]
) -> dict[StepName, StepState]:
    """Return how the steps stand.

    Args:
        plan: The plan.
        report: What preflight says; None as long as it has not.
        visited: The steps that were seen.
    """
    if report is None:
        return {}
    known = touched(plan) | set(visited)
    stops: Counter[StepName] = Counter()
    warnings: Counter[StepName] = Counter()
    for finding in report.findings:
        counter = _counter(finding, stops, warnings)
        if counter is not None:
            counter[step_of_finding(finding)] += 1
    states: dict[StepName, StepState] = {}
    for name in STEPS:
        if name == "review":
            stopping = sum(stops.values())
            states[name] = (
                _state(stopping, warns=report.verdict == "caution") if name in visited else StepState()
            )
        else:
            states[name] = _state(stops[name], warns=bool(warnings[name])) if name in known else StepState()
    return states


def _counter(
    finding: Finding, stops: Counter[StepName], warnings: Counter[StepName]
) -> Counter[StepName] | None:
    if finding.severity == "stop":
        return stops
    return warnings if finding.severity in ("danger", "warning") else None


def _state(stops: int, *, warns: bool) -> StepState:
    if stops:
        return StepState("stops", stops)
    return StepState("warnings") if warns else StepState("fine")
