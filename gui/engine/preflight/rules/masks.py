"""Rules about masks, conditioning images and metadata files.

Source: trainer-facts 1.6, 2.2, 2.8, 6.6 (train_util.py:2263-2290, 2374-2537, sdxl_train.py:714-738).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import IMAGE_CHANGES, caches_latents
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _

NEEDS_LATENT_CACHE = frozenset(
    {"fine_tune.py", "sdxl_train.py", "flux_train.py", "sd3_train.py", "lumina_train.py", "anima_train.py"}
)
"""Scripts that look for the name of a cache of latents which they have not set up (train_util.py:2287)."""

IGNORES_ALPHA = {
    "sdxl_train.py": "masked_loss",
    "fine_tune.py": None,
}
"""Scripts that read alpha masks and do not use them, and what helps (sdxl_train.py:714, fine_tune.py:398)."""


def _listed(view: View) -> tuple[SubsetView, ...]:
    return tuple(subset for subset in view.subsets if subset.own) if view.dataset_known else ()


def check_masked_nothing(view: View) -> Iterator[Finding]:
    """Without masks the masked loss is the plain one (train_util.py:4237)."""
    subsets = _listed(view)
    if not view.flag("masked_loss") or not subsets:
        return
    if any(subset.flag("alpha_mask") or subset.own.get("conditioning_data_dir") for subset in subsets):
        return
    yield Finding(
        id="masked-nothing",
        severity="warning",
        title=_("masked_loss is on, and no subset has masks."),
        detail=_(
            "Masks come from the images’ transparency (alpha_mask) or from conditioning_data_dir of a "
            "subset. The argument conditioning_data_dir is not read here. Nothing would be masked."
        ),
        arguments=("masked_loss", "dataset.alpha_mask"),
        fixes=(
            write({"dataset.alpha_mask": True}, _("take the images’ transparency as mask"), identity="alpha"),
            leave_out("masked_loss", safe=True),
        ),
        sources=("trainer: train_util.py:4237, custom_train_functions.py:497",),
    )


def check_alpha_ignored(view: View) -> Iterator[Finding]:
    """Full trainings read alpha masks and do not all use them (sdxl_train.py:714-738)."""
    if view.script not in IGNORES_ALPHA or not any(subset.flag("alpha_mask") for subset in _listed(view)):
        return
    helps = IGNORES_ALPHA[view.script]
    if helps is not None and view.flag(helps):
        return
    fixes = (
        (write({helps: True}, _("mask the loss"), identity="mask", safe=True),)
        if helps
        else (
            write(
                {
                    subset.target_of("alpha_mask"): False
                    for subset in _listed(view)
                    if subset.flag("alpha_mask")
                },
                _("leave the masks out"),
                identity="no-mask",
                safe=True,
            ),
        )
    )
    yield Finding(
        id="alpha-ignored",
        severity="warning",
        title=_("{script} does not use alpha masks this way.").format(script=view.script),
        detail=_("The transparency is read and cached, and the whole picture is learnt."),
        arguments=("dataset.alpha_mask", "masked_loss"),
        fixes=fixes,
        sources=("trainer: sdxl_train.py:714-738, fine_tune.py:398-412",),
    )


def check_control_crop(view: View) -> Iterator[Finding]:
    """Images with conditioning images cannot be cropped by lot (train_util.py:2395)."""
    for subset in _listed(view):
        if not view.is_paired(subset) or not subset.flag("random_crop"):
            continue
        yield Finding(
            id="control-crop",
            severity="stop",
            title=_("Images with conditioning images cannot be cropped at random."),
            detail=_("Both would be cropped in different places; the trainer refuses it."),
            arguments=(subset.target_of("random_crop"),),
            where=subset.target,
            fixes=(write({subset.target_of("random_crop"): False}, _("do not crop at random"), safe=True),),
            sources=("trainer: train_util.py:2395",),
        )


def check_control_dropout(view: View) -> Iterator[Finding]:
    """With conditioning images a dropout by epochs drops all captions (train_util.py:2374-2533, 830)."""
    for subset in _listed(view):
        every = subset.number("caption_dropout_every_n_epochs") or 0
        if not view.is_paired(subset) or every <= 1:
            continue
        yield Finding(
            id="control-dropout",
            severity="danger",
            title=_("With conditioning images caption_dropout_every_n_epochs throws all captions away."),
            detail=_("These datasets are never told the epoch: they drop captions as in epoch 0, always."),
            arguments=(subset.target_of("caption_dropout_every_n_epochs"),),
            where=subset.target,
            fixes=(
                write(
                    {subset.target_of("caption_dropout_every_n_epochs"): 0},
                    _("keep the captions"),
                    identity="keep",
                    safe=True,
                ),
            ),
            sources=("trainer: train_util.py:830, 2374-2533",),
        )


def check_meta_cache(view: View) -> Iterator[Finding]:
    """With metadata files full trainings fail without cached latents (train_util.py:2287-2290)."""
    if view.script not in NEEDS_LATENT_CACHE or caches_latents(view):
        return
    subsets = [subset for subset in _listed(view) if subset.own.get("metadata_file")]
    if not subsets:
        return
    changing = {
        subset.target_of(name): False for subset in subsets for name in IMAGE_CHANGES if subset.flag(name)
    }
    yield Finding(
        id="meta-cache",
        severity="stop",
        title=_("With metadata files {script} needs cached latents.").format(script=view.script),
        detail=_("The trainer looks for the name of their cache when it reads the metadata, and stops."),
        arguments=("cache_latents", subsets[0].target_of("metadata_file")),
        fixes=(
            write(
                {"cache_latents": True, **changing},
                _("cache latents; images then stay as they are") if changing else _("cache latents"),
                identity="cache",
                safe=not changing,
            ),
        ),
        sources=("trainer: train_util.py:2287-2290",),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "masked-nothing",
        check_masked_nothing,
        ("trainer: train_util.py:4237",),
        lambda: _("A masked loss without masks"),
    ),
    Rule(
        "alpha-ignored",
        check_alpha_ignored,
        ("trainer: sdxl_train.py:714",),
        lambda: _("Alpha masks that are not used"),
    ),
    Rule(
        "control-crop",
        check_control_crop,
        ("trainer: train_util.py:2395",),
        lambda: _("Crops beside conditioning images"),
    ),
    Rule(
        "control-dropout",
        check_control_dropout,
        ("trainer: train_util.py:2374",),
        lambda: _("Dropouts by epochs beside conditioning images"),
    ),
    Rule(
        "meta-cache",
        check_meta_cache,
        ("trainer: train_util.py:2287",),
        lambda: _("Metadata files without cached latents"),
    ),
)
