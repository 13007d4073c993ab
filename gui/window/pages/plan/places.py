"""Which step of the wizard shows which place of a plan."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from gui.engine.findings import Finding
from gui.engine.plan.families import families
from gui.engine.texts import _
from gui.window.pages.plan.fields import Group, again_groups, training_groups
from gui.window.pages.plan.fields_of_files import data_groups, sample_fields, saving_groups

StepName = Literal["what", "data", "careful", "memory", "training", "saving", "review", "arguments"]

STEPS: tuple[StepName, ...] = (
    "what",
    "data",
    "careful",
    "memory",
    "training",
    "saving",
    "review",
    "arguments",
)

_SECTIONS: dict[str, StepName] = {"dataset": "data", "launch": "memory", "guard": "careful", "plan": "what"}
_OTHERS: dict[str, StepName] = {
    "plan.presets": "careful",
    "train_data_dir": "data",
    "reg_data_dir": "data",
    "resolution": "data",
    "sample_prompts": "saving",
    "plan.trainer": "arguments",
    "env": "arguments",
}
_PREFIXES: tuple[tuple[str, StepName], ...] = (("save_", "saving"), ("sample_", "saving"), ("log_", "saving"))


def step_words() -> dict[StepName, str]:
    """Return what the steps are called."""
    return {
        "what": _("What"),
        "data": _("Data"),
        "careful": _("How careful"),
        "memory": _("GPU memory"),
        "training": _("Training"),
        "saving": _("Saving, samples"),
        "review": _("Review"),
        "arguments": _("All arguments"),
    }


def step_of(target: str) -> StepName:
    """Return the step on which a place of a plan is shown; the table of all where it has no field.

    Args:
        target: In the words of fixes.
    """
    known = _fields().get(target) or _OTHERS.get(target)
    if known is not None:
        return known
    if target in _model_files():
        return "what"
    section, dot, _rest = target.partition(".")
    if dot:
        return _SECTIONS.get(section, "arguments")
    return next((step for prefix, step in _PREFIXES if target.startswith(prefix)), "arguments")


def step_of_finding(finding: Finding) -> StepName:
    """Return the step on which a finding is mended; the review for one without a place."""
    return step_of(finding.arguments[0]) if finding.arguments else "review"


@lru_cache(maxsize=1)
def _fields() -> dict[str, StepName]:
    steps: tuple[tuple[StepName, tuple[Group, ...]], ...] = (
        ("careful", again_groups()),
        ("training", training_groups()),
        ("data", data_groups()),
        ("saving", (*saving_groups(), Group("", sample_fields()))),
    )
    return {
        target: step
        for step, groups in steps
        for group in groups
        for field in group.fields
        for target in field.targets
    }


@lru_cache(maxsize=1)
def _model_files() -> frozenset[str]:
    return frozenset(file.argument for family in families().values() for file in family.files)
