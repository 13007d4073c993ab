"""What is wrong with an image because of what a plan does with its size."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin, Placement, Size
from gui.engine.dataset.crops import crop_of
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.thresholds import Thresholds


def size_problems(facts: ImageFacts, settings: BucketSettings | None, limits: Thresholds) -> tuple[str, ...]:
    """Return the keys of what is wrong with a readable image's size under a plan.

    Args:
        facts: What the image holds.
        settings: The dataset's buckets; None where they are not known.
        limits: From where on something is told.
    """
    if settings is None or facts.fault is not None or 0 in facts.seen_size:
        return ()
    try:
        placement = settings.place(facts.seen_size)
    except ImageTooThin:
        return ("bucket-thin",)
    except BucketsImpossible:
        return ()
    return tuple(_placed(facts, settings, placement, limits))


def _placed(
    facts: ImageFacts, settings: BucketSettings, placement: Placement, limits: Thresholds
) -> Iterator[str]:
    crop = crop_of(facts.seen_size, placement)
    if crop.scale >= limits.enlarged:
        yield "img-enlarged"
    if crop.lost >= limits.cut:
        yield "img-cut"
    if facts.seen_size != facts.size and placement.bucket != _bucket(facts.size, settings):
        yield "img-webp-size"


def _bucket(size: Size, settings: BucketSettings) -> Size | None:
    try:
        return settings.place(size).bucket
    except ImageTooThin:
        return None
