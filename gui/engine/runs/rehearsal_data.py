"""Gathers the few images that a rehearsal trains on: of the largest bucket, copied into its own folder.

The trainer writes caches beside the images that it reads. Copies keep the user's folders as they are,
whatever the plan caches, and let the rehearsal measure the caching itself: caches that are there already
are not taken along.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.dataset.buckets import BucketsImpossible, ImageTooThin, Size
from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.spec import SubsetSpec
from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, CannotWrite, RunRefused
from gui.engine.preflight.dataset_spec import spec_of
from gui.engine.preflight.image_look import look_at_images
from gui.engine.preflight.rules.memory_question import largest_batch
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _

MOST_IMAGES = 4
"""More are taken only to fill a batch."""

_LEVELS = ("general", "datasets", "subsets")
_LEFT_OUT = ("is_reg", "validation_split", "validation_seed", "metadata_file")


@dataclass(frozen=True)
class RehearsedData:
    """Which images are trained on.

    Attributes:
        spec: The folder that they lie in.
        names: Of the images.
        bucket: Width and height in pixels.
        batch: Images at once.
    """

    spec: SubsetSpec
    names: tuple[str, ...]
    bucket: Size
    batch: int


def choose_data(view: View, suffixes: frozenset[str], most: int | None = None) -> RehearsedData:
    """Choose images of the bucket with most pixels in a batch that is really used.

    Args:
        view: The plan as the trainer would understand it.
        suffixes: What the trainer reads as images.
        most: No more than these; None takes as many as fill a batch.

    Raises:
        RunRefused: There are none, or they are not simply folders of images.
    """
    if not view.dataset_known or any(subset.own.get("metadata_file") for subset in view.subsets):
        raise RunRefused(
            _("A rehearsal needs folders of images; this plan's images are listed in a file of their own.")
        )
    bucket, batch = largest_batch(view)
    wanted = most or max(batch, MOST_IMAGES)
    specs = [spec for spec in spec_of(view, suffixes).subsets if spec.settings is not None]
    for spec in sorted(specs, key=lambda each: (each.batch_size != batch, each.is_reg)):
        names = tuple(_fitting(spec, suffixes, bucket, wanted))
        if names:
            return RehearsedData(spec, names, bucket, spec.batch_size)
    raise RunRefused(_("No image of the plan could be read, so that there is nothing to rehearse with."))


def _fitting(spec: SubsetSpec, suffixes: frozenset[str], bucket: Size, wanted: int) -> Iterator[str]:
    """Yield images of a bucket; the rest is not looked at once there are enough."""
    try:
        listed = list_folder(spec.image_dir, spec.caption_extension, suffixes).images
    except CannotRead:
        return
    for name in listed:
        sizes = look_at_images(spec.image_dir, [name]).sizes
        if name in sizes and _is_in(spec, sizes[name], bucket):
            yield name
            wanted -= 1
        if wanted <= 0:
            return


def _is_in(spec: SubsetSpec, size: Size, bucket: Size) -> bool:
    if spec.settings is None:
        return False
    try:
        return spec.settings.place(size).bucket == bucket
    except (BucketsImpossible, ImageTooThin):
        return False


def copied_dataset(view: View, data: RehearsedData, folder: Path, images_needed: int) -> dict[str, Any]:
    """Copy the images with what belongs to them, and return the plan's dataset of them alone.

    Args:
        view: The plan as the trainer would understand it.
        data: What was chosen.
        folder: Where to; made here.
        images_needed: So many are trained on altogether, repeats counted.

    Raises:
        CannotWrite: The disk is full, or the folder cannot be written.
    """
    subset = next(each for each in view.subsets if each.target == data.spec.target)
    own = {name: value for name, value in subset.own.items() if name not in _LEFT_OUT}
    own["image_dir"] = str(folder / "images")
    own["num_repeats"] = math.ceil(images_needed / len(data.names))
    captions = [f"{stem_of(name)}{data.spec.caption_extension}" for name in data.names]
    _copy(data.spec.image_dir, [*data.names, *captions], folder / "images")
    pairs = data.spec.conditioning_data_dir
    if pairs is not None:
        stems = {stem_of(name) for name in data.names}
        own["conditioning_data_dir"] = str(folder / "conditioning")
        _copy(pairs, [name for name in _names(pairs) if stem_of(name) in stems], folder / "conditioning")
    return {**_inherited(subset), "subsets": [own]}


def _inherited(subset: SubsetView) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for level in reversed(subset.levels):
        found |= {name: value for name, value in level.items() if name not in (*_LEVELS, *_LEFT_OUT)}
    return found


def _names(folder: Path) -> list[str]:
    try:
        return list(list_folder(folder).images)
    except CannotRead:
        return []


def _copy(source: Path, names: list[str], target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            if (source / name).is_file():
                shutil.copyfile(source / name, target / name)
    except OSError as error:
        raise CannotWrite(target, reason_of(error)) from error
