"""Runs of this program of which something is alive, as preflight wants to know them before another starts.

Found by the marker that every process of a run carries, so also where a run's folder was moved, or its
supervisor and launcher are gone.
"""

from __future__ import annotations

import os
from pathlib import Path

from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.preflight.surroundings import RunFact
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.process_table import ProcessTable, process_table
from gui.engine.runs.process_tree import RUN_MARKER
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.start import read_status


def living_runs(table: ProcessTable | None = None) -> tuple[RunFact, ...]:
    """Return the runs of which a process lives, by name.

    Args:
        table: Where processes are looked up; the system's by default.
    """
    table = table or process_table()
    found: dict[str, list[int]] = {}
    for row in table.rows():
        folder = None if row.pid == os.getpid() else table.environment_value(row.pid, RUN_MARKER)
        if folder:
            found.setdefault(folder, []).append(row.pid)
    return tuple(_fact(RunFolder(Path(folder)), pids) for folder, pids in sorted(found.items()))


def _fact(run: RunFolder, pids: list[int]) -> RunFact:
    try:
        command = CommandRecord.read(run.command)
    except (CannotRead, NewerDocument):
        command = None
    output = command.output_dir if command else None
    return RunFact(
        name=run.name,
        folder=str(run.path),
        over=is_over(run),
        watched=is_held(run.lock),
        processes=tuple(sorted(pids)),
        output_dir=str(output) if output else None,
        output_name=(command.output_name or "") if command else "",
    )


def is_over(run: RunFolder) -> bool:
    """Whether a run's trainer has ended, or the run was judged: what lives is left over."""
    try:
        status = read_status(run)
    except NewerDocument:
        status = None
    return run.exit.exists() or (status is not None and status.state == "ended")
