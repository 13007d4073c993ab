"""Looks at one folder of images: what the trainer would read of it, and what it would stumble over.

Quick and bounded, for each check of a plan: names of all files, headers and tails of so many images. The
dataset doctor looks at every pixel. Source: trainer-facts 1.6, 6.1, 6.3, 6.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gui.engine.dataset.caption_records import CaptionRecords
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.doctor import caption_folder
from gui.engine.dataset.folder_records import FolderRecords
from gui.engine.dataset.listing import FolderListing, holds_images, list_folder
from gui.engine.dataset.pairing import stem_of
from gui.engine.errors import CannotRead
from gui.engine.preflight.cache_look import look_at_caches
from gui.engine.preflight.caption_look import look_at_captions
from gui.engine.preflight.dataset_spec import subset_spec
from gui.engine.preflight.facts import SubsetFact
from gui.engine.preflight.file_facts import PairsFact
from gui.engine.preflight.image_look import Images, look_at_images
from gui.engine.preflight.scanned_look import faults_of, others_of
from gui.engine.preflight.view import SubsetView, View

IMAGES_LOOKED_AT = 2_000
"""Sizes are read of so many images; of more only the count is known, so that a check stays quick."""

FOLDERS_LOOKED_AT = 100

NAMED = 20
"""So many files of one fault are named."""

MAC_NOTES = "._"
"""How the names begin under which macOS keeps notes about a file in archives (DATA-07)."""


def look_at_subset(
    view: View,
    subset: SubsetView,
    suffixes: frozenset[str],
    budget: int,
    records: FolderRecords | None = None,
) -> SubsetFact:
    """Return what is in a subset's folder.

    Args:
        view: The plan.
        subset: The subset, its folder absolute.
        suffixes: What the trainer reads as images.
        budget: Of so many images headers may be read.
        records: What scans found out; it is taken for folders that have not changed since.
    """
    image_dir = subset.value("image_dir")
    if not isinstance(image_dir, str) or not image_dir.strip():
        return SubsetFact(image_dir=image_dir if isinstance(image_dir, str) else "")
    folder = Path(image_dir)
    if not folder.is_absolute():
        return SubsetFact(image_dir=image_dir)  # where a file of the user's own means it, is not known
    extension = str(subset.value("caption_extension") or "") or ".caption"
    try:
        listing = list_folder(folder, extension, suffixes)
    except CannotRead:
        return SubsetFact(image_dir=image_dir, exists=False)
    first = folder.name.split("_", 1)[0]
    mac_files = tuple(name for name in listing.hidden if name.startswith(MAC_NOTES))
    pictures = listing.images
    images = look_at_images(folder, pictures) if len(pictures) <= budget else None
    record = records.find(folder, pictures) if records else None
    captions = _captions(view, subset, listing, records) if records else None
    return SubsetFact(
        image_dir=image_dir,
        exists=True,
        images=len(listing.images),
        captions=listing.captioned,
        other_captions=listing.other_captions,
        sizes=record.sizes if record else _counted(images) if images else None,
        repeats_in_name=int(first) if first.isdecimal() else None,
        sub_folders=sum(
            holds_images(folder / name, suffixes) for name in listing.folders[:FOLDERS_LOOKED_AT]
        ),
        unread=dict(Counter(Path(name).suffix for name in listing.ignored if name not in mac_files)),
        same_stem=_same_stem(listing)[:NAMED],
        mac_files=mac_files[:NAMED],
        image_faults=faults_of(record) if record else images.faults[:NAMED] if images else (),
        caption_faults=look_at_captions(folder, pictures, extension)[:NAMED],
        caches=look_at_caches(view, subset, folder, images.sizes) if images else None,
        pairs=_pairs(subset, listing, suffixes, images),
        scanned=others_of(record, captions) if record else None,
    )


def _captions(
    view: View, subset: SubsetView, listing: FolderListing, records: FolderRecords
) -> CaptionReport | None:
    """Return what a scan found out about captions that have not changed since."""
    where = caption_folder(subset_spec(view, subset), listing)
    return CaptionRecords(records.memory).find(where) if where else None


def _counted(images: Images) -> dict[str, int]:
    return dict(Counter(f"{width}x{height}" for width, height in images.sizes.values()))


def _same_stem(listing: FolderListing) -> tuple[str, ...]:
    counts = Counter(map(stem_of, listing.images))
    return tuple(sorted(stem for stem, count in counts.items() if count > 1))


def _pairs(
    subset: SubsetView, listing: FolderListing, suffixes: frozenset[str], images: Images | None
) -> PairsFact | None:
    """Compare images and conditioning images by name, and by size where it is known."""
    folder = subset.own.get("conditioning_data_dir")
    if not isinstance(folder, str) or not folder:
        return None
    try:
        conditions = list_folder(Path(folder), suffixes=suffixes).images
    except CannotRead:
        return None
    wanted, there = set(map(stem_of, listing.images)), set(map(stem_of, conditions))
    return PairsFact(
        without=tuple(name for name in listing.images if stem_of(name) not in there)[:NAMED],
        surplus=tuple(name for name in conditions if stem_of(name) not in wanted)[:NAMED],
        other_size=_other_size(images, Path(folder), conditions),
    )


def _other_size(images: Images | None, folder: Path, conditions: Sequence[str]) -> tuple[str, ...]:
    if images is None or len(conditions) > IMAGES_LOOKED_AT:
        return ()
    others = look_at_images(folder, conditions).sizes
    by_stem = {stem_of(name): size for name, size in others.items()}
    return tuple(name for name, size in images.sizes.items() if by_stem.get(stem_of(name), size) != size)[
        :NAMED
    ]
