"""Datasets: images sorted into buckets, cut into batches, shuffled anew in each epoch."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from multiprocessing import Value
from pathlib import Path
from typing import Any

import numpy as np

from library.buckets import Size
from library.captions import caption_for_step, tokens
from library.config_util import DatasetSettings, Subset, describe
from library.images import ImageInfo, check_size, load_pixels, measure, read_folder
from library.progress import track
from library.records import setup_logging

logger = logging.getLogger(__name__)
Batch = dict[str, Any]


class ImageDataset:
    """One dataset: its images, its buckets, its batches.

    Attributes:
        settings: What the config says.
        training: Whether it is trained, or held out for validation.
        images: All images, regularization images included.
        buckets: Resolution to images, each as often as it repeats.
        batches: Bucket and first image of each batch.
        train_count: Images with repeats.
        reg_count: Regularization images with repeats.
    """

    def __init__(self, settings: DatasetSettings, *, training: bool) -> None:
        self.settings = settings
        self.training = training
        self.rules = settings.bucket_rules()
        self.images: list[ImageInfo] = []
        self.buckets: dict[Size, list[ImageInfo]] = {}
        self.batches: list[tuple[Size, int]] = []
        self.tag_frequency: dict[str, dict[str, int]] = {}
        self.train_count = self.reg_count = 0
        self.seed = 0
        self.epoch = 0

    def read(self) -> None:
        """Find the images and captions of all subsets."""
        logger.info("prepare images.")
        registration: list[ImageInfo] = []
        kept: list[Subset] = []
        for subset in self.settings.subsets:
            if not self._usable(subset, kept):
                continue
            settings = self.settings
            found = read_folder(
                subset, settings.validation_split, settings.validation_seed, training=self.training
            )
            if not found:
                logger.warning(
                    f"ignore subset with image_dir='{subset.image_dir}': no images found / "
                    "画像が見つからないためサブセットを無視します"
                )
                continue
            subset.image_count = len(found)
            kept.append(subset)
            self._count_tags(subset, found)
            count = sum(info.repeats for info in found)
            if subset.is_reg:
                self.reg_count += count
                registration += found
            else:
                self.train_count += count
                self.images += found
        self.settings.subsets = kept
        self._register_regularization(registration)

    def _usable(self, subset: Subset, kept: Sequence[Subset]) -> bool:
        if self.training and subset.num_repeats < 1:
            logger.warning(
                f"ignore subset with image_dir='{subset.image_dir}': num_repeats is less than 1 / "
                f"num_repeatsが1を下回っているためサブセットを無視します: {subset.num_repeats}"
            )
            return False
        if any(other.image_dir == subset.image_dir for other in kept):
            logger.warning(
                f"ignore duplicated subset with image_dir='{subset.image_dir}': use the first one / "
                "既にサブセットが登録されているため、重複した後発のサブセットを無視します"
            )
            return False
        return True

    def _count_tags(self, subset: Subset, found: Sequence[ImageInfo]) -> None:
        counts = self.tag_frequency.setdefault(Path(subset.image_dir).name, {})
        for info in found:
            for tag in filter(None, (tag.strip().lower() for tag in info.caption.split(","))):
                counts[tag] = counts.get(tag, 0) + 1

    def _register_regularization(self, found: list[ImageInfo]) -> None:
        """Take as many regularization images as there are images, repeating them where they are few."""
        logger.info(f"{self.train_count} {'train' if self.training else 'validation'} images with repeats.")
        logger.info(f"{self.reg_count} reg images with repeats.")
        if self.train_count < self.reg_count:
            logger.warning(
                "some of reg images are not used / "
                "正則化画像の数が多いので、一部使用されない正則化画像があります"
            )
        if not found:
            logger.warning("no regularization images / 正則化画像が見つかりませんでした")
            return
        taken = 0
        for info in found:
            if taken >= self.train_count:
                break
            self.images.append(info)
            taken += info.repeats
        while taken < self.train_count:
            for info in found[: self.train_count - taken]:
                info.repeats += 1
                taken += 1

    def make_buckets(self, seed: int) -> None:
        """Measure all images and cut the batches."""
        self.seed = seed
        logger.info("loading image sizes.")
        for info in track(self.images, len(self.images)):
            info.size = measure(info.path)
        logger.info("make buckets" if self.rules.enabled else "prepare dataset")
        buckets: dict[Size, list[ImageInfo]] = {}
        errors = []
        for info in self.images:
            bucket, error = self.rules.bucket_of(info.size or (0, 0))
            errors.append(abs(error))
            buckets.setdefault(bucket, []).extend([info] * info.repeats)
        self.buckets = dict(sorted(buckets.items()))
        if self.rules.enabled:
            self._report_buckets(errors)
        size = self.settings.batch_size
        self.batches = [
            (bucket, start)
            for bucket, images in self.buckets.items()
            for start in range(0, len(images), size)
        ]

    def _report_buckets(self, errors: Sequence[float]) -> None:
        logger.info("number of images (including repeats) / 各bucketの画像枚数（繰り返し回数を含む）")
        known = [bucket for bucket in self.rules.predefined() if not self.rules.no_upscale]
        order = sorted({*known, *self.buckets})
        for bucket, images in self.buckets.items():
            logger.info(f"bucket {order.index(bucket)}: resolution {bucket}, count: {len(images)}")
        logger.info(f"mean ar error (without repeats): {float(np.mean(errors)) if errors else 0}")

    def set_epoch(self, epoch: int) -> None:
        """Shuffle for an epoch; the same seed and epoch always give the same order."""
        if epoch > self.epoch:
            logger.info(f"epoch is incremented. current_epoch: {self.epoch}, epoch: {epoch}")
        self.epoch = epoch
        order = random.Random(self.seed + epoch)
        for images in self.buckets.values():
            images.sort(key=lambda info: str(info.path))
            order.shuffle(images)

    def batch(self, number: int) -> Batch:
        """Return one batch: ``pixels`` n×3×32×32, ``tokens`` n×24, and ``text`` n×24×32 or None."""
        bucket, start = self.batches[number]
        images = self.buckets[bucket][start : start + self.settings.batch_size]
        captions = [caption_for_step(info.caption, info.subset, self.epoch) for info in images]
        return {
            "pixels": np.stack([self._pixels(info) for info in images]),
            "tokens": np.asarray([tokens(caption) for caption in captions], np.int64),
            "text": None if images[0].text is None else np.stack([info.text for info in images]),
            "regularization": [info.subset.is_reg for info in images],
        }

    def _pixels(self, info: ImageInfo) -> np.ndarray:
        pixels = info.pixels
        if pixels is None:
            pixels = load_pixels(info.path)
            if not self.rules.enabled:
                check_size(info, self.rules.resolution, info.size or (0, 0))
            if info.subset.color_aug:
                pixels = np.clip(pixels * random.uniform(0.9, 1.1), -1.0, 1.0)
        if info.subset.flip_aug and random.random() < 0.5:
            pixels = pixels[:, :, ::-1]
        return np.ascontiguousarray(pixels, np.float32)

    def cache(self) -> None:
        """Load all images once, under a bar."""
        logger.info("caching latents with caching strategy.")
        logger.info("caching latents...")
        for info in track(self.images, len(self.images)):
            info.pixels = load_pixels(info.path)

    def cache_text(self, encode: Callable[[str], np.ndarray]) -> None:
        """Encode all captions once, as they are, under a bar."""
        logger.info("caching Text Encoder outputs with caching strategy.")
        logger.info("checking cache validity...")
        missing = [info for info in track(self.images, len(self.images)) if info.text is None]
        logger.info("caching Text Encoder outputs...")
        for info in track(missing, len(missing)):
            info.text = encode(info.caption)


class DatasetGroup:
    """All datasets of a run as one sequence of batches, for a data loader.

    Attributes:
        datasets: The datasets.
        epoch: The epoch that the loop is in; shared with the loader's worker processes.
    """

    def __init__(self, datasets: Sequence[ImageDataset]) -> None:
        self.datasets = list(datasets)
        self.epoch = Value("i", 0)

    def __len__(self) -> int:
        return sum(len(dataset.batches) for dataset in self.datasets)

    def __getitem__(self, number: int) -> Batch:
        setup_logging()  # a worker that was started, not forked, has no handler yet
        place = number
        for dataset in self.datasets:
            if dataset.epoch != self.epoch.value:
                dataset.set_epoch(self.epoch.value)
        for dataset in self.datasets:
            if place < len(dataset.batches):
                return dataset.batch(place)
            place -= len(dataset.batches)
        raise IndexError(number)

    @property
    def train_count(self) -> int:
        """Images with repeats."""
        return sum(dataset.train_count for dataset in self.datasets)

    @property
    def reg_count(self) -> int:
        """Regularization images with repeats."""
        return sum(dataset.reg_count for dataset in self.datasets)

    @property
    def cacheable(self) -> bool:
        """Whether no subset changes its images at each use in a way that a cache cannot hold."""
        return not any(
            subset.color_aug or subset.random_crop
            for dataset in self.datasets
            for subset in dataset.settings.subsets
        )

    @property
    def text_cacheable(self) -> bool:
        """Whether no subset changes its captions at each use."""
        return not any(
            subset.caption_dropout_rate > 0
            or subset.shuffle_caption
            or subset.token_warmup_step > 0
            or subset.caption_tag_dropout_rate > 0
            for dataset in self.datasets
            for subset in dataset.settings.subsets
        )

    def cache(self) -> None:
        """Load the images of all datasets."""
        for number, dataset in enumerate(self.datasets):
            logger.info(f"[Dataset {number}]")
            dataset.cache()

    def cache_text(self, encode: Callable[[str], np.ndarray]) -> None:
        """Encode the captions of all datasets."""
        for number, dataset in enumerate(self.datasets):
            logger.info(f"[Dataset {number}]")
            dataset.cache_text(encode)


def make_groups(settings: Sequence[DatasetSettings]) -> tuple[DatasetGroup, DatasetGroup | None]:
    """Read all datasets and return the trained group and, where one is wanted, the held out one."""
    training = [ImageDataset(one, training=True) for one in settings]
    for dataset in training:
        dataset.read()
    held_out = []
    for one in settings:
        if not 0 <= one.validation_split <= 1:
            logging.warning(
                f"Dataset param `validation_split` ({one.validation_split}) is not a valid number between "
                "0.0 and 1.0, skipping validation split..."
            )
        elif one.validation_split > 0:
            copied = DatasetSettings(**{**vars(one), "subsets": list(one.subsets)})
            held_out.append(ImageDataset(copied, training=False))
    for dataset in held_out:
        dataset.read()
    logger.info(describe([dataset.settings for dataset in training]))
    if held_out:
        logger.info(describe([dataset.settings for dataset in held_out], "Validation Dataset"))
    seed = random.randint(0, 2**31)
    for number, dataset in enumerate(training):
        logger.info(f"[Prepare dataset {number}]")
        dataset.make_buckets(seed)
    for number, dataset in enumerate(held_out):
        logger.info(f"[Prepare validation dataset {number}]")
        dataset.make_buckets(seed)
    return DatasetGroup(training), DatasetGroup(held_out) if held_out else None
