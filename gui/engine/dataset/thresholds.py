"""From where on something about an image is told; the figures are data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class Thresholds(Document):
    """The figures of ``resources/dataset/thresholds.yaml``, which says where they come from.

    Attributes:
        small_px: A smaller side below is small.
        enlarged: From so many times along a side an image is blown up.
        ratio: From this ratio of sides a shape is extreme.
        cut: From this share on too much of a picture is cut off.
        large_pixels: From so many pixels an image is unreasonably large.
        transparent: From this share on transparency is told.
        colour_shift: From so many levels of 255 a colour profile matters.
        jpeg_quality: Up to this quality a JPEG has strong artefacts.
        blockiness: From this blockiness on any image has.
        sharpness: Up to this sharpness an image is blurred.
        near_bits: Pictures that differ by no more bits look alike.
    """

    schema_: Literal[1] = Field(alias="schema")
    small_px: int
    enlarged: float
    ratio: float
    cut: float
    large_pixels: int
    transparent: float
    colour_shift: float
    jpeg_quality: int
    blockiness: float
    sharpness: float
    near_bits: int
    sources: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def thresholds(path: Path | None = None) -> Thresholds:
    """Return the figures.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    place = path or resource_path("dataset", "thresholds.yaml")
    return read_yaml(place, Thresholds)
