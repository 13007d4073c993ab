"""How a folder is laid out for training, and how to train on it as it is, without renaming anything.

On the command line the trainer takes the parent of folders that are named ``N_class``; a dataset file
names the folders themselves, whatever they are called.

Source: trainer-facts 6.2 (config_util.py:607-638, train_util.py:2847).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gui.engine.dataset.listing import list_folder
from gui.engine.errors import CannotRead
from gui.engine.plan.dataset_options import folder_name_parts

Layout = Literal["parent", "leaf", "flat", "nested", "empty"]
"""``parent`` of ``N_class`` folders; ``leaf``: such a folder itself; ``flat``: images in a folder of any
other name; ``nested``: images only in sub-folders that are not named so; ``empty``: none."""

MOST_FOLDERS = 1000


@dataclass(frozen=True)
class SubFolder:
    """A folder with images.

    Attributes:
        path: Where.
        images: How many the trainer reads.
        repeats: The number before the first ``_`` of its name; None when that is no such name.
        class_tokens: What follows it.
    """

    path: Path
    images: int
    repeats: int | None
    class_tokens: str


@dataclass(frozen=True)
class FolderLayout:
    """How a folder is laid out.

    Attributes:
        folder: Which.
        layout: How.
        own: The folder itself, with the images that lie directly in it.
        inside: Its sub-folders that hold images, by name.
    """

    folder: Path
    layout: Layout
    own: SubFolder
    inside: tuple[SubFolder, ...]

    @property
    def passed_over(self) -> tuple[SubFolder, ...]:
        """What ``train_data_dir`` with this folder would pass over."""
        odd = tuple(each for each in self.inside if each.repeats is None)
        return (self.own, *odd) if self.own.images else odd

    def subsets(self) -> list[dict[str, Any]]:
        """Return subsets of a plan that train on everything here as it is, each image once or N times."""
        folders = [self.own] if self.own.images else []
        return [_subset(each) for each in (*folders, *self.inside)]


def look_at_folder(folder: Path, suffixes: frozenset[str] | None = None) -> FolderLayout:
    """Look at a folder and the folders in it.

    Args:
        folder: Which; a link in it that leads in circles is no folder with images.
        suffixes: What the trainer reads; None takes what every trainer reads.

    Raises:
        CannotRead: It is no folder, or must not be read.
    """
    listing = list_folder(folder, suffixes=suffixes)
    inside = [
        look
        for name in listing.folders[:MOST_FOLDERS]
        if (look := _sub_folder(folder / name, suffixes)) is not None and look.images
    ]
    own = SubFolder(folder, len(listing.images), *_parts(folder.name))
    return FolderLayout(folder, _layout(own, inside), own, tuple(inside))


def _layout(own: SubFolder, inside: list[SubFolder]) -> Layout:
    if any(each.repeats is not None for each in inside):
        return "parent"
    if own.images:
        return "leaf" if own.repeats is not None else "flat"
    return "nested" if inside else "empty"


def _sub_folder(folder: Path, suffixes: frozenset[str] | None) -> SubFolder | None:
    try:
        return SubFolder(folder, len(list_folder(folder, suffixes=suffixes).images), *_parts(folder.name))
    except CannotRead:
        return None


def _parts(name: str) -> tuple[int | None, str]:
    parts = folder_name_parts(name)
    return (None, "") if parts is None else parts


def _subset(folder: SubFolder) -> dict[str, Any]:
    subset: dict[str, Any] = {"image_dir": str(folder.path), "num_repeats": folder.repeats or 1}
    return subset | ({"class_tokens": folder.class_tokens} if folder.class_tokens else {})
