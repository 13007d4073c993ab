"""Sees while a run lives that it has stalled or slowed down, or that its trainer's folder is gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gui.engine.runs.figures import duration
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.pace import Look, Pace, PaceChange
from gui.engine.texts import _
from gui.engine.trainer.output.sentences import phase_words

FOLDER_SECONDS = 5.0


class Watchdog:
    """Looks whenever it is asked to; tells what begins and what is over.

    Args:
        ledger: Knows how the run stands, and where it is written down.
        trainer: The folder that the trainer was started from; None where it is not known.
        pace: The run's own; it is fed here.
        slow_cause: Says what is seen that would slow a training down; empty where nothing is.
    """

    def __init__(
        self,
        ledger: Ledger,
        trainer: Path | None,
        pace: Pace | None = None,
        slow_cause: Callable[[], str] = str,
    ) -> None:
        self._ledger = ledger
        self._pace = pace or Pace()
        self._slow_cause = slow_cause
        # One that was never there, as in a run that was moved here, cannot go.
        self._trainer = trainer if trainer is not None and trainer.is_dir() else None
        self._gone = False
        self._folder_due = 0.0

    def look(self) -> None:
        """Look at the run."""
        board, now = self._ledger.board, self._ledger.now()
        look = Look(
            now=now,
            phase=board.fact("phase"),
            step=board.fact("step"),
            epoch=board.fact("epoch"),
            log_bytes=board.fact("log_bytes") or 0,
            halted=board.state != "running",
        )
        for change in self._pace.look(look):
            cause = self._slow_cause() if change.kind == "slowed" and not change.over else ""
            sentence = _pace_sentence(change, look)
            self._ledger.trouble(change.kind, sentence, over=change.over, cause=cause)
        if now >= self._folder_due:
            self._folder_due = now + FOLDER_SECONDS
            self._look_at_folder()

    def _look_at_folder(self) -> None:
        if self._trainer is None or self._gone is not self._trainer.is_dir():
            return
        self._gone = not self._gone
        sentence = (
            _(
                "The trainer’s folder {folder} is not there any more. What is loaded trains on, but what is "
                "still to be loaded from it will fail."
            )
            if self._gone
            else _("The trainer’s folder {folder} is there again.")
        )
        self._ledger.trouble("trainer-gone", sentence.format(folder=self._trainer), over=not self._gone)


def _pace_sentence(change: PaceChange, look: Look) -> str:
    """Say what is wrong with the pace, or that all is well again."""
    usual = change.usual_seconds
    values = {
        "time": duration(change.seconds),
        "seconds": f"{change.seconds:.3g}",
        "usual": "" if usual is None else f"{usual:.3g}",
        "step": look.step,
        "phase": phase_words(look.phase or "loading"),
    }
    if change.kind == "slowed":
        text = (
            _("The training is faster again: {seconds} s a step.")
            if change.over
            else _("The training has slowed down: a step takes {seconds} s instead of {usual} s.")
        )
    elif change.over:
        text = _("The training goes on again after {time} of silence.")
    elif look.phase == "training" and usual is not None:
        text = _(
            "Nothing has been heard from the trainer for {time}, since step {step}; a step usually takes "
            "{usual} s."
        )
    else:
        text = _("Nothing has been heard from the trainer for {time} ({phase}).")
    return text.format(**values)
