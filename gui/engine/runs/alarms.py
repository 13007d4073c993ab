"""What a person must be told loudly about a run: what happened, what was done, why, and what next.

Everything is read from the run's folder, so that a past run shows the same as it did when it lived.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gui.engine.runs.alarm import ALARM_ORDER, Alarm
from gui.engine.runs.disk import WARN_BYTES
from gui.engine.runs.end_alarms import EndFacts, end_alarm
from gui.engine.runs.events import (
    DiskWarned,
    Guarded,
    Notice,
    RunEvent,
    Stopping,
    TroubleKind,
    VerdictGiven,
    read_events,
)
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.lock import is_held
from gui.engine.runs.loss_alarm import LossFacts, loss_alarm
from gui.engine.runs.memory_words import memory_causes, memory_steps, memory_title
from gui.engine.runs.retry_record import Retry, told_of_trying
from gui.engine.runs.smaller_plan import SmallerPlan, ran_out, smaller_plan_or_none
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus, TroubleNow
from gui.engine.texts import _
from gui.engine.trainer.events import Error, LossNonfinite, TrainerEvent
from gui.engine.trainer.shortage import MemoryShortage, read_shortage

_ONLY_WHILE_ALIVE: frozenset[TroubleKind] = frozenset({"slowed", "memory-full", "memory-spill", "gpu-others"})
"""What is of no use to know once the run has ended: its end has causes of its own."""


def alarms(run: RunFolder, status: RunStatus | None = None) -> tuple[Alarm, ...]:
    """Return what must be told about a run, past or living, from its folder alone; the gravest first.

    Args:
        run: The folder.
        status: Its status where that was read already.

    Raises:
        NewerDocument: A newer version of this program wrote the status.
    """
    found = read_status(run) if status is None else status
    if found is None:
        return ()
    watch = AlarmWatch(run)
    watch.take(read_events(run.events))
    return watch.alarms(found)


class AlarmWatch:
    """Follows a run's events, and tells at any time what must be told.

    Args:
        run: The folder.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._settings: LaunchedSettings | None = None
        self._loss = LossFacts()
        self._disks: dict[str, DiskWarned] = {}
        self._gpus: dict[str, Notice] = {}
        self._ended_at: float | None = None
        self._shortage: MemoryShortage | None = None
        self._smaller: SmallerPlan | None = None
        self._sought = False

    def take(self, events: Iterable[TrainerEvent | RunEvent]) -> None:
        """Take the next events, in their order."""
        for event in events:
            match event:
                case LossNonfinite() | Guarded() | Stopping():
                    self._loss.take(event)
                case DiskWarned():
                    self._disks[event.path] = event
                case Notice() if event.id.startswith("gpu-lost:") or event.id == "gpu-silent":
                    self._gpus[event.id] = event
                case VerdictGiven():
                    self._ended_at = event.t
                case Error() if self._shortage is None:
                    self._shortage = read_shortage(event.message)
                case _:
                    pass

    def alarms(self, status: RunStatus, *, supervised: bool | None = None) -> tuple[Alarm, ...]:
        """Return what must be told now, the gravest first.

        Args:
            status: What is true about the run now.
            supervised: Whether a supervisor lives; None looks.
        """
        if self._settings is None:
            self._settings = launched_settings(self._run)
        retry = told_of_trying(self._run, status) if status.verdict is not None else None
        found = [loss_alarm(status, self._loss, self._settings, retry)]
        found.append(end_alarm(status, self._end_facts(status, self._settings, retry)))
        if status.verdict is None or status.verdict.verdict != "finished":
            found += [_gpu_alarm(notice, status) for notice in self._gpus.values()]
        found += [_trouble_alarm(trouble, status) for trouble in status.troubles]
        if status.verdict is None:
            found += [_disk_alarm(event, status) for event in self._disks.values()]
            found.append(self._unattended(status, supervised))
        told: dict[str, Alarm] = {}
        for alarm in found:
            if alarm is not None:
                told.setdefault(alarm.id, alarm)
        return tuple(sorted(told.values(), key=lambda alarm: ALARM_ORDER.index(alarm.id)))

    def _end_facts(self, status: RunStatus, settings: LaunchedSettings, retry: Retry | None) -> EndFacts:
        if not self._sought and ran_out(status):  # a search, so made once
            self._sought, self._smaller = True, smaller_plan_or_none(self._run)
        return EndFacts(settings, self._ended_at, self._shortage, self._smaller, retry)

    def _unattended(self, status: RunStatus, supervised: bool | None) -> Alarm | None:
        """Tell of a run that nobody looks after; one that was only prepared has never had anybody."""
        if status.supervisor_pid is None:
            return None
        if is_held(self._run.lock) if supervised is None else supervised:
            return None
        return Alarm(
            id="unattended",
            tone="warn",
            title=_("Nobody looks after this run."),
            text=_("Its supervisor is gone. The training may go on, but no guard stops it."),
            step=status.step,
            next_steps=(
                _("Open it, or attach to it: a new supervisor takes over and reads what was missed."),
            ),
        )


