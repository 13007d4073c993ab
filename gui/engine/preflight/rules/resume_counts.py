"""Rules about where a training goes on: the trainer counts anew, and which steps it does depends on flags.

Source: STEP-07, STEP-11; trainer-facts 2.3 (train_network.py:1232-1275, train_util.py:5274).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.resume_outlook import (
    ResumeOutlook,
    resume_outlook,
    resumed_state,
    steps_behind,
)
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.resume_fixes import from_weights, only_needed, resume_finding
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.resume_ways import OWN_COUNT, best_way


def check_resume(view: View) -> Iterator[Finding]:
    """The trainer's own count of steps begins anew after resuming (STEP-07)."""
    if not view.given("resume"):
        return
    if not view.trains_network:
        yield resume_finding(
            "resume",
            "warning",
            _("{script} counts steps and epochs from 0 again after resuming.").format(script=view.script),
            _(
                "Weights and optimizer are restored, and all steps of the plan are done anew: let the plan "
                "say only those that remain."
            ),
            (),
            "STEP-07",
            "trainer: train_network.py:1257-1275",
        )
        return
    outlook = resume_outlook(view)
    if outlook is not None:
        yield from _steps_that_remain(view, outlook)
    elif not view.flag("skip_until_initial_step") and view.number("initial_step") != 0:
        yield resume_finding(
            "resume",
            "warning",
            _("After resuming the trainer counts steps from 0 and trains the remaining epochs."),
            _(
                "Files named by step may overwrite earlier ones. With skip_until_initial_step it reads and "
                "drops what was trained before; numbers within the epoch are right then."
            ),
            (write({"skip_until_initial_step": True}, _("skip what was trained before"), identity="skip"),),
            "S7",
            "STEP-07",
            "trainer: train_network.py:1257-1275, 1346, 1401",
        )


def _steps_that_remain(view: View, outlook: ResumeOutlook) -> Iterator[Finding]:
    """Say when the trainer would not do the steps that remain, and which arguments have it do so."""
    steps = outlook.course.steps if outlook.course else 0
    if outlook.remaining < 1 or steps == outlook.remaining:
        return
    fixes = tuple(_way_on(view, outlook, steps))
    if not fixes and outlook.course is not None and _is_best(outlook, steps):
        return  # the report's sentence says how many there are; nothing comes nearer
    yield resume_finding(
        "resume",
        "warning",
        _("After resuming the trainer would do {steps} steps; {remaining} of {whole} remain.").format(
            steps=f"{steps:,}", remaining=f"{outlook.remaining:,}", whole=f"{outlook.whole:,}"
        ),
        _why(outlook),
        fixes,
        "S7",
        "STEP-07",
        "trainer: train_network.py:1232-1275, 1346, 1401",
    )


def _is_best(outlook: ResumeOutlook, steps: int) -> bool:
    way = best_way(outlook.setting, outlook.done, outlook.counted, lengthless=outlook.lengthless)
    return way is not None and abs(way.course.steps - outlook.remaining) >= abs(steps - outlook.remaining)


def _way_on(view: View, outlook: ResumeOutlook, steps: int) -> Iterator[Fix]:
    """Yield the fix that comes nearer to the steps that remain."""
    if outlook.asks_rest:
        return
    way = best_way(outlook.setting, outlook.done, outlook.counted, lengthless=outlook.lengthless)
    if way is None or abs(way.course.steps - outlook.remaining) >= abs(steps - outlook.remaining):
        return
    exact = way.course.steps == outlook.remaining
    label = _("do the {steps} steps that remain") if exact else _("do {steps} steps, whole epochs")
    yield write(
        only_needed(view, way.changes),
        label.format(steps=f"{way.course.steps:,}"),
        identity="remaining",
        safe=exact,
    )


def _why(outlook: ResumeOutlook) -> str:
    if outlook.counted is not None and outlook.counted < outlook.done:
        return _(
            "The state was saved by a training that had been resumed itself: it says step {counted}, and its "
            "schedule has moved {done} times."
        ).format(counted=f"{outlook.counted:,}", done=f"{outlook.done:,}")
    if outlook.setting.skips and outlook.setting.accumulation > 1:
        return _(
            "Beside gradient_accumulation_steps the trainer takes skipped batches for steps, and skips too "
            "many epochs."
        )
    if outlook.setting.skips:
        return _("It ends with its last epoch, whatever max_train_steps says.")
    return _(
        "Without skip_until_initial_step it counts from 0 and does whole epochs, this one from its start."
    )


