"""The dataset doctor: scans all folders of a plan and makes one report of what is wrong with them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from gui.engine.dataset.bucket_use import bucket_use, suggestions
from gui.engine.dataset.buckets import Size
from gui.engine.dataset.cache_files import Surroundings, check_caches, list_caches
from gui.engine.dataset.cache_kinds import kinds_of_family
from gui.engine.dataset.caption_check import CaptionFolder, check_captions
from gui.engine.dataset.caption_records import CaptionRecords
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.folder_records import FolderRecords, record_of
from gui.engine.dataset.gathering import Gathered, Gathering
from gui.engine.dataset.image_cache import ImageCache
from gui.engine.dataset.image_problems import problems_of
from gui.engine.dataset.listing import FolderListing, list_folder
from gui.engine.dataset.pairing import pair_masks
from gui.engine.dataset.report import (
    DatasetBuckets,
    DatasetReport,
    FoundCaches,
    SubsetReport,
)
from gui.engine.dataset.report_findings import findings_of
from gui.engine.dataset.report_parts import found_problems
from gui.engine.dataset.scan import FolderToScan, Scan, ScanBatch, ScannedImage
from gui.engine.dataset.size_problems import size_problems
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.dataset.thresholds import Thresholds, thresholds
from gui.engine.errors import Cancelled, CannotRead

CACHE_FOLDER = "dataset"
"""Below the cache of the home: what is remembered of images and folders."""


class Doctor:
    """One examination of a dataset. ``pause``, ``resume`` and ``cancel`` may come from any thread.

    Go through ``batches`` for what is found as it is found, then take the ``report``.
    """

    def __init__(
        self,
        spec: DatasetSpec,
        memory: Path | None,
        processes: int | None = None,
        *,
        limits: Thresholds | None = None,
    ) -> None:
        """List the folders; nothing is opened yet.

        Args:
            spec: What to look at.
            memory: Where to remember what was found, ``home.cache / CACHE_FOLDER``; None forgets it.
            processes: How many look at images; None takes one a core.
            limits: From where on something is told; None takes the program's own.
        """
        self.spec = spec
        self.limits = limits or thresholds()
        self._memory = memory
        self._listings = _listings(spec)
        self.folders = tuple(self._listings)
        self._cache = ImageCache(memory)
        to_scan = [FolderToScan(folder, self._listings[folder].images) for folder in self.folders]
        self.scan = Scan(to_scan, self._cache, processes)
        self._gathering = Gathering(self.folders)
        self._began = time.monotonic()
        self._complete = False

    def batches(self) -> Iterator[ScanBatch]:
        """Yield what is found out about images, as it comes, with the progress.

        Raises:
            ScanFailed: No process can be started.
        """
        for batch in self.scan.batches():
            for image in batch.images:
                self._gathering.add(image, problems_of(image.name, image.facts, self.limits))
            yield batch
        self._complete = not self.scan.cancelled

    def images_in(self, folder: Path) -> tuple[str, ...]:
        """Return the names of a folder's images, sorted, as it was listed."""
        return self._listings[folder].images

    def subsets_of(self, image: ScannedImage) -> list[SubsetSpec]:
        """Return the subsets that take an image: two datasets may share a folder."""
        folder = self.folders[image.place]
        return [subset for subset in self.spec.subsets if subset.image_dir == folder]

    def problems_of(self, image: ScannedImage, subset: SubsetSpec) -> tuple[str, ...]:
        """Return the keys of all that is wrong with one image itself in a subset; see ``problem_kinds``."""
        own = problems_of(image.name, image.facts, self.limits)
        kept = tuple(key for key in own if not (key == "img-alpha" and subset.alpha_mask))
        return kept + size_problems(image.facts, subset.settings, self.limits)

    def report(self) -> DatasetReport:
        """Return what was found; reads the caches beside the images, which may take a while."""
        gathered = self._gathering.finish(self.limits, self._is_masks)
        subsets = tuple(self._subset(subset, gathered) for subset in self.spec.subsets)
        report = DatasetReport(
            complete=self._complete,
            images=sum(subset.images for subset in subsets),
            readable=sum(sum(subset.sizes.values()) for subset in subsets),
            seconds=round(time.monotonic() - self._began, 2),
            subsets=subsets,
            alike=gathered.groups_of(self.spec, self.folders),
            buckets=tuple(self._buckets(gathered)),
        )
        if self._complete and self._memory is not None:
            self._remember(gathered)
        findings = findings_of(report, caches_used=self.spec.caches)
        return report.model_copy(update={"findings": findings})

    def close(self) -> None:
        """End what still runs and let the cache go."""
        self.scan.cancel()
        self._cache.close()

    def _is_masks(self, place: int) -> bool:
        """Whether a folder holds nothing but masks: those may well look alike."""
        return all(subset.image_dir != self.folders[place] for subset in self.spec.subsets)

    def _subset(self, subset: SubsetSpec, gathered: Gathered) -> SubsetReport:
        listing = self._listings.get(subset.image_dir)
        if listing is None:
            return SubsetReport(target=subset.target, image_dir=str(subset.image_dir), exists=False)
        place = self.folders.index(subset.image_dir)
        found = dict(gathered.problems[place])
        if subset.alpha_mask:
            found.pop("img-alpha", None)
        found |= gathered.size_problems(place, subset.settings, self.limits)
        found |= self._masks(subset, gathered)
        caches = self._caches(subset, gathered.seen_sizes(place)) if not self.scan.cancelled else ()
        return SubsetReport(
            target=subset.target,
            image_dir=str(subset.image_dir),
            exists=True,
            images=len(listing.images),
            num_repeats=subset.num_repeats,
            is_reg=subset.is_reg,
            ignored=listing.ignored,
            folders=listing.folders,
            sizes={f"{size[0]}x{size[1]}": count for size, count in gathered.counts(place).items()},
            problems=found_problems(found),
            caches=caches,
            cache_files=len(list_caches(subset.image_dir)),
            captions=self._captions(subset, listing),
        )

    def _captions(self, subset: SubsetSpec, listing: FolderListing) -> CaptionReport | None:
        where = caption_folder(subset, listing)
        if where is None or self.scan.cancelled:
            return None
        records = CaptionRecords(self._memory) if self._memory is not None else None
        known = records.find(where) if records else None
        if known is not None:
            return known
        try:
            report = check_captions(where, lambda: self.scan.cancelled)
        except Cancelled:
            return None
        if records:
            records.write(where, report)
        return report

    def _masks(self, subset: SubsetSpec, gathered: Gathered) -> dict[str, list[str]]:
        folder = subset.conditioning_data_dir
        if folder is None or folder not in self._listings:
            return {}
        masks = self.folders.index(folder)
        pairs = pair_masks(
            gathered.true_sizes(self.folders.index(subset.image_dir)), gathered.true_sizes(masks)
        )
        unreadable = [name for key in UNREADABLE for name in gathered.problems[masks].get(key, ())]
        found = {
            "mask-missing": pairs.without,
            "mask-extra": pairs.left_over,
            "mask-size": pairs.other_size if subset.settings and subset.settings.enable_bucket else (),
            "mask-unreadable": unreadable,
        }
        return {key: list(names) for key, names in found.items() if names}

    def _caches(self, subset: SubsetSpec, sizes: dict[str, Size]) -> tuple[FoundCaches, ...]:
        around = Surroundings(
            sizes, subset.caption_extension, kinds_of_family(self.spec.family), subset.settings
        )
        by_trouble: dict[str, list[tuple[str, int]]] = {}
        for cache in check_caches(subset.image_dir, around, cancelled=lambda: self.scan.cancelled):
            for trouble in cache.troubles:
                by_trouble.setdefault(trouble, []).append((cache.name, cache.size_bytes))
        return tuple(
            FoundCaches.model_validate(
                {
                    "trouble": trouble,
                    "names": tuple(name for name, _size in files),
                    "size_bytes": sum(size for _name, size in files),
                }
            )
            for trouble, files in by_trouble.items()
        )

    def _buckets(self, gathered: Gathered) -> Iterator[DatasetBuckets]:
        for target in dict.fromkeys(subset.dataset for subset in self.spec.subsets):
            inside = [subset for subset in self.spec.subsets if subset.dataset == target]
            settings, batch = inside[0].settings, max(1, inside[0].batch_size)
            if settings is None:
                continue
            sizes: dict[Size, int] = {}
            for subset in inside:
                if subset.image_dir in self._listings and not subset.is_reg:
                    for size, count in gathered.counts(self.folders.index(subset.image_dir)).items():
                        sizes[size] = sizes.get(size, 0) + count * max(0, subset.num_repeats)
            use = bucket_use(settings, sizes, batch)
            better = suggestions(settings, sizes, batch, use) if use is not None else []
            yield DatasetBuckets(
                target=target, resolution=settings.resolution, use=use, suggestions=tuple(better)
            )

    def _remember(self, gathered: Gathered) -> None:
        """Keep what holds whatever the plan, for checks that have no time to look."""
        if self._memory is None:
            return
        records = FolderRecords(self._memory)
        for place, (folder, listing) in enumerate(self._listings.items()):
            self._cache.forget_others(folder, listing.images)
            records.write(record_of(folder, listing.images, gathered, place))


def caption_folder(subset: SubsetSpec, listing: FolderListing) -> CaptionFolder | None:
    """Return what to look at for a subset's captions; None where it has none that could be looked at.

    Args:
        subset: Which.
        listing: Its folder.
    """
    if subset.captions is None or (listing.other_captions and not listing.captioned):
        return None  # they end otherwise, which is told
    return CaptionFolder(
        subset.image_dir,
        listing.images,
        subset.caption_extension,
        subset.class_tokens,
        subset.is_reg,
        subset.captions,
    )


UNREADABLE = ("img-truncated", "img-decode", "img-empty", "img-denied", "img-huge", "img-magic")
"""What keeps a mask from being read as well."""


def _listings(spec: DatasetSpec) -> dict[Path, FolderListing]:
    """List every folder once, those of masks too; one that cannot be listed is left out."""
    found: dict[Path, FolderListing] = {}
    for subset in spec.subsets:
        for folder in (subset.image_dir, subset.conditioning_data_dir):
            if folder is None or folder in found:
                continue
            try:
                found[folder] = list_folder(folder, subset.caption_extension, spec.suffixes)
            except CannotRead:
                continue
    return found
