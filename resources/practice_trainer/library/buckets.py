"""Sorts image sizes into buckets, exactly as the trainer does, so that the number of batches is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Size = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True)
class BucketRules:
    """How sizes are sorted.

    Attributes:
        resolution: The wanted width and height.
        enabled: Without buckets there is one, of the resolution.
        smallest: ``min_bucket_reso``.
        largest: ``max_bucket_reso``.
        steps: ``bucket_reso_steps``.
        no_upscale: Small images keep their size.
    """

    resolution: Size
    enabled: bool = False
    smallest: int = 256
    largest: int = 1024
    steps: int = 64
    no_upscale: bool = False

    def checked(self) -> BucketRules:
        """Return the rules with the limits rounded to steps.

        Raises:
            AssertionError: The resolution lies outside the limits.
        """
        if not self.enabled:
            return BucketRules(self.resolution, steps=self.steps)
        smallest = self.smallest - self.smallest % self.steps
        largest = self.largest + -self.largest % self.steps
        assert min(self.resolution) >= smallest, (
            "min_bucket_reso must be equal or less than resolution / "
            "min_bucket_resoは最小解像度より大きくできません。解像度を大きくするかmin_bucket_resoを小さくしてください"
        )
        assert max(self.resolution) <= largest, (
            "max_bucket_reso must be equal or greater than resolution / "
            "max_bucket_resoは最大解像度より小さくできません。解像度を小さくするかmin_bucket_resoを大きくしてください"
        )
        return BucketRules(self.resolution, True, smallest, largest, self.steps, self.no_upscale)

    def predefined(self) -> list[Size]:
        """Return the buckets that exist before any image is seen, by width, then height."""
        if not self.enabled:
            return [self.resolution]
        area = self.resolution[0] * self.resolution[1]
        square = int(math.sqrt(area) // self.steps) * self.steps
        sizes = {(square, square)}
        for side in range(self.smallest, self.largest + 1, self.steps):
            other = min(self.largest, ((area // side) // self.steps) * self.steps)
            if other >= self.smallest:
                sizes |= {(side, other), (other, side)}
        return sorted(sizes)

    def bucket_of(self, size: Size) -> tuple[Size, float]:
        """Return the bucket of an image and how far its aspect ratio is off.

        Raises:
            ZeroDivisionError: The size of the image is not known, or it is too thin.
        """
        ratio = size[0] / size[1]
        if self.no_upscale:
            bucket = self._without_upscale(size, ratio)
        else:
            sizes = self.predefined()
            bucket = size if size in sizes else min(sizes, key=lambda b: abs(b[0] / b[1] - ratio))
        return bucket, bucket[0] / bucket[1] - ratio

    def _round(self, value: float) -> int:
        whole = int(value + 0.5)
        return whole - whole % self.steps

    def _without_upscale(self, size: Size, ratio: float) -> Size:
        area = self.resolution[0] * self.resolution[1]
        shrunk = size
        if size[0] * size[1] > area:
            width = math.sqrt(area * ratio)
            by_width = self._round(width)
            height = self._round(by_width / ratio)
            by_height = self._round(area / width)
            other_width = self._round(by_height * ratio)
            if abs(by_width / height - ratio) < abs(other_width / by_height - ratio):
                shrunk = (by_width, int(by_width / ratio + 0.5))
            else:
                shrunk = (int(by_height * ratio + 0.5), by_height)
        return shrunk[0] - shrunk[0] % self.steps, shrunk[1] - shrunk[1] % self.steps


def batches(bucket_sizes: Sequence[int], batch_size: int) -> int:
    """Return how many batches an epoch has; the last one of a bucket may be short."""
    return sum(math.ceil(size / batch_size) for size in bucket_sizes)
