"""Rules about buckets: what the trainer asserts, often only after minutes.

Source: trainer-facts 1.6 and section 5 (train_util.py:218-223, 337-345, 766-771, 1093, 1633-1647).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin, Size
from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_latents
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.resolution import pair, planned_settings
from gui.engine.preflight.steps import measured_sizes
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _, ngettext

DEFAULT_STEP_PX = 64
"""The trainer's own ``bucket_reso_steps`` (train_util.py:4570)."""


def _bucketed(view: View) -> Iterator[tuple[SubsetView, BucketSettings]]:
    for dataset in view.dataset_views if view.dataset_known else ():
        settings = planned_settings(view, dataset)
        if settings is not None and settings.enable_bucket:
            yield dataset, settings


def check_bucket_range(view: View) -> Iterator[Finding]:
    """The resolution must lie between the bucket limits, also without upscaling (train_util.py:766)."""
    for dataset, given in _bucketed(view):
        settings = _with_right_steps(view, dataset, given)
        high = replace(settings, max_bucket_reso=max(settings.max_bucket_reso, *settings.resolution))
        low = replace(settings, min_bucket_reso=settings.bucket_reso_steps)
        for one in (low, high) if settings.bucket_reso_steps <= min(settings.resolution) else (settings,):
            try:
                _limits = one.limits
            except BucketsImpossible as refusal:
                yield _out_of_range(dataset, settings, refusal.reason)


def _out_of_range(dataset: SubsetView, settings: BucketSettings, reason: str) -> Finding:
    steps, low, high = settings.bucket_reso_steps, settings.min_bucket_reso, settings.max_bucket_reso
    least, most = min(settings.resolution), max(settings.resolution)
    name = "max_bucket_reso" if reason == "max" else "min_bucket_reso"
    detail = _("Buckets must reach from the smaller to the larger side; the trainer stops otherwise.")
    if reason == "max":
        meant = most + -most % steps
        title = _("max_bucket_reso {limit} is smaller than the resolution’s {side} px.")
        title = title.format(limit=high, side=most)
    elif reason == "min":
        meant = least - least % steps
        title = _("min_bucket_reso {limit} is larger than the resolution’s {side} px.")
        title = title.format(limit=low, side=least)
    else:
        meant = steps if steps <= least else 0
        title = _("min_bucket_reso {limit} is less than one step of {steps} px.")
        title = title.format(limit=low, steps=steps)
        detail = _("It is rounded down to 0, and the trainer divides by it.")
    fix = write(
        {dataset.target_of(name): meant},
        _("set {name} to {value}").format(name=name, value=meant),
        safe=True,
    )
    if not meant:  # no bucket is as small as the resolution
        fix = write({dataset.target_of("enable_bucket"): False}, _("do without buckets"), identity="off")
    return Finding(
        id="bucket-range",
        severity="stop",
        title=title,
        detail=detail,
        arguments=(dataset.target_of(name), dataset.target_of("resolution")),
        where=f"{dataset.target}.{name}",
        fixes=(fix,),
        sources=("DATA-11", "trainer: train_util.py:766-771, model_util.py:1327"),
    )


def _right_steps(view: View, dataset: SubsetView, steps: int) -> int:
    """Return ``bucket_reso_steps``, or what it will be once it is mended."""
    needed = view.way.bucket_step_px if view.way else 1
    # Pairs of images are never checked (train_util.py:2374), and models take them all the same.
    if steps > 0 and (steps % needed == 0 or _is_paired(view, dataset)):
        return steps
    return DEFAULT_STEP_PX if DEFAULT_STEP_PX % needed == 0 else needed


def _with_right_steps(view: View, dataset: SubsetView, settings: BucketSettings) -> BucketSettings:
    return replace(settings, bucket_reso_steps=_right_steps(view, dataset, settings.bucket_reso_steps))


def check_bucket_steps(view: View) -> Iterator[Finding]:
    """Bucket sides must be divisible by what the model's layers need (train_util.py:1093)."""
    needed = view.way.bucket_step_px if view.way else 1
    for dataset, settings in _bucketed(view):
        steps = settings.bucket_reso_steps
        meant = _right_steps(view, dataset, steps)
        if meant == steps:
            continue
        yield Finding(
            id="bucket-steps",
            severity="stop",
            title=_("bucket_reso_steps {steps} is not a multiple of {needed}.").format(
                steps=steps, needed=needed
            ),
            detail=_("The model works on blocks of that many pixels. The trainer stops on anything else."),
            arguments=(dataset.target_of("bucket_reso_steps"),),
            where=dataset.target,
            fixes=(
                write(
                    {dataset.target_of("bucket_reso_steps"): meant},
                    _("set bucket_reso_steps to {steps}").format(steps=meant),
                    safe=True,
                ),
            ),
            sources=view.way.sources if view.way and view.way.sources else ("trainer: train_util.py:1093",),
        )


