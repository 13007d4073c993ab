"""Looks at one image file by decoding all of it; runs in the processes of a scan.

Nothing but Pillow's own formats that pictures for training come in is tried, and never a truncated
file as if it were whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image, ImageFile, UnidentifiedImageError

from gui.engine.dataset.colours import profile_of
from gui.engine.dataset.endings import format_of, is_extended_webp, is_whole
from gui.engine.dataset.image_facts import MOST_PIXELS, Fault, ImageFacts
from gui.engine.dataset.pixels import measure, transparency

MOST_BYTES = 1 << 30
"""A file with more is no picture to train on."""

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "DIB", "GIF", "TIFF", "AVIF", "PSD", "TGA", "ICO", "PPM")
"""What is tried, whatever the name says; programs that draw, such as EPS, are not."""

PLUGINS = tuple(f"{name}ImagePlugin" for name in ("WebP", "Tiff", "Avif", "Psd", "Tga", "Ico"))
"""Where those of them are that Pillow does not begin with; all of its plugins would take longer to load."""

ORIENTATION = 0x0112
"""EXIF's tag for how the camera was held."""

_STANDARD_TABLE_SUM = 3688
"""Sum of the luminance table of quality 50 (ITU-T T.81, table K.1)."""


def prepare() -> None:
    """Set this process up for looking: sizes are judged here, truncated files are never padded."""
    load_formats()
    Image.MAX_IMAGE_PIXELS = None
    ImageFile.LOAD_TRUNCATED_IMAGES = False


def load_formats() -> None:
    """Let Pillow know the formats that are tried."""
    Image.preinit()
    for plugin in PLUGINS:
        with contextlib.suppress(ImportError):
            importlib.import_module(f"PIL.{plugin}")


def look_at(path: Path, known: Collection[str] = ()) -> ImageFacts | str:
    """Return what an image file holds.

    Args:
        path: The file.
        known: Contents whose facts are known.

    Returns:
        The facts; or the content alone, where it is one of the known ones.
    """
    try:
        data = read_image(path)
    except FileNotFoundError as error:
        return ImageFacts(fault="gone", reason=_reason_of(error))
    except OSError as error:
        return ImageFacts(fault="denied", reason=_reason_of(error))
    if isinstance(data, ImageFacts):
        return data
    content = hashlib.sha256(data).hexdigest()[:32]
    return content if content in known else replace(facts_of(data), content=content)


def _reason_of(error: OSError) -> str:
    from gui.engine.documents import reason_of  # heavy, and seldom needed

    return reason_of(error)


def read_image(path: Path) -> bytes | ImageFacts:
    """Read a file; or say why that makes no sense: a pipe would never end.

    Raises:
        OSError: It is not there, or must not be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return ImageFacts(fault="unknown")
    return ImageFacts(fault="huge") if status.st_size > MOST_BYTES else path.read_bytes()


def facts_of(data: bytes) -> ImageFacts:
    """Return what the content of an image file is; its hash is left out."""
    if not data:
        return ImageFacts(fault="empty")
    kind = format_of(data)
    base: dict[str, Any] = {
        "format": kind,
        "whole": is_whole(data, kind),
        "extended": is_extended_webp(data),
    }
    try:
        with Image.open(io.BytesIO(data), formats=readable_formats()) as image:
            base |= _header(image, data)
            if image.width * image.height > MOST_PIXELS:
                return ImageFacts(**base, fault="huge")
            image.load()
            base |= _more(image)
            base |= _pixels(image)
    except UnidentifiedImageError:
        fault: Fault = "truncated" if kind in ("JPEG", "PNG", "WEBP", "BMP") else "unknown"
        return ImageFacts(**base, fault=fault)
    except MemoryError:
        return ImageFacts(**base, fault="huge")
    except Exception as error:  # noqa: BLE001 - decoders raise whatever they like, and so they do in the trainer
        return ImageFacts(**base, fault=_fault(error, whole=base["whole"]), reason=str(error))
    return ImageFacts(**base)


def readable_formats() -> list[str]:
    """Return what this Pillow can read of the formats: AVIF, for one, is left out of some."""
    return [name for name in FORMATS if name in Image.OPEN]


def _fault(error: Exception, *, whole: bool) -> Fault:
    cut = not whole or "truncated" in str(error)
    return "truncated" if cut else "broken"


def _header(image: Image.Image, data: bytes) -> dict[str, Any]:
    kind = "JPEG" if image.format == "MPO" else image.format or ""  # a photo with its previews
    return {
        "format": kind,
        "width": image.width,
        "height": image.height,
        "mode": image.mode,
        "bits": _bits(image, data),
        "frames": 1 if image.format == "MPO" else int(getattr(image, "n_frames", 1)),
        "jpeg_quality": _jpeg_quality(getattr(image, "quantization", None)),
    }


def _bits(image: Image.Image, data: bytes) -> int:
    if image.format == "PNG":
        return data[24]  # the header's own word; Pillow makes 8 bits of it
    return 16 if image.mode.startswith("I;16") else 32 if image.mode in ("I", "F") else 8


def _jpeg_quality(tables: Any) -> int | None:
    """Return the quality that a JPEG was saved with, as the usual programs count it."""
    first = tables.get(0) if isinstance(tables, dict) else None
    if not first:
        return None
    scale = 100 * sum(first) / _STANDARD_TABLE_SUM
    return max(1, min(100, round((200 - scale) / 2 if scale <= 100 else 5000 / scale)))


def _more(image: Image.Image) -> dict[str, Any]:
    """Return what stands beside the pixels, once they are loaded."""
    orientation = 1
    if image.info.get("exif"):
        with contextlib.suppress(Exception):  # broken EXIF is no fault: the trainer does not look at it
            found = image.getexif().get(ORIENTATION, 1)
            orientation = found if isinstance(found, int) and 1 <= found <= 8 else 1
    profile = image.info.get("icc_profile")
    name, shift = profile_of(profile) if isinstance(profile, bytes) and profile else ("", 0.0)
    return {"orientation": orientation, "profile": name, "colour_shift": shift}


def _pixels(image: Image.Image) -> dict[str, Any]:
    # As the trainer does it; what cannot be converted stops it (train_util.py:2956).
    picture = image if image.mode == "RGB" else image.convert("RGB")
    found = measure(picture)
    has_alpha = image.has_transparency_data
    alpha = image if "A" in image.getbands() else image.convert("RGBA") if has_alpha else None
    return {
        "grey": found.grey,
        "blockiness": found.blockiness,
        "sharpness": found.sharpness,
        "looks": found.looks,
        "has_alpha": has_alpha,
        "transparent": round(transparency(alpha.getchannel("A")), 4) if alpha else 0.0,
    }
