"""Which bucket the trainer puts an image into, exactly as it computes it.

Source: trainer-facts section 5 (train_util.py:216-366, 747-773, 987-1091; model_util.py:1316).
Sizes are (width, height) in pixels; all real arithmetic is IEEE double, as in the trainer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

Size = tuple[int, int]


class BucketsImpossible(ValueError):
    """The trainer would refuse these settings.

    Attributes:
        reason: ``min`` or ``max``: which limit the resolution breaks; ``steps`` is not positive;
            ``zero``: the smallest side rounds to nothing, and the trainer divides by it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ImageTooThin(ValueError):
    """A side of the bucket becomes zero pixels: the trainer divides by zero."""


@dataclass(frozen=True)
class Placement:
    """Where one image goes.

    Attributes:
        bucket: Size of the bucket.
        resized: Size of the image before the crop to the bucket.
        error: Signed difference of aspect ratios (width / height), bucket minus image.
    """

    bucket: Size
    resized: Size
    error: float


@dataclass(frozen=True)
class BucketSettings:
    """The dataset's own settings, under the trainer's names.

    Attributes:
        resolution: Training size.
        enable_bucket: Off gives one bucket of the resolution.
        bucket_no_upscale: Images are never enlarged; the minimum and maximum then do not act.
        min_bucket_reso: Smallest side; rounded down to ``bucket_reso_steps``.
        max_bucket_reso: Largest side; rounded up to ``bucket_reso_steps``.
        bucket_reso_steps: Grid of bucket sides.
    """

    resolution: Size
    enable_bucket: bool = True
    bucket_no_upscale: bool = False
    min_bucket_reso: int = 256
    max_bucket_reso: int = 1024
    bucket_reso_steps: int = 64

    @property
    def max_area(self) -> int:
        """Pixels of the resolution; no bucket is made larger."""
        return self.resolution[0] * self.resolution[1]

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The smallest and largest side after rounding to the grid.

        Raises:
            BucketsImpossible: The resolution lies outside of them, or they or the grid are not positive.
        """
        steps = self.bucket_reso_steps
        if steps <= 0:
            raise BucketsImpossible("steps")
        low = self.min_bucket_reso - self.min_bucket_reso % steps
        high = self.max_bucket_reso + -self.max_bucket_reso % steps
        if min(self.resolution) < low:
            raise BucketsImpossible("min")
        if max(self.resolution) > high:
            raise BucketsImpossible("max")
        if low <= 0 and not self.bucket_no_upscale:
            raise BucketsImpossible("zero")  # model_util.py:1327
        return low, high

    @cached_property
    def predefined(self) -> list[Size]:
        """The buckets that exist before any image is seen, by width, then height."""
        if not self.enable_bucket:
            return [self.resolution]
        low, high = self.limits
        steps = self.bucket_reso_steps
        square = int((math.sqrt(self.max_area) // steps) * steps)
        sizes = {(square, square)}
        for side in range(low, high + 1, steps):
            other = min(high, (self.max_area // side) // steps * steps)
            if other >= low:
                sizes |= {(side, other), (other, side)}
        return sorted(sizes)

    def place(self, image: Size) -> Placement:
        """Return the bucket, the size before the crop, and the aspect error of one image.

        Args:
            image: Size as stored in the file, both sides above 0; EXIF rotation is not applied.

        Raises:
            ImageTooThin: A side of the bucket would be zero.
            BucketsImpossible: The settings are refused before any image is looked at.
        """
        return _placed(self, image)

    def _placed(self, image: Size) -> Placement:
        if self.enable_bucket and self.bucket_no_upscale:
            _ = self.limits
            return self._place_without_upscale(image)
        return self._place_in_predefined(image)

    def _place_in_predefined(self, image: Size) -> Placement:
        width, height = image
        ratio = width / height
        if image in self._predefined_set:
            bucket = image
        else:
            bucket = min(self.predefined, key=lambda size: abs(size[0] / size[1] - ratio))
        bucket_ratio = bucket[0] / bucket[1]
        scale = bucket[1] / height if ratio > bucket_ratio else bucket[0] / width
        resized = (int(width * scale + 0.5), int(height * scale + 0.5))
        return Placement(bucket, resized, bucket_ratio - ratio)

    @cached_property
    def _predefined_set(self) -> frozenset[Size]:
        return frozenset(self.predefined)

    def _place_without_upscale(self, image: Size) -> Placement:
        width, height = image
        ratio = width / height
        resized = image
        if width * height > self.max_area:
            resized = self._shrunk(ratio)
        steps = self.bucket_reso_steps
        bucket = (resized[0] - resized[0] % steps, resized[1] - resized[1] % steps)
        if 0 in bucket:
            raise ImageTooThin
        return Placement(bucket, resized, bucket[0] / bucket[1] - ratio)

    def _shrunk(self, ratio: float) -> Size:
        wide = math.sqrt(self.max_area * ratio)
        by_width = self._rounded(wide)
        by_height = self._rounded(self.max_area / wide)
        height_for_width = self._rounded(by_width / ratio)
        if 0 in (by_height, height_for_width):
            raise ImageTooThin
        width_error = abs(by_width / height_for_width - ratio)
        height_error = abs(self._rounded(by_height * ratio) / by_height - ratio)
        if width_error < height_error:
            return by_width, int(by_width / ratio + 0.5)
        return int(by_height * ratio + 0.5), by_height

    def _rounded(self, value: float) -> int:
        whole = int(value + 0.5)
        return whole - whole % self.bucket_reso_steps


@lru_cache(maxsize=2**14)
def _placed(settings: BucketSettings, image: Size) -> Placement:
    """Place an image once: many folders have the same sizes, and several checks of a plan ask for them."""
    return settings._placed(image)


def batches_per_epoch(bucket_counts: list[int], batch_size: int) -> int:
    """Return the batches of one epoch of one dataset: each bucket's last batch may be short.

    Args:
        bucket_counts: Images times repeats, a figure a bucket.
        batch_size: Images a batch, at least 1.

    Source: trainer-facts 5.4 (train_util.py:1078-1084).
    """
    return sum(-(-count // batch_size) for count in bucket_counts)


def total_steps(
    batches: int,
    *,
    accumulation: int = 1,
    processes: int = 1,
    max_train_epochs: int | None,
    max_train_steps: int,
) -> tuple[int, int]:
    """Return (optimizer steps of the whole run, epochs).

    Args:
        batches: Batches of one epoch over all datasets, at least 1.
        accumulation: ``gradient_accumulation_steps``.
        processes: ``--num_processes`` of accelerate.
        max_train_epochs: Wins over ``max_train_steps`` where given.
        max_train_steps: The trainer's default is 1600.

    Source: trainer-facts 5.4 (train_network.py:800, 978-979).
    """
    if max_train_epochs is not None:
        max_train_steps = max_train_epochs * math.ceil(batches / processes / accumulation)
    per_epoch = math.ceil(math.ceil(batches / processes) / accumulation)
    return max_train_steps, math.ceil(max_train_steps / per_epoch)
