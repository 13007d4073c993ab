"""Folders of images, and what was found of each image that was looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    pass


class LookedAt(NamedTuple):
    """One image that was looked at.

    Attributes:
        row: Which of all images.
        keys: What is wrong with it, the worst first; see ``problem_kinds``.
    """

    row: int
    keys: tuple[str, ...]


class FolderImages(NamedTuple):
    """One folder and its images, sorted."""

    folder: Path
    names: tuple[str, ...]
