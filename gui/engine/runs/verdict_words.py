"""The sentences of verdicts: what happened, and what is left of the work."""

from __future__ import annotations

import contextlib
import signal
import textwrap
from collections.abc import Sequence
from pathlib import Path

from gui.engine.runs.ending import Ending
from gui.engine.runs.status import VerdictWord
from gui.engine.texts import _

_LONGEST_WORDS = 300


def sentence_of(word: VerdictWord, reason: str, ending: Ending, clean: Sequence[Path]) -> str:
    """Return what a user reads: how it ended, then which file to use."""
    said = _what_happened(word, reason, ending)
    whole = word in ("finished", "nothing-trained") or reason == "not-started"
    left = "" if whole else _what_is_left(ending, clean)
    return f"{said} {left}".strip()


def _what_happened(word: VerdictWord, reason: str, ending: Ending) -> str:
    final = ending.final
    values = {
        "step": ending.tally.last_step or 0,
        "total": ending.total or "?",
        "whole": ending.whole,
        "place": _place(ending),
        "bad_step": ending.tally.first_nonfinite_step or "?",
        "how": _how(ending.exit_status),
        "file": final.path.name if final else "",
        "why": final.reason if final else "",
        "folder": ending.disk_full or "",
        "cause": _cause(ending),
        "start_problem": ending.not_started,
    }
    return _sentences(word, reason, ending).format(**values).strip()


def _place(ending: Ending) -> str:
    tally = ending.tally
    if not tally.last_step:
        return _("before the first step")
    return _("at step {step} of {total}").format(step=tally.last_step, total=ending.total or "?")


def _how(status: int | None) -> str:
    """Return how the trainer's command ended; a negative status is the signal that ended it."""
    if status is None:
        return _("nobody saw how")
    if status >= 0:
        # Windows tells a crash by a large number, which everybody writes in hexadecimal.
        return _("exit status {status}").format(status=status if status < 1 << 16 else f"0x{status:08X}")
    with contextlib.suppress(ValueError):
        return _("ended by signal {name}").format(name=signal.Signals(-status).name)
    return _("ended by signal {name}").format(name=-status)


def _sentences(word: VerdictWord, reason: str, ending: Ending) -> str:
    if word == "finished":
        return _finished(ending)
    if word == "suspect":
        return _suspect(reason)
    if word == "stopped":
        return _stopped(reason)
    if word == "nothing-trained":
        return _("The trainer found nothing to train and ended without an error. {cause}")
    return _failed(reason)


def _finished(ending: Ending) -> str:
    final = ending.final
    if final is not None and final.renamed_from is not None:
        return _(
            "Finished: {step} of {total} steps. The last file was renamed since; it is {file}, and complete."
        )
    if final is not None and final.weights == "not checked":
        return _("Finished: {step} of {total} steps. {file} is there; its numbers were not checked ({why}).")
    if ending.recovered and ending.tally.first_nonfinite_step is not None:
        return _(
            "Finished: {step} of {total} steps. {file} is complete and all its numbers are finite; the loss "
            "was not a number for single steps from step {bad_step} on."
        )
    short = (ending.tally.last_step or 0) < (ending.total or 0)
    if ending.whole is not None and not short:
        return _(
            "Finished: the last {step} of {whole} steps. {file} is complete and all its numbers are finite."
        )
    if short:
        return _(
            "Finished after {step} of {total} steps, as a resumed training ends by its epochs. {file} is "
            "complete and all its numbers are finite."
        )
    return _("Finished: {step} of {total} steps. {file} is complete and all its numbers are finite.")


def _suspect(reason: str) -> str:
    return {
        "weights-nonfinite": _("The training ran to its end, but {file} is ruined: {why}."),
        "loss-nonfinite": _(
            "The training ran to its end, but the loss is not a number since step {bad_step}; {file} is "
            "most likely ruined."
        ),
        "fewer-steps": _("The trainer says that it is done, but made only {step} of {total} steps."),
        "final-unknown": _("The trainer says that it is done, but not which file it wrote."),
    }[reason]


def _stopped(reason: str) -> str:
    if reason == "guard":
        return _("Stopped by the guard: the loss is not a number since step {bad_step}.")
    if reason == "after-save":
        return _("Stopped after a save, as asked, {place}.")
    if reason == "outside":
        return _("Something outside this program ended the training {place} ({how}).")
    return _("Stopped as asked, {place}.")


def _failed(reason: str) -> str:
    return {
        "not-started": _("The training was not started: {start_problem}"),
        "rebooted": _("The machine was restarted during the training, {place}."),
        "disk-full": _("The disk of {folder} was full: the training failed {place}."),
        "vanished": _("The training ended {place} without its last file; nobody saw how. {cause}"),
        "final-missing": _("The trainer says that it is done, but its last file {file} is not there."),
        "final-incomplete": _("The last file {file} cannot be used: {why}."),
        "final-old": _(
            "The trainer says that it is done, but {file} is older than this run, or another run wrote it: "
            "nothing of this one is there."
        ),
        "error": _("The training failed {place} ({how}). {cause}"),
    }.get(reason, _("The training failed {place} ({how}). {cause}"))


def _cause(ending: Ending) -> str:
    if ending.causes:
        return ending.causes[0].title
    error = ending.tally.cause
    words = ending.last_words
    if error is not None:
        words = f"{error.type}: {error.message}" if error.type else error.message
    words = textwrap.shorten(words, _LONGEST_WORDS, placeholder=" …")
    return _("The last words of the trainer: “{words}”.").format(words=words) if words else ""


def _what_is_left(ending: Ending, clean: Sequence[Path]) -> str:
    if clean:
        return _("The last clean file is {file}.").format(file=clean[-1].name)
    models = [file for file in ending.files if file.kind == "model" and not file.removed]
    if models:
        return _("No clean file was saved; {file}: {why}").format(
            file=models[-1].path.name, why=models[-1].sentence or _("not looked at")
        )
    return _("Nothing was saved.")
