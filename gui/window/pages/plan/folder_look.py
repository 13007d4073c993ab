"""A look into a folder of images, and small pictures of the first ones; both for threads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from gui.engine.dataset.listing import list_folder
from gui.engine.errors import Cancelled, CannotRead

MOST_PICTURES = 12
MOST_FOLDERS = 50
"""Sub-folders that are looked into."""


@dataclass(frozen=True)
class SubFolder:
    """A folder in the folder.

    Attributes:
        path: Where it is.
        images: How many images are in it.
    """

    path: Path
    images: int


@dataclass(frozen=True)
class FolderLook:
    """What is in a folder.

    Attributes:
        folder: Where it is.
        images: How many images the trainer would read.
        captioned: How many of these have a caption.
        other_captions: Other endings of captions to the number of such files.
        ignored: Names that look like images and that the trainer passes over.
        inside: Sub-folders with images, into which the trainer does not look.
        first: Names of the first images.
    """

    folder: Path
    images: int
    captioned: int
    other_captions: dict[str, int]
    ignored: tuple[str, ...]
    inside: tuple[SubFolder, ...]
    first: tuple[str, ...]


def look_into(folder: Path, extension: str, cancelled: Callable[[], bool]) -> FolderLook:
    """Look into a folder.

    Args:
        folder: Where the images should be.
        extension: Of captions.
        cancelled: Asked between folders.

    Raises:
        CannotRead: It is no folder, or must not be read.
        Cancelled: It was.
    """
    listing = list_folder(folder, extension or ".caption")
    inside = []
    for name in listing.folders[:MOST_FOLDERS]:
        if cancelled():
            raise Cancelled
        try:
            images = len(list_folder(folder / name).images)
        except CannotRead:
            continue
        if images:
            inside.append(SubFolder(folder / name, images))
    return FolderLook(
        folder=folder,
        images=len(listing.images),
        captioned=listing.captioned,
        other_captions=dict(listing.other_captions),
        ignored=listing.ignored,
        inside=tuple(inside),
        first=listing.images[:MOST_PICTURES],
    )


def load_pictures(
    folder: Path, names: Sequence[str], side: int, cancelled: Callable[[], bool]
) -> list[QImage | None]:
    """Read small pictures; None for a file that is no image or a broken one.

    Args:
        folder: Where they are.
        names: Of the files.
        side: Of a picture in pixels; the middle is cut out.
        cancelled: Asked between images.

    Raises:
        Cancelled: It was.
    """
    pictures = []
    for name in names:
        if cancelled():
            raise Cancelled
        pictures.append(_squared(_read(folder / name, side), side))
    return pictures


def _read(path: Path, side: int) -> QImage:
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    reader.setDecideFormatFromContent(True)
    size = reader.size()
    if size.isValid():
        wanted = size.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
        reader.setScaledSize(wanted)
    image = reader.read() if reader.canRead() else QImage()
    return image if not image.isNull() else _read_by_pillow(path, side)


def _read_by_pillow(path: Path, side: int) -> QImage:
    """Read kinds of images that Qt has no plug-in for, and those of which it is stricter."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                image.draft("RGB", (side * 2, side * 2))
                small = ImageOps.exif_transpose(image).convert("RGBA")
                small.thumbnail((side * 2, side * 2))
    except Exception:  # noqa: BLE001 - Pillow's plug-ins raise whatever they like for a broken file
        return QImage()
    data = small.tobytes("raw", "RGBA")
    whole = QImage(data, small.width, small.height, small.width * 4, QImage.Format.Format_RGBA8888)
    return whole.scaled(
        QSize(side, side),
        Qt.AspectRatioMode.KeepAspectRatioByExpanding,
        Qt.TransformationMode.SmoothTransformation,
    )


def _squared(image: QImage, side: int) -> QImage | None:
    if image.isNull():
        return None
    left, top = (image.width() - side) // 2, (image.height() - side) // 2
    return image.copy(max(0, left), max(0, top), min(side, image.width()), min(side, image.height()))
