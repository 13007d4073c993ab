"""The folders of a dataset whose captions can be looked at and changed, each of them once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.doctor import caption_folder
from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import CannotRead


def caption_folders(spec: DatasetSpec) -> Iterator[tuple[SubsetSpec, CaptionFolder | None]]:
    """Yield each folder by the first subset that names it, and its captions; lists the folders.

    Args:
        spec: The dataset. A folder that cannot be listed is left out; one without captions that could be
            changed comes with None.
    """
    seen: set[Path] = set()
    for subset in spec.subsets:
        if subset.image_dir in seen:
            continue
        seen.add(subset.image_dir)
        try:
            listing = list_folder(subset.image_dir, subset.caption_extension, spec.suffixes)
        except CannotRead:
            continue
        yield subset, caption_folder(subset, listing)


def editable_captions(spec: DatasetSpec) -> list[CaptionFolder]:
    """Return the captions that can be changed, a folder each; lists the folders."""
    return [where for _subset, where in caption_folders(spec) if where is not None]
