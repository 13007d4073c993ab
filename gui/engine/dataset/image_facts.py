"""What one image file holds; says nothing about any plan.

It is no ``Document``: pydantic would take each of the processes that look at images longer to load than many
images take to be looked at, and the second look at 10,000 files longer to read what is remembered.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from gui.engine.dataset.buckets import Size

FACTS_VERSION = 1
"""Raised whenever facts are found out in another way: what is remembered of an older one is not used."""

MOST_PIXELS = 178_956_970
"""Above this Pillow refuses a picture as a decompression bomb, and so does the trainer (DATA-08)."""

Fault = Literal["gone", "denied", "empty", "unknown", "truncated", "broken", "huge", "died", "slow"]
"""Why there are no pixels: ``gone`` is not there (any more), ``denied`` must not be read, ``unknown`` is
no image of any known kind, ``huge`` is refused as a decompression bomb, ``died`` ended the process that
looked at it, ``slow`` never ended."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
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

    def to_json(self) -> str:
        """Return the facts as text, without those that are as usual."""
        said = {name: getattr(self, name) for name in _USUAL}
        return json.dumps({name: value for name, value in said.items() if value != _USUAL[name]})

    @classmethod
    def from_json(cls, text: str | bytes) -> ImageFacts:
        """Return the facts of a text.

        Raises:
            ValueError: It is none that ``to_json`` makes.
        """
        said: Any = json.loads(text)
        if not isinstance(said, dict) or not all(_fits(name, value) for name, value in said.items()):
            raise ValueError("these are no facts of an image")
        return cls(**said)


_USUAL: dict[str, Any] = {field.name: field.default for field in fields(ImageFacts)}
_FAULTS = get_args(Fault)


def _fits(name: str, value: Any) -> bool:
    """Whether a value can be what is known under a name."""
    if name not in _USUAL:
        return False
    usual = _USUAL[name]
    if name == "fault":
        return value in _FAULTS
    if usual is None or isinstance(usual, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(usual)
