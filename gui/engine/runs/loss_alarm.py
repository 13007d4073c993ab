"""The alarm for a loss that is not a number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gui.engine.runs.alarm import Alarm, clean_facts
from gui.engine.runs.events import Guarded, Stopping
from gui.engine.runs.figures import figure
from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.retry_record import Retry
from gui.engine.runs.status import RunStatus
from gui.engine.runs.triage import Moment, causes_of, moment_of, ways_of
from gui.engine.texts import _
from gui.engine.trainer.events import LossNonfinite


@dataclass
class LossFacts:
    """What the events tell about a loss that broke down.

    Attributes:
        step: Where it did last.
        at: When, in seconds since the trainer started.
        recovered: Whether it has come back since.
        recoveries: How often it came back.
        latency_seconds: How soon after it the guard told the trainer to stop.
        gone: Whether nothing of the trainer is left.
    """

    step: int | None = None
    at: float | None = None
    recovered: bool = False
    recoveries: int = 0
    latency_seconds: float | None = None
    gone: bool = False

    def take(self, event: LossNonfinite | Guarded | Stopping) -> None:
        """Take the next event."""
        if isinstance(event, Stopping):
            if event.reason == "guard":
                self.latency_seconds = event.latency_seconds or self.latency_seconds
                self.gone = self.gone or event.stage == "gone"
        elif isinstance(event, Guarded) and event.action == "recovered":
            self.recovered, self.recoveries = True, self.recoveries + 1
        elif self.step is None or self.recovered:
            self.step, self.at, self.recovered = event.step, event.t, False


def loss_alarm(
    status: RunStatus, facts: LossFacts, settings: LaunchedSettings, retry: Retry | None = None
) -> Alarm | None:
    """Return the alarm; None where every loss was a number, or single steps were skipped and all is well.

    Args:
        status: Of the run.
        facts: What its events tell.
        settings: What it was launched with.
        retry: What became of trying it again by itself; None where that was not to be done.
    """
    verdict = status.verdict
    ruined = verdict is not None and verdict.reason == "weights-nonfinite"
    fine = facts.recovered or (verdict is not None and verdict.verdict == "finished")
    step = facts.step or status.first_nonfinite_step
    if not ruined and (step is None or fine):
        return None
    before = status.finite_loss if status.loss_before is None else status.loss_before
    clean, clean_step, clean_words = clean_facts(status)
    moment = None if step is None else moment_of(step, settings, recovered=facts.recoveries > 0)
    return Alarm(
        id="loss-nonfinite",
        tone="warn" if _is_open(status) else "bad",
        title=_title(status, step),
        text="" if before is None or step is None else _("It was {loss} before.").format(loss=figure(before)),
        step=step,
        loss_before=before,
        done=" ".join(filter(None, (_done(status, facts), retry.sentence if retry else ""))),
        asks=status.guard is not None and status.guard.asks and verdict is None,
        last_clean=clean,
        last_clean_step=clean_step,
        last_clean_words=clean_words,
        causes=() if moment is None else causes_of(moment, settings),
        next_steps=_next_steps(_go_back(clean, clean_step), moment, settings),
        moment=moment,
        at=facts.at,
    )


def _next_steps(first: str, moment: Moment | None, settings: LaunchedSettings) -> tuple[str, ...]:
    ways = () if moment is None else ways_of(moment, settings)
    last = _("Change one thing only, and start again: then you know what helped.")
    return (first, *(way.words for way in ways), last)


def _is_open(status: RunStatus) -> bool:
    """Whether it may still turn out to be nothing, or the user has said that it is."""
    guard = status.guard
    return status.verdict is None and guard is not None and (guard.state == "watching" or guard.accepted)


def _title(status: RunStatus, step: int | None) -> str:
    if step is None:
        return _("The last file holds NaN or Inf.")
    if status.guard is not None and status.guard.state == "watching" and status.verdict is None:
        return _("The loss is not a number at step {step}; the next steps tell whether it stays so.").format(
            step=step
        )
    return _("The loss is no longer a number since step {step}.").format(step=step)


def _done(status: RunStatus, facts: LossFacts) -> str:
    """Say what was done about it."""
    if facts.latency_seconds is not None:
        over = facts.gone or status.verdict is not None
        text = (
            _("The trainer was told to stop {seconds:.1f} s later and is gone.")
            if over
            else _("The trainer was told to stop {seconds:.1f} s later.")
        )
        return text.format(seconds=max(0.1, facts.latency_seconds))
    guard = status.guard
    if status.verdict is not None or guard is None:
        return "" if _stopped(status) else _("Nobody stopped it.")
    if guard.state == "stopped":
        return _("The guard stops the training.")
    if guard.accepted:
        return _("It goes on, as you said. What is saved from now on may be ruined.")
    if guard.state == "watching":
        return _("The guard waits for the next steps. You may stop at once, or let it go on whatever comes.")
    return _("The guard asks: stop, or go on? What is saved from now on may be ruined.")


def _stopped(status: RunStatus) -> bool:
    return status.verdict is not None and status.verdict.verdict == "stopped"


def _go_back(clean: Path | None, step: int | None) -> str:
    if clean is None:
        return _("Start again from the beginning: there is nothing clean to go back to.")
    if step is None:
        return _("Go back to {file}.").format(file=clean.name)
    return _("Go back to {file} (step {step}).").format(file=clean.name, step=step)
