"""Looks at the trainer's caches beside the images: most faults in them the trainer does not notice.

Source: trainer-facts 2.5 (strategy_base.py:440-640, strategy_*.py), DATA-12, DATA-13, NAN-20.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin, Size
from gui.engine.dataset.cache_kinds import CacheKind, cache_kinds
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.scan import state_of

CacheTrouble = Literal["broken", "nan", "size", "stale", "family", "leftover"]
"""``broken``: damaged, or arrays are missing; ``nan``: numbers that are none in it; ``size``: of another
resolution; ``stale``: older than its image or caption; ``family``: of another model; ``leftover``: its
image is gone, or nothing reads it any more."""

MOST_BYTES = 1 << 30
"""No array of a cache is as large."""

_SIZE = re.compile(r"^(?P<stem>.+)_(?P<width>\d{4,})x(?P<height>\d{4,})$", re.DOTALL)


@dataclass(frozen=True)
class CacheFile:
    """One cache file.

    Attributes:
        name: Its name in the folder.
        kind: What it is.
        stem: Of the image that it belongs to.
        image_size: As its name says; None for text encoder outputs.
        size_bytes: Its size.
        troubles: What is wrong with it.
    """

    name: str
    kind: CacheKind
    stem: str
    image_size: Size | None
    size_bytes: int
    troubles: tuple[CacheTrouble, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What caches of a folder are judged by.

    Attributes:
        images: Name to size of the images as the trainer sees it; (0, 0) where it is not known.
        caption_extension: With its dot.
        kinds: What the plan's family reads; empty when the family is not known.
        settings: The dataset's buckets; None when they are not known.
    """

    images: Mapping[str, Size]
    caption_extension: str
    kinds: tuple[CacheKind, ...] = ()
    settings: BucketSettings | None = None


def list_caches(folder: Path) -> list[CacheFile]:
    """Return the cache files of a folder by their names; nothing is opened."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat().st_size) for entry in entries if entry.is_file()]
    except OSError:
        return []
    return sorted((found for file in files if (found := _by_name(*file))), key=lambda cache: cache.name)


def is_cache(name: str) -> bool:
    """Return whether a file is one of the trainer's caches, by its name."""
    return _by_name(name, 0) is not None


def _by_name(name: str, size_bytes: int) -> CacheFile | None:
    for kind in cache_kinds():
        stem = name.removesuffix(kind.suffix)
        if stem == name or not stem:
            continue
        if kind.kind == "text":
            return CacheFile(name, kind, stem, None, size_bytes)
        parts = _SIZE.match(stem)
        if parts:
            size = (int(parts["width"]), int(parts["height"]))
            return CacheFile(name, kind, parts["stem"], size, size_bytes)
    return None


def check_caches(
    folder: Path, around: Surroundings, *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[CacheFile]:
    """Yield the cache files of a folder with what is wrong with each, reading all of those that count.

    Args:
        folder: Which.
        around: What they are judged by.
        cancelled: Asked before each file.
    """
    by_stem: dict[str, list[str]] = {}
    for name in around.images:
        by_stem.setdefault(stem_of(name), []).append(name)
    for cache in list_caches(folder):
        if cancelled():
            return
        troubles = tuple(_troubles(folder, cache, around, by_stem.get(cache.stem, [])))
        yield replace(cache, troubles=troubles)


def _troubles(
    folder: Path, cache: CacheFile, around: Surroundings, images: list[str]
) -> Iterator[CacheTrouble]:
    if around.kinds and cache.kind not in around.kinds:
        yield "family"
        return
    sizes = {around.images[name] for name in images}
    if not images or (cache.image_size is not None and not {cache.image_size, (0, 0)} & sizes):
        yield "leftover"
        return
    if _is_older(folder, cache, images, around.caption_extension):
        yield "stale"
    yield from _content(folder / cache.name, cache, around)


def _is_older(folder: Path, cache: CacheFile, images: list[str], caption_extension: str) -> bool:
    own = state_of(folder / cache.name)
    origins = images if cache.kind.kind == "latents" else [cache.stem + caption_extension]
    states = [state_of(folder / name) for name in origins]
    return own is not None and any(
        state is not None and state.changed_ns > own.changed_ns for state in states
    )


def _content(path: Path, cache: CacheFile, around: Surroundings) -> Iterator[CacheTrouble]:
    shapes, finite = _read(path)
    if shapes is None or not set(cache.kind.arrays) <= shapes.keys():
        yield "broken"
        return
    if not finite:
        yield "nan"
    wanted = _latents_size(cache, around.settings)
    if wanted is None:
        return
    # Where arrays are named by their size, those of other resolutions may stay: the trainer adds its own.
    if not cache.kind.by_size and shapes["latents"] != (cache.kind.channels, *wanted):
        yield "size"


def _latents_size(cache: CacheFile, settings: BucketSettings | None) -> Size | None:
    """Return height and width of the latents that the trainer expects; None when not known."""
    if cache.image_size is None or settings is None or 0 in cache.image_size:
        return None
    try:
        bucket = settings.place(cache.image_size).bucket
    except (BucketsImpossible, ImageTooThin):
        return None
    return bucket[1] // cache.kind.scale_px, bucket[0] // cache.kind.scale_px


def _read(path: Path) -> tuple[dict[str, tuple[int, ...]] | None, bool]:
    """Return the shapes of all arrays (None for a damaged file), and whether all numbers are finite."""
    import numpy as np

    shapes: dict[str, tuple[int, ...]] = {}
    finite = True
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.file_size > MOST_BYTES for member in archive.infolist()):
                return None, True
        with np.load(path, allow_pickle=False) as arrays:
            for name in arrays.files:
                array = arrays[name]
                shapes[name] = tuple(array.shape)
                if array.dtype.kind == "f":
                    finite = finite and bool(np.isfinite(array).all())
    except Exception:  # noqa: BLE001 - archives and NumPy raise what they like for damaged bytes
        return None, True
    return shapes, finite
