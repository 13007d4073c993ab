"""Measures of a decoded picture, cheap beside decoding it: patches and samples, never all pixels.

Steps between neighbours are counted in levels of 255. The thresholds are in
``resources/dataset/thresholds.yaml``. All of it is done with Pillow alone: numpy would take longer to load
than many datasets take to be looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image, ImageChops

from gui.engine.dataset.buckets import Size

PATCH_PX = 64
PLACES = (0.0, 0.5, 1.0)
"""Patches lie on a 3×3 grid over the picture."""

SHARP_AT_PX = 1024
"""Sharpness is judged at about this side: larger pictures are shrunk for training anyway."""

LEAST_CONTRAST = 24
"""In a patch with less than that between dark and bright nothing can be sharp or soft."""

GREY_LEVELS = 6
"""Channels that differ by no more are grey: JPEG rounds colours."""

SAMPLE: Size = (144, 128)
BLOCK_PX = 8
ALPHA_OPAQUE = 255


class Measures(NamedTuple):
    """What was measured; see ``ImageFacts``."""

    grey: bool
    blockiness: float | None
    sharpness: float | None
    looks: str


class _Steps(NamedTuple):
    """The steps of some patches from each pixel to the next, absolute.

    Attributes:
        right: Of patches one below the other.
        down: Of patches one beside the other.
        size: Of a patch.
    """

    right: Image.Image
    down: Image.Image
    size: Size


def measure(picture: Image.Image) -> Measures:
    """Measure an RGB picture.

    Args:
        picture: Decoded, mode ``RGB``.
    """
    sample = picture.resize(SAMPLE, Image.Resampling.NEAREST)
    return Measures(_is_grey(sample), *_of_patches(_patches(picture)), looks_of(sample))


def transparency(alpha: Image.Image) -> float:
    """Return how much of a picture is transparent, 0 to 1; half transparent counts half.

    Args:
        alpha: The alpha channel, mode ``L``.
    """
    counts = alpha.histogram()
    missing = sum(count * (ALPHA_OPAQUE - level) for level, count in enumerate(counts))
    return missing / ALPHA_OPAQUE / max(1, sum(counts))


def looks_of(sample: Image.Image) -> str:
    """Return 128 bits, hexadecimal, that are alike for pictures that look alike (a difference hash).

    Each bit says whether one of 8×8 fields is brighter than its neighbour to the left, or above.
    """
    grey = sample.convert("L")
    across = grey.resize((9, 8), Image.Resampling.BOX).tobytes()
    down = grey.resize((8, 9), Image.Resampling.BOX).tobytes()
    bits = 0
    for row in range(8):
        for column in range(8):
            bits = bits << 1 | (across[row * 9 + column + 1] > across[row * 9 + column])
    for field in range(64):
        bits = bits << 1 | (down[field + 8] > down[field])
    return f"{bits:032x}"


def _is_grey(sample: Image.Image) -> bool:
    red, green, blue = sample.split()
    return max(_widest(red, green), _widest(green, blue)) <= GREY_LEVELS


def _widest(one: Image.Image, other: Image.Image) -> int:
    return _extremes(ImageChops.difference(one, other))[1]


def _extremes(grey: Image.Image) -> tuple[int, int]:
    """Return the darkest and the brightest level."""
    darkest, brightest = grey.getextrema()
    return int(darkest), int(brightest)  # type: ignore[arg-type] # of one channel they are numbers


def _patches(picture: Image.Image) -> list[Image.Image]:
    """Cut grey patches out, aligned to JPEG's blocks; larger ones of a picture that will be shrunk."""
    width, height = picture.size
    times = max(1, min(width, height) // SHARP_AT_PX)
    wide = min(PATCH_PX * times, width // BLOCK_PX * BLOCK_PX)
    high = min(PATCH_PX * times, height // BLOCK_PX * BLOCK_PX)
    if min(wide, high) < 2 * BLOCK_PX:
        return []
    corners = {(_at(width - wide, x), _at(height - high, y)) for x in PLACES for y in PLACES}
    return [picture.crop((left, top, left + wide, top + high)).convert("L") for left, top in sorted(corners)]


def _at(room: int, share: float) -> int:
    return int(room * share) // BLOCK_PX * BLOCK_PX


def _of_patches(patches: list[Image.Image]) -> tuple[float | None, float | None]:
    """Return blockiness and sharpness; None without patches."""
    if not patches:
        return None, None
    width, height = patches[0].size
    times = max(1, min(width, height) // PATCH_PX)
    if times == 1:
        native = fitting = patches
    else:
        native = [patch.crop((0, 0, PATCH_PX, PATCH_PX)) for patch in patches]
        fitting = [patch.reduce(times) for patch in patches]
    steps = _steps(native)
    return _blockiness(steps), _sharpness(fitting, steps if fitting is native else _steps(fitting))


def _steps(patches: list[Image.Image]) -> _Steps:
    width, height = patches[0].size
    tall = Image.new("L", (width, height * len(patches)))
    broad = Image.new("L", (width * len(patches), height))
    for place, patch in enumerate(patches):
        tall.paste(patch, (0, height * place))
        broad.paste(patch, (width * place, 0))
    right = ImageChops.difference(tall.crop((1, 0, *tall.size)), tall.crop((0, 0, width - 1, tall.height)))
    down = ImageChops.difference(broad.crop((0, 1, *broad.size)), broad.crop((0, 0, broad.width, height - 1)))
    return _Steps(right, down, (width, height))


def _blockiness(steps: _Steps) -> float:
    across = _means(steps.right, (steps.right.width, 1))
    along = _means(steps.down, (1, steps.down.height))
    return round((_excess_at_borders(across) + _excess_at_borders(along)) / 2, 2)


def _means(steps: Image.Image, size: Size) -> Sequence[float]:
    """Return the mean of each column, or of each row."""
    line = steps.convert("F").resize(size, Image.Resampling.BOX)
    return struct.unpack(f"{size[0] * size[1]}f", line.tobytes())


def _excess_at_borders(steps: Sequence[float]) -> float:
    """Return how much the steps at block borders stand out, less what they do in the middle of blocks."""
    borders = range(BLOCK_PX - 1, len(steps) - BLOCK_PX // 2, BLOCK_PX)

    def standing_out(shift: int) -> float:
        places = [at - shift for at in borders]
        return sum([steps[at] - (steps[at - 1] + steps[at + 1]) / 2 for at in places]) / len(places)

    return standing_out(0) - standing_out(BLOCK_PX // 2)


def _sharpness(patches: list[Image.Image], steps: _Steps) -> float | None:
    width, height = steps.size
    found = []
    for place, patch in enumerate(patches):
        darkest, brightest = _extremes(patch)
        contrast = brightest - darkest
        if contrast < LEAST_CONTRAST:
            continue
        right = steps.right.crop((0, height * place, width - 1, height * (place + 1)))
        down = steps.down.crop((width * place, 0, width * (place + 1), height - 1))
        found.append(max(_extremes(right)[1], _extremes(down)[1]) / contrast)
    return round(max(found), 3) if found else None
