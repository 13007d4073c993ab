"""After memory ran out: what the run really needed, and the cheapest changes with which it would fit.

Everything is read from the run's folder: the forecast that was made at its launch, what the message about
the memory says of itself, and where the training was. The forecast is raised to what was needed, and the
same search as before the launch (``hardware.memory.advice``) is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gui.engine.documents import Document
from gui.engine.errors import PreflightError
from gui.engine.hardware.host import operating_system
from gui.engine.hardware.memory.advice import Advised, advise
from gui.engine.hardware.memory.correction import MemoryCorrection
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast, MemoryPhase, PhaseName
from gui.engine.hardware.memory.learning import learned
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.raising import raise_to
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.hardware.memory.words import advice_line
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.records import Manifest
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus
from gui.engine.runs.where_short import where_short
from gui.engine.texts import _
from gui.engine.trainer.shortage import MemoryShortage

OUT_OF_MEMORY = "cuda-oom"
"""The diagnosis that this is about."""


class SmallerPlan(Document):
    """What a run that had too little memory of the GPU needed, and what would fit.

    Attributes:
        phase: Where memory ran out.
        shortage: What the message says of itself.
        needed_gib: What it needed at the least, the driver's part included, GiB.
        forecast: Corrected by that.
        room: What there was for it.
        advised: The cheapest changes with which it would fit now.
    """

    phase: PhaseName
    shortage: MemoryShortage = MemoryShortage()
    needed_gib: float
    forecast: MemoryForecast
    room: Room
    advised: Advised

    @property
    def changes(self) -> dict[str, Any]:
        """Target in the plan to its new value; empty where nothing helps."""
        return self.advised.changes

    @property
    def by_hand(self) -> tuple[str, ...]:
        """What has to be done outside of the plan as well."""
        return tuple(advice.reason for advice in self.advised.advice if not advice.changes and advice.reason)

    def steps(self) -> tuple[str, ...]:
        """Return what to do, in the order of cost, each with what it saves."""
        told = [advice_line(advice) for advice in self.advised.advice]
        if not self.advised.fits and self.advised.after_gib is not None:
            text = _("With all that it may still need {gib:.1f} GiB; {free:.1f} GiB are there.")
            told.append(text.format(gib=self.advised.after_gib, free=self.room.free))
        return tuple(told)


def smaller_plan(run: RunFolder, *, others_stay: bool = False) -> SmallerPlan | None:
    """Return what would fit in place of a run whose GPU memory ran out.

    Args:
        run: Its folder.
        others_stay: Whether other programs keep what they hold; else they may be asked to be closed.

    Returns:
        None where memory did not run out, or nothing was forecast of the run.

    Raises:
        CannotRead: Its record, or what is known of memory, is damaged.
        NewerDocument: A newer version of this program made the run.
    """
    status = read_status(run)
    expected = Manifest.read(run.manifest).memory
    if expected is None or expected.room is None or not ran_out(status):
        return None
    phase, said = where_short(run)
    shortage = said or MemoryShortage()
    known = _correction(run, status)
    room = _room(expected, expected.room, shortage, known(expected.question))
    needed = _needed(shortage, known(expected.question), room)
    ask = _asking(expected, phase, known, needed)
    searched = room.model_copy(update={"total": room.free}) if others_stay else room
    return SmallerPlan(
        phase=phase,
        shortage=shortage,
        needed_gib=needed,
        forecast=ask(expected.question),
        room=room,
        advised=advise(expected.question, searched, expected.ways, ask),
    )


def smaller_plan_or_none(run: RunFolder) -> SmallerPlan | None:
    """Return the same, None also where something cannot be read: for words, which must not fail."""
    try:
        return smaller_plan(run)
    except PreflightError:
        return None


def ran_out(status: RunStatus | None) -> bool:
    """Whether a run ended because the GPU's memory ran out."""
    verdict = status.verdict if status else None
    return verdict is not None and bool(verdict.causes) and verdict.causes[0].id == OUT_OF_MEMORY


def _correction(run: RunFolder, status: RunStatus | None) -> Callable[[MemoryQuestion], MemoryCorrection]:
    """Return what is known of the machine, by question."""
    prior, home = load_figures().prior(operating_system()), home_of(run)
    gpu = status.busiest_gpu if status else None
    known = learned(home, gpu.uuid) if home and gpu else None
    return lambda question: known.correction(question, prior) if known else prior


def _room(expected: MemoryExpectation, room: Room, shortage: MemoryShortage, known: MemoryCorrection) -> Room:
    """Return what there was, by the message itself where that tells."""
    update: dict[str, float] = {}
    if shortage.total:
        update["total"] = shortage.total / GIB
    if shortage.available is not None:
        update["free"] = min(
            shortage.available / GIB + _beside(shortage, known), update.get("total", room.total)
        )
    if shortage.limit is not None:
        update["free"] = min(update.get("free", room.free), shortage.limit / GIB)
    return room.model_copy(update=update)


def _beside(shortage: MemoryShortage, known: MemoryCorrection) -> float:
    """Return the driver's part, GiB, where the message counts only what torch held."""
    return 0.0 if shortage.in_use else known.context_gib.mean


def _needed(shortage: MemoryShortage, known: MemoryCorrection, room: Room) -> float:
    """Return what was needed at the least, GiB: more than there was, or it would not have failed."""
    told = shortage.needed / GIB + _beside(shortage, known) if shortage.needed is not None else 0.0
    return max(told, room.free)


def _asking(
    expected: MemoryExpectation,
    phase: PhaseName,
    known: Callable[[MemoryQuestion], MemoryCorrection],
    needed: float,
) -> Callable[[MemoryQuestion], MemoryForecast]:
    """Return what forecasts, raised to what was needed in the phase where memory ran out."""
    tables, question = load_tables(), expected.question
    first = forecast(question, tables, known(question))
    failed: MemoryPhase | None = first.phase(phase) or first.peak
    if failed is None:
        return lambda asked: forecast(asked, tables, known(asked))
    raised = raise_to(failed, known(question), needed)
    return lambda asked: forecast(asked, tables, raised.applied(known(asked)))
