"""What makes a folder that was looked at the data of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gui.engine.plan.dataset_options import FOLDER_ARGUMENTS
from gui.engine.plan.model import TrainingPlan

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
