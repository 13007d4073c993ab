"""Remembers which plans were open lately."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gui.engine.documents import Document, read_json, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan

MOST = 20


class Recent(Document):
    """A plan that was open.

    Attributes:
        path: Its file, absolute.
        name: The plan's name then.
        family: Its model family then.
        opened: When, in seconds since 1970.
    """

    path: str
    name: str
    family: str = ""
    opened: float

    @property
    def missing(self) -> bool:
        """Whether the file is gone now; looks at the disk."""
        try:
            return not Path(self.path).is_file()
        except (OSError, ValueError):
            return True


class Recents:
    """The list, in one file of the home.

    Attributes:
        path: The file.
    """

    def __init__(self, home: Home) -> None:
        """Make the list of a home; nothing is read yet."""
        self.path = home.root / "recent-plans.json"

    def entries(self) -> list[Recent]:
        """Return the plans, the latest first; an unreadable list or entry is as if there were none."""
        try:
            content: Any = read_json(self.path)
        except CannotRead:
            return []
        found: dict[str, Recent] = {}
        for row in content if isinstance(content, list) else []:
            with contextlib.suppress(ValidationError):
                entry = Recent.model_validate(row)
                found.setdefault(_key(entry.path), entry)
        return sorted(found.values(), key=lambda entry: entry.opened, reverse=True)[:MOST]

    def add(self, path: Path, plan: TrainingPlan) -> None:
        """Put a plan at the top of the list.

        Raises:
            CannotWrite: The home cannot be written.
        """
        entry = Recent(path=str(path.absolute()), name=plan.name, family=plan.family, opened=time.time())
        kept = [known for known in self.entries() if _key(known.path) != _key(entry.path)]
        self._write([entry, *kept][:MOST])

    def forget(self, path: str | Path) -> None:
        """Take a plan off the list; its file stays.

        Raises:
            CannotWrite: The home cannot be written.
        """
        before = self.entries()
        kept = [known for known in before if _key(known.path) != _key(str(path))]
        if len(kept) != len(before):
            self._write(kept)

    def _write(self, entries: list[Recent]) -> None:
        rows = ",\n".join(entry.model_dump_json() for entry in entries)
        write_atomically(self.path, f"[{rows}]\n", durable=False)


def _key(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))
