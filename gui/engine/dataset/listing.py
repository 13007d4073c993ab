"""What the trainer would read of a folder of images, without opening a single one.

Source: trainer-facts 6.1, 6.3 (train_util.py:104-129, 1946-1956, 2847).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead
from gui.engine.texts import _

READ_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
"""What every trainer reads, written all in lower or all in upper case."""

AVIF_SUFFIXES = (".avif",)
"""Read where the trainer has pillow_avif."""

JXL_SUFFIXES = (".jxl",)
"""Read where the trainer has jxlpy or pillow_jxl."""


OWN = "_preflight_"
"""How folders begin that this program keeps in a dataset: what is in them is not part of it."""


@dataclass(frozen=True)
class FolderListing:
    """The files of one folder as the trainer sees them.

    Attributes:
        images: Names that it reads, sorted.
        captioned: How many of these have a caption file.
        ignored: Names that look like images and that it passes over.
        hidden: Of these, the ones that begin with a dot, such as the ``._name`` of macOS.
        folders: Names of sub-folders; it does not look into them.
        other_captions: Suffix to count of caption-like files with another extension.
    """

    images: tuple[str, ...]
    captioned: int
    ignored: tuple[str, ...]
    folders: tuple[str, ...]
    other_captions: dict[str, int]
    hidden: tuple[str, ...] = ()


IMAGE_LIKE = frozenset(
    {*READ_SUFFIXES, *AVIF_SUFFIXES, *JXL_SUFFIXES, ".gif", ".tif", ".tiff", ".heic", ".heif", ".jfif"}
)
CAPTION_LIKE = frozenset({".txt", ".caption", ".cap", ".tags"})


def suffixes_read(*, avif: bool = False, jxl: bool = False) -> frozenset[str]:
    """Return the suffixes that the trainer reads, each in lower and in upper case."""
    lower = (*READ_SUFFIXES, *(AVIF_SUFFIXES if avif else ()), *(JXL_SUFFIXES if jxl else ()))
    return frozenset({*lower, *(suffix.upper() for suffix in lower)})


def list_folder(
    folder: Path, caption_extension: str = ".caption", suffixes: frozenset[str] | None = None
) -> FolderListing:
    """List a folder, not the folders in it.

    Args:
        folder: Where the images are.
        caption_extension: As the trainer takes it; a missing leading dot is added.
        suffixes: What is read; None takes what every trainer reads.

    Raises:
        CannotRead: It is no folder, or must not be read.
    """
    read = suffixes_read() if suffixes is None else suffixes
    names: list[str] = []
    folders: list[str] = []
    for name, is_folder in _entries(folder):
        if not (is_folder and name.startswith(OWN)):
            (folders if is_folder else names).append(name)
    # A folder that is called like an image is taken for one, and the trainer stops at it.
    images = sorted(name for name in (*names, *folders) if _suffix(name, read))
    wanted = caption_extension if caption_extension.startswith(".") else f".{caption_extension}"
    present = set(names)
    captioned = sum(f"{_split(name)[0]}{wanted}" in present for name in images)
    others: dict[str, int] = {}
    for name in names:
        suffix = _split(name)[1].lower()
        if suffix in CAPTION_LIKE and suffix != wanted:
            others[suffix] = others.get(suffix, 0) + 1
    chosen = set(images)
    ignored = [name for name in names if name not in chosen and _split(name)[1].lower() in IMAGE_LIKE]
    return FolderListing(
        images=tuple(images),
        captioned=captioned,
        ignored=tuple(sorted(ignored)),
        folders=tuple(sorted(folders)),
        other_captions=others,
        hidden=tuple(sorted(name for name in ignored if name.startswith("."))),
    )


def holds_images(folder: Path, suffixes: frozenset[str]) -> bool:
    """Return whether a folder has images in it, and can be looked into.

    Args:
        folder: Which.
        suffixes: What the trainer reads.
    """
    try:
        return bool(list_folder(folder, suffixes=suffixes).images)
    except CannotRead:
        return False


def _split(name: str) -> tuple[str, str]:
    return os.path.splitext(name)  # noqa: PTH122 - ten times as fast as a Path, for 100,000 names


def _suffix(name: str, read: frozenset[str]) -> bool:
    if name.startswith("."):
        return False  # "*.png" of glob finds nothing that is hidden (train_util.py:2851)
    # Windows' file system finds ".Jpg" for ".jpg" (glob), Linux' does not.
    suffix = _split(name)[1]
    return suffix in read or (os.name == "nt" and suffix.lower() in read)


def _entries(folder: Path) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name, _is_folder(entry)
    except OSError as error:
        raise CannotRead(folder, reason_of(error)) from error
    except ValueError as error:
        raise CannotRead(folder, _("no folder can have this name")) from error


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
