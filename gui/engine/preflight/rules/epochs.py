"""Advice on repeats: an epoch that the training never ends, and one that is over before it has begun.

Source: trainer-facts 2.3, 5.4 (train_network.py:978, 1694); SLOW-03, T17.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.amounts import amounts
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.trainers import practises
from gui.engine.preflight.steps import StepsForecast, forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _, ngettext

WORKERS, STAY = "max_data_loader_n_workers", "persistent_data_loader_workers"
BY_EPOCHS = ("max_train_epochs", "save_every_n_epochs", "sample_every_n_epochs", "validate_every_n_epochs")
"""What would mean something else when epochs get longer."""

TRIES = 4
"""Batches that are not full cost a repeat or two more; beyond that it is something else."""


def _seen(view: View, forecast: StepsForecast) -> float:
    """Return how many epochs are trained on; below 1 the first one does not end."""
    accumulation = max(1.0, view.number("gradient_accumulation_steps") or 1)
    steps = forecast.batches_per_epoch / accumulation / max(1, view.plan.launch.num_processes)
    return forecast.total_steps / steps


def _repeats(view: View) -> dict[str, int]:
    """Return the target of each subset's repeats to how many there are, regularisation left out."""
    listed = [subset for subset in view.subsets if subset.own and not subset.is_reg]
    return {each.target_of("num_repeats"): int(each.number("num_repeats") or 1) for each in listed}


def check_epoch_long(view: View) -> Iterator[Finding]:
    """When the training ends in its first epoch, some images are seen less often than others."""
    forecast, repeats = forecast_steps(view), _repeats(view)
    if forecast is None or max(repeats.values(), default=1) <= 1 or not view.trains_network:
        return
    seen = _seen(view, forecast)
    if seen >= 1:
        return
    yield Finding(
        id="epoch-long",
        severity="hint",
        title=_("The training ends after {share:.0f} % of its first epoch.").format(share=100 * seen),
        detail=_(
            "Some images are then seen less often than others, and nothing happens that is to be done at the "
            "end of an epoch. Fewer repeats make an epoch shorter."
        ),
        arguments=tuple(repeats),
        fixes=tuple(_fewer(view, repeats, seen)),
        sources=("trainer: train_network.py:978, 1694",),
    )


def _fewer(view: View, repeats: Mapping[str, int], seen: float) -> Iterator[Fix]:
    """Yield the fix that takes the most repeats with which an epoch fits; short batches may cost one more."""
    for step in range(TRIES):
        changes = {target: max(1, int(count * seen) - step) for target, count in repeats.items()}
        changed = replace(view, plan=apply_changes(view.plan, changes))
        forecast = forecast_steps(changed)
        if forecast is not None and _seen(changed, forecast) >= 1:
            times = max(changes.values())
            label = ngettext("use images once", "repeat images {times} times", times).format(times=times)
            yield write(changes, label, identity="fewer-repeats")
            return
        if set(changes.values()) == {1}:
            return


def check_epoch_short(view: View) -> Iterator[Finding]:
    """At the end of each epoch the loaders are started anew, unless they stay (SLOW-03)."""
    forecast, limits = forecast_steps(view), amounts().epochs
    if forecast is None or practises(view) or not view.knows(STAY) or view.flag(STAY):
        return
    if not view.number(WORKERS) or forecast.epochs < limits.many_epochs:
        return
    if forecast.steps_per_epoch >= limits.few_steps:
        return
    yield Finding(
        id="epoch-short",
        severity="hint",
        title=ngettext(
            "An epoch has {steps} step, and there are {epochs} of them.",
            "An epoch has {steps} steps, and there are {epochs} of them.",
            forecast.steps_per_epoch,
        ).format(steps=forecast.steps_per_epoch, epochs=forecast.epochs),
        detail=_("Loaders start anew at each epoch, and the GPU waits for them, on Windows for seconds."),
        arguments=(STAY, *_repeats(view)),
        fixes=tuple(_longer(view, forecast)),
        sources=limits.sources,
    )


def _longer(view: View, forecast: StepsForecast) -> Iterator[Fix]:
    yield write({STAY: True}, _("let the loaders stay"), identity="stay", safe=True)
    repeats: dict[str, Any] = _repeats(view)
    if repeats and not any(view.given(name) for name in BY_EPOCHS):
        times = -(-amounts().epochs.few_steps // forecast.steps_per_epoch)
        changes = {target: count * times for target, count in repeats.items()}
        label = _("repeat images {times} times as often; the steps stay as many").format(times=times)
        yield write(changes, label, identity="more-repeats")


RULES: tuple[Rule, ...] = (
    Rule(
        "epoch-long",
        check_epoch_long,
        ("trainer: train_network.py:978",),
        lambda: _("Trainings that end in their first epoch"),
    ),
    Rule("epoch-short", check_epoch_short, ("SLOW-03", "T17"), lambda: _("Very short epochs")),
)
