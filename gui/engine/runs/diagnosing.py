"""Answers what went wrong, of a run or of any piece of output: the document of ``diagnose``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import CannotRead
from gui.engine.runs.alarms import alarms
from gui.engine.runs.diagnoses import known_diagnoses
from gui.engine.runs.diagnosis import Diagnosis, DiagnosisFix, Evidence, Examiner, read_into
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.records import Versioned
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus, VerdictWord
from gui.engine.runs.triage import ways_of
from gui.engine.runs.verdict import verdict_from_output
from gui.engine.texts import _
from gui.engine.trainer.events import Error, Figure
from gui.engine.trainer.output import read_log
from gui.engine.trainer.output.tally import Tally

_FEW_CHUNKS = 8


class HowFar(Document):
    """How far a training came.

    Attributes:
        step: The last step, None where there was none.
        total: How many there were to be.
        loss: The last loss, the trainer's moving mean where it told no other.
        first_nonfinite_step: Where the loss stopped being a number.
        saved: The models that were saved, in order; as the output names them where no run is known.
    """

    step: int | None = None
    total: int | None = None
    loss: Figure = None
    first_nonfinite_step: int | None = None
    saved: tuple[str, ...] = ()


class DiagnosisReport(Versioned):
    """What went wrong.

    Attributes:
        verdict: How it ended; ``unknown`` of output alone, since neither status nor files are known then.
        exit_status: Of the trainer's command, negative for a signal; None where it is not known.
        progress: How far it came.
        diagnoses: The likeliest cause first; empty where all is well, or where the cause is not known.
        sentence: The verdict in words; of output alone only what a launcher's own report means.
        failed: Whether something went wrong, known or not.
        last_lines: What an unknown failure said last, at most twenty lines; empty where the cause is known.
    """

    verdict: VerdictWord
    exit_status: int | None
    progress: HowFar
    diagnoses: tuple[Diagnosis, ...]
    sentence: str = Field(default="", exclude=True)
    failed: bool = Field(default=False, exclude=True)
    last_lines: tuple[Evidence, ...] = Field(default=(), exclude=True)


def diagnose_output(source: Path | Iterable[bytes]) -> DiagnosisReport:
    """Find what went wrong in output of which nothing else is known.

    Args:
        source: The log, or its bytes in chunks of any size and any of the encodings that logs come in.

    Raises:
        CannotRead: The log cannot be read.
    """
    examiner = _examined(source)
    diagnoses = tuple(examiner.finish())
    wrapper = _last_wrapper(examiner.tally) if not diagnoses else None
    failed = bool(diagnoses) or examiner.tally.cause is not None or wrapper is not None
    return DiagnosisReport(
        verdict=verdict_from_output(examiner.tally, None),
        exit_status=None,
        progress=_told(examiner.tally),
        diagnoses=diagnoses,
        sentence="" if wrapper is None else _wrapper_sentence(wrapper),
        failed=failed,
        last_lines=() if diagnoses or not failed else examiner.last_lines(),
    )


def is_output(path: Path) -> bool:
    """Tell by its start whether a file holds a trainer's output rather than a command or a setup.

    What cannot be read holds none.
    """
    examiner = Examiner(known_diagnoses())
    try:
        for chunk in islice(read_log(path), _FEW_CHUNKS):
            examiner.feed(chunk)
    except CannotRead:
        return False
    found, tally = examiner.finish(), examiner.tally
    return bool(found or tally.errors or tally.settings or tally.saves) or tally.last_step is not None


def _last_wrapper(tally: Tally) -> Error | None:
    """Return what a launcher reports of a failure of which nothing else is known (WRAP-01)."""
    if tally.cause is not None or tally.model_saved:
        return None
    told = [
        error for error in tally.errors if error.wrapper and "KeyboardInterrupt" not in (error.type or "")
    ]
    return told[-1] if told else None


def _wrapper_sentence(wrapper: Error) -> str:
    """Say where the cause of it stands (CLI-08)."""
    if "exit status 2" in wrapper.message:
        return _(
            "The launcher only reports that the trainer refused its arguments; the line with “error:” above "
            "this output says which."
        )
    return _("The launcher only reports that the trainer failed; the cause stands above this output.")


def diagnose_run(run: RunFolder) -> DiagnosisReport:
    """Find what went wrong with a run, over or not.

    Raises:
        CannotRead: Its output cannot be read.
        NewerDocument: A newer version of this program wrote its status.
    """
    status = read_status(run)
    verdict = status.verdict if status is not None else None
    exit_status = verdict.exit_status if verdict is not None else None
    examiner = _examined(run.output_log if run.output_log.is_file() else ())
    diagnoses = tuple(_with_triage(run, status, found) for found in examiner.finish(exit_status))
    word = verdict.verdict if verdict is not None else "unknown"
    failed = word in ("failed", "suspect", "nothing-trained") or any(each.explains_end for each in diagnoses)
    unknown = failed and not any(each.explains_end for each in diagnoses)
    return DiagnosisReport(
        verdict=word,
        exit_status=exit_status,
        progress=_told(examiner.tally) if status is None else _known(status),
        diagnoses=diagnoses,
        sentence=verdict.sentence if verdict is not None else "",
        failed=failed,
        last_lines=examiner.last_lines() if unknown else (),
    )


def _examined(source: Path | Iterable[bytes]) -> Examiner:
    examiner = Examiner(known_diagnoses())
    read_into(examiner, source)
    return examiner


def _with_triage(run: RunFolder, status: RunStatus | None, found: Diagnosis) -> Diagnosis:
    """Say of a broken loss what its moment and the run's own settings make likely (N19)."""
    if found.id != "loss-nonfinite" or status is None:
        return found
    alarm = next((alarm for alarm in alarms(run, status) if alarm.id == "loss-nonfinite"), None)
    if alarm is None or alarm.moment is None:
        return found
    ways = ways_of(alarm.moment, launched_settings(run))
    fixes = (
        DiagnosisFix(label=alarm.next_steps[0]),  # back to the last clean file, or to the beginning
        *(DiagnosisFix(label=way.words, changes=dict(way.changes)) for way in ways),
    )
    return found.model_copy(update={"explanation": " ".join(alarm.causes), "fixes": fixes})


def _told(tally: Tally) -> HowFar:
    losses = [loss for loss in (tally.loss, tally.avr_loss) if loss is not None]
    finite = [loss for loss in losses if math.isfinite(loss)]
    return HowFar(
        step=tally.last_step,
        total=tally.total,
        loss=next(iter(finite or losses), None),
        first_nonfinite_step=tally.first_nonfinite_step,
        saved=tuple(saved.path for saved in tally.saves if saved.kind == "model"),
    )


def _known(status: RunStatus) -> HowFar:
    return HowFar(
        step=status.step,
        total=status.total,
        loss=status.finite_loss,
        first_nonfinite_step=status.first_nonfinite_step,
        saved=tuple(
            str(file.kept_as if file.removed else file.path)
            for file in status.files
            if file.kind == "model" and (file.kept_as or not file.removed)
        ),
    )
