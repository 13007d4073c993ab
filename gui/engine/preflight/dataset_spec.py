"""What the dataset doctor has to look at for a plan, or for a folder that nobody made a plan of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gui.engine.dataset.buckets import Size
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.folders import FolderLayout
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.rules.caching import caches_text, caches_to_disk
from gui.engine.preflight.steps import bucket_settings
from gui.engine.preflight.view import SubsetView, View

CAPTIONS = ".txt"
"""How nearly all caption files end."""

ANY_SCRIPT = "train_network.py"
"""What reads the images of a folder for which no family is named; all scripts read them alike."""

REACH = 2
"""Of a folder without a plan buckets may reach so many times the resolution's longer side."""


def spec_of(view: View, suffixes: frozenset[str]) -> DatasetSpec:
    """Return what to look at for a plan.

    Args:
        view: The plan as the trainer would understand it, its paths absolute.
        suffixes: What the trainer reads as images.
    """
    subsets = tuple(subset_spec(view, subset) for subset in _folders(view))
    return DatasetSpec(subsets, view.plan.family, suffixes, caches=caches_to_disk(view))


def _folders(view: View) -> Iterator[SubsetView]:
    for subset in view.subsets if view.dataset_known else ():
        folder = subset.own.get("image_dir")
        if isinstance(folder, str) and folder.strip():
            yield subset


def subset_spec(view: View, subset: SubsetView) -> SubsetSpec:
    """Return what to look at for one subset that names a folder."""
    dataset = view.dataset_of(subset)
    masks = subset.own.get("conditioning_data_dir")
    extension = str(subset.value("caption_extension") or ".caption")
    tokens = subset.value("class_tokens")
    kin = view.kin
    return SubsetSpec(
        target=subset.target,
        dataset=dataset.target,
        image_dir=Path(str(subset.value("image_dir"))),
        num_repeats=_whole(subset, "num_repeats"),
        class_tokens=tokens if isinstance(tokens, str) else None,
        is_reg=subset.is_reg,
        caption_extension=extension if extension.startswith(".") else f".{extension}",
        conditioning_data_dir=Path(masks) if isinstance(masks, str) and masks.strip() else None,
        alpha_mask=subset.flag("alpha_mask"),
        settings=bucket_settings(dataset, kin.resolution.default_px if kin else None),
        batch_size=max(1, _whole(dataset, "batch_size")),
        captions=None if subset.own.get("metadata_file") else _captions(view, subset),
    )


def _captions(view: View, subset: SubsetView) -> CaptionSettings:
    changed = not caches_text(view)  # a cached caption is the file's raw text
    taken = CaptionSettings(
        wildcard=changed and subset.flag("enable_wildcard"),
        prefix=_text(subset, "caption_prefix") if changed else "",
        suffix=_text(subset, "caption_suffix") if changed else "",
        separator=_text(subset, "caption_separator") or ",",
    )
    kin = view.kin if view.plan.family else None
    if kin is None:
        return taken
    limit = kin.captions.tokens
    if kin.captions.longer:
        limit = int(view.number("max_token_length") or limit)
    return replace(
        taken,
        style=kin.captions.style,
        limit=limit,
        exact=bool(kin.captions.longer),
        alone=("!",) if view.flag("v2") else (),
    )


def _text(subset: SubsetView, name: str) -> str:
    value = subset.value(name)
    return value if isinstance(value, str) else ""


def _whole(subset: SubsetView, name: str) -> int:
    number = subset.number(name)
    return 1 if number is None else int(number)


def plan_of_folder(layout: FolderLayout, family: str = "", resolution: Size | None = None) -> TrainingPlan:
    """Return a plan that trains on a folder as it is; nothing has to be renamed.

    Args:
        layout: The folder.
        family: The model family; empty for none.
        resolution: Training size; None takes the family's own.
    """
    kin = families().get(family)
    size = resolution or (kin.resolution.default_px if kin else None)
    dataset: dict[str, Any] = {"enable_bucket": True, "caption_extension": CAPTIONS}
    if size is not None:
        dataset |= {"resolution": list(size), "max_bucket_reso": REACH * max(size)}
    return TrainingPlan(
        name=layout.folder.name or "dataset",
        family=family,
        script=None if kin else ANY_SCRIPT,
        dataset=dataset | {"subsets": layout.subsets()},
    )
