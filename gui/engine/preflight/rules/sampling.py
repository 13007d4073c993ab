"""Rules about sample images: they need prompts, and one interval.

Source: trainer-facts 1.2, 2.3 (train_util.py:4462-4472, 6329-6341, 6385-6396).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from gui.engine.findings import Finding, Severity
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

INTERVALS = ("sample_every_n_steps", "sample_every_n_epochs")
PROMPT_SUFFIXES = (".txt", ".toml", ".json")
"""Kinds of prompt files; any other leaves the trainer without prompts, and it fails (train_util.py:6329)."""


def wants_samples(view: View) -> list[str]:
    """Return the arguments that ask for sample images."""
    asked = [name for name in INTERVALS if view.given(name) and (view.number(name) or 0) > 0]
    return [*asked, *(["sample_at_first"] if view.flag("sample_at_first") else [])]


def check_sample_prompts(view: View) -> Iterator[Finding]:
    """Samples need a file of prompts (train_util.py:6395, 6329)."""
    asked = wants_samples(view)
    if not asked:
        return
    prompts = view.text("sample_prompts")
    fact = view.path(prompts)
    if prompts is None:
        severity: Severity = "stop"
        title = _("Sample images are asked for, and no prompts.")
        detail = _("The trainer fails when it is to make the first sample, perhaps after hours.")
    elif fact is not None and fact.kind != "file":
        severity, title = "warning", _("The file of sample prompts does not exist.")
        detail = _("The trainer says so and makes no samples.")
    elif not prompts.endswith(PROMPT_SUFFIXES):
        severity = "stop"
        title = _("Sample prompts must be a .txt, .toml or .json file, not {suffix}.").format(
            suffix=PurePath(prompts).suffix or prompts
        )
        detail = _("The trainer fails when it is to make the first sample.")
    else:
        return
    yield Finding(
        id="sample-prompts",
        severity=severity,
        title=title,
        detail=detail,
        arguments=("sample_prompts", *asked),
        fixes=(write(dict.fromkeys(asked), _("make no sample images"), identity="no-samples"),),
        sources=("trainer: train_util.py:6329-6341, 6395",),
    )


def check_sample_both(view: View) -> Iterator[Finding]:
    """The interval in epochs hides the one in steps (STEP-03)."""
    if not all((view.number(name) or 0) > 0 and view.given(name) for name in INTERVALS):
        return
    yield Finding(
        id="sample-both",
        severity="warning",
        title=_("Samples by steps and by epochs: the trainer takes the epochs."),
        detail=_("sample_every_n_steps is ignored."),
        arguments=INTERVALS,
        fixes=(
            write({"sample_every_n_steps": None}, _("keep the epochs"), identity="epochs", safe=True),
            write({"sample_every_n_epochs": None}, _("keep the steps"), identity="steps"),
        ),
        sources=("STEP-03", "trainer: train_util.py:6385"),
    )


def check_sample_zero(view: View) -> Iterator[Finding]:
    """An interval of 0 was an error that ate the result; now it means never (STEP-04)."""
    for name in INTERVALS:
        number = view.number(name) if view.given(name) else None
        if number is None or number > 0:
            continue
        yield Finding(
            id="sample-zero",
            severity="warning",
            title=_("{name} {number:g} makes no samples.").format(name=name, number=number),
            detail=_("Older trainers fail on it at the end of the first epoch, before they save."),
            arguments=(name,),
            where=name,
            fixes=(leave_out(name, safe=True),),
            sources=("STEP-04", "trainer: train_util.py:4462-4472"),
        )


RULES: tuple[Rule, ...] = (
    Rule(
        "sample-prompts",
        check_sample_prompts,
        ("trainer: train_util.py:6395",),
        lambda: _("Sample images have prompts"),
    ),
    Rule("sample-both", check_sample_both, ("STEP-03",), lambda: _("Two intervals of samples")),
    Rule("sample-zero", check_sample_zero, ("STEP-04",), lambda: _("Intervals of samples of 0")),
)
