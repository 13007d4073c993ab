"""Turns a plan into a run folder that only waits to be launched; nothing is started here."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui import __version__
from gui.engine.documents import write_atomically
from gui.engine.errors import PlanNotRunnable, RunRefused
from gui.engine.file_lock import held
from gui.engine.findings import Finding, blocks
from gui.engine.hardware.gpu import GpuMonitor, machine_gpus
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.visible import lasting_names
from gui.engine.paths import Home
from gui.engine.plan.model import tries
from gui.engine.plan.plan_file import PlanFile
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preferences import load_preferences
from gui.engine.redaction import redact_text
from gui.engine.runs.board import Board
from gui.engine.runs.disk import DiskWatch
from gui.engine.runs.folder import RunFolder, reserve_run_folder
from gui.engine.runs.records import (
    BaseModelFile,
    CommandRecord,
    LaunchOrder,
    Manifest,
    RetryRecord,
    local_time,
)
from gui.engine.runs.recovery_chain import followed
from gui.engine.runs.rivals import living_rival
from gui.engine.runs.saves import collisions
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import TrainerCommand, build_command
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.probe import require_torch
from gui.engine.trainer.resolving import resolve
from gui.engine.trainer.saved_state import StateNumbers, state_numbers

LAUNCHES = "launches"
"""What is locked in the home while a run takes the names of its files."""


@dataclass(frozen=True)
class Prepared:
    """A run that can be launched.

    Attributes:
        run: Its folder.
        order: What its first supervisor has to start; tokens and all, so it is never written.
        notes: What the user should know before.
    """

    run: RunFolder
    order: LaunchOrder
    notes: tuple[str, ...]


class Preparation:
    """Makes runs of plans with one trainer.

    Args:
        home: Where runs are kept.
        install: The trainer.
        facts: What is known about it.
        catalogue: Its arguments.
        gpus: Tells the driver and the GPUs' lasting names.
        disks: Makes the watch that tells how much room there is.
        judge: Finds what is wrong with a plan; None takes what the trainer itself would refuse.
        expect: Tells what memory it will need; None: nobody does.
        environ: What the trainer inherits; None takes this process's own.
    """

    def __init__(
        self,
        home: Home,
        install: TrainerInstall,
        facts: TrainerFacts,
        catalogue: Catalogue,
        *,
        gpus: GpuMonitor | None = None,
        disks: type[DiskWatch] = DiskWatch,
        judge: Callable[[PlanFile], Sequence[Finding]] | None = None,
        expect: Callable[[PlanFile], MemoryExpectation | None] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._home = home
        self._install = install
        self._facts = facts
        self._catalogue = catalogue
        self._gpus = gpus or machine_gpus()
        self._disks = disks
        self._findings = judge or self._refusals
        self._expect = expect
        self._environ = os.environ if environ is None else environ
        self._library = PresetLibrary(home.presets)

    def prepare(
        self,
        plan_file: PlanFile,
        accepted: Sequence[str] = (),
        tokens: Mapping[str, str] | None = None,
        *,
        into: RunFolder | None = None,
        more: Mapping[str, Any] | None = None,
        announce: Callable[[RunFolder], None] | None = None,
    ) -> Prepared:
        """Write the folder of a run.

        Args:
            plan_file: The plan.
            accepted: Ids of the dangers that the user says yes to.
            tokens: Variable to token, for the trainer's environment.
            into: A folder that was made for it; removed, as any, when nothing comes of it.
            more: What the manifest says beside what is found out here.
            announce: Told the folder while nothing is in it yet; nothing comes of it when it raises.

        Raises:
            PlanNotRunnable: Something in it blocks the launch; it carries the findings.
            NewerDocument: A newer version of this program wrote it.
            TrainerBroken: The trainer's Python has no torch.
            RunRefused: A disk has too little room, or another run is training into the same files.
            CannotWrite: The folder cannot be written.
        """
        plan_file.require_known()
        require_torch(self._install, self._facts)
        notes = self._judge(plan_file, accepted)
        run = into or reserve_run_folder(self._home, plan_file.plan.name)
        try:
            if announce is not None:
                announce(run)
            command = build_command(
                plan_file.plan,
                plan_file.base,
                self._install,
                self._facts,
                self._catalogue,
                run.path,
                tokens=tokens,
                gpu_uuids=lasting_names(self._gpus.devices()),
                environ=self._environ,
                library=self._library,
            )
            with held(self._home.root / LAUNCHES):  # of two in the same moment only one finds no rival
                _refuse_rival(run, command)
                _record(command.redacted()).write(run.command)
            manifest = self._manifest(plan_file, command, accepted).model_copy(update=more)
            notes += [*command.notes, *self._look_at_disks(run, command), *_overwrite_notes(manifest)]
            order = self._write(run, plan_file, command, manifest)
        except BaseException:
            shutil.rmtree(run.path, ignore_errors=True)
            raise
        return Prepared(run, order, tuple(notes))

    def _judge(self, plan_file: PlanFile, accepted: Sequence[str]) -> list[str]:
        """Refuse what blocks the launch and dangers without a yes; return what is left to know."""
        findings = self._findings(plan_file)
        blocking = [finding for finding in findings if blocks(finding, accepted)]
        if blocking:
            raise PlanNotRunnable(blocking)
        return [finding.title for finding in findings if finding.id not in accepted]

    def _refusals(self, plan_file: PlanFile) -> Sequence[Finding]:
        return resolve(plan_file.plan, plan_file.base, self._catalogue, library=self._library).findings

    def _look_at_disks(self, run: RunFolder, command: TrainerCommand) -> list[str]:
        """Refuse a disk below the reserve: a full one ends the trainer within seconds."""
        warnings = []
        for space in self._disks([run.path, command.output_dir]).sample():
            sentence = space.sentence()
            if sentence is not None and space.level == "full":
                raise RunRefused(sentence)
            if sentence is not None:
                warnings.append(sentence)
        return warnings

    def _manifest(self, plan_file: PlanFile, command: TrainerCommand, accepted: Sequence[str]) -> Manifest:
        facts, plan = self._facts, plan_file.plan
        existing = collisions(command.output_dir, command.output_name)
        again = [mark.path.name for mark in existing if mark.path.parent == command.output_dir]
        return Manifest(
            program=__version__,
            practice=self._install.practice,
            plan_name=plan.name,
            guard=plan.guard.nonfinite,
            created_at=time.time(),
            created=local_time(),
            plan_file=str(plan_file.path.absolute()) if plan_file.path else None,
            presets=plan.presets,
            base_model=_base_model(command),
            trainer=str(self._install.root),
            trainer_python=str(self._install.python),
            trainer_commit=facts.commit,
            trainer_version=facts.version,
            python_version=facts.python_version or None,
            torch=facts.torch,
            cuda=facts.cuda,
            driver=self._gpus.driver,
            gpus=tuple(gpu.name for gpu in facts.gpus),
            measures_memory=self._measures_memory(plan_file),
            memory=self._expect(plan_file) if self._expect and not self._install.practice else None,
            retry=RetryRecord(left=tries(plan.guard.memory_retries), recoveries=tries(plan.guard.recoveries)),
            follows=followed(self._home, plan),
            accepted=tuple(accepted),
            existing=existing,
            overwrites=tuple(again),
            resumed_from=_resumed_from(command),
        )

    def _write(
        self, run: RunFolder, plan_file: PlanFile, command: TrainerCommand, manifest: Manifest
    ) -> LaunchOrder:
        secrets = command.secrets()
        write_atomically(run.plan, redact_text(plan_file.standalone_text(), secrets))
        for path, text in command.files(run.path).items():
            write_atomically(path, text)
        manifest.write(run.manifest)
        run.requests.mkdir(exist_ok=True)
        board = Board(run.name, plan_name=manifest.plan_name, practice=manifest.practice)
        board.status(guard=None, elapsed_seconds=None).write(run.status)
        return LaunchOrder(
            argv=command.argv,
            cwd=command.cwd,
            environment=command.child_environment(self._environ),
            python=str(command.python),
            measure_memory=manifest.measures_memory,
        )

    def _measures_memory(self, plan_file: PlanFile) -> bool:
        """Whether nobody has switched the memory hook off: neither this plan nor the preferences."""
        wanted = load_preferences(self._home.preferences).measure_memory
        return wanted and plan_file.plan.launch.measure_memory


def _refuse_rival(run: RunFolder, command: TrainerCommand) -> None:
    """Refuse a second training into the same files: each would overwrite, and tidy away, the other's."""
    rival = living_rival(run, command.output_dir, command.output_name)
    if rival is not None:
        text = _(
            "Another run, {name}, is training into the same files ({files}). Stop it first, or give this "
            "plan another output_name."
        )
        files = command.output_dir / f"{command.output_name or ''}*"
        raise RunRefused(text.format(name=rival.name, files=files))


