"""What to try after a loss broke down: the ways of the triage, each with its effect and where it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gui.engine.errors import PreflightError
from gui.engine.plan.effective import PlanValues
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import compose
from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.rates import RATES, is_mad, lower_rates
from gui.engine.runs.recovery_case import Case
from gui.engine.runs.recovery_models import Start, Way
from gui.engine.runs.triage import Try, ways_of
from gui.engine.texts import _

TENTH = 10

_KEEP_THE_OPTIMIZER = ("bf16", "full-precision", "no-half-vae", "clip")
"""What a saved state goes on with: its optimizer and schedule stay as they are."""

_OF_A_MAD_RATE = ("safe-rate", "look-at-images", "few-images")


def loss_ways(case: Case, plan: TrainingPlan, library: PresetLibrary) -> Iterator[Way]:
    """Yield what to try after a loss broke down, in order (N16, N19).

    Args:
        case: The run.
        plan: Its plan; its presets know a rate that holds.
        library: The presets.
    """
    for each in _tries(case):
        if each.id == "safe-rate":
            yield _way(each, case.settings, preset_rates(plan, case.settings, library), "beginning")
        elif each.id == "older-point":
            yield Way(each.id, _("The same once more"), each.words, {}, "older", unchanged=True)
        elif each.changes:
            start: Start = "point" if each.id in _KEEP_THE_OPTIMIZER else "weights"
            yield _way(each, case.settings, dict(each.changes), start)
        if each.id == "half-rate":
            tenth = each._replace(id="tenth-rate")
            yield _way(tenth, case.settings, lower_rates(case.settings, TENTH), "weights")


def loss_by_hand(case: Case) -> tuple[str, ...]:
    """Return what to look at outside of the plan."""
    return tuple(each.words for each in _tries(case) if not each.changes and each.id != "older-point")


def loss_hopeless(case: Case) -> Iterator[str]:
    """Yield what cannot help, so that nobody tries it (N8, N16)."""
    settings, broke = case.settings, case.status.first_nonfinite_step
    if is_mad(settings):
        text = _("Half of a learning rate of {rate:g} is no better, nor does any file saved with it help.")
        yield text.format(rate=settings.rate)
    if case.ran_away is not None:
        text = _(
            "The loss was running away since step {step}: what was saved from then on is finite, but no "
            "place to go on from."
        )
        yield text.format(step=f"{case.ran_away:,}")
    grown = [file for file in case.status.files if file.judgement == "grown"]
    if grown:
        text = _("{file} is {judgement}: a lower rate does not shrink it back, so no try begins with it.")
        yield text.format(file=grown[-1].path.name, judgement=grown[-1].sentence)
    if any(_is_late_state(file.kind, file.step, broke) for file in case.status.files):
        yield _(
            "The states saved after the loss broke down hold its broken numbers, also in the optimizer: a "
            "training that goes on from one is broken from its first step."
        )
    if settings.resumed and case.alarm is not None and case.alarm.moment == "after-resume":
        yield _("The same state again would end the same: what it brought back is what broke.")


def preset_rates(
    plan: TrainingPlan, settings: LaunchedSettings, library: PresetLibrary
) -> dict[str, float | list[float]]:
    """Return each of the run's learning rates to what its presets say, where that is lower.

    Args:
        plan: Its presets count; without any, the careful ones of its family.
        settings: What it was launched with.
        library: The presets.
    """
    safe = lower_rates(settings)
    known = _rates_of_presets(plan, library)
    model = known.get("unet_lr", known.get("learning_rate"))
    found: dict[str, float | list[float]] = {}
    for name, lower in safe.items():
        rate = known.get(name, model if name != "text_encoder_lr" else None)
        own = [float(word) for word in settings.arguments[name]]
        if isinstance(rate, int | float) and len(own) == 1:
            found[name] = min(float(rate), own[0])
        else:
            found[name] = lower
    return found


def _tries(case: Case) -> tuple[Try, ...]:
    alarm = case.alarm
    if alarm is None or alarm.moment is None:
        return ()
    tries = ways_of(alarm.moment, case.settings)
    if is_mad(case.settings):
        return tuple(each for each in tries if each.id in _OF_A_MAD_RATE)
    return tries


def _rates_of_presets(plan: TrainingPlan, library: PresetLibrary) -> dict[str, Any]:
    stands = plan
    if not plan.presets:
        try:
            stands = compose(plan.family, plan.kind, library=library).plan()
        except PreflightError:  # a family that nobody knows
            return {}
    values = PlanValues(stands, library)
    found = {name: values.effective(name).preset_value for name in RATES}
    return {name: value for name, value in found.items() if value is not None}


def _is_late_state(kind: str, step: int | None, broke: int | None) -> bool:
    return kind == "state" and step is not None and broke is not None and step >= broke


def _way(each: Try, settings: LaunchedSettings, changes: dict[str, Any], start: Start) -> Way:
    change, effect = _words(each, settings, changes)
    return Way(each.id, change, effect, changes, start)


def _words(each: Try, settings: LaunchedSettings, changes: dict[str, Any]) -> tuple[str, str]:
    """Return what a button says is other, and what is to be expected of it."""
    rate = changes.get("unet_lr", changes.get("learning_rate", settings.rate))
    values = {
        "rate": f"{rate:g}" if isinstance(rate, int | float) else str(rate),
        "steps": changes.get("lr_warmup_steps"),
    }
    change = _changes_told().get(each.id, each.words)
    return change.format(**values), _effects_told().get(each.id, "")


def _changes_told() -> dict[str, str]:
    return {
        "half-rate": _("Half the learning rate"),
        "tenth-rate": _("A tenth of the learning rate"),
        "safe-rate": _("Learning rate {rate} instead"),
        "known-rate": _("AdamW with a learning rate of {rate}"),
        "warm-up": _("A warm-up of {steps} steps"),
        "bf16": _("Compute in bf16"),
        "full-precision": _("Compute in full precision"),
        "no-half-vae": _("The VAE in full precision"),
        "clip": _("Clip gradients"),
        "plain-adamw": _("Plain AdamW"),
        "calm": _("512 pixels, without buckets"),
    }


def _effects_told() -> dict[str, str]:
    return {
        "half-rate": _("The usual way out. It learns more slowly, and most often it holds."),
        "tenth-rate": _("For when half was not enough. It learns slowly: more steps may be needed."),
        "safe-rate": _("The rate with which the presets train. The old one was beyond anything that holds."),
        "known-rate": _("A rate that is known to hold, in place of one that the optimizer finds itself."),
        "warm-up": _("The first steps are small; it helps where they broke the training, and costs little."),
        "bf16": _("It does not overflow as fp16 does, at the same speed; Ampere GPUs and newer have it."),
        "full-precision": _(
            "Rules rounding out as the cause. It takes about twice the time and more memory."
        ),
        "no-half-vae": _("SDXL’s VAE gives NaN in fp16; the images are encoded anew, and little slower."),
        "clip": _("A single wild step is cut to a usual size. It does no harm to a sound training."),
        "plain-adamw": _("Its state is exact where that of 8 bits is rounded. It needs more memory."),
        "calm": _("Only to see whether the sizes are the cause; the result is of less use."),
    }
