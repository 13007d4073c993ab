"""Rehearses a plan: its real trainer for a handful of steps on the largest bucket, before a night is spent.

A rehearsal is a run of its own, under a supervisor of its own, in the place of rehearsals, which no list
of runs shows. Of the user's folders it only reads: images are copied, and all that it writes goes into its
own folder, of which only the record is kept when it is over.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from gui.engine.documents import reason_of
from gui.engine.errors import CannotWrite, PlanNotRunnable
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.visible import lasting_names
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile
from gui.engine.preflight.check import Checker
from gui.engine.preflight.disk import forecast_disk
from gui.engine.preflight.launch_look import LaunchLook
from gui.engine.preflight.rules.memory_needs import room_of
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.runs.disk import system_free_bytes
from gui.engine.runs.earlier import speed_key
from gui.engine.runs.folder import RunFolder, reserve_run_folder
from gui.engine.runs.lock import is_held
from gui.engine.runs.prepare import Preparation, Prepared
from gui.engine.runs.rehearsal_data import RehearsedData, choose_data, copied_dataset
from gui.engine.runs.rehearsal_plan import STEPS, rehearsed_plan
from gui.engine.runs.rehearsal_reading import rehearsal_result, scratch_of
from gui.engine.runs.rehearsal_result import RehearsalKind, RehearsalOrder, RehearsalResult
from gui.engine.runs.removal import require_removable
from gui.engine.runs.requests import ask
from gui.engine.runs.rivals import is_alive
from gui.engine.runs.start import ensure_supervisor, read_status, start_supervisor
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.command import build_command

LOOK_SECONDS = 0.2
SUPERVISOR_SECONDS = 2.0
ISOLATED_IMAGES = 2

STALE_SECONDS = 24 * 3600.0
"""Whoever makes a rehearsal ready, or looks after it, has written into its folder by then."""


class RehearsalProgress(NamedTuple):
    """How far a rehearsal is.

    Attributes:
        phase: What the trainer is doing; empty before it has said so.
        step: Steps done.
        steps: How many there are to be.
    """

    phase: str
    step: int
    steps: int


class Rehearsals:
    """Makes rehearsals of plans with one trainer.

    Args:
        home: Where they are kept.
        trainer: The trainer.
        checker: Knows the plan's folder, the trainer and this machine; see ``checker_for``.
    """

    def __init__(self, home: Home, trainer: Trainer, checker: Checker) -> None:
        self._home = home
        self._trainer = trainer
        self._checker = checker

    def prepare(
        self,
        plan_file: PlanFile,
        kind: RehearsalKind = "rehearsal",
        tokens: Mapping[str, str] | None = None,
    ) -> Prepared:
        """Write the folder of a rehearsal: copies of a few images, and all that a launch needs.

        Dangers do not stand against it: it is there to see whether they come true.

        Args:
            plan_file: The plan that is rehearsed.
            kind: A rehearsal, or the isolation test.
            tokens: Variable to token, for the trainer's environment.

        Raises:
            PlanNotRunnable: A stop finding: the whole plan would not be launched either.
            RunRefused: It has no images to rehearse with, or a disk has too little room.
            TrainerBroken: The trainer's Python has no torch.
            CannotWrite: The folder cannot be written.
        """
        plan_file.require_known()
        _sweep(self._home)
        look = LaunchLook(self._checker)
        blocking = [finding for finding in look.judge(plan_file) if finding.severity == "stop"]
        view, problems = self._checker.view(plan_file.plan)
        if blocking or view is None:
            raise PlanNotRunnable(blocking or problems)
        suffixes = self._checker.collector.suffixes if self._checker.collector else None
        isolated = ISOLATED_IMAGES if kind == "isolation" else None
        data = choose_data(view, suffixes or frozenset(), isolated)
        run = reserve_run_folder(self._home, plan_file.plan.name, self._home.rehearsals)
        try:
            return self._prepare(run, plan_file, view, data, kind, look.expect(plan_file), tokens)
        except BaseException:
            shutil.rmtree(run.path, ignore_errors=True)
            raise

    def _prepare(  # noqa: PLR0917 - what a rehearsal is made of
        self,
        run: RunFolder,
        plan_file: PlanFile,
        view: View,
        data: RehearsedData,
        kind: RehearsalKind,
        expected: MemoryExpectation | None,
        tokens: Mapping[str, str] | None,
    ) -> Prepared:
        scratch = scratch_of(run)
        needed = STEPS[kind] * data.batch * _batches_a_step(view)
        plan = rehearsed_plan(view, copied_dataset(view, data, scratch, needed), scratch, kind)
        trainer = self._trainer
        preparation = Preparation(
            self._home,
            trainer.install,
            trainer.facts,
            trainer.catalogue,
            expect=lambda _file: expected if kind == "rehearsal" else None,
        )
        order = _order(plan_file, view, data, kind)
        if kind == "rehearsal":
            order = order.model_copy(update={"speed_key": self._key(plan_file)})
        return preparation.prepare(PlanFile(plan), tokens=tokens, into=run, more={"rehearsal": order})

    def _key(self, plan_file: PlanFile) -> str:
        """Return what tells that another plan would be as fast."""
        command = build_command(
            plan_file.plan,
            plan_file.base,
            self._trainer.install,
            self._trainer.facts,
            self._trainer.catalogue,
            self._home.runs / "not made",
            gpu_uuids=lasting_names(self._checker.facts.gpu or ()),
            library=self._checker.library,
        )
        return speed_key(command)


def _sweep(home: Home) -> None:
    """Remove what rehearsals left behind whose supervisor died, or that were never begun: models, states."""
    if not home.rehearsals.is_dir():
        return
    for run in map(RunFolder, home.rehearsals.iterdir()):
        scratch = scratch_of(run)
        with contextlib.suppress(OSError):
            old = time.time() - run.path.stat().st_mtime > STALE_SECONDS
            if old and scratch.is_dir() and not is_alive(run):
                shutil.rmtree(scratch, ignore_errors=True)


def _batches_a_step(view: View) -> int:
    accumulation = view.number("gradient_accumulation_steps") or 1
    return max(1, int(accumulation)) * max(1, view.plan.launch.num_processes)


def _order(plan_file: PlanFile, view: View, data: RehearsedData, kind: RehearsalKind) -> RehearsalOrder:
    steps, disk, room = forecast_steps(view), forecast_disk(view), room_of(view)
    output = Path(str(view.value("output_dir") or plan_file.base))
    return RehearsalOrder(
        kind=kind,
        plan_name=plan_file.plan.name,
        plan_file=str(plan_file.path.absolute()) if plan_file.path else None,
        bucket=data.bucket,
        batch=data.batch,
        images=len(data.names),
        steps=STEPS[kind],
        total_steps=steps.total_steps if steps else None,
        total_images=steps.images if steps else None,
        saves=disk.saves if disk else 1,
        states=disk.states if disk else 0,
        other_bytes=disk.samples_bytes + disk.caches_bytes + disk.log_bytes if disk else 0,
        free_gib=room.free if room else None,
        reserve_gib=room.reserve if room else 0.0,
        free_bytes=_free_bytes(output),
        output_dir=output,
    )


def _free_bytes(folder: Path) -> int | None:
    nearest = next((place for place in (folder, *folder.parents) if place.is_dir()), None)
    try:
        return None if nearest is None else system_free_bytes(nearest)
    except OSError:
        return None


def rehearse(
    prepared: Prepared,
    *,
    progress: Callable[[RehearsalProgress], None] = lambda _progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> RehearsalResult:
    """Run a prepared rehearsal until it is over.

    It goes on, and is judged, without whoever called this: ``rehearsal_result`` reads it later.

    Args:
        prepared: See ``Rehearsals.prepare``.
        progress: Told how far it is, whenever that is new.
        cancelled: Asked often; True stops it.

    Raises:
        RunRefused: No supervisor could be started.
        CannotRead: Its record is damaged.
    """
    run, told = prepared.run, None
    start_supervisor(run, prepared.order)
    stopping, due = False, time.monotonic() + SUPERVISOR_SECONDS
    while not _is_over(run):
        if cancelled() and not stopping:
            stopping = True
            ask(run, "stop", "rehearsal")
        now = _progress(read_status(run))
        if now != told:
            told = now
            progress(now)
        if time.monotonic() >= due:
            due = time.monotonic() + SUPERVISOR_SECONDS
            ensure_supervisor(run)
        time.sleep(LOOK_SECONDS)
    return rehearsal_result(run)


def _is_over(run: RunFolder) -> bool:
    """Whether it is judged and its supervisor, which reads it and tidies up, is gone."""
    status = read_status(run)
    return status is not None and status.state == "ended" and not is_held(run.lock)


def _progress(status: RunStatus | None) -> RehearsalProgress:
    if status is None:
        return RehearsalProgress("", 0, 0)
    return RehearsalProgress(status.phase or "", status.step or 0, status.total or 0)


def remove_rehearsal(run: RunFolder) -> None:
    """Remove a rehearsal that is over, record and all: nothing in it is of use for anything else.

    Raises:
        RunRefused: It is still running.
        CannotWrite: It cannot be removed.
    """
    require_removable(run)
    try:
        shutil.rmtree(run.path)
    except OSError as error:
        raise CannotWrite(run.path, reason_of(error)) from error
