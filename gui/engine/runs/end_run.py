"""Ends what lives of a run, whatever state it is in: left over, it holds memory of a GPU."""

from __future__ import annotations

import time
from pathlib import Path

from gui.engine.errors import CannotEnd
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launching import tree_of
from gui.engine.runs.neighbours import is_over
from gui.engine.runs.requests import ask
from gui.engine.runs.start import ensure_supervisor

PATIENCE_SECONDS = 60.0
"""A save may end first, and then the trainer has its grace."""

LOOK_SECONDS = 0.1


def end_run(folder: Path, by: str, *, patience_seconds: float = PATIENCE_SECONDS) -> int:
    """End what lives of a run.

    A run whose trainer goes on is stopped by its supervisor, so that it is judged; one is started where
    none lives. What is alive then is ended here.

    Args:
        folder: The run's; it may be gone.
        by: Who wants it, for the run's record.
        patience_seconds: How long the supervisor may take.

    Returns:
        How many processes were alive; 0 when there was nothing to end.

    Raises:
        CannotEnd: Something lives on in spite of force.
        CannotWrite: The run's folder cannot be written.
        RunRefused: No supervisor could be started.
    """
    tree = tree_of(folder)
    alive = len(tree.members())
    run = RunFolder(folder)
    if alive and folder.is_dir() and not is_over(run):
        _stop(run, by, patience_seconds)
    report = tree.stop()
    if not report.complete:
        raise CannotEnd(run.name, report.survivors)
    return alive


def _stop(run: RunFolder, by: str, patience_seconds: float) -> None:
    ask(run, "stop", by)
    ensure_supervisor(run)
    until = time.monotonic() + patience_seconds
    while not is_over(run) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
