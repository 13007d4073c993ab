"""What makes a folder that was looked at the data of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gui.engine.errors import PreflightError
from gui.engine.plan.dataset_options import FOLDER_ARGUMENTS
from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _
from gui.window.models.plan_document import PlanDocument

CAPTIONS = "caption_extension"


def data_changes(plan: TrainingPlan, folder: TrainingPlan) -> dict[str, Any]:
    """Return the changes that let a plan train on other folders, and on nothing else.

    What the plan says besides, such as its size and its batch, stays: of several datasets that of the first.

    Args:
        plan: The plan.
        folder: The plan that trains on the folders as they are.
    """
    changes: dict[str, Any] = {name: None for name in FOLDER_ARGUMENTS if name in plan.arguments}
    subsets, extension = folder.dataset["subsets"], folder.dataset.get(CAPTIONS)
    datasets = plan.dataset.get("datasets")
    first = datasets[0] if isinstance(datasets, list | tuple) and datasets else None
    if isinstance(first, Mapping):
        changes["dataset.datasets"] = [{**first, CAPTIONS: extension, "subsets": subsets}]
        if plan.dataset.get("subsets"):
            changes["dataset.subsets"] = None
    else:
        changes |= {f"dataset.{CAPTIONS}": extension, "dataset.subsets": subsets}
    return changes


def use_data(document: PlanDocument, folder: TrainingPlan) -> str:
    """Let the open plan train on other folders, in one undo step.

    A plan that can only be looked at gives way to a new one.

    Args:
        document: The open plan.
        folder: The plan that trains on the folders as they are.

    Returns:
        Empty, or why that cannot be, in one sentence.
    """
    try:
        if document.read_only:
            document.new()
    except PreflightError as error:
        return str(error)
    text = _("Train on “{name}”").format(name=folder.name)
    return document.change(data_changes(document.plan, folder), text)
