"""Measures of a decoded picture, cheap beside decoding it: patches and samples, never all pixels.

Steps between neighbours are counted in levels of 255. The thresholds are in
``resources/dataset/thresholds.yaml``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

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

Levels = NDArray[np.int16]


class Measures(NamedTuple):
    """What was measured; see ``ImageFacts``."""

    grey: bool
    blockiness: float | None
    sharpness: float | None
    looks: str


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
    counts = np.asarray(alpha.histogram(), dtype=np.int64)
    missing = int((counts * (ALPHA_OPAQUE - np.arange(len(counts)))).sum())
    return missing / ALPHA_OPAQUE / max(1, int(counts.sum()))


def looks_of(sample: Image.Image) -> str:
    """Return 128 bits, hexadecimal, that are alike for pictures that look alike (a difference hash).

    Each bit says whether one of 8×8 fields is brighter than its neighbour to the left, or above.
    """
    grey = sample.convert("L")
    across = np.asarray(grey.resize((9, 8), Image.Resampling.BOX))
    down = np.asarray(grey.resize((8, 9), Image.Resampling.BOX))
    bits = np.concatenate([(across[:, 1:] > across[:, :-1]).ravel(), (down[1:] > down[:-1]).ravel()])
    return np.packbits(bits).tobytes().hex()


def _is_grey(sample: Image.Image) -> bool:
    levels = np.asarray(sample).astype(np.int16)
    red, green, blue = levels[..., 0], levels[..., 1], levels[..., 2]
    widest = max(int(np.abs(red - green).max()), int(np.abs(green - blue).max()))
    return widest <= GREY_LEVELS


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
        native = fitting = _stack(patches)
    else:
        native = _stack([patch.crop((0, 0, PATCH_PX, PATCH_PX)) for patch in patches])
        fitting = _stack([patch.reduce(times) for patch in patches])
    steps = _steps(native)
    return _blockiness(steps), _sharpness(fitting, steps if fitting is native else _steps(fitting))


def _stack(patches: list[Image.Image]) -> Levels:
    return np.stack([np.asarray(patch) for patch in patches]).astype(np.int16)


def _steps(levels: Levels) -> tuple[Levels, Levels]:
    """Return the steps to the right and down, absolute."""
    return np.abs(np.diff(levels, axis=2)), np.abs(np.diff(levels, axis=1))


def _blockiness(steps: tuple[Levels, Levels]) -> float:
    right, down = steps
    means = right.mean(axis=(0, 1)), down.mean(axis=(0, 2))
    return round(float(sum(_excess_at_borders(line) for line in means) / 2), 2)


def _excess_at_borders(steps: NDArray[np.float64]) -> float:
    """Return how much the steps at block borders stand out, less what they do in the middle of blocks."""
    borders = np.arange(BLOCK_PX - 1, len(steps) - BLOCK_PX // 2, BLOCK_PX)

    def standing_out(at: NDArray[np.int64]) -> float:
        return float((steps[at] - (steps[at - 1] + steps[at + 1]) / 2).mean())

    return standing_out(borders) - standing_out(borders - BLOCK_PX // 2)


def _sharpness(levels: Levels, steps: tuple[Levels, Levels]) -> float | None:
    contrast = levels.max(axis=(1, 2)) - levels.min(axis=(1, 2))
    with_contrast = contrast >= LEAST_CONTRAST
    if not with_contrast.any():
        return None
    steepest = np.maximum(*(step.max(axis=(1, 2)) for step in steps))
    return round(float((steepest[with_contrast] / contrast[with_contrast]).max()), 3)
