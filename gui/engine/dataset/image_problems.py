"""What is wrong with an image whatever the plan: its kinds of trouble, by keys.

What these keys mean, how bad each is and what is said about it is in ``problem_kinds``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from gui.engine.dataset.image_facts import Fault, ImageFacts
from gui.engine.dataset.thresholds import Thresholds

FORMAT_OF_SUFFIX: Mapping[str, str] = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".avif": "AVIF",
    ".jxl": "JXL",
}
"""What a file must hold by its name."""

_OF_FAULT: Mapping[Fault, str] = {
    "gone": "img-gone",
    "denied": "img-denied",
    "empty": "img-empty",
    "truncated": "img-truncated",
    "broken": "img-decode",
    "unknown": "img-decode",
    "huge": "img-huge",
    "died": "img-crash",
    "slow": "img-crash",
}


def problems_of(name: str, facts: ImageFacts, limits: Thresholds) -> tuple[str, ...]:
    """Return the keys of everything that is wrong with an image.

    Args:
        name: The file's name.
        facts: What it holds.
        limits: From where on something is told.
    """
    if facts.fault is not None:
        return (_no_pixels(name, facts, facts.fault),)
    return (
        *_of_file(name, facts),
        *_of_colours(facts, limits),
        *_of_size(facts, limits),
        *_of_look(facts, limits),
    )


def _expected(name: str) -> str:
    return FORMAT_OF_SUFFIX.get(os.path.splitext(name)[1].lower(), "")  # noqa: PTH122 - names, not paths


def _no_pixels(name: str, facts: ImageFacts, fault: Fault) -> str:
    if fault != "unknown" or not facts.format:
        return _OF_FAULT[fault]
    # A HEIC photo, a web page: whole, but nothing that this or the trainer's decoder knows.
    return "img-unchecked" if facts.format == _expected(name) else "img-magic"


def _of_file(name: str, facts: ImageFacts) -> Iterator[str]:
    if not facts.whole:
        yield "img-end"
    if facts.format != _expected(name):
        yield "img-avif" if facts.format == "AVIF" else "img-format"
    if facts.frames > 1:
        yield "img-animated"
    if facts.orientation != 1:
        yield "img-exif"


def _of_colours(facts: ImageFacts, limits: Thresholds) -> Iterator[str]:
    if facts.transparent >= limits.transparent:
        yield "img-alpha"
    if facts.mode == "CMYK":
        yield "img-cmyk"
    elif facts.colour_shift >= limits.colour_shift:
        yield "img-icc"
    if facts.mode in ("P", "PA"):
        yield "img-palette"
    if facts.bits > 8:
        # Pillow cuts the upper levels off instead of scaling them: nearly all becomes white.
        yield "img-16bit-clipped" if facts.mode.startswith("I") else "img-16bit"
    if facts.grey:
        yield "img-grey"


def _of_size(facts: ImageFacts, limits: Thresholds) -> Iterator[str]:
    if min(facts.size) < limits.small_px:
        yield "img-small"
    if max(facts.size) >= limits.ratio * min(facts.size):
        yield "img-ratio"
    if facts.width * facts.height > limits.large_pixels:
        yield "img-large"


def _of_look(facts: ImageFacts, limits: Thresholds) -> Iterator[str]:
    poor = facts.jpeg_quality is not None and facts.jpeg_quality <= limits.jpeg_quality
    if poor or (facts.blockiness is not None and facts.blockiness >= limits.blockiness):
        yield "img-jpeg"
    if facts.sharpness is not None and facts.sharpness <= limits.sharpness:
        yield "img-blur"
