"""What of a picture the trainer really sees: resized, then cropped to its bucket.

Source: trainer-facts section 5 (train_util.py:2965, 349).
"""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.dataset.buckets import Placement, Size


class Rectangle(NamedTuple):
    """A part of the picture as it is stored, in its own pixels."""

    left: float
    top: float
    right: float
    bottom: float


class Crop(NamedTuple):
    """What happens to one picture.

    Attributes:
        kept: What is seen, without ``random_crop``; that moves it about.
        scale: By how much a side is enlarged (above 1) or shrunk, the larger of both.
        lost: Share of the picture that is cut off, 0 to 1.
    """

    kept: Rectangle
    scale: float
    lost: float


def crop_of(image: Size, placement: Placement) -> Crop:
    """Return what the trainer sees of a picture.

    Args:
        image: Its size in pixels, as stored.
        placement: Where it goes.
    """
    left, right = _axis(image[0], placement.resized[0], placement.bucket[0])
    top, bottom = _axis(image[1], placement.resized[1], placement.bucket[1])
    seen = (right - left) * (bottom - top)
    scale = max(resized / side for resized, side in zip(placement.resized, image, strict=True))
    return Crop(Rectangle(left, top, right, bottom), scale, 1 - seen / (image[0] * image[1]))


def _axis(side: int, resized: int, bucket: int) -> tuple[float, float]:
    """Return from where to where one side is seen; the trainer crops whole pixels of the resized one."""
    if resized <= bucket:
        return 0.0, float(side)
    before = (resized - bucket) // 2
    return before * side / resized, (before + bucket) * side / resized