def _gpu_alarm(notice: Notice, status: RunStatus) -> Alarm | None:
    silent = notice.id == "gpu-silent"
    if silent and status.gpu_problem is None:
        return None  # it has answered since
    return Alarm(
        id="gpu-lost",
        tone="warn" if silent else "bad",
        title=_("The NVIDIA driver does not answer.") if silent else _("A GPU is lost."),
        text=notice.sentence,
        step=status.step,
        at=notice.t,
        next_steps=(
            _("Stop the run if it does not go on."),
            _("Restart the machine: only that brings a lost GPU back."),
            _("When it happens again, look at power supply, cooling, overclocking and the driver."),
        ),
    )


def _disk_alarm(event: DiskWarned, status: RunStatus) -> Alarm | None:
    """Tell of a short disk for as long as it is short."""
    free = status.host.disk_free_bytes.get(event.path, event.free_bytes)
    if free >= WARN_BYTES:
        return None
    return Alarm(
        id="disk-short",
        tone="bad" if event.full else "warn",
        title=_("The disk is full.") if event.full else _("A disk is getting full."),
        text=event.sentence,
        step=status.step,
        at=event.t,
        next_steps=(
            _("Make room on the disk of {folder}.").format(folder=Path(event.path)),
            _("Pause the run if you need time for that: nothing is written while it is paused."),
        ),
    )


def _trouble_alarm(trouble: TroubleNow, status: RunStatus) -> Alarm | None:
    verdict = status.verdict
    if verdict is not None and (trouble.id in _ONLY_WHILE_ALIVE or verdict.verdict == "finished"):
        return None
    titles: dict[TroubleKind, str] = {
        "stalled": _("Nothing is heard from the trainer."),
        "slowed": _("The training has slowed down."),
        "trainer-gone": _("The trainer’s folder is gone."),
    }
    causes, steps = _trouble_words(trouble.id)
    return Alarm(
        id=trouble.id,
        tone="warn",
        title=memory_title(trouble.id) or titles[trouble.id],
        text=trouble.sentence,
        step=trouble.step,
        at=trouble.since,
        causes=(trouble.cause,) if trouble.cause else causes,
        next_steps=steps,
    )


def _trouble_words(kind: TroubleKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if memory_title(kind) is not None:
        return memory_causes(kind), memory_steps(kind)
    if kind == "stalled":
        causes = (
            _("A data loader waits for a disk or a network drive."),
            _("The GPU or its driver hangs."),
            _("Memory spills over into RAM, so that one step takes minutes."),
        )
        return causes, (
            _("Wait a little: when it goes on again, this is told too."),
            _("Look whether GPU or disk is at work; if neither is, stop the run and start it again."),
        )
    if kind == "slowed":
        causes = (
            _("The GPU’s memory is full and spills over into RAM (Windows does so without a word)."),
            _("The GPU is hot and clocks down, or another program uses it."),
            _("The images lie on a slow or busy disk."),
        )
        return causes, (
            _("Close other programs that use the GPU; see its memory and temperature."),
            _("If memory is full, use a smaller batch or gradient_checkpointing next time."),
        )
    return (), (_("Put the folder back in its place before the next save, or stop after the next save."),)
