"""Free space where a run writes: a full disk kills the trainer within seconds.

Source: trainer-output section 8 (a full log disk, seen).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from gui.engine.documents import Document
from gui.engine.texts import _

MIB = 1 << 20
RESERVE_BYTES = 512 * MIB
"""Below this a launch is refused: the log, the run's own notes and one save of a LoRA need it."""
WARN_BYTES = 4 * 1024 * MIB
"""Below this the user is told early."""

DiskLevel = Literal["fine", "low", "full", "unknown"]


class DiskSpace(Document):
    """The room left where something is written.

    Attributes:
        path: The place that was asked about; it need not exist yet.
        free_bytes: What this user may still write there; None when the system does not tell.
        level: ``low`` is below the warning, ``full`` below the reserve.
    """

    path: Path
    free_bytes: int | None
    level: DiskLevel

    def sentence(self) -> str | None:
        """Return what to do about it; None when there is nothing to do."""
        if self.free_bytes is None or self.level == "fine":
            return None
        small = self.free_bytes < 100 * MIB
        free = f"{self.free_bytes // MIB} MiB" if small else f"{self.free_bytes / (1 << 30):.1f} GiB"
        if self.level == "full":
            return _(
                "Only {free} is free for {path}. A full disk ends the training at once: make room now."
            ).format(free=free, path=self.path)
        return _("{free} is free for {path}. Make room before the disk is full.").format(
            free=free, path=self.path
        )


def system_free_bytes(folder: Path) -> int:
    """Return what this user may still write below an existing folder, also on a network drive.

    Raises:
        OSError: The system does not tell.
    """
    return shutil.disk_usage(folder).free


def existing_folder(path: Path) -> Path | None:
    """Return the nearest folder at or above the path that is there; None where even the drive is not."""
    for place in (path.absolute(), *path.absolute().parents):
        try:
            if place.is_dir():
                return place
        except OSError:  # no rights, or a network drive that does not answer: look further up
            continue
    return None


class DiskWatch:
    """Looks at the disks under several places.

    Args:
        paths: Where the run writes: log, checkpoints, samples.
        reserve_bytes: Below it a place counts as full.
        warn_bytes: Below it a place counts as low.
        free: Says what is free below an existing folder.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        *,
        reserve_bytes: int = RESERVE_BYTES,
        warn_bytes: int = WARN_BYTES,
        free: Callable[[Path], int] = system_free_bytes,
    ) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self._reserve = reserve_bytes
        self._warn = warn_bytes
        self._free = free

    def sample(self) -> tuple[DiskSpace, ...]:
        """Return the room left at each place, in the order given."""
        return tuple(map(self._look, self._paths))

    def _look(self, path: Path) -> DiskSpace:
        folder = existing_folder(path)
        try:
            free = None if folder is None else self._free(folder)
        except OSError:
            free = None
        return DiskSpace(path=path, free_bytes=free, level=self._level(free))

    def _level(self, free: int | None) -> DiskLevel:
        if free is None:
            return "unknown"
        if free < self._reserve:
            return "full"
        return "low" if free < self._warn else "fine"
