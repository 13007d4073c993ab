"""What files of a folder have to do with one another: captions in common, masks and their images."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gui.engine.dataset.buckets import Size


def stem_of(name: str) -> str:
    """Return a file's name without its ending."""
    return os.path.splitext(name)[0]  # noqa: PTH122 - ten times as fast as a Path, for 100,000 names


def same_stems(names: Iterable[str]) -> list[str]:
    """Return the files that differ from another one in the ending alone: they share caption and cache.

    Source: DATA-14 (train_util.py:1946-1956, strategy_*.py: ``get_*_npz_path``).
    """
    by_stem: dict[str, list[str]] = {}
    for name in names:
        by_stem.setdefault(stem_of(name), []).append(name)
    return sorted(name for together in by_stem.values() if len(together) > 1 for name in together)


@dataclass(frozen=True)
class MaskPairs:
    """How masks or conditioning images fit the images.

    Attributes:
        without: Images that have none; the trainer stops.
        left_over: Masks without an image; the trainer stops.
        other_size: Images whose mask has another size; with buckets the trainer stops.
    """

    without: tuple[str, ...]
    left_over: tuple[str, ...]
    other_size: tuple[str, ...]


def pair_masks(images: Mapping[str, Size], masks: Mapping[str, Size]) -> MaskPairs:
    """Pair images with masks as the trainer does: by name, the first ending in sorted order.

    Args:
        images: Name to size.
        masks: Name to size; sizes that are not known are (0, 0), and fit everything.

    Source: train_util.py:2470-2490, 2537.
    """
    first: dict[str, str] = {}
    for name in sorted(masks):
        first.setdefault(stem_of(name), name)
    stems = {stem_of(name) for name in images}
    return MaskPairs(
        without=tuple(sorted(name for name in images if stem_of(name) not in first)),
        left_over=tuple(sorted(name for name in masks if stem_of(name) not in stems)),
        other_size=tuple(
            sorted(
                name
                for name, size in images.items()
                if (mask := first.get(stem_of(name))) is not None and _differ(size, masks[mask])
            )
        ),
    )


def _differ(one: Size, other: Size) -> bool:
    return one != other and 0 not in (*one, *other)


def examples(names: Collection[str], most: int = 3) -> str:
    """Return the first few names for a sentence."""
    shown = sorted(names)[:most]
    return ", ".join(shown) + (" …" if len(names) > most else "")
