"""Other runs that write the same files: two at once ruin each other, a later one hides an earlier one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.processes import tree_of
from gui.engine.runs.records import CommandRecord, FileMark, Manifest
from gui.engine.runs.saves import collisions
from gui.engine.runs.start import is_being_launched, read_status


def living_rival(run: RunFolder, output_dir: Path, output_name: str | None) -> RunFolder | None:
    """Return a run beside this one that trains into the same files now or is about to; None for none.

    Args:
        run: The one that is to be launched.
        output_dir: Where it will save, absolute.
        output_name: What its files will be called.
    """
    same = _same_output(run, output_dir, output_name)
    return next((other for other in same if is_alive(other) or is_being_launched(other)), None)


def written_by_later_runs(run: RunFolder, command: CommandRecord) -> tuple[FileMark, ...]:
    """Return the files under a run's names that a later run has written since.

    A run that ended unseen may be looked at long after its plan was run again. What the next run
    found before its launch tells whose file it is, whatever the clocks say.
    """
    output_dir, name = command.output_dir, command.output_name
    if output_dir is None:
        return ()
    launched = (other for other in _same_output(run, output_dir, name) if other.events.exists())
    later = min((other for other in launched if other.name > run.name), key=_name, default=None)
    try:
        found = (
            None if later is None else {mark.path: mark for mark in Manifest.read(later.manifest).existing}
        )
    except (CannotRead, NewerDocument):
        found = None
    if found is None:
        return ()
    return tuple(mark for mark in collisions(output_dir, name) if mark != found.get(mark.path))


def _same_output(run: RunFolder, output_dir: Path, output_name: str | None) -> Iterator[RunFolder]:
    """Yield the runs beside this one that save under the same names."""
    for folder in sorted(run.path.parent.iterdir(), reverse=True):
        other = RunFolder(folder)
        if folder == run.path:
            continue
        try:
            command = CommandRecord.read(other.command)
        except (CannotRead, NewerDocument):
            continue
        same_name = os.path.normcase(command.output_name or "") == os.path.normcase(output_name or "")
        if same_name and command.output_dir is not None and _is_same(command.output_dir, output_dir):
            yield other


def _is_same(one: Path, other: Path) -> bool:
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def is_alive(run: RunFolder) -> bool:
    """Whether anything of a run works: its supervisor, or a process of its training."""
    try:
        status = read_status(run)
    except NewerDocument:
        status = None
    if status is not None and status.state == "ended":
        return False
    return is_held(run.lock) or tree_of(run.path).alive()


def _name(run: RunFolder) -> str:
    return run.name
