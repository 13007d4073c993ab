"""What the dataset doctor found: counts, names and groups; what a single image holds is in the cache."""

from __future__ import annotations

from pydantic import Field

from gui.engine.dataset.bucket_use import BucketSuggestion, BucketUse
from gui.engine.dataset.buckets import Size
from gui.engine.dataset.cache_files import CacheTrouble
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.report_parts import FoundProblem
from gui.engine.documents import Document
from gui.engine.findings import Finding

SCHEMA = 1


class FoundCaches(Document):
    """Cache files with one trouble in one folder.

    Attributes:
        trouble: Which.
        names: The files.
        size_bytes: What they hold together.
    """

    trouble: CacheTrouble
    names: tuple[str, ...]
    size_bytes: int


class ImageName(Document):
    """One image.

    Attributes:
        subset: Which subset's folder it lies in, by place in the report.
        name: Its file name.
    """

    subset: int
    name: str


class AlikeGroup(Document):
    """Images that are the same, or look nearly the same.

    Attributes:
        exact: Whether they are the very same file content.
        images: At least two.
    """

    exact: bool
    images: tuple[ImageName, ...]


class SubsetReport(Document):
    """One subset and its folder.

    Attributes:
        target: How fixes name the subset.
        image_dir: The folder.
        exists: Whether it is a folder that can be listed.
        images: Files that the trainer reads.
        num_repeats: How often each is taken.
        is_reg: Whether they are regularisation images.
        ignored: Names that look like images and that the trainer passes over.
        folders: Sub-folders; it does not look into them.
        sizes: ``"WxH"``, as the trainer sees it, to the number of images.
        problems: What is wrong with images.
        caches: What is wrong with cache files.
        cache_files: How many there are.
        captions: What the captions are like; None where they were not looked at.
    """

    target: str
    image_dir: str
    exists: bool
    images: int = 0
    num_repeats: int = 1
    is_reg: bool = False
    ignored: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    sizes: dict[str, int] = Field(default_factory=dict)
    problems: tuple[FoundProblem, ...] = ()
    caches: tuple[FoundCaches, ...] = ()
    cache_files: int = 0
    captions: CaptionReport | None = None


class DatasetBuckets(Document):
    """The buckets of one dataset.

    Attributes:
        target: How fixes name the dataset.
        resolution: Training size.
        use: How they are filled; None where the trainer refuses the settings.
        suggestions: Other settings that would do better.
    """

    target: str
    resolution: Size
    use: BucketUse | None
    suggestions: tuple[BucketSuggestion, ...] = ()


class DatasetReport(Document):
    """The whole answer.

    Attributes:
        complete: Whether every image was looked at; False when it was called off.
        images: Images of all subsets.
        readable: Of these, how many can be decoded.
        seconds: How long it took.
        subsets: In the plan's order.
        alike: Groups of images that are the same or look so.
        buckets: One for each dataset whose resolution is known.
        findings: What to do about it, the worst first.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    complete: bool
    images: int
    readable: int
    seconds: float
    subsets: tuple[SubsetReport, ...]
    alike: tuple[AlikeGroup, ...] = ()
    buckets: tuple[DatasetBuckets, ...] = ()
    findings: tuple[Finding, ...] = ()