def _record(command: TrainerCommand) -> CommandRecord:
    """Note a command whose tokens were taken out."""
    return CommandRecord(
        argv=command.argv,
        cwd=command.cwd,
        environment=command.environment,
        unset=command.unset,
        python=str(command.python),
        script=command.script,
        output_dir=command.output_dir,
        output_name=command.output_name,
        logging_dir=command.logging_dir,
        tracker=command.logging_dir is not None,
        expected_final=command.expected_final,
        save_state=_has_flag(command, "--save_state"),
        resumed=_has_flag(command, "--resume"),
        wrapped=not command.argv[1].endswith(command.script),
        note=_("Tokens are left out here. output.log holds what the trainer printed, unchanged."),
    )


def _has_flag(command: TrainerCommand, flag: str) -> bool:
    return any(word == flag or word.startswith(f"{flag}=") for word in command.argv)


def _base_model(command: TrainerCommand) -> BaseModelFile | None:
    words = dict(zip(command.argv, command.argv[1:], strict=False))
    named = words.get("--pretrained_model_name_or_path")
    if named is None:
        return None
    path = Path(named)
    return BaseModelFile(path=named, size=path.stat().st_size if path.is_file() else None)


def _resumed_from(command: TrainerCommand) -> StateNumbers | None:
    """Return what the state tells that a command goes on from: it may be gone when somebody asks."""
    words = dict(zip(command.argv, command.argv[1:], strict=False))
    named = words.get("--resume")
    return state_numbers(Path(named)) if named is not None and Path(named).is_dir() else None


def _overwrite_notes(manifest: Manifest) -> list[str]:
    if not manifest.overwrites or manifest.resumed_from is not None:
        return []  # of a resumed training preflight says which of them it really comes to
    names = ", ".join(manifest.overwrites[:5]) + (", …" if len(manifest.overwrites) > 5 else "")
    text = _(
        "Files of the names that this run will write are there already; the trainer writes over them "
        "without asking: {names}."
    )
    return [text.format(names=names)]
