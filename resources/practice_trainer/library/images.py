"""Images: found in folders, measured, and loaded as small squares."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from library.buckets import Size
from library.captions import read_caption
from library.config_util import Subset
from library.progress import track

logger = logging.getLogger(__name__)

EXTENSIONS = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
KNOWN = {*EXTENSIONS, *(extension.upper() for extension in EXTENSIONS)}
SIDE = 32
SHOWN_MISSING = 5


@dataclass
class ImageInfo:
    """One image of a dataset.

    Attributes:
        path: The file.
        caption: Its caption, the class tokens, or nothing.
        subset: Where it comes from.
        repeats: How often it comes in an epoch.
        size: Width and height in pixels; (0, 0) when the file is no image.
        pixels: The small square, float32 3×32×32 in -1…1, once it is cached.
        text: What the text encoder made of the caption, float32 24×32, once that is cached.
    """

    path: Path
    caption: str
    subset: Subset
    repeats: int
    size: Size | None = None
    pixels: np.ndarray | None = None
    text: np.ndarray | None = None


def image_files(folder: Path) -> list[Path]:
    """Return the images of a folder by name; only the extensions that the trainer reads."""
    return sorted(path for path in folder.iterdir() if path.suffix in KNOWN)


def split_for_validation(
    paths: Sequence[Path], share: float, seed: int | None, *, training: bool
) -> list[Path]:
    """Return the part of the images that is trained, or the part that is held out."""
    shuffled = list(paths)
    if seed is None:
        random.shuffle(shuffled)
    else:
        logger.info(f"Using validation seed: {seed}")
        random.Random(seed).shuffle(shuffled)
    if training:
        return shuffled[: math.ceil(len(shuffled) * (1 - share))]
    return shuffled[len(shuffled) - round(len(shuffled) * share) :]


def _captions(paths: Sequence[Path], subset: Subset) -> list[str]:
    captions, missing = [], []
    for path in track(paths, len(paths), "read caption"):
        caption = read_caption(path, subset)
        if caption is None:
            missing.append(path)
            if subset.class_tokens is None:
                logger.warning(
                    f"neither caption file nor class tokens are found. use empty caption for {path} / "
                    "キャプションファイルもclass tokenも見つかりませんでした。空のキャプションを使用します: "
                    f"{path}"
                )
        captions.append(caption if caption is not None else subset.class_tokens or "")
    if missing:
        logger.warning(
            f"No caption file found for {len(missing)} images. Training will continue without captions for "
            "these images. If class token exists, it will be used. / "
            f"{len(missing)}枚の画像にキャプションファイルが見つかりませんでした。これらの画像についてはキャプション"
            "なしで学習を続行します。class tokenが存在する場合はそれを使います。"
        )
        for path in missing[:SHOWN_MISSING]:
            logger.warning(str(path))
        if len(missing) > SHOWN_MISSING:
            logger.warning(f"{missing[SHOWN_MISSING]}... and {len(missing) - SHOWN_MISSING} more")
    return captions


def read_folder(subset: Subset, share: float, seed: int | None, *, training: bool) -> list[ImageInfo]:
    """Find the images of a subset and their captions.

    Args:
        subset: The folder and its settings.
        share: ``validation_split``.
        seed: ``validation_seed``.
        training: Whether the trained part is wanted, or the held out one.
    """
    folder = Path(subset.image_dir)
    if not folder.is_dir():
        logger.warning(f"not directory: {subset.image_dir}")
        return []
    paths = image_files(folder)
    logger.info("get image size from name of cache files")
    for _ in track(paths, len(paths)):
        pass
    logger.info(f"set image size from cache files: 0/{len(paths)}")
    if share > 0:
        if not subset.is_reg:
            paths = split_for_validation(paths, share, seed, training=training)
        elif not training:
            paths = []
    logger.info(f"found directory {subset.image_dir} contains {len(paths)} image files")
    repeats = subset.num_repeats if training else 1
    return [
        ImageInfo(path, caption, subset, repeats)
        for path, caption in zip(paths, _captions(paths, subset), strict=True)
    ]


def measure(path: Path) -> Size:
    """Return width and height by the file's header; (0, 0) and a warning when it has none."""
    try:
        with Image.open(path) as image:
            return image.size
    except Exception as error:  # noqa: BLE001 - whatever the decoder raises is said, and fails later
        logger.warning(f"failed to get image size: {path}, error: {error}")
        return 0, 0


def load_pixels(path: Path) -> np.ndarray:
    """Return an image as a small square, float32 3×32×32 in -1…1.

    Raises:
        OSError: The file is broken. The record before says which.
    """
    try:
        with Image.open(path) as image:
            pixels = np.array(image.convert("RGB"), np.uint8)
    except Exception:
        logger.error(f"Error loading file: {path}")  # noqa: TRY400 - the traceback follows
        raise
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, np.float32).transpose(2, 0, 1) / 127.5 - 1.0


def check_size(info: ImageInfo, resolution: Size, pixels_of: Size) -> None:
    """Refuse an image that has another size than the resolution, as the trainer does without buckets.

    Raises:
        AssertionError: It is larger or smaller.
    """
    width, height = pixels_of
    if height > resolution[1] or width > resolution[0]:
        assert info.subset.random_crop, (
            "image too large, but cropping and bucketing are disabled / "
            "画像サイズが大きいのでface_crop_aug_rangeかrandom_crop、またはbucketを有効にしてください: "
            f"{info.path}"
        )
    assert height >= resolution[1] and width >= resolution[0], (
        f"image size is small / 画像サイズが小さいようです: {info.path}"
    )
