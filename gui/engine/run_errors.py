"""What can be wrong with a run and the queue of runs; import these from ``gui.engine.errors``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gui.engine.error_base import AboutPath, BecauseOf, PreflightError
from gui.engine.texts import _


class UnknownRun(PreflightError):
    """No run, or more than one, is meant by what was given.

    Attributes:
        text: What was given.
        runs: The folder of runs that was searched.
        matches: The names that it could mean, newest first; empty when none.
    """

    def __init__(self, text: str, runs: Path, matches: tuple[str, ...] = ()) -> None:
        super().__init__(text, runs, matches)
        self.text = text
        self.runs = runs
        self.matches = matches

    def message(self) -> str:
        """Name what was given, and what it could mean."""
        if self.matches:
            return _("“{text}” could mean {runs}; give more of the name").format(
                text=self.text, runs=", ".join(self.matches[:5])
            )
        return _("there is no run “{text}” in {folder}").format(text=self.text, folder=self.runs)


class AlreadySupervised(PreflightError):
    """Another supervisor looks after this run.

    Attributes:
        path: The run's folder.
        pid: The other supervisor's process, None where it could not be read.
    """

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(path, pid)
        self.path = path
        self.pid = pid

    def message(self) -> str:
        """Name the run and the process."""
        return _("{run} already has a supervisor (process {pid}); one is enough").format(
            run=self.path.name, pid=self.pid if self.pid is not None else "?"
        )


class RunRefused(BecauseOf):
    """A run was not started, or a request to it makes no sense now."""


class QueueRefused(RunRefused):
    """What was asked of the queue makes no sense now."""


class CannotEnd(PreflightError):
    """Processes of a run live on although they were ended by force.

    Attributes:
        name: The run's.
        pids: Of what lives on.
    """

    def __init__(self, name: str, pids: Sequence[int]) -> None:
        super().__init__(name, tuple(pids))
        self.name = name
        self.pids = tuple(pids)

    def message(self) -> str:
        """Say what is left and what helps."""
        return _(
            "Some processes of the run {name} do not end even by force ({pids}), as happens when a GPU "
            "driver hangs; restarting the machine ends them."
        ).format(name=self.name, pids=", ".join(map(str, self.pids)))


class CannotContinue(AboutPath):
    """No training can go on from a saved file or state."""

    def message(self) -> str:
        """Name it and the reason."""
        text = _("No training can go on from {name}: {reason}.")
        return text.format(name=self.path.name, reason=self.reason)
