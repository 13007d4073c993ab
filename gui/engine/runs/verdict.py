"""Decides how a run ended, in truth: from its exit status, its output, and its last file.

The trainer exits with 0 after a NaN run, after "No data found" and after ``--output_config``, so
the status alone says little (trainer-output 4). "finished" is said only when a usable file exists.
"""

from __future__ import annotations

import signal
from pathlib import Path

from gui.engine.runs.ending import Ending
from gui.engine.runs.status import FileNow, Verdict, VerdictWord
from gui.engine.runs.verdict_words import sentence_of
from gui.engine.trainer.output.tally import Tally

_WINDOWS_CTRL_C = (0xC000013A, 0xC000013A - (1 << 32))

STOP_STATUSES = frozenset(
    {-signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM, *_WINDOWS_CTRL_C}
)
"""How a command ends that was told to stop: Ctrl+C or a termination (recordings h_*)."""


def verdict_from_output(tally: Tally, exit_status: int | None) -> VerdictWord:
    """Return what output and exit status allow when the last file is taken to be good.

    Args:
        tally: What the output said.
        exit_status: Negative for a signal; None for a mere piece of log.
    """
    if exit_status is None:
        return "unknown"
    if exit_status in STOP_STATUSES and not tally.model_saved:
        return "stopped"
    if exit_status != 0 and exit_status not in STOP_STATUSES:
        return "failed"
    if tally.nothing_to_train or not _trained(tally):
        return "nothing-trained"
    if tally.first_nonfinite_step is not None:
        return "suspect"
    return "finished" if tally.model_saved or _all_steps(tally) else "failed"


def judge_run(ending: Ending) -> Verdict:
    """Return the verdict of a run that is over."""
    word, reason = _decide(ending)
    clean = tuple(
        path
        for file in ending.files
        if file.judgement == "clean" and (path := _where_it_is(file)) is not None
    )
    doubtful = tuple(
        file.path
        for file in ending.files
        if file.kind == "model" and file.judgement != "clean" and not file.removed
    )
    return Verdict(
        verdict=word,
        reason=reason,
        sentence=sentence_of(word, reason, ending, clean),
        exit_status=ending.exit_status,
        step=ending.tally.last_step,
        total=ending.total,
        first_nonfinite_step=ending.tally.first_nonfinite_step,
        weights=ending.final.weights if ending.final else None,
        final=ending.final.path if ending.final and ending.final.weights != "missing" else None,
        clean=clean,
        doubtful=doubtful,
        causes=ending.causes if word in ("failed", "suspect", "nothing-trained", "stopped") else (),
    )


def _decide(ending: Ending) -> tuple[VerdictWord, str]:
    """Return word and reason; what stands first in the list outweighs the rest."""
    if _went_to_its_end(ending):
        return _decide_by_file(ending)
    outweighing: tuple[tuple[bool, VerdictWord, str], ...] = (
        (bool(ending.not_started), "failed", "not-started"),
        (ending.stop is not None, "stopped", ending.stop or ""),
        (ending.rebooted, "failed", "rebooted"),
        (ending.disk_full is not None and ending.exit_status != 0, "failed", "disk-full"),
        (ending.exit_status is None, "failed", "vanished"),
    )
    for applies, word, reason in outweighing:
        if applies:
            return word, reason
    word = verdict_from_output(ending.tally, ending.exit_status)
    reasons = {"stopped": "outside", "nothing-trained": "nothing-to-train", "failed": "error"}
    return word, reasons.get(word, "")


def _went_to_its_end(ending: Ending) -> bool:
    """Whether the trainer did all that it wanted to do.

    Without an exit status, or with that of a wrapper that was ended from outside while the trainer
    trained on, its word counts when the file is there to prove it.
    """
    tally, status = ending.tally, ending.exit_status
    said = tally.model_saved or _did_all(ending)
    if not _trained(tally) or not said:
        return False
    if status == 0:
        return True
    proven = ending.final is not None and ending.final.weights in ("finite", "nonfinite", "not checked")
    return proven and tally.model_saved and (status is None or status in STOP_STATUSES)


def _decide_by_file(ending: Ending) -> tuple[VerdictWord, str]:
    tally, final = ending.tally, ending.final
    if final is None:
        return "suspect", "final-unknown"
    if final.weights in ("missing", "incomplete", "old"):
        return "failed", "disk-full" if ending.disk_full is not None else f"final-{final.weights}"
    if final.weights == "nonfinite":
        return "suspect", "weights-nonfinite"
    if tally.first_nonfinite_step is not None and not (ending.recovered and final.weights == "finite"):
        return "suspect", "loss-nonfinite"
    if not (_did_all(ending) or ending.resumed):
        return "suspect", "fewer-steps"
    return "finished", "done"


def _did_all(ending: Ending) -> bool:
    return ending.tally.last_step is not None and 0 < (ending.total or 0) <= ending.tally.last_step


def _where_it_is(file: FileNow) -> Path | None:
    """Return the file's place, or that of the copy that was kept; None when it is gone."""
    return file.kept_as if file.removed else file.path


def _trained(tally: Tally) -> bool:
    return bool(tally.last_step)


def _all_steps(tally: Tally) -> bool:
    return tally.last_step is not None and bool(tally.total) and tally.last_step >= (tally.total or 0)
