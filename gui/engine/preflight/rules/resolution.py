"""Rules about the resolution: that there is one, how it is written, and whether the family fits it.

Source: trainer-facts 1.6 (train_util.py:1517, 1921, 5402-5421).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from gui.engine.dataset.buckets import BucketSettings, Size
from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.steps import bucket_settings
from gui.engine.preflight.view import SubsetView, View, as_size
from gui.engine.texts import _

SDXL_LEAST_PX = 768
"""Below this side (of a square of the same area) SDXL was seen to come out broken (MODEL-08, T10)."""

INTERPOLATIONS = ("lanczos", "nearest", "bilinear", "linear", "bicubic", "cubic", "area", "box")
"""What the dataset file may say; the command line does not know ``box`` (utils.py:330)."""

PACKED_PX = 16
"""Transformer models pack 2×2 latents of 8×8 pixels into one token (flux_utils.py:433)."""


def pair(size: Size) -> str:
    """Return a size as people write it."""
    return f"{size[0]}×{size[1]}"


def planned_settings(view: View, dataset: SubsetView) -> BucketSettings | None:
    """Return the bucket settings as they are, or will be once the resolution is mended."""
    return bucket_settings(dataset, view.kin.resolution.default_px if view.kin else None)


def _defaults(view: View, dataset: SubsetView) -> tuple[Fix, ...]:
    if view.kin is None:
        return ()
    size = view.kin.resolution.default_px
    label = _("train at {size}").format(size=pair(size))
    return (write({dataset.target_of("resolution"): list(size)}, label, identity="default", safe=True),)


def check_resolution(view: View) -> Iterator[Finding]:
    """Each dataset needs a resolution (train_util.py:1921)."""
    if not view.dataset_known:
        return
    for dataset in view.dataset_views:
        if dataset.value("resolution") is None:
            yield Finding(
                id="resolution",
                severity="stop",
                title=_("The plan does not say at which resolution to train."),
                detail=_("The trainer has no default and stops when it reads the dataset."),
                arguments=(dataset.target_of("resolution"),),
                where=dataset.target,
                fixes=_defaults(view, dataset),
                sources=("trainer: train_util.py:1921, 2207",),
            )


def check_reso_format(view: View) -> Iterator[Finding]:
    """A resolution is ``N`` or ``W,H``, and above 0 (CLI-01, train_util.py:5410)."""
    beside = _beside_a_file(view)
    if beside:
        yield from _beside_own_file(view, "resolution")
    for dataset in view.dataset_views if view.dataset_known else ():
        value = dataset.value("resolution")
        if beside and value == view.value("resolution"):
            continue  # judged above, as the text that the trainer reads
        size = as_size(value)
        if value is None or (size is not None and not isinstance(value, str)):
            continue
        if size is None and (isinstance(value, bool) or not isinstance(value, (str, int))):
            continue  # the dataset's schema says it
        meant = write(
            {dataset.target_of("resolution"): list(size or ())},
            _("write {size}").format(size=pair(size) if size else ""),
            identity="read-as-meant",
            safe=True,
        )
        yield Finding(
            id="reso-format",
            severity="hint" if size else "stop",
            title=_("The resolution “{value}” is not written as the trainer reads it.").format(value=value),
            detail=_("It is one number, or width and height with a comma and no blank: 768,768."),
            arguments=(dataset.target_of("resolution"),),
            where=dataset.target,
            fixes=(meant,) if size else _defaults(view, dataset),
            sources=("CLI-01", "trainer: train_util.py:5402-5413"),
        )


def _beside_a_file(view: View) -> bool:
    """Return whether arguments about the dataset stay on the command line, beside a file or class."""
    return view.given("dataset_config") or not view.dataset_known


def _beside_own_file(view: View, name: str) -> Iterator[Finding]:
    """Beside the user's own dataset file the trainer reads the argument's text (train_util.py:5402-5423)."""
    text = str(view.plan.arguments.get(name))
    if not view.given(name) or (_is_size if name == "resolution" else _is_range)(text):
        return
    size = as_size(text) if name == "resolution" else None
    meant = "{},{}".format(*size) if size else ""
    yield Finding(
        id="reso-format" if name == "resolution" else "face-crop",
        severity="stop",
        title=_("{name} “{value}” cannot be read by the trainer.").format(name=name, value=text),
        detail=(
            _("It must be one whole number, or width and height with a comma: 768,768.")
            if name == "resolution"
            else _("It must be two numbers with a comma, the smaller one first: 2.0,4.0.")
        ),
        arguments=(name,),
        where=name,
        fixes=(
            write({name: meant}, _("write {size}").format(size=meant), identity="read-as-meant", safe=True)
            if size
            else leave_out(name),
        ),
        sources=("CLI-01", "trainer: train_util.py:5402-5423"),
    )


def _is_size(text: str) -> bool:
    try:
        return len([int(part) for part in text.split(",")]) in (1, 2)
    except ValueError:
        return False


def _is_range(text: str) -> bool:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        return False
    return low <= high


def check_resolution_step(view: View) -> Iterator[Finding]:
    """Without buckets the resolution itself must fit the tokens of transformer models."""
    if not view.is_transformer or not view.dataset_known:
        return
    for dataset in view.dataset_views:
        settings = planned_settings(view, dataset)
        if settings is None or settings.enable_bucket:
            continue
        width, height = settings.resolution
        if width % PACKED_PX == 0 and height % PACKED_PX == 0:
            continue
        meant = [max(64, round(side / 64) * 64) for side in (width, height)]
        yield Finding(
            id="resolution-step",
            severity="stop" if view.script.startswith("flux_") else "danger",
            title=_("{size} is not a multiple of {step} pixels.").format(
                size=pair(settings.resolution), step=PACKED_PX
            ),
            detail=_("The model cuts images into squares of that size; the first step fails."),
            arguments=(dataset.target_of("resolution"),),
            where=dataset.target,
            fixes=(
                write(
                    {dataset.target_of("resolution"): meant},
                    _("train at {size}").format(size=pair((meant[0], meant[1]))),
                    safe=True,
                ),
            ),
            sources=("trainer: flux_utils.py:433",),
        )


def check_res_sdxl(view: View) -> Iterator[Finding]:
    """SDXL was made for about a million pixels (S2, MODEL-08)."""
    if not view.script.startswith("sdxl_"):
        return
    for dataset in view.dataset_views:
        size = as_size(dataset.value("resolution"))
        if size is None or size[0] * size[1] >= SDXL_LEAST_PX**2:
            continue
        yield Finding(
            id="res-sdxl",
            severity="warning",
            title=_("SDXL is made for 1024×1024; {size} is far below.").format(size=pair(size)),
            detail=_("It learns to make small pictures badly, and what it learns does not hold at 1024."),
            arguments=(dataset.target_of("resolution"),),
            where=dataset.target,
            fixes=(
                write(
                    {dataset.target_of("resolution"): [1024, 1024]},
                    _("train at 1024×1024 (more memory)"),
                    identity="native",
                ),
            ),
            sources=("S2", "MODEL-08", "trainer: docs/train_SDXL-en.md:47"),
        )


def check_res_family(view: View) -> Iterator[Finding]:
    """Outside of the sizes that a family was made for it learns badly (families' data)."""
    if view.kin is None:
        return
    known = view.kin.resolution
    for dataset in view.dataset_views:
        size = as_size(dataset.value("resolution"))
        if size is None or (view.script.startswith("sdxl_") and size[0] * size[1] < SDXL_LEAST_PX**2):
            continue
        small = min(size) < known.smallest_px
        if not small and max(size) <= known.largest_px:
            continue
        yield Finding(
            id="res-family",
            severity="hint",
            title=(
                _("{size} is smaller than {family} learns well.")
                if small
                else _("{size} is larger than {family} was made for.")
            ).format(size=pair(size), family=view.kin.title),
            detail=_("Its usual size is {size}.").format(size=pair(known.default_px)),
            arguments=(dataset.target_of("resolution"),),
            where=dataset.target,
            fixes=tuple(fix.model_copy(update={"safe": False}) for fix in _defaults(view, dataset)),
            sources=view.kin.sources or ("T20",),
        )


def check_face_crop(view: View) -> Iterator[Finding]:
    """``face_crop_aug_range`` is two numbers, the smaller first (train_util.py:1517, 5417-5421)."""
    if _beside_a_file(view):
        yield from _beside_own_file(view, "face_crop_aug_range")
    for subset in view.subsets if view.dataset_known else ():
        value = subset.value("face_crop_aug_range")
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            continue
        low, high = value
        if not all(isinstance(side, (int, float)) for side in value) or low <= high:
            continue
        yield Finding(
            id="face-crop",
            severity="warning",
            title=_("face_crop_aug_range has its larger number first."),
            detail=_("The trainer does not turn it round: faces would all be cropped to the same size."),
            arguments=(subset.target_of("face_crop_aug_range"),),
            where=subset.target,
            fixes=(
                write(
                    {subset.target_of("face_crop_aug_range"): [high, low]},
                    _("write {low}, {high}").format(low=high, high=low),
                    safe=True,
                ),
            ),
            sources=("trainer: train_util.py:1517-1518",),
        )


def check_interpolation(view: View) -> Iterator[Finding]:
    """A dataset's ``resize_interpolation`` must exist; a subset's is not checked (train_util.py:724)."""
    name = "resize_interpolation"
    if not view.dataset_known:
        return
    places = [(dataset, dataset.value(name), True) for dataset in view.dataset_views]
    places += [(subset, subset.own.get(name), False) for subset in view.subsets]
    for place, value, checked in places:
        if not isinstance(value, str) or value in INTERPOLATIONS:
            continue
        near = difflib.get_close_matches(value.strip().lower(), INTERPOLATIONS, n=1)
        meant = near[0] if near else "area"
        yield Finding(
            id="interpolation",
            severity="stop" if checked else "warning",
            title=_("There is no way of scaling images called “{value}”.").format(value=value),
            detail=(
                _("The trainer stops when it reads the dataset. It knows {names}.")
                if checked
                else _(
                    "Of a subset the trainer takes it all the same, and scales linearly. It knows {names}."
                )
            ).format(names=", ".join(INTERPOLATIONS)),
            arguments=(place.target_of(name),),
            where=place.target,
            fixes=(
                write(
                    {place.target_of(name): meant},
                    _("scale by {name}").format(name=meant),
                    safe=bool(near),
                ),
            ),
            sources=("trainer: train_util.py:724, utils.py:251, 330",),
        )


RULES: tuple[Rule, ...] = (
    Rule(
        "resolution", check_resolution, ("trainer: train_util.py:1921",), lambda: _("A resolution is given")
    ),
    Rule("reso-format", check_reso_format, ("CLI-01",), lambda: _("How the resolution is written")),
    Rule(
        "resolution-step",
        check_resolution_step,
        ("trainer: flux_utils.py:433",),
        lambda: _("Resolutions that transformer models can cut"),
    ),
    Rule("res-sdxl", check_res_sdxl, ("S2", "MODEL-08"), lambda: _("SDXL far below 1024 pixels")),
    Rule("res-family", check_res_family, ("T20",), lambda: _("Sizes that the family was made for")),
    Rule(
        "face-crop",
        check_face_crop,
        ("trainer: train_util.py:1517, 5417",),
        lambda: _("The range of crops around faces"),
    ),
    Rule(
        "interpolation",
        check_interpolation,
        ("trainer: train_util.py:724",),
        lambda: _("How images are scaled"),
    ),
)