def _is_paired(view: View, dataset: SubsetView) -> bool:
    inside = [subset for subset in view.subsets if subset.target.startswith(dataset.target)]
    return all(map(view.is_paired, inside))


def check_bucket_off(view: View) -> Iterator[Finding]:
    """Without buckets and cache each image must have exactly the resolution (train_util.py:1633)."""
    if not view.dataset_known or caches_latents(view):
        return
    for subset, fact in view.subset_facts:
        settings = planned_settings(view, view.dataset_of(subset))
        if settings is None or settings.enable_bucket or subset.value("face_crop_aug_range") is not None:
            continue
        wrong = sum(
            count
            for size, count in measured_sizes(fact).items()
            if not _passes(size, settings.resolution, crop=subset.flag("random_crop"))
        )
        if wrong:
            yield _not_the_size(view, subset, settings.resolution, wrong)


def _passes(size: Size, resolution: Size, *, crop: bool) -> bool:
    larger = size[0] >= resolution[0] and size[1] >= resolution[1]
    return size == resolution or (crop and larger)


def _not_the_size(view: View, subset: SubsetView, resolution: Size, wrong: int) -> Finding:
    changing = any(other.flag("color_aug") or other.flag("random_crop") for other in view.subsets)
    cache = write(
        {"cache_latents": True},
        _("cache latents: images are then scaled and cropped to {size}").format(size=pair(resolution)),
        identity="cache",
        safe=True,
    )
    dataset = subset.target.split(".subsets.")[0]
    buckets = write(
        {f"{dataset}.enable_bucket": True}, _("sort images into buckets by shape"), identity="buckets"
    )
    return Finding(
        id="bucket-off",
        severity="stop",
        title=ngettext(
            "{count} image does not have exactly {size} pixels.",
            "{count} images do not have exactly {size} pixels.",
            wrong,
        ).format(count=wrong, size=pair(resolution)),
        detail=_(
            "Without buckets and without cached latents the trainer neither scales nor crops: it stops "
            "when training reaches the first such image."
        ),
        arguments=(f"{dataset}.enable_bucket", "cache_latents"),
        where=subset.target,
        fixes=(buckets,) if changing else (cache, buckets),
        sources=("trainer: train_util.py:1633-1647",),
    )


def check_bucket_thin(view: View) -> Iterator[Finding]:
    """Without upscaling a very thin image gets a bucket side of 0 (train_util.py:337-345)."""
    for subset, fact in view.subset_facts if view.dataset_known else ():
        settings = planned_settings(view, view.dataset_of(subset))
        if settings is None or not (settings.enable_bucket and settings.bucket_no_upscale):
            continue
        settings = _with_right_steps(view, view.dataset_of(subset), settings)
        thin = [size for size in measured_sizes(fact) if _too_thin(size, settings)]
        if not thin:
            continue
        dataset = subset.target.split(".subsets.")[0]
        changes: dict[str, object] = {f"{dataset}.bucket_no_upscale": False}
        if settings.min_bucket_reso < settings.bucket_reso_steps <= min(settings.resolution):
            changes[f"{dataset}.min_bucket_reso"] = settings.bucket_reso_steps  # 0 after rounding fails then
        yield Finding(
            id="bucket-thin",
            severity="stop",
            title=_("An image of {size} is too thin for buckets of {steps} px.").format(
                size=pair(thin[0]), steps=settings.bucket_reso_steps
            ),
            detail=_(
                "Without upscaling its bucket gets a side of 0 pixels, and the trainer divides by zero. Let "
                "small images be enlarged, or take it out."
            ),
            arguments=(f"{dataset}.bucket_no_upscale",),
            where=subset.target,
            fixes=(write(changes, _("let small images be enlarged"), safe=True),),
            sources=("trainer: train_util.py:337-345",),
        )


def _too_thin(size: Size, settings: BucketSettings) -> bool:
    try:
        replace(settings, min_bucket_reso=0, max_bucket_reso=2**20).place(size)
    except ImageTooThin:
        return True
    except BucketsImpossible:
        return False
    return False


RULES: tuple[Rule, ...] = (
    Rule("bucket-range", check_bucket_range, ("DATA-11",), lambda: _("Bucket limits and the resolution")),
    Rule(
        "bucket-steps",
        check_bucket_steps,
        ("trainer: train_util.py:1093",),
        lambda: _("Bucket sides that the model can work on"),
    ),
    Rule(
        "bucket-off",
        check_bucket_off,
        ("trainer: train_util.py:1633",),
        lambda: _("Images of another size without buckets"),
    ),
    Rule(
        "bucket-thin",
        check_bucket_thin,
        ("trainer: train_util.py:337",),
        lambda: _("Images too thin for their bucket"),
    ),
)
