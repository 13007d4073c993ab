"""Counts what a plan would train: images, batches, epochs and optimizer steps, as the trainer does.

Source: trainer-facts 5.4, 6.4, 6.5 (train_util.py:1078-1084, 2112-2184, 158-178; train_network.py:800, 978).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gui.engine.dataset.buckets import (
    BucketSettings,
    BucketsImpossible,
    ImageTooThin,
    Size,
    batches_per_epoch,
    total_steps,
)
from gui.engine.preflight.facts import SubsetFact
from gui.engine.preflight.report import Steps
from gui.engine.preflight.view import SubsetView, View, as_number, as_size

DEFAULT_STEPS = 1600
"""What the trainer takes without steps and epochs (train_util.py:3952)."""

FORECAST = "forecast_steps"
"""Under which name a view remembers its forecast: several rules ask for it."""

SENSELESS = 10**12
"""Lengths and counts from here on are a mistake; nothing is forecast for them."""


@dataclass(frozen=True)
class StepsForecast:
    """How much a plan would train.

    Attributes:
        images: Training images, regularisation images not counted.
        repeats: Where all subsets have the same; None otherwise.
        images_repeated: Training images, each with its repeats.
        reg_images: Regularisation images that are used, with repeats.
        reg_listed: Regularisation images that there are, with repeats; what the trainer prints.
        batches_per_epoch: Batches of one epoch over all datasets.
        epochs: Epochs, the last one perhaps cut short.
        total_steps: Optimizer steps of the whole run.
        exact: Whether the trainer will count the same; otherwise it may be some batches more.
    """

    images: int
    repeats: int | None
    images_repeated: int
    reg_images: int
    reg_listed: int
    batches_per_epoch: int
    epochs: int
    total_steps: int
    exact: bool

    @property
    def steps_per_epoch(self) -> int:
        """Optimizer steps of one whole epoch, at least 1."""
        return max(1, math.ceil(self.total_steps / self.epochs))

    def steps(self) -> Steps:
        """Return the figures as the report has them."""
        return Steps(
            images=self.images,
            repeats=self.repeats,
            batches_per_epoch=self.batches_per_epoch,
            epochs=self.epochs,
            total_steps=self.total_steps,
        )


@dataclass
class _Counted:
    """What one dataset gives: images with repeats by size (None: not known), and whether that is exact."""

    images: int = 0
    train: Counter[Size | None] = field(default_factory=Counter)
    reg: Counter[Size | None] = field(default_factory=Counter)
    reg_listed: int = 0
    exact: bool = True


def bucket_settings(dataset: SubsetView, default: Size | None = None) -> BucketSettings | None:
    """Return the bucket settings of a dataset or subset.

    Args:
        dataset: With what it inherits.
        default: The resolution where the plan's cannot be read; None then gives None.
    """
    resolution = as_size(dataset.value("resolution")) or default
    if resolution is None:
        return None
    low, high, steps = (
        dataset.number(name) for name in ("min_bucket_reso", "max_bucket_reso", "bucket_reso_steps")
    )
    return BucketSettings(
        resolution,
        enable_bucket=dataset.flag("enable_bucket"),
        bucket_no_upscale=dataset.flag("bucket_no_upscale"),
        min_bucket_reso=int(low if low is not None else 256),
        max_bucket_reso=int(high if high is not None else 1024),
        bucket_reso_steps=int(steps if steps is not None else 64),
    )


def measured_sizes(fact: SubsetFact | None) -> dict[Size, int]:
    """Return image size to number of images, as far as they were measured and make sense."""
    return fact.measured if fact else {}


def forecast_steps(view: View) -> StepsForecast | None:
    """Return how much a plan would train; None when the images are not known or it trains nothing.

    Args:
        view: The plan and the facts.
    """
    if FORECAST not in view.memory:
        view.memory[FORECAST] = _forecast(view)
    known: StepsForecast | None = view.memory[FORECAST]
    return known


def _forecast(view: View) -> StepsForecast | None:
    datasets = list(_counted_datasets(view)) if view.dataset_known else []
    if not datasets:
        return None
    images = sum(dataset.images for _view, dataset in datasets)
    batches = 0
    exact = all(dataset.exact for _view, dataset in datasets)
    for dataset_view, dataset in datasets:
        counted, sure = _batches(dataset_view, dataset)
        batches += counted
        exact = exact and sure
    length = _length(view, batches) if images and 0 < batches < SENSELESS else None
    if length is None:
        return None
    return StepsForecast(
        images=images,
        repeats=_same_repeats(view),
        images_repeated=sum(dataset.train.total() for _view, dataset in datasets),
        reg_images=sum(dataset.reg.total() for _view, dataset in datasets),
        reg_listed=sum(dataset.reg_listed for _view, dataset in datasets),
        batches_per_epoch=batches,
        epochs=length[1],
        total_steps=length[0],
        exact=exact,
    )


def _length(view: View, batches: int) -> tuple[int, int] | None:
    steps, epochs = _whole(view.value("max_train_steps"), DEFAULT_STEPS), view.value("max_train_epochs")
    whole_epochs = _whole(epochs, 0) if epochs is not None else None
    if not 0 < (steps if whole_epochs is None else whole_epochs) < SENSELESS:
        return None
    return total_steps(
        batches,
        accumulation=max(1, _whole(view.value("gradient_accumulation_steps"), 1)),
        processes=max(1, min(view.plan.launch.num_processes, SENSELESS)),
        max_train_epochs=whole_epochs,
        max_train_steps=steps,
    )


def _whole(value: Any, default: int) -> int:
    number = as_number(value)
    return default if number is None else int(number)


def _same_repeats(view: View) -> int | None:
    fact = view.facts.dataset
    listed = {subset.number("num_repeats") for subset in view.subsets if subset.own and not subset.is_reg}
    if not listed:
        return fact.repeats if fact else None
    only = listed.pop() if len(listed) == 1 else None
    return int(only) if only is not None else None


def _counted_datasets(view: View) -> Iterator[tuple[SubsetView, _Counted]]:
    """Count each dataset by its folders; all in one by the sum where folders are not known."""
    known = [(subset, fact) for subset, fact in view.subset_facts if fact and fact.images is not None]
    if len(known) != len(view.subset_facts):
        together = _together(view)
        if together is not None:
            yield view.dataset_views[0], together
        return
    for dataset in view.dataset_views:
        prefix = f"{dataset.target}.subsets."
        inside = [(subset, fact) for subset, fact in known if subset.target.startswith(prefix)]
        yield dataset, _count_subsets(inside)


def _together(view: View) -> _Counted | None:
    """Count by the facts about the data as a whole, which name no sizes."""
    fact = view.facts.dataset
    repeats = (_same_repeats(view) or (fact.repeats if fact else None)) or 0
    if fact is None or fact.images is None or repeats < 1 or not view.dataset_views:
        return None
    count = fact.images * repeats
    reg = count if any(subset.is_reg for subset in view.subsets) else 0
    used: Counter[Size | None] = Counter({None: reg} if reg else {})
    return _Counted(fact.images, Counter({None: count}), used, reg, exact=not reg)


def _count_subsets(subsets: list[tuple[SubsetView, SubsetFact]]) -> _Counted:
    counted = _Counted()
    reg: list[tuple[dict[Size | None, int], int]] = []
    seen: set[str] = set()
    for subset, fact in subsets:
        repeats = subset.number("num_repeats")
        whole = int(repeats) if repeats is not None else 1
        if whole < 1 or fact.image_dir in seen:
            continue  # the trainer passes over both (train_util.py:2119, 2124)
        seen.add(fact.image_dir)
        sizes = _sizes(fact)
        if subset.is_reg:
            reg.append((sizes, whole))
            continue
        kept, exact = _without_validation(subset, sizes)
        counted.exact = counted.exact and exact
        counted.images += fact.images or 0
        counted.train.update({size: number * whole for size, number in kept.items()})
    counted.reg_listed = sum(sum(sizes.values()) * whole for sizes, whole in reg)
    counted.reg, exact = _used_reg(reg, counted.train.total())
    counted.exact = counted.exact and exact
    return counted


def _sizes(fact: SubsetFact) -> dict[Size | None, int]:
    sizes: dict[Size | None, int] = dict(fact.measured.items())
    rest = (fact.images or 0) - sum(sizes.values())
    if rest > 0:
        sizes[None] = rest
    return sizes


def _without_validation(
    subset: SubsetView, sizes: Mapping[Size | None, int]
) -> tuple[dict[Size | None, int], bool]:
    """Take away what is held out; which images that are is drawn by lot (train_util.py:158-178)."""
    split = subset.number("validation_split") or 0.0
    if not 0 < split <= 1 or subset.value("metadata_file"):
        return dict(sizes), True
    whole = sum(sizes.values())
    left = math.ceil(whole * (1 - split))
    kept: dict[Size | None, int] = {}
    for size, number in sizes.items():
        share = min(left - sum(kept.values()), round(number * left / whole) if whole else 0)
        kept[size] = max(0, share)
    short = left - sum(kept.values())
    if short and kept:
        kept[next(iter(kept))] += short
    return kept, len(sizes) <= 1


def _used_reg(
    listed: list[tuple[dict[Size | None, int], int]], wanted: int
) -> tuple[Counter[Size | None], bool]:
    """Return the regularisation images that are used, as the trainer fills up (train_util.py:2160-2184).

    Args:
        listed: For each folder its images by size, and its repeats.
        wanted: Training images with repeats.
    """
    used: Counter[Size | None] = Counter()
    registered: list[Size | None] = []
    count = 0
    for sizes, repeats in listed:
        for size, number in sizes.items():
            take = min(number, max(0, -((count - wanted) // repeats)))
            used[size] += take * repeats
            registered += [size] * take
            count += take * repeats
    available = sum(sum(sizes.values()) for sizes, _repeats in listed)
    if count >= wanted or not registered:
        return used, len(registered) == available or len(used) <= 1
    rounds, rest = divmod(wanted - count, len(registered))
    for place, size in enumerate(registered):
        used[size] += rounds + (1 if place < rest else 0)
    return used, rest == 0 or len(used) <= 1


def _batches(dataset: SubsetView, counted: _Counted) -> tuple[int, bool]:
    """Return the batches of one epoch, and whether that is exact: each bucket's last one may be short."""
    size = dataset.number("batch_size")
    batch = max(1, int(size if size is not None else 1))
    every = counted.train + counted.reg
    settings = bucket_settings(dataset)
    total = every.total()
    if settings is None:
        return -(-total // batch), batch == 1
    if not settings.enable_bucket:
        return -(-total // batch), True
    buckets: Counter[Size | None] = Counter()
    for image, number in every.items():
        try:
            buckets[settings.place(image).bucket if image else None] += number
        except (BucketsImpossible, ImageTooThin):
            return -(-total // batch), False
    return batches_per_epoch(list(buckets.values()), batch), None not in buckets or batch == 1
