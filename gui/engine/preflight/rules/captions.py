"""Rules about captions: that they are found, and not all thrown away.

Source: trainer-facts 2.1, 2.6, 6.3 (train_util.py:830-834, 1946-1964, 2070-2090, 4493).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Severity
from gui.engine.preflight.facts import SubsetFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.view import DATASET_DEFAULTS, SubsetView, View
from gui.engine.texts import _

USUAL = ".txt"
"""How nearly all caption files are named; the trainer's default is another."""


def check_caption_extension(view: View) -> Iterator[Finding]:
    """Captions with another extension are not found, and training goes on without (train_util.py:2090)."""
    for subset, fact in view.subset_facts if view.dataset_known else ():
        if not subset.own or subset.own.get("metadata_file"):
            continue
        extension = str(subset.value("caption_extension"))
        given = _is_given(subset)
        better = _better(fact)
        if better is not None:
            missing = fact is not None and not fact.captions
            yield _other_extension(subset, extension, better, severity="stop" if missing else "warning")
        elif fact is None and not given:
            yield _other_extension(subset, extension, USUAL, severity="hint")


def _is_given(subset: SubsetView) -> bool:
    levels = (subset.own, *subset.levels, subset.arguments)
    return any(level.get("caption_extension") is not None for level in levels)


def _better(fact: SubsetFact | None) -> str | None:
    """Return the extension that more images have a caption of; None when the plan's is the one."""
    if fact is None or not fact.images or fact.captions is None or not fact.other_captions:
        return None
    extension, count = max(fact.other_captions.items(), key=lambda pair: pair[1])
    return extension if count > fact.captions else None


def _other_extension(subset: SubsetView, extension: str, better: str, *, severity: Severity) -> Finding:
    known = severity != "hint"
    label = _("read {extension} files").format(extension=better)
    return Finding(
        id="caption-extension",
        severity=severity,
        title=(
            _("The captions end in {better}, and the plan reads {extension}.").format(
                better=better, extension=extension
            )
            if known
            else _("The plan does not say how caption files end; the trainer looks for {extension}.").format(
                extension=extension
            )
        ),
        detail=_(
            "What is not found is trained with the class tokens, or without words; the trainer only warns."
        ),
        arguments=(subset.target_of("caption_extension"),),
        where=subset.target,
        fixes=(
            write({subset.target_of("caption_extension"): better}, label, identity="extension", safe=known),
        ),
        sources=("trainer: train_util.py:2090, 4493", "T11"),
    )


def check_caption_dropout(view: View) -> Iterator[Finding]:
    """A dropout of everything trains without captions (train_util.py:830-834)."""
    for subset in view.subsets if view.dataset_known else ():
        rate = subset.number("caption_dropout_rate") or 0
        every = subset.number("caption_dropout_every_n_epochs") or 0
        name = "caption_dropout_every_n_epochs" if every == 1 else "caption_dropout_rate"
        if every != 1 and rate < 1:
            continue
        yield Finding(
            id="caption-dropout",
            severity="danger",
            title=_("{name} {value:g} throws all captions away.").format(
                name=name, value=every if every == 1 else rate
            ),
            detail=_("The LoRA learns pictures and no words."),
            arguments=(subset.target_of(name),),
            where=subset.target,
            fixes=(
                write(
                    {
                        subset.target_of(other): DATASET_DEFAULTS[other]
                        for other in ("caption_dropout_every_n_epochs", "caption_dropout_rate")
                        if subset.number(other)
                    },
                    _("keep the captions"),
                    identity="keep",
                ),
            ),
            sources=("trainer: train_util.py:830-834",),
        )


RULES: tuple[Rule, ...] = (
    Rule(
        "caption-extension",
        check_caption_extension,
        ("trainer: train_util.py:4493",),
        lambda: _("How caption files end"),
    ),
    Rule(
        "caption-dropout",
        check_caption_dropout,
        ("trainer: train_util.py:830",),
        lambda: _("Dropouts of all captions"),
    ),
)
