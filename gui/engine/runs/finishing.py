"""What is done when nothing of the trainer is alive: read the rest, look into files, judge."""

from __future__ import annotations

from dataclasses import replace

from gui.engine.errors import CannotRead
from gui.engine.runs.desk import RequestDesk
from gui.engine.runs.ending import Ending
from gui.engine.runs.events import VerdictGiven
from gui.engine.runs.final_file import FinalFile, judge_final
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.last_words import last_words
from gui.engine.runs.memory_lesson import learn_from_run
from gui.engine.runs.processes import ExitRecord, read_exit
from gui.engine.runs.setup import Parts
from gui.engine.runs.status import Cause, Verdict
from gui.engine.runs.verdict import judge_run, verdict_from_output
from gui.engine.texts import _
from gui.engine.trainer.events import Exit
from gui.engine.trainer.output import Tally

_DISK_FULL_WORDS = ("No space left on device", "StorageFull", "not enough space on the disk", "Errno 28")


def finish_run(parts: Parts, ending: Ending, desk: RequestDesk) -> Verdict:
    """Judge a run that is over, and write the verdict down.

    Args:
        parts: All that the supervisor works with.
        ending: What is known so far.
        desk: Answers what is still asked.
    """
    ledger, call = parts.ledger, parts.isolation.call
    call("output", parts.watch.finish, None)
    exited = _read_exit(parts.run)
    ledger.ended = _end_of(exited, ledger.started)
    ledger.board.move_to("checking")
    if not ending.not_started:
        ledger.say(Exit(status=exited.status if exited else None))
    ledger.flush(at_once=True)
    ending = replace(
        ending,
        exit_status=exited.status if exited else None,
        recovered=parts.watch.recovered,
        begun_at=ledger.board.fact("begun_at"),
        whole=ledger.board.fact("whole"),
        disk_full=ending.disk_full or call("disks", lambda: _disk_full_in(parts, parts.watch.tally), None),
    )
    verdict = _judge(parts, ending)
    ledger.say(VerdictGiven(verdict=verdict.verdict, reason=verdict.reason, sentence=verdict.sentence))
    ledger.board.end(verdict)
    desk.refuse_all(_("The run is over."))
    ledger.flush(at_once=True)
    call("learning", lambda: _learn(parts, verdict), None)
    return verdict


def _learn(parts: Parts, verdict: Verdict) -> None:
    """Let this machine learn from what the run has measured; nobody waits for that any more."""
    gpus = parts.ledger.board.fact("gpus") or ()
    learn_from_run(parts.run, parts.manifest, gpus, verdict.step or 0)


def _judge(parts: Parts, ending: Ending) -> Verdict:
    call = parts.isolation.call
    final = None
    if not ending.not_started:  # else whatever is new in its folder is another's
        call("files", lambda: parts.saves.finish(parts.watch, parts.ledger.flush), None)
        final = call("last file", lambda: _find_final(parts, ending), None)
    ending = replace(ending, final=final, files=tuple(parts.ledger.board.files.values()))
    if _wants_causes(ending):
        ending = replace(ending, causes=call("diagnosis", lambda: _causes(parts.run, ending), ()))
        words = call("last words", lambda: last_words(parts.run.output_log, parts.secrets), "")
        ending = replace(ending, last_words=words)
    verdict = judge_run(ending)
    return verdict.model_copy(update={"loss": parts.ledger.board.fact("finite_loss")})


def _find_final(parts: Parts, ending: Ending) -> FinalFile | None:
    """Look for the last file, under the name that the trainer gave it or was to give it."""
    announced = [
        parts.command.cwd / saved.path
        for saved in ending.tally.saves
        if saved.kind == "model" and saved.final
    ]
    names = announced[-1:] + ([parts.command.expected_final] if parts.command.expected_final else [])
    before = {mark.path: mark for mark in parts.manifest.existing}
    return judge_final(list(dict.fromkeys(names)), before, parts.saves.marks, parts.saves.report)


def _wants_causes(ending: Ending) -> bool:
    """Whether anybody will ask why."""
    if ending.not_started or ending.stop == "user":
        return False
    word = verdict_from_output(ending.tally, ending.exit_status)
    return word != "finished" or ending.final is None or ending.final.weights not in ("finite", "not checked")


def _causes(run: RunFolder, ending: Ending) -> tuple[Cause, ...]:
    from gui.engine.runs.diagnosis import diagnose_log

    if not run.output_log.is_file():
        return ()
    return tuple(
        Cause(id=found.id, title=found.title)
        for found in diagnose_log(run.output_log, exit_status=ending.exit_status)
        if found.explains_end
    )


def _read_exit(run: RunFolder) -> ExitRecord | None:
    try:
        return read_exit(run.path)
    except CannotRead:
        return None


def _end_of(exited: ExitRecord | None, started: float | None) -> float | None:
    """Return when the trainer ended, on the clock of this boot; None where that is not known."""
    return exited.ended_boottime if exited and started is not None else None


def _disk_full_in(parts: Parts, tally: Tally) -> str | None:
    """Return the folder whose disk was full: by what is free, else by the trainer's words."""
    parts.sampler.look_at_disks()
    if parts.sampler.full_disk is not None:
        return parts.sampler.full_disk
    words = " ".join(f"{error.message} {error.traceback or ''}" for error in tally.errors)
    if any(sign in words for sign in _DISK_FULL_WORDS):
        return str(parts.command.output_dir or parts.run.path)
    return None
