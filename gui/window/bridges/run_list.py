"""The runs of this machine, looked at again and again: those of the command line show up too."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.window.bridges.lane import Answer
from gui.window.bridges.looking import LOOK_MS, Looking

if TYPE_CHECKING:
    from gui.engine.runs.listing import RunIndex
    from gui.engine.runs.run_entry import RunEntry


class RunList(Looking):
    """All runs, newest first.

    Args:
        home: Where they are.
        milliseconds: Between two looks.
    """

    def __init__(self, home: Home, milliseconds: int = LOOK_MS) -> None:
        super().__init__("runs", milliseconds)
        self._home = home
        self._entries: tuple[RunEntry, ...] = ()
        self._problem = ""
        self._index: RunIndex | None = None
        self._titles: dict[str, str] = {}
        self._doubtful: set[str] = set()

    @property
    def home(self) -> Home:
        """Where they are."""
        return self._home

    @property
    def entries(self) -> tuple[RunEntry, ...]:
        """All of them, newest first."""
        return self._entries

    @property
    def living(self) -> list[RunEntry]:
        """Those that somebody looks after and that are not over."""
        return [each for each in self._entries if each.condition == "fine" and is_living(each)]

    def living_now(self) -> list[RunEntry]:
        """Return those of `living` that are not over at this very moment; reads a small file for each."""
        from gui.engine.runs.folder import RunFolder
        from gui.engine.runs.start import read_status

        def is_over(entry: RunEntry) -> bool:
            with contextlib.suppress(PreflightError):
                status = read_status(RunFolder(entry.folder))
                return status is not None and status.state == "ended"
            return False

        return [entry for entry in self.living if not is_over(entry)]

    @property
    def family_titles(self) -> Mapping[str, str]:
        """Names of model families to their titles; empty until the runs are known."""
        return self._titles

    @property
    def problem(self) -> str:
        """Why they cannot be looked at; empty when all is well."""
        return self._problem

    def look_at(self, name: str) -> None:
        """Look now, at this run in any case: something about it has just been changed."""
        self._doubtful.add(name)
        self._lane.ask(self._look)

    def _look(self) -> tuple[RunEntry, ...]:
        if self._index is None:
            # Slow to import, and not for the first paint.
            from gui.engine.runs.abandoned import clear_abandoned
            from gui.engine.runs.listing import RunIndex

            clear_abandoned(self._home)
            self._index = RunIndex(self._home)
            self._titles = _titles()
        doubtful = frozenset(self._doubtful)
        entries = self._index.entries(doubtful)
        self._doubtful -= doubtful
        return entries

    def _take(self, answer: Answer) -> bool:
        problem = "" if answer.error is None else str(answer.error)
        entries = self._entries if answer.error is not None else answer.value
        fresh = entries != self._entries or problem != self._problem
        self._problem, self._entries = problem, entries
        return fresh


def is_living(entry: RunEntry) -> bool:
    """Whether a run is not over, as far as its folder tells."""
    return entry.state not in (None, "ended")


def _titles() -> dict[str, str]:
    from gui.engine.plan.families import families

    return {name: family.title for name, family in families().items()}
