"""What the dataset doctor is asked to look at: the folders of a plan, and how they are meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gui.engine.dataset.buckets import BucketSettings
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.listing import suffixes_read


@dataclass(frozen=True)
class SubsetSpec:
    """One folder of images.

    Attributes:
        target: How fixes name the subset: ``dataset.subsets.0``.
        dataset: How they name its dataset: ``dataset``, ``dataset.datasets.1``.
        image_dir: The folder, absolute.
        num_repeats: How often each image is taken an epoch.
        class_tokens: What stands in for a missing caption; None for none.
        is_reg: Whether it holds regularisation images.
        caption_extension: With its dot.
        conditioning_data_dir: The folder of masks or conditioning images, absolute; None for none.
        alpha_mask: Whether transparency is wanted, as the mask of the loss.
        settings: The dataset's buckets; None where its resolution is not known.
        batch_size: Images a batch.
        captions: How captions are taken; None where a file of metadata has them.
    """

    target: str
    dataset: str
    image_dir: Path
    num_repeats: int = 1
    class_tokens: str | None = None
    is_reg: bool = False
    caption_extension: str = ".caption"
    conditioning_data_dir: Path | None = None
    alpha_mask: bool = False
    settings: BucketSettings | None = None
    batch_size: int = 1
    captions: CaptionSettings | None = field(default_factory=CaptionSettings)


@dataclass(frozen=True)
class DatasetSpec:
    """All folders of a plan.

    Attributes:
        subsets: In the plan's order.
        family: The plan's family; empty when it is not known.
        suffixes: What the trainer reads as images.
        caches: Whether the plan keeps caches on the disk and would use those that are there.
    """

    subsets: tuple[SubsetSpec, ...]
    family: str = ""
    suffixes: frozenset[str] = suffixes_read()
    caches: bool = False

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of images, each of them once."""
        return tuple(dict.fromkeys(subset.image_dir for subset in self.subsets))
