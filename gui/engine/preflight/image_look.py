"""Reads sizes from the headers of images, and tells those that cannot be read, or surely not whole.

Source: DATA-05 to DATA-08, trainer-facts 6.1.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from gui.engine.dataset.buckets import Size
from gui.engine.dataset.endings import format_of
from gui.engine.dataset.image_facts import MOST_PIXELS
from gui.engine.preflight.file_facts import ImageFault

LARGE_PX = 64_000_000
"""From here on an image is needlessly large (DATA-08)."""

HEAD_BYTES = 64

TAIL_BYTES = 4096
"""Cameras append data of their own after the end of a picture; rarely more than this."""

ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}
"""What stands at the end of a whole file of a format."""

DECODED = 20
"""So many images that lack their end are decoded, to be sure."""


@dataclass
class Images:
    """What a look at images gave.

    Attributes:
        sizes: Name to (width, height) in pixels, of those that can be read.
        faults: Images that the trainer would stumble over.
    """

    sizes: dict[str, Size] = field(default_factory=dict)
    faults: tuple[ImageFault, ...] = ()


def look_at_images(folder: Path, names: Iterable[str]) -> Images:
    """Return the sizes and faults of images.

    Args:
        folder: Where they are.
        names: Their names.
    """
    looked, faults, decoded = Images(), [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Pillow remarks about single images
        for name in names:
            path = folder / name
            if is_special(path):
                faults.append(ImageFault(name=name, kind="unreadable"))
                continue
            size = _size(path)
            if not isinstance(size, tuple):
                faults.append(ImageFault(name=name, kind=size, what=_what(path)))
                continue
            looked.sizes[name] = size
            if size[0] * size[1] > LARGE_PX:
                faults.append(ImageFault(name=name, kind="large", what=f"{size[0]}×{size[1]}"))
            elif decoded < DECODED and _lacks_end(path):
                decoded += 1
                faults += _cut_off(path)
    looked.faults = tuple(faults)
    return looked


def is_special(path: Path) -> bool:
    """Whether something is neither file nor folder: whoever opens a pipe waits without end."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - of each image, at each look
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _size(path: Path) -> Size | str:
    """Return the size; or the kind of fault."""
    try:
        with Image.open(path) as image:
            width, height = image.size
    except Image.DecompressionBombError:
        return "bomb"
    except (OSError, ValueError, SyntaxError):
        what = _what(path)
        return "format" if what and what not in Image.OPEN else "unreadable"
    return (width, height) if width * height <= MOST_PIXELS else "bomb"


def _what(path: Path) -> str:
    """Return what a file is by its first bytes; empty when they tell nothing, or nothing is there."""
    try:
        with path.open("rb") as file:
            return format_of(file.read(HEAD_BYTES))
    except OSError:
        return ""


def _lacks_end(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            kind = format_of(file.read(HEAD_BYTES))
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            return kind in ENDS and ENDS[kind] not in file.read(TAIL_BYTES)
    except OSError:
        return True


def _cut_off(path: Path) -> list[ImageFault]:
    try:
        with Image.open(path) as image:
            image.load()
    except (OSError, ValueError, SyntaxError):
        return [ImageFault(name=path.name, kind="unreadable")]
    return []
