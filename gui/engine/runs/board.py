"""Keeps what is true about a run while events come in, and writes it down as ``status.json``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gui.engine.runs.records import local_time
from gui.engine.runs.status import FileNow, GuardNow, RunState, RunStatus, StopNow, TroubleNow, Verdict
from gui.engine.trainer.events import (
    Epoch,
    Error,
    LossNonfinite,
    Phase,
    Progress,
    Step,
    TrainerEvent,
    Warned,
)

_WORDS = 300
"""Characters of a warning that are shown at a glance."""

_FILES = 200
_CLEAN_BEFORE = 20
"""So many clean files from before the newest ones are told of too: a run that went on after its loss broke
down may have saved hundreds since, and can only be gone on from those."""
_NOTICES = 50


@dataclass
class Board:
    """The run as it is now.

    Attributes:
        name: The run's name.
        plan_name: The plan's.
        practice: Whether the practice trainer runs.
        state: What the run as a whole is doing.
        files: Models and states by path, oldest first.
        notices: What the user should know, by id.
        troubles: What goes wrong now, by id.
        changed: Whether anything is new since the status was last made.
    """

    name: str
    plan_name: str = ""
    practice: bool = False
    state: RunState = "starting"
    files: dict[Path, FileNow] = field(default_factory=dict)
    notices: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, TroubleNow] = field(default_factory=dict)
    changed: bool = True
    _facts: dict[str, Any] = field(default_factory=dict)
    _first_timed: tuple[int, float] | None = None

    def put(self, **facts: Any) -> None:
        """Set fields of the status by name."""
        for name, value in facts.items():
            if self._facts.get(name) != value:
                self._facts[name] = value
                self.changed = True

    def fact(self, name: str) -> Any:
        """Return a field of the status as it was last set, None when it never was."""
        return self._facts.get(name)

    def move_to(self, state: RunState) -> None:
        """Change what the run as a whole is doing."""
        self.changed = self.changed or state != self.state
        self.state = state

    def notice(self, key: str, sentence: str) -> bool:
        """Add a fact for the user; return whether it is new."""
        if self.notices.get(key) == sentence or (key not in self.notices and len(self.notices) >= _NOTICES):
            return False
        self.notices[key] = sentence
        self.changed = True
        return True

    def trouble(self, trouble: TroubleNow, *, over: bool) -> None:
        """Set what goes wrong, or that it is over."""
        if over:
            self.troubles.pop(trouble.id, None)
        else:
            self.troubles[trouble.id] = trouble
        self.changed = True

    def file(self, file: FileNow) -> None:
        """Set what is known about a model or state."""
        self.files[file.path] = file
        self.changed = True

    def take(self, event: TrainerEvent) -> None:
        """Take in what the trainer said."""
        self.changed = True
        if isinstance(event, Step):
            self._take_step(event)
        elif isinstance(event, Phase):
            self._facts.update(phase=event.phase, bar=None)
        elif isinstance(event, Progress):
            self._facts["bar"] = {"name": event.name, "done": event.done, "total": event.total}
        elif isinstance(event, Epoch):
            self._facts.update(epoch=event.epoch, epochs=event.total)
        elif isinstance(event, LossNonfinite):
            self._facts.setdefault("first_nonfinite_step", event.step)
        elif isinstance(event, Warned | Error):
            self._take_words(event)

    def _take_step(self, event: Step) -> None:
        facts = self._facts
        total = self._total(event)
        facts.update(step=event.step, total=total, avr_loss=event.avr_loss, loss=event.loss, bar=None)
        if event.epoch is not None:
            facts["epoch"] = event.epoch
        losses = [value for value in (event.avr_loss, event.loss) if value is not None]
        if not all(map(math.isfinite, losses)):
            facts.setdefault("loss_before", facts.get("finite_loss"))
        for value in filter(math.isfinite, losses):
            facts["finite_loss"] = value
        if event.t is None:
            return
        if self._first_timed is None or event.step < self._first_timed[0]:
            self._first_timed = (event.step, event.t)
        first_step, first_t = self._first_timed
        mean = (event.step - first_step) / (event.t - first_t) if event.t > first_t else None
        rate = event.rate or mean
        remaining = (total - event.step) / rate if rate and total is not None else None
        facts.update(rate=rate, mean_rate=mean, remaining_seconds=remaining)

    def _total(self, event: Step) -> int | None:
        """Return how many steps there are to be: a resumed training ends before its bar does."""
        begun_at, whole = self._facts.get("begun_at"), self._facts.get("whole")
        return event.total if begun_at is None or whole is None else whole - begun_at

    def _take_words(self, event: Warned | Error) -> None:
        name = "errors" if isinstance(event, Error) else "warnings"
        self._facts[name] = self._facts.get(name, 0) + 1
        self._facts["last_warning"] = event.message[:_WORDS]

    def status(self, *, guard: GuardNow | None, elapsed_seconds: float | None) -> RunStatus:
        """Make the status document; what was changed counts as told."""
        self.changed = False
        learning = self.state in ("running", "paused")
        values = dict(self._facts)
        if not learning:
            values.update(remaining_seconds=None, bar=None)
        return RunStatus.model_validate(
            {
                **values,
                "schema": 1,
                "name": self.name,
                "plan_name": self.plan_name,
                "practice": self.practice,
                "state": self.state,
                "guard": guard,
                "elapsed_seconds": elapsed_seconds,
                "files": self._told_files(),
                "notices": tuple(self.notices.values()),
                "troubles": tuple(self.troubles.values()),
                "written": local_time(),
            }
        )

    def _told_files(self) -> tuple[FileNow, ...]:
        files = tuple(self.files.values())
        clean = tuple(file for file in files[:-_FILES] if file.judgement == "clean")
        return (*clean[-_CLEAN_BEFORE:], *files[-_FILES:])

    def end(self, verdict: Verdict) -> None:
        """The run is over."""
        self._facts["verdict"] = verdict
        self.move_to("ended")

    def stop(self, stop: StopNow | None) -> None:
        """A stop was asked for or came to its next stage."""
        self.put(stop=stop)
