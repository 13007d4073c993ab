"""Makes findings of a report: what stops the trainer, what spoils the result, and ways out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gui.engine.dataset.bucket_use import BucketSuggestion, BucketUse
from gui.engine.dataset.cache_trouble_kinds import CACHE_TROUBLES
from gui.engine.dataset.pairing import examples
from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report import DatasetBuckets, DatasetReport, FoundCaches, SubsetReport
from gui.engine.findings import Finding, Fix, worst_first
from gui.engine.plan.changes import ACTION
from gui.engine.texts import _, ngettext

MUCH_WASTED = 0.1
"""From this share of empty places in batches on it is told."""


def findings_of(report: DatasetReport, *, caches_used: bool) -> tuple[Finding, ...]:
    """Return what a report means for the plan, the worst first.

    Args:
        report: What was found.
        caches_used: Whether the plan would use cache files that are there.
    """
    found = [
        *(finding for subset in report.subsets for finding in _of_subset(subset, used=caches_used)),
        *(finding for buckets in report.buckets for finding in _of_buckets(buckets)),
    ]
    return tuple(worst_first(found))


def image_finding(key: str, names: tuple[str, ...], target: str) -> Finding:
    """Return the finding for images of one subset that have one kind of trouble.

    Args:
        key: Which kind; see ``problem_kinds``.
        names: The files.
        target: The subset.
    """
    return _problem(key, names, target, "image_dir")


def caption_finding(key: str, names: tuple[str, ...], target: str) -> Finding:
    """Return the finding for captions of one subset that have one kind of trouble.

    Args:
        key: Which kind; see ``problem_kinds``.
        names: The images, or the words under ``cap-common``.
        target: The subset.
    """
    found = _problem(key, names, target, "caption_extension")
    if key not in ("cap-encoding", "cap-mark"):
        return found
    label = _("convert these captions to UTF-8")
    convert = Fix(id="convert-captions", label=label, changes={ACTION: "convert-captions"}, safe=False)
    return found.model_copy(update={"fixes": (convert,)})


def _problem(key: str, names: tuple[str, ...], target: str, option: str) -> Finding:
    kind = problem_kinds()[key]
    return Finding(
        id=kind.id,
        severity=kind.severity,
        title=kind.title(len(names)).format(count=len(names), names=examples(names)),
        detail=kind.detail(),
        arguments=(f"{target}.{option}",),
        where=target,
        sources=kind.sources,
    )


def _of_subset(subset: SubsetReport, *, used: bool) -> Iterator[Finding]:
    for problem in subset.problems:
        yield image_finding(problem.key, problem.names, subset.target)
    for problem in subset.captions.problems if subset.captions else ():
        yield caption_finding(problem.key, problem.names, subset.target)
    if subset.ignored:
        yield Finding(
            id="img-skipped",
            severity="warning",
            title=ngettext(
                "{count} file is passed over in silence: {names}",
                "{count} files are passed over in silence: {names}",
                len(subset.ignored),
            ).format(count=len(subset.ignored), names=examples(subset.ignored)),
            detail=_(
                "The trainer reads .png, .jpg, .jpeg, .webp and .bmp, all in small or all in capital "
                "letters, and no hidden files."
            ),
            arguments=(f"{subset.target}.image_dir",),
            where=subset.target,
            sources=("trainer: train_util.py:104-129, 2851",),
        )
    for caches in subset.caches:
        yield _of_caches(subset, caches, used=used)


def _of_caches(subset: SubsetReport, caches: FoundCaches, *, used: bool) -> Finding:
    kind = CACHE_TROUBLES[caches.trouble]
    severity, detail = kind.severity, kind.detail()
    if not used:
        severity = "hint"
        detail = _("The plan keeps no caches on the disk, so nothing reads them now.")
    return Finding(
        id=kind.id,
        severity=severity,
        title=kind.title(len(caches.names)).format(count=len(caches.names), names=examples(caches.names)),
        detail=detail,
        arguments=(f"{subset.target}.image_dir",),
        where=subset.target,
        fixes=(
            Fix(
                id="delete",
                label=_("remove these cache files"),
                changes={ACTION: "delete-cache"},
                safe=False,
            ),
        ),
        sources=kind.sources,
    )


def _of_buckets(buckets: DatasetBuckets) -> Iterator[Finding]:
    use = buckets.use
    if use is None or (use.wasted < MUCH_WASTED and not buckets.suggestions):
        return
    yield Finding(
        id="bucket-fill",
        severity="hint",
        title=_bucket_title(use),
        detail=_("A batch holds images of one bucket, and the last batch of each may be short.")
        + " "
        + ngettext(
            "{enlarged} of {images} images is enlarged, {lost} % of all pixels are cut off.",
            "{enlarged} of {images} images are enlarged, {lost} % of all pixels are cut off.",
            use.enlarged,
        ).format(enlarged=use.enlarged, images=use.images, lost=round(100 * use.lost)),
        arguments=(f"{buckets.target}.batch_size", f"{buckets.target}.resolution"),
        where=buckets.target,
        fixes=tuple(suggestion_fix(buckets.target, use, each) for each in buckets.suggestions),
        sources=("S2", "trainer: train_util.py:987-1091"),
    )


def _bucket_title(use: BucketUse) -> str:
    if use.wasted < MUCH_WASTED:
        return _("Other settings of the buckets would treat these images better.")
    title = ngettext(
        "{short} of {batches} batches an epoch is not full; {waste} % of their places stay empty.",
        "{short} of {batches} batches an epoch are not full; {waste} % of their places stay empty.",
        use.short_batches,
    )
    return title.format(short=use.short_batches, batches=use.batches, waste=round(100 * use.wasted))


def suggestion_fix(target: str, now: BucketUse, suggestion: BucketSuggestion) -> Fix:
    """Return the fix that takes a suggestion.

    Args:
        target: The dataset.
        now: How its buckets are filled.
        suggestion: What would do better.
    """
    then = suggestion.use
    value: Any = suggestion.value
    changed = list(value) if isinstance(value, tuple) else value
    shown = "×".join(map(str, value)) if isinstance(value, tuple) else value
    return Fix(
        id=suggestion.option.replace("_", "-"),
        label=ngettext(
            "set {option} to {value}: {batches} batch instead of {before}, {waste} % of places empty, "
            "{lost} % of pixels cut off",
            "set {option} to {value}: {batches} batches instead of {before}, {waste} % of places empty, "
            "{lost} % of pixels cut off",
            then.batches,
        ).format(
            option=suggestion.option,
            value=shown,
            batches=then.batches,
            before=now.batches,
            waste=round(100 * then.wasted),
            lost=round(100 * then.lost),
        ),
        changes={f"{target}.{suggestion.option}": changed},
        safe=False,
    )
