"""Writes a run's folder anew when somebody deletes or moves it while the training runs.

The trainer trains on without it, and the supervisor watches on. But nobody else would find the run any
more: neither could it be watched nor stopped.
"""

from __future__ import annotations

from pathlib import Path

from gui.engine.documents import read_bytes, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.runs.events import Launching
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.processes import boot_id
from gui.engine.texts import _

LOOK_SECONDS = 0.5


class FolderGuard:
    """Looks twice a second.

    Args:
        run: The folder.
        ledger: Writes what happens.
        lock: Held by this supervisor; that it is in its place tells that the folder is.
        practice: Whether the practice trainer runs.
    """

    def __init__(self, run: RunFolder, ledger: Ledger, lock: SupervisorLock, *, practice: bool) -> None:
        self._run = run
        self._ledger = ledger
        self._lock = lock
        self._practice = practice
        self._due = 0.0
        self._papers: dict[Path, bytes] = {}

    def look(self) -> None:
        """Write the folder anew where it is gone.

        Raises:
            CannotWrite: It cannot be written.
        """
        now = self._ledger.now()
        if now < self._due:
            return
        self._due = now + LOOK_SECONDS
        if self._lock.is_in_place():
            self._remember()
        else:
            self._write_anew()

    def _remember(self) -> None:
        run = self._run
        for path in (run.plan, run.dataset, run.command, run.manifest, run.launcher):
            if path not in self._papers and path.is_file():
                try:
                    self._papers[path] = read_bytes(path)
                except CannotRead:
                    continue

    def _write_anew(self) -> None:
        self._run.requests.mkdir(parents=True, exist_ok=True)
        self._lock.take_anew()
        for path, content in self._papers.items():
            write_atomically(path, content)
        ledger = self._ledger
        ledger.begin_anew()
        ledger.say(Launching(boot_id=boot_id(), boot_seconds=ledger.now(), practice=self._practice))
        sentence = _(
            "The folder of this run was deleted or moved while the training ran. It goes on, watched as "
            "before; what had been written down until then went with the folder."
        )
        ledger.notice("folder", sentence)
        ledger.flush(at_once=True)
