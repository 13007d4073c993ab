"""What one image file holds; says nothing about any plan."""

from __future__ import annotations

from typing import Literal

from gui.engine.dataset.buckets import Size
from gui.engine.documents import Document

FACTS_VERSION = 1
"""Raised whenever facts are found out in another way: what is remembered of an older one is not used."""

Fault = Literal["gone", "denied", "empty", "unknown", "truncated", "broken", "huge", "died", "slow"]
"""Why there are no pixels: ``gone`` is not there (any more), ``denied`` must not be read, ``unknown`` is
no image of any known kind, ``huge`` is refused as a decompression bomb, ``died`` ended the process that
looked at it, ``slow`` never ended."""


class ImageFacts(Document):
    """One file.

    Attributes:
        content: The first half of its SHA-256, hexadecimal; empty where it could not be read.
        fault: Why it cannot be decoded; None when it can.
        reason: The decoder's own words about it.
        format: What the content is, such as ``JPEG`` or ``HEIC``, whatever the name says; empty: unknown.
        width: Pixels, as stored: EXIF rotation is not applied.
        height: Pixels.
        mode: Pillow's name of what a pixel holds, such as ``RGB``, ``RGBA``, ``CMYK``, ``P``.
        bits: Per channel, in the file.
        frames: More than one for an animation.
        whole: Whether it ends as its format must; some decoders do not look.
        extended: Whether it is a WebP with more than pixels, such as transparency (``VP8X``).
        has_alpha: Whether it can be transparent.
        transparent: How much of it is, 0 to 1.
        orientation: EXIF's, 1 to 8; 1 is upright.
        profile: Name of the colour profile; empty for none.
        colour_shift: By how many levels of 255 colours change at most when the profile is not applied.
        grey: Whether nothing in it has a colour.
        jpeg_quality: 1 to 100, estimated from its tables; None where there are none.
        blockiness: How much stronger steps are at the borders of 8×8 blocks than elsewhere, levels of 255.
        sharpness: The steepest step between neighbours against the contrast around it, 0 to 1; None
            where nothing has a contrast.
        looks: 128 bits, hexadecimal, that are alike for pictures that look alike.
    """

    content: str = ""
    fault: Fault | None = None
    reason: str = ""
    format: str = ""
    width: int = 0
    height: int = 0
    mode: str = ""
    bits: int = 8
    frames: int = 1
    whole: bool = True
    extended: bool = False
    has_alpha: bool = False
    transparent: float = 0.0
    orientation: int = 1
    profile: str = ""
    colour_shift: float = 0.0
    grey: bool = False
    jpeg_quality: int | None = None
    blockiness: float | None = None
    sharpness: float | None = None
    looks: str = ""

    @property
    def size(self) -> Size:
        """Width and height in pixels."""
        return self.width, self.height

    @property
    def seen_size(self) -> Size:
        """The size by which the trainer sorts the image into a bucket.

        Of a WebP with more than pixels it reads one pixel less on both sides, since the package that
        reads the header forgets that the file holds the size less one.

        Source: imagesize 1.4.1, ``VP8X`` (train_util.py:1482).
        """
        if self.extended and min(self.size) > 1:
            return self.width - 1, self.height - 1
        return self.size
