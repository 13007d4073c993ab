"""Everything about one image that its panel shows; looked up in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gui.engine.dataset.buckets import BucketsImpossible, ImageTooThin, Placement
from gui.engine.dataset.caption_files import ReadCaption, read_caption
from gui.engine.dataset.caption_marks import CaptionMarks, caption_marks
from gui.engine.dataset.crops import Crop, crop_of
from gui.engine.dataset.image_cache import ImageCache
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.scan import state_of
from gui.engine.dataset.spec import SubsetSpec


@dataclass(frozen=True)
class CaptionLook:
    """The caption of an image.

    Attributes:
        read: What the trainer takes of it.
        marks: Where it is cut off, and where the trigger word stands; None where the plan does not tell
            how captions are taken.
        limit: So many tokens are read; None when that is not known.
        exact: Whether tokens are counted, not estimated.
    """

    read: ReadCaption
    marks: CaptionMarks | None = None
    limit: int | None = None
    exact: bool = True


@dataclass(frozen=True)
class ImageLook:
    """One image.

    Attributes:
        path: Where.
        facts: What it holds; None where it was not looked at yet.
        placement: Where the trainer puts it; None where that is not known.
        crop: What it sees of it.
        caption: Its caption.
    """

    path: Path
    facts: ImageFacts | None
    placement: Placement | None
    crop: Crop | None
    caption: CaptionLook


def look_at_image(path: Path, subset: SubsetSpec, memory: Path, trigger: str) -> ImageLook:
    """Look an image up.

    Args:
        path: Which.
        subset: How its folder is meant.
        memory: Where what was found out about images is remembered.
        trigger: The word that calls up what is taught; empty for none.
    """
    facts = _facts(path, memory)
    placement = _placement(facts, subset) if facts is not None else None
    crop = crop_of(facts.seen_size, placement) if facts is not None and placement is not None else None
    return ImageLook(path, facts, placement, crop, _caption(path, subset, trigger))


def _facts(path: Path, memory: Path) -> ImageFacts | None:
    state = state_of(path)
    if state is None:
        return None
    cache = ImageCache(memory)
    try:
        return cache.find(path.parent, path.name, state)
    finally:
        cache.close()


def _placement(facts: ImageFacts, subset: SubsetSpec) -> Placement | None:
    if subset.settings is None or facts.fault is not None or 0 in facts.seen_size:
        return None
    try:
        return subset.settings.place(facts.seen_size)
    except (ImageTooThin, BucketsImpossible):
        return None


def _caption(path: Path, subset: SubsetSpec, trigger: str) -> CaptionLook:
    settings = subset.captions
    wildcard = settings is not None and settings.wildcard
    read = read_caption(path.parent, path.name, subset.caption_extension, wildcard=wildcard)
    if settings is None:
        return CaptionLook(read)
    marks = caption_marks(read.text, settings, trigger)
    return CaptionLook(read, marks, settings.limit, settings.exact)
