"""Asks now and then what the measured memory of a run is good for; off the GUI thread, as it reads files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import RunStatus
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.hardware.memory.observations import MemoryExpectation
    from gui.engine.runs.memory_advice import RunAdvice

EXPECTED_KEY, ADVICE_KEY = "run-memory-expected", "run-memory-advice"

FIRST_STEP = 10
"""Before that the dearest bucket may not have come yet."""

MEMORY_TROUBLES = frozenset({"memory-full", "memory-spill", "gpu-others"})


class MemoryAdvisor(QObject):
    """Looks when a run is steady, when it has trained twice as long, when memory gets short, and at its end.

    Args:
        tasks: Where files are read.
    """

    expected = Signal(object)
    """`MemoryExpectation` of the run, or None."""
    advised = Signal(object)
    """`RunAdvice`, or None where there is nothing to say."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._run: RunFolder | None = None
        self._seen: tuple[frozenset[str], bool] = (frozenset(), False)
        self._next_step = FIRST_STEP

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self._run, self._next_step = run, FIRST_STEP
        self._seen = (frozenset(), False)
        self._tasks.cancel(ADVICE_KEY)
        self.advised.emit(None)
        self.expected.emit(None)
        self._tasks.run(lambda _handle: _expected(run), self.expected.emit, self._nothing, key=EXPECTED_KEY)

    def look(self, status: RunStatus) -> None:
        """Ask, where it is time to."""
        run, step = self._run, status.step or 0
        troubles = frozenset(trouble.id for trouble in status.troubles) & MEMORY_TROUBLES
        seen = (troubles, status.verdict is not None)
        if run is None or step < FIRST_STEP or (step < self._next_step and seen == self._seen):
            return
        self._next_step, self._seen = 2 * step, seen
        self._tasks.run(lambda _handle: _advice(run), self.advised.emit, self._nothing, key=ADVICE_KEY)

    def _nothing(self, _error: PreflightError) -> None:
        """What cannot be read advises nothing; the page tells of the trouble."""


def _expected(run: RunFolder) -> MemoryExpectation | None:
    from gui.engine.runs.memory_advice import expected_memory  # heavy, and not for the first paint

    return expected_memory(run)


def _advice(run: RunFolder) -> RunAdvice | None:
    from gui.engine.runs.memory_advice import memory_advice  # heavy, and not for the first paint

    return memory_advice(run)
