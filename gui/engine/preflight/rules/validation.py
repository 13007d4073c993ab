"""Rules about images held out for validation.

Source: trainer-facts 1.6, 1.7, 6.5 (train_util.py:158-178, 2487-2490, config_util.py:491-520).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _

USUAL_SPLIT = 0.1
USUAL_SEED = 42


def _splits(view: View) -> Iterator[tuple[SubsetView, float]]:
    """Return the datasets that ask for a validation set, and which part of them."""
    for dataset in view.dataset_views if view.dataset_known else ():
        split = dataset.number("validation_split")
        if split:
            yield dataset, split


def _subsets(view: View, dataset: SubsetView) -> list[SubsetView]:
    return [subset for subset in view.subsets if subset.target.startswith(f"{dataset.target}.subsets.")]


def _no_split(dataset: SubsetView, *, safe: bool) -> Fix:
    return write(
        {dataset.target_of("validation_split"): 0.0}, _("hold nothing out"), identity="none", safe=safe
    )


def check_split(view: View) -> Iterator[Finding]:
    """A split is a share between 0 and 1; from the whole on images are missing (train_util.py:174)."""
    for dataset, split in _splits(view):
        if 0 < split < 1:
            continue
        by_metadata = all(subset.own.get("metadata_file") for subset in _subsets(view, dataset))
        whole = split >= 1 and not by_metadata
        some = write(
            {dataset.target_of("validation_split"): USUAL_SPLIT},
            _("hold a tenth out"),
            identity="tenth",
        )
        yield Finding(
            id="validation-split",
            severity="stop" if whole else "warning",
            title=(
                _("A validation_split of {split:g} leaves nothing to train on.").format(split=split)
                if whole
                else _("validation_split {split:g} is no share between 0 and 1.").format(split=split)
            ),
            detail=(
                _("All or most images are left out, and the trainer ends at once or trains on the rest.")
                if whole
                else _("The trainer warns and holds nothing out.")
            ),
            arguments=(dataset.target_of("validation_split"),),
            where=dataset.target,
            fixes=(some, _no_split(dataset, safe=not whole)),
            sources=("trainer: config_util.py:497, train_util.py:174",),
        )


def check_seed(view: View) -> Iterator[Finding]:
    """Without a seed held-out images are trained as well (train_util.py:158-178)."""
    for dataset, split in _splits(view):
        if not 0 < split < 1 or dataset.value("validation_seed") is not None:
            continue
        yield Finding(
            id="validation-seed",
            severity="warning",
            title=_("Without validation_seed the images that are held out are trained as well."),
            detail=_(
                "The trainer shuffles twice by different lots: of 20 held-out images 14 were trained. The "
                "validation loss then shows less than it should."
            ),
            arguments=(dataset.target_of("validation_seed"),),
            where=dataset.target,
            fixes=(
                write(
                    {dataset.target_of("validation_seed"): USUAL_SEED},
                    _("draw with the seed {seed}").format(seed=USUAL_SEED),
                    identity="seed",
                    safe=True,
                ),
            ),
            sources=("T19", "trainer: train_util.py:158-178"),
        )


def check_unused(view: View) -> Iterator[Finding]:
    """Full trainings hold images out and never look at them (trainer-facts 6.5)."""
    if not view.trains_model:
        return
    for dataset, split in _splits(view):
        if 0 < split < 1:
            yield Finding(
                id="validation-unused",
                severity="warning",
                title=_("{script} holds images out and never looks at them.").format(script=view.script),
                detail=_("Only LoRA scripts validate; here the images are simply not trained."),
                arguments=(dataset.target_of("validation_split"),),
                where=dataset.target,
                fixes=(_no_split(dataset, safe=True),),
                sources=("trainer: config_util.py:491-519",),
            )


def check_meta(view: View) -> Iterator[Finding]:
    """With metadata files the validation set is the training set (train_util.py:2187)."""
    for dataset, split in _splits(view):
        if 0 < split < 1 and any(subset.own.get("metadata_file") for subset in _subsets(view, dataset)):
            yield Finding(
                id="validation-meta",
                severity="warning",
                title=_("With metadata files all images are trained and validated."),
                detail=_(
                    "The trainer pays no heed to validation_split there: the validation loss says nothing."
                ),
                arguments=(dataset.target_of("validation_split"),),
                where=dataset.target,
                fixes=(_no_split(dataset, safe=True),),
                sources=("trainer: train_util.py:2187, config_util.py:501-520",),
            )


def check_control(view: View) -> Iterator[Finding]:
    """Held-out images leave conditioning images over, which is refused (train_util.py:2490)."""
    for dataset, split in _splits(view):
        if split > 0 and any(view.is_paired(subset) for subset in _subsets(view, dataset)):
            yield Finding(
                id="validation-control",
                severity="stop",
                title=_("With conditioning images nothing can be held out for validation."),
                detail=_("The conditioning images of what is held out are left over, and the trainer stops."),
                arguments=(dataset.target_of("validation_split"),),
                where=dataset.target,
                fixes=(_no_split(dataset, safe=True),),
                sources=("trainer: train_util.py:2487-2490",),
            )


RULES: tuple[Rule, ...] = (
    Rule("validation-split", check_split, ("trainer: config_util.py:497",), lambda: _("The share held out")),
    Rule("validation-seed", check_seed, ("T19",), lambda: _("The seed by which images are held out")),
    Rule("validation-unused", check_unused, ("T19",), lambda: _("Images held out for nothing")),
    Rule(
        "validation-meta",
        check_meta,
        ("trainer: train_util.py:2187",),
        lambda: _("Validation with metadata files"),
    ),
    Rule(
        "validation-control",
        check_control,
        ("trainer: train_util.py:2490",),
        lambda: _("Validation with conditioning images"),
    ),
)
