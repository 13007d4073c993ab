"""What a colour profile changes: the trainer does not apply it, so colours come out shifted."""

from __future__ import annotations

import io
from functools import lru_cache

from PIL import Image

_STEPS = (0, 51, 102, 153, 204, 255)
"""Levels of each channel; all their mixtures are tried."""


@lru_cache(maxsize=64)
def profile_of(profile: bytes) -> tuple[str, float]:
    """Return a profile's name, and by how many levels of 255 colours shift at most without it.

    Profiles that cannot be read, and those of CMYK pictures, count as shifting nothing: the first
    mean nothing to anybody, the second are told of anyway.
    """
    from PIL import ImageCms

    try:
        opened = ImageCms.getOpenProfile(io.BytesIO(profile))
        name = str(ImageCms.getProfileDescription(opened)).strip()
        mode = str(opened.profile.xcolor_space).strip()
        if mode not in ("RGB", "GRAY"):
            return name, 0.0
        colours = _colours("RGB" if mode == "RGB" else "L")
        shown = ImageCms.profileToProfile(colours, opened, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, AttributeError):
        return "", 0.0
    return name, float(_furthest(colours.convert("RGB"), shown))


def _colours(mode: str) -> Image.Image:
    if mode == "L":
        picture = Image.new("L", (len(_STEPS), 1))
        picture.putdata(_STEPS)
        return picture
    mixtures = [(red, green, blue) for red in _STEPS for green in _STEPS for blue in _STEPS]
    picture = Image.new("RGB", (len(mixtures), 1))
    picture.putdata(mixtures)
    return picture


def _furthest(before: Image.Image, after: Image.Image | None) -> int:
    if after is None:
        return 0
    pairs = zip(before.tobytes(), after.tobytes(), strict=True)
    return max(abs(one - other) for one, other in pairs)
