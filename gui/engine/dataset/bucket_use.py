"""How a dataset fills its buckets: how many images each gets, what short last batches cost, what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from gui.engine.dataset.buckets import (
    BucketSettings,
    BucketsImpossible,
    ImageTooThin,
    Size,
    batches_per_epoch,
)
from gui.engine.dataset.crops import crop_of
from gui.engine.documents import Document

Option = Literal["batch_size", "resolution", "bucket_no_upscale", "max_bucket_reso", "bucket_reso_steps"]


SMALLER = (0.75, 0.5)
"""Shares of the resolution that are tried where many images are enlarged."""

COARSEST_STEP_PX = 128
MUCH_ENLARGED = 1.25
CLEARLY_LESS_CUT = 0.02
CLEARLY_LESS_WASTE = 0.1


class Bucket(Document):
    """One bucket.

    Attributes:
        size: Width and height in pixels.
        images: Images, each with its repeats.
        batches: Batches an epoch.
        last_batch: Images in the last of them.
    """

    size: Size
    images: int
    batches: int
    last_batch: int


class BucketUse(Document):
    """How a dataset fills its buckets.

    Attributes:
        batch_size: Images a batch.
        buckets: By size.
        batches: Batches an epoch.
        full_batches: So many would do if no batch were short.
        enlarged: Images (with repeats) that are enlarged.
        most_enlarged: By how much the worst of them, along a side.
        lost: Share of all pixels that is cut off, 0 to 1.
        too_thin: Sizes whose bucket would have a side of 0 pixels: the trainer stops at them.
    """

    batch_size: int
    buckets: tuple[Bucket, ...]
    batches: int
    full_batches: int
    enlarged: int
    most_enlarged: float
    lost: float
    too_thin: tuple[Size, ...] = ()

    @property
    def images(self) -> int:
        """Images, each with its repeats."""
        return sum(bucket.images for bucket in self.buckets)

    @property
    def short_batches(self) -> int:
        """Batches that are not full."""
        return sum(bucket.last_batch < self.batch_size for bucket in self.buckets)

    @property
    def wasted(self) -> float:
        """Share of the places in batches that stay empty, 0 to 1."""
        return 1 - self.images / (self.batches * self.batch_size) if self.batches else 0.0


class BucketSuggestion(Document):
    """Another setting and what it would do.

    Attributes:
        option: The dataset's option.
        value: Its other value.
        use: How the buckets would be filled.
    """

    option: Option
    value: int | bool | Size
    use: BucketUse


def bucket_use(settings: BucketSettings, sizes: Mapping[Size, int], batch_size: int) -> BucketUse | None:
    """Return how images fill buckets; None where the trainer refuses the settings.

    Args:
        settings: The dataset's.
        sizes: Image size, as the trainer sees it, to number of images with repeats.
        batch_size: Images a batch, at least 1.
    """
    counts: Counter[Size] = Counter()
    too_thin: list[Size] = []
    enlarged, most, lost, pixels = 0, 1.0, 0.0, 0
    for size, number in sizes.items():
        try:
            placement = settings.place(size)
        except ImageTooThin:
            too_thin.append(size)
            continue
        except BucketsImpossible:
            return None
        crop = crop_of(size, placement)
        counts[placement.bucket] += number
        enlarged += number if crop.scale > 1 else 0
        most = max(most, crop.scale)
        lost += crop.lost * size[0] * size[1] * number
        pixels += size[0] * size[1] * number
    total = counts.total()
    return BucketUse(
        batch_size=batch_size,
        buckets=tuple(_bucket(size, counts[size], batch_size) for size in sorted(counts)),
        batches=batches_per_epoch(list(counts.values()), batch_size),
        full_batches=-(-total // batch_size),
        enlarged=enlarged,
        most_enlarged=round(most, 3),
        lost=round(lost / pixels, 4) if pixels else 0.0,
        too_thin=tuple(sorted(too_thin)),
    )


def _bucket(size: Size, images: int, batch_size: int) -> Bucket:
    batches = -(-images // batch_size)
    return Bucket(size=size, images=images, batches=batches, last_batch=images - (batches - 1) * batch_size)


def suggestions(
    settings: BucketSettings, sizes: Mapping[Size, int], batch_size: int, use: BucketUse
) -> list[BucketSuggestion]:
    """Return other settings that would do clearly better, and what they would do.

    Args:
        settings: The dataset's.
        sizes: As for ``bucket_use``.
        batch_size: Images a batch.
        use: What the settings do.
    """
    found: list[BucketSuggestion] = []
    for option, value, other, other_batch in _others(settings, batch_size, use):
        if any(each.option == option for each in found):
            continue  # the nearest one that helps is enough
        better = bucket_use(other, sizes, other_batch)
        if better is not None and _is_better(option, use, better):
            found.append(BucketSuggestion(option=option, value=value, use=better))
    return found


def _others(
    settings: BucketSettings, batch_size: int, use: BucketUse
) -> Iterator[tuple[Option, int | bool | Size, BucketSettings, int]]:
    """Yield settings that may do better, of each option the nearest first."""
    for smaller in range(batch_size - 1, 0, -1):
        yield "batch_size", smaller, settings, smaller
    if not settings.enable_bucket:
        return
    steps = settings.bucket_reso_steps
    for share in SMALLER if use.enlarged and steps > 0 else ():
        width, height = (int(side * share) // steps * steps for side in settings.resolution)
        if min(width, height) >= max(settings.min_bucket_reso, steps):
            yield "resolution", (width, height), replace(settings, resolution=(width, height)), batch_size
    if settings.bucket_no_upscale:
        return
    if use.enlarged:
        yield "bucket_no_upscale", True, replace(settings, bucket_no_upscale=True), batch_size
    reach = 2 * max(settings.resolution)
    if reach > settings.max_bucket_reso:
        yield "max_bucket_reso", reach, replace(settings, max_bucket_reso=reach), batch_size
    if min(settings.resolution) >= 2 * steps <= COARSEST_STEP_PX:
        yield "bucket_reso_steps", 2 * steps, replace(settings, bucket_reso_steps=2 * steps), batch_size


def _is_better(option: Option, now: BucketUse, then: BucketUse) -> bool:
    """Return whether another setting is worth a word."""
    if len(then.too_thin) > len(now.too_thin):
        return False
    if option == "resolution":
        return 2 * now.enlarged > now.images and 4 * then.enlarged <= then.images
    if option == "bucket_no_upscale":
        return now.most_enlarged >= MUCH_ENLARGED and then.batches <= 1.5 * now.batches
    if option == "max_bucket_reso":
        return now.lost - then.lost >= CLEARLY_LESS_CUT
    return now.wasted - then.wasted >= CLEARLY_LESS_WASTE and then.lost - now.lost < CLEARLY_LESS_CUT
