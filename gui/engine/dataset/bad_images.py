"""Images that stop the trainer: which they are by a scan, and how they are put out of its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.presence import is_folder
from gui.engine.dataset.quarantine import set_aside, with_captions
from gui.engine.dataset.report import DatasetReport, SubsetReport
from gui.engine.dataset.report_parts import FoundProblem
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec


def stopping_images(spec: DatasetSpec, report: DatasetReport) -> Iterator[tuple[SubsetSpec, list[str]]]:
    """Yield each subset with the names of its images that stop the trainer, where it has any.

    Args:
        spec: What was looked at.
        report: What was found.
    """
    for subset, found in zip(spec.subsets, report.subsets, strict=True):
        names = sorted(stopping_reasons(found))
        if names:
            yield subset, names


def put_aside(spec: DatasetSpec, subset: SubsetSpec, names: Iterable[str], reason: str = "") -> int:
    """Move images with their captions into quarantine; only ever when the user says so.

    Args:
        spec: Which files are images.
        subset: Their folder and how its captions end.
        names: Of the images.
        reason: Why, for the quarantine's record.

    Returns:
        How many files were moved.

    Raises:
        CannotWrite: A file cannot be moved; those before it are, and can be brought back.
        CannotRead: The quarantine's record is damaged.
    """
    images = list_folder(subset.image_dir, subset.caption_extension, spec.suffixes).images
    whole = with_captions(subset.image_dir, names, subset.caption_extension, images)
    return len(set_aside(subset.image_dir, whole, reason))


def images_named_in(spec: DatasetSpec, text: str) -> tuple[Path, ...]:
    """Return the images of a dataset whose paths a text names, in the order of their folders.

    Args:
        spec: The dataset.
        text: Such as lines of the trainer's log; what stands in it over two lines is not found.
    """
    folders = {subset.image_dir: subset for subset in spec.subsets if is_folder(subset.image_dir)}
    images = (
        folder / name
        for folder, subset in folders.items()
        for name in list_folder(folder, subset.caption_extension, spec.suffixes).images
    )
    return tuple(path for path in images if str(path) in text)


def stopping_reasons(found: SubsetReport) -> dict[str, str]:
    """Return the names of a subset's images that stop the trainer, each with its first kind of trouble."""
    reasons: dict[str, str] = {}
    for problem in filter(_is_bad, found.problems):
        for name in problem.names:
            reasons.setdefault(name, problem.key)
    return reasons


def _is_bad(problem: FoundProblem) -> bool:
    return problem.severity == "stop" and problem.key.startswith("img-")
