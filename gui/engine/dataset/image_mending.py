"""Makes a picture as the trainer should see it: upright, in sRGB, 8 bits, without transparency."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from PIL import Image, ImageOps

from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin, Size
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.thresholds import Thresholds

Mending = Literal["upright", "colours", "rgb", "flat", "bits", "first", "whole", "webp", "smaller", "name"]
"""``upright``: turned as EXIF says; ``colours``: its profile applied; ``rgb``: other colours made RGB;
``flat``: transparency laid on white; ``bits``: 16 bits scaled to 8; ``first``: of an animation the first
picture; ``whole``: its missing end; ``webp``: a WebP whose size the trainer misreads; ``smaller``: shrunk to
what its bucket needs; ``name``: an ending that fits what it holds."""

ENDINGS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "BMP": ".bmp"}


@dataclass(frozen=True)
class MendingWanted:
    """What shall be mended of a folder's images.

    Attributes:
        limits: From where on a colour profile or transparency matters.
        keep_alpha: Whether transparency is the mask of the loss.
        keep_shape: Whether nothing may be turned or shrunk, since masks have the same shape.
        buckets: What images are shrunk for; None leaves their size.
    """

    limits: Thresholds
    keep_alpha: bool = False
    keep_shape: bool = False
    buckets: BucketSettings | None = None


def mendings(facts: ImageFacts, wanted: MendingWanted) -> tuple[Mending, ...]:
    """Return what has to be done to the pixels of a readable image; nothing for one that is fine.

    Args:
        facts: What it holds.
        wanted: What shall be done.
    """
    return tuple(_mendings(facts, wanted))


def _mendings(facts: ImageFacts, wanted: MendingWanted) -> Iterator[Mending]:
    if facts.orientation != 1 and not wanted.keep_shape:
        yield "upright"
    if facts.bits > 8:
        yield "bits"
    if facts.colour_shift >= wanted.limits.colour_shift:
        yield "colours"
    if facts.has_alpha and not wanted.keep_alpha:
        yield "flat"
    elif facts.mode not in ("RGB", "RGBA"):
        yield "rgb"
    if facts.frames > 1:
        yield "first"
    if not facts.whole:
        yield "whole"
    if facts.extended:
        yield "webp"
    if wanted.buckets is not None and not wanted.keep_shape and _smaller(upright_size(facts), wanted.buckets):
        yield "smaller"


def upright_size(facts: ImageFacts) -> Size:
    """Return an image's size once it is turned as EXIF says."""
    return facts.size if facts.orientation < 5 else (facts.height, facts.width)


def mended(data: bytes, what: tuple[Mending, ...], wanted: MendingWanted) -> bytes:
    """Return an image file with its pixels mended, as PNG: nothing more is lost.

    Args:
        data: The file.
        what: What has to be done; see ``mendings``.
        wanted: What shall be done.

    Raises:
        OSError: It cannot be decoded after all.
    """
    with Image.open(io.BytesIO(data)) as image:
        picture: Image.Image = ImageOps.exif_transpose(image) if "upright" in what else image.copy()
    profile = picture.info.get("icc_profile")
    if picture.mode.startswith("I"):
        picture = _scaled(picture)
    if "colours" in what and isinstance(profile, bytes):
        picture = _in_srgb(picture, profile)
    if "flat" in what:
        clear = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear)
    keeps_alpha = wanted.keep_alpha and picture.has_transparency_data
    picture = picture.convert("RGBA" if keeps_alpha else "RGB")
    smaller = _smaller(picture.size, wanted.buckets) if "smaller" in what and wanted.buckets else None
    if smaller is not None:
        picture = picture.resize(smaller, Image.Resampling.LANCZOS)
    picture.info.clear()  # no EXIF and no profile: both are applied
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _scaled(picture: Image.Image) -> Image.Image:
    import numpy as np

    levels = np.asarray(picture).astype(np.uint32)
    return Image.fromarray((levels // 257).clip(0, 255).astype(np.uint8))


def _in_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    from PIL import ImageCms

    alpha = picture.getchannel("A") if "A" in picture.getbands() else None
    plain = picture.convert("RGB") if alpha is not None or picture.mode == "P" else picture
    opened = ImageCms.getOpenProfile(io.BytesIO(profile))
    shown = ImageCms.profileToProfile(plain, opened, ImageCms.createProfile("sRGB"), outputMode="RGB")
    result = shown if shown is not None else plain.convert("RGB")
    if alpha is not None:
        result.putalpha(alpha)
    return result


def _smaller(size: Size, buckets: BucketSettings) -> Size | None:
    """Return the size that the trainer would shrink an image to; None when it would not."""
    try:
        resized = buckets.place(size).resized
    except (ImageTooThin, BucketsImpossible):
        return None
    return resized if resized[0] < size[0] and resized[1] < size[1] else None
