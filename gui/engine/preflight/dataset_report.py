"""A plan's dataset examined as a whole: what the doctor found in the images, and what the rules say."""

from __future__ import annotations

from gui.engine.dataset.listing import suffixes_read
from gui.engine.dataset.report import DatasetReport
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import PlanNotRunnable
from gui.engine.findings import Finding, worst_first
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.dataset_spec import spec_of

ABOUT_DATA = ("dataset", "train_data_dir", "reg_data_dir", "in_json", "conditioning_data_dir")
"""How the places begin that findings about the dataset name first."""


def spec_of_plan(checker: Checker, plan: TrainingPlan) -> DatasetSpec:
    """Return what the doctor has to look at for a plan.

    Args:
        checker: Knows the trainer and the folder against which the plan's paths are meant.
        plan: The plan.

    Raises:
        PlanNotRunnable: Nothing tells which script would read the images.
    """
    view, problems = checker.view(plan)
    if view is None:
        raise PlanNotRunnable(problems)
    return spec_of(view, checker.collector.suffixes if checker.collector else suffixes_read())


def with_rules(checker: Checker, plan: TrainingPlan, report: DatasetReport) -> DatasetReport:
    """Return a report with what the rules say about the plan's data added, the worst first.

    Args:
        checker: Checks plans.
        plan: The plan.
        report: What the doctor found; where both name the same, its words are kept, with the ways out of
            the rule where it has none itself.
    """
    rules = [finding for finding in checker.findings(plan) if is_about_data(finding, plan)]
    fixes = {(finding.id, finding.where): finding.fixes for finding in rules}
    told = {(finding.id, finding.where) for finding in report.findings}
    more = [finding for finding in rules if (finding.id, finding.where) not in told]
    own = [
        finding.model_copy(update={"fixes": finding.fixes or fixes.get((finding.id, finding.where), ())})
        for finding in report.findings
    ]
    return report.model_copy(update={"findings": tuple(worst_first([*own, *more]))})


def is_about_data(finding: Finding, plan: TrainingPlan) -> bool:
    """Return whether a finding is about the dataset, rather than about how it is trained on."""
    if not plan.dataset.get("resolution") and not plan.family and finding.id == "resolution":
        return False  # a mere folder: nobody said what for
    first = finding.arguments[0] if finding.arguments else ""
    return first.split(".", 1)[0] in ABOUT_DATA
