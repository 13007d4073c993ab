"""Sees that a run whose trainer is gone is judged, also where nobody looked after it when it ended."""

from __future__ import annotations

import time

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launching import tree_of
from gui.engine.runs.neighbours import is_over
from gui.engine.runs.start import ensure_supervisor, read_status

PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.1


def settle(run: RunFolder, *, patience_seconds: float = PATIENCE_SECONDS) -> bool:
    """Have a run judged that nothing of the trainer is left of; return whether it is judged now.

    Args:
        run: Its folder.
        patience_seconds: How long a supervisor may take.

    Raises:
        RunRefused: No supervisor could be started.
        NewerDocument: A newer version of this program made the run.
    """
    if _is_judged(run):
        return True
    if not is_over(run) and tree_of(run.path).alive():
        return False
    until = time.monotonic() + patience_seconds
    while not _is_judged(run) and time.monotonic() < until:
        ensure_supervisor(run)
        time.sleep(LOOK_SECONDS)
    return _is_judged(run)


def _is_judged(run: RunFolder) -> bool:
    status = read_status(run)
    return status is not None and status.verdict is not None
