"""The folders of images that a plan names, wherever its dataset section has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.plan.dataset_options import folder_name_parts
from gui.engine.plan.model import TrainingPlan


@dataclass(frozen=True)
class SubsetPlace:
    """One folder.

    Attributes:
        target: In the words of fixes, ``dataset.subsets.0``.
        folder: As the plan writes it; empty where it writes none.
        own: What the plan says about it.
    """

    target: str
    folder: str
    own: Mapping[str, Any]


def subset_places(plan: TrainingPlan) -> list[SubsetPlace]:
    """Return the folders in the plan's order; what is none is passed over."""
    found = _below("dataset.subsets", plan.dataset.get("subsets"))
    for place, dataset in _listed(plan.dataset.get("datasets")):
        if isinstance(dataset, Mapping):
            found += _below(f"dataset.datasets.{place}.subsets", dataset.get("subsets"))
    return found


def added_folders(plan: TrainingPlan, folders: list[Path]) -> dict[str, Any]:
    """Return the changes that add folders to a plan; those that it has already are left out."""
    known = {Path(place.folder) for place in subset_places(plan)}
    new = [_subset(folder) for folder in dict.fromkeys(folders) if folder not in known]
    if not new:
        return {}
    datasets = plan.dataset.get("datasets")
    if isinstance(datasets, list | tuple) and datasets and isinstance(datasets[-1], Mapping):
        target, before = f"dataset.datasets.{len(datasets) - 1}.subsets", datasets[-1].get("subsets")
    else:
        target, before = "dataset.subsets", plan.dataset.get("subsets")
    return {target: [*(before if isinstance(before, list | tuple) else ()), *new]}


def _subset(folder: Path) -> dict[str, Any]:
    parts = folder_name_parts(folder.name)
    subset: dict[str, Any] = {"image_dir": str(folder)}
    if parts is not None:
        repeats, words = parts
        subset |= {"num_repeats": repeats} | ({"class_tokens": words} if words else {})
    return subset


def _below(target: str, subsets: Any) -> list[SubsetPlace]:
    return [
        SubsetPlace(f"{target}.{place}", _text(subset.get("image_dir")), subset)
        for place, subset in _listed(subsets)
        if isinstance(subset, Mapping)
    ]


def _listed(value: Any) -> list[tuple[int, Any]]:
    return list(enumerate(value)) if isinstance(value, list | tuple) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
