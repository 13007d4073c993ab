"""Traces the memory of one setting in the user's own trainer: exact, but a matter of a minute.

The tracer (``resources/memory_tracer``) runs in the trainer's interpreter against the trainer's own
networks, so that it knows what no table does: another commit, another torch, an odd resolution.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from gui.engine.documents import read_json, write_atomically
from gui.engine.errors import CannotRead, CannotTrace, CannotWrite
from gui.engine.hardware.memory.tables import (
    PassResult,
    PassRow,
    PassSetting,
    StepResult,
    StepRow,
    StepSetting,
)
from gui.engine.resources import resource_path
from gui.engine.texts import _
from gui.engine.trainer.facts import ImportFailure
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.probe import state_of
from gui.engine.trainer.stage_run import StageRun

TRACER = ("memory_tracer", "trace.py")
PATIENCE_SECONDS = 240.0
"""How long the tracer may be silent: it tells of every 2,000 operations, but imports first."""

Progress = Callable[[int], None]
"""Called with how many operations were replayed so far; a stored row of the kind knows how many to expect."""


_Result = TypeVar("_Result", StepResult, PassResult)


class Tracer:
    """Traces settings in one trainer and remembers what came out."""

    def __init__(
        self,
        install: TrainerInstall,
        cache: Path,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            install: The trainer and its Python.
            cache: The home's cache folder.
            progress: See ``Progress``.
            cancelled: Asked twenty times a second; True ends the trace.
            patience: Seconds that the tracer may be silent.
        """
        self._install = install
        self._cache = cache
        self._progress = progress or (lambda operations: None)
        self._cancelled = cancelled
        self._patience = patience

    def trace_step(self, family: str, setting: StepSetting) -> StepRow:
        """Trace a training.

        Args:
            family: The family by the name of its memory table.
            setting: The training.

        Raises:
            CannotTrace: The trainer's networks could not be replayed.
            TrainerBroken: Its interpreter cannot be started at all.
            Cancelled: The caller asked for it.
        """
        return StepRow(setting=setting, result=self._result(StepResult, task_of(family, setting)))

    def trace_pass(self, family: str, setting: PassSetting) -> PassRow:
        """Trace a pass without gradients; arguments and errors are those of ``trace_step``."""
        return PassRow(setting=setting, result=self._result(PassResult, task_of(family, setting)))

    def _result(self, kind: type[_Result], task: Mapping[str, Any]) -> _Result:
        place = self._cache / "memory" / f"{self._key(task)[:32]}.json"
        with contextlib.suppress(CannotRead, ValidationError):
            return kind.model_validate(read_json(place))
        try:
            result = kind.model_validate(self._run(task))
        except ValidationError as error:
            raise CannotTrace(_("the tracer's answer makes no sense")) from error
        with contextlib.suppress(CannotWrite):  # it costs a minute the next time, nothing else
            write_atomically(place, result.model_dump_json(exclude_none=True))
        return result

    def _run(self, task: Mapping[str, Any]) -> Any:
        run = run_tracer(
            self._install,
            ["trace"],
            {"trace": task},
            within=lambda line: self._progress(int(line["operations"])),
            cancelled=self._cancelled,
            patience=self._patience,
        )
        if failure := run.failures.get("trace"):
            raise CannotTrace(reason_of_failure(failure))
        return run.results["trace"]

    def _key(self, task: Mapping[str, Any]) -> str:
        """Return a digest of all that the result depends on: trainer, packages, tracer and setting."""
        digest = hashlib.sha256(state_of(self._install).encode())
        for file in sorted(resource_path(TRACER[0]).rglob("*.py")):
            digest.update(file.read_bytes())
        digest.update(json.dumps(task, sort_keys=True).encode())
        return digest.hexdigest()


def task_of(family: str, setting: StepSetting | PassSetting) -> dict[str, Any]:
    """Return a setting as the tracer takes it."""
    return {"family": family} | setting.model_dump(mode="json", exclude_none=True)


def run_tracer(
    install: TrainerInstall,
    stages: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    within: Callable[[Mapping[str, Any]], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> StageRun:
    """Run the tracer in a trainer's Python until it has done all stages or lost them.

    Args:
        install: The trainer and its Python.
        stages: See ``resources/memory_tracer/trace.py``.
        settings: The settings of the stages that are traces.
        within: Told the latest line of progress.
        cancelled: Asked twenty times a second.
        patience: Seconds that the tracer may be silent.

    Returns:
        The run, with the results and failures of the stages.

    Raises:
        TrainerBroken: The interpreter cannot be started at all.
        Cancelled: The caller asked for it.
    """
    run = StageRun(
        install,
        resource_path(*TRACER),
        stages,
        patience=patience,
        tasks={"settings": dict(settings)},
        within=within,
        cancelled=cancelled,
    )
    run.run()
    return run


def reason_of_failure(failure: ImportFailure) -> str:
    """Return why a stage of the tracer failed, in words."""
    if failure.missing:
        return _("the trainer's Python has no package “{name}”").format(name=failure.missing)
    sentences = {
        "crash": _("the trainer's Python crashed: {message}"),
        "hang": _("the trainer's Python is stuck: {message}"),
        "exit": _("the trainer's Python ended early: {message}"),
    }
    sentence = sentences.get(failure.exception, _("this trainer cannot be traced ({exception}: {message})"))
    return sentence.format(exception=failure.exception, message=failure.message or "–")