def check_resume_done(view: View) -> Iterator[Finding]:
    """A state of a run that was complete leaves nothing to train (STEP-07, STEP-11)."""
    state, outlook = resumed_state(view), resume_outlook(view)
    if state is None or (outlook is not None and outlook.asks_rest) or view.number("initial_step") == 0:
        return
    at, forecast = steps_behind(view, state), forecast_steps(view)
    by_epochs = view.given("max_train_epochs")
    whole = forecast.total_steps if forecast else None if by_epochs else view.number("max_train_steps")
    if at is None or whole is None or at < whole:
        return
    refused = view.trains_network and state.step is not None and state.step >= whole
    more = _longer(view, at, forecast.steps_per_epoch if forecast else None)
    yield resume_finding(
        "resume-done",
        "stop" if refused else "warning",
        _("The state was saved at step {step}; the plan ends at {whole:g}.").format(step=at, whole=whole),
        (
            _("The trainer refuses it: “max_train_steps should be greater than initial step”.")
            if refused
            else _("The schedule is at its end, and the learning rate may be 0: nothing is learnt any more.")
        ),
        (*more, leave_out("resume")),
        "STEP-07",
        "STEP-11",
        "trainer: train_network.py:1252",
    )


def _longer(view: View, at: int, steps_per_epoch: int | None) -> tuple[Fix, ...]:
    if not view.given("max_train_epochs"):
        label = _("train {steps} steps").format(steps=at * 2)
        return (write({"max_train_steps": at * 2}, label, identity="longer"),)
    if not steps_per_epoch:
        return ()
    epochs = at // steps_per_epoch * 2 + 1
    label = _("train {epochs} epochs").format(epochs=epochs)
    return (write({"max_train_epochs": epochs}, label, identity="longer"),)


def check_resume_schedule(view: View) -> Iterator[Finding]:
    """The schedule goes on where it stood, laid out over the plan's own length (train_util.py:5274)."""
    state, outlook = resumed_state(view), resume_outlook(view)
    if state is None or outlook is None or outlook.lengthless:
        return
    if outlook.setting.counts and not outlook.asks_rest:
        return
    whole = outlook.setting.whole
    over = outlook.done >= whole
    yield resume_finding(
        "resume-schedule",
        "danger" if over else "warning",
        _("{scheduler} is laid out over {whole} steps and would begin at step {done} of them.").format(
            scheduler=view.text("lr_scheduler_type") or view.text("lr_scheduler"),
            whole=f"{whole:,}",
            done=f"{outlook.done:,}",
        ),
        (
            _("It is over before the first step: the learning rate may be 0, and nothing is learnt.")
            if over
            else _("The learning rate jumps, and falls too early: the steps before are not in that length.")
        ),
        (*_whole_again(view, outlook), *from_weights(view, state)),
        "S7",
        "STEP-11",
        "trainer: train_util.py:5274",
    )


def _whole_again(view: View, outlook: ResumeOutlook) -> tuple[Fix, ...]:
    """Return the fix that says the whole length again, for scripts that know where they begin."""
    if not outlook.setting.counts:
        return ()
    changes = {
        **dict.fromkeys(OWN_COUNT),
        "initial_step": outlook.done,
        "max_train_steps": outlook.whole,
        "max_train_epochs": None,
    }
    if outlook.setting.accumulation == 1:
        changes["skip_until_initial_step"] = True
    label = _("plan all {steps} steps, and go on at {done}")
    return (
        write(
            only_needed(view, changes),
            label.format(steps=f"{outlook.whole:,}", done=f"{outlook.done:,}"),
            identity="whole",
        ),
    )


RULES: tuple[Rule, ...] = (
    Rule("resume", check_resume, ("S7", "STEP-07"), lambda: _("How steps are counted after resuming")),
    Rule("resume-done", check_resume_done, ("STEP-11",), lambda: _("Resuming what was complete")),
    Rule(
        "resume-schedule",
        check_resume_schedule,
        ("STEP-11",),
        lambda: _("Where a schedule goes on after resuming"),
    ),
)
