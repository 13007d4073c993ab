"""Keeps the last clean model file where the trainer cannot remove it.

With ``--save_last_n_steps`` and the like the trainer deletes older files as it goes, also when what
it saves by then is worthless (trainer-facts 2.3). A hard link costs no room and survives the deletion
of the name that it was made from; where links are not possible, a copy is made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from gui.engine.documents import Document, read_json, reason_of, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.runs.checkpoints import Judgement
from gui.engine.runs.records import FileMark, mark_of
from gui.engine.texts import _

KEPT_FOLDER = ".kohya-preflight-kept"
"""Below the output folder: a link must be on the same file system as the file."""

JOURNAL = "kept.json"
"""In the folder of kept files; says what they are, to a later supervisor and to a curious user."""

NEWEST = 2
"""So many of a kind are kept while the run goes on: the newest may yet turn out to have been saved
after the loss broke down, since the trainer saves before it prints the loss of the same step."""

ROOM_FOR_COPY = 2
"""A copy must leave room for the trainer's next file of that size: no copy is worth a dead run."""

HOPEFUL: frozenset[str] = frozenset({"clean", "not-checked"})
"""What is worth keeping: the good, and what may be."""


class KeptFile(Document):
    """A file that is kept.

    Attributes:
        original: The trainer's file, as it was when it was kept.
        kept: The link or copy.
        how: Which of them.
        judgement: What is known about its content; None until it was looked at.
    """

    original: FileMark
    kept: Path
    how: Literal["link", "copy"]
    judgement: Judgement | None = None

    @property
    def in_place(self) -> bool:
        """Whether the trainer's file is still where it was, unchanged."""
        return mark_of(self.original.path) == self.original


class _Journal(Document):
    """The document ``kept.json``."""

    files: tuple[KeptFile, ...] = ()


def kept_folder(output_dir: Path, run_name: str) -> Path:
    """Return where a run's kept files lie."""
    return output_dir / KEPT_FOLDER / run_name


class CleanKeeper:
    """Holds on to new model files until they are judged, and to the last clean ones for good.

    Files whose cleanliness nobody can tell, such as ``.ckpt``, are kept likewise. What newer files
    have made needless is let go: the trainer's own settings decide whether its name for it stays.

    Args:
        folder: Where kept files lie; on the file system of the output folder. A folder that an
            earlier supervisor of the run has used is gone on with.
        link: Makes a hard link.
    """

    def __init__(self, folder: Path, link: Callable[[Path, Path], None] = os.link) -> None:
        self._folder = folder
        self._link = link
        self._files = {entry.kept: entry for entry in _read(folder)}

    @property
    def files(self) -> tuple[KeptFile, ...]:
        """What is kept now, in the order in which it was taken."""
        return tuple(self._files.values())

    @property
    def last_clean(self) -> KeptFile | None:
        """The newest clean file that is kept."""
        return next((entry for entry in reversed(self.files) if entry.judgement == "clean"), None)

    def hold(self, path: Path) -> KeptFile | None:
        """Take hold of a complete file, before it is known what it is worth.

        A link is made at once; copying a large file takes as long as that takes.

        Args:
            path: A model file. Folders are not kept: a tree cannot be linked in one step.

        Returns:
            What was made, or what there is already of this very file; None when the file is gone
            or is a folder.

        Raises:
            CannotWrite: Neither link nor copy could be made, for want of room for instance.
        """
        mark = None if path.is_dir() else mark_of(path)
        if mark is None:
            return None
        known = self._held(path)
        if known is not None:
            if known.original == mark:
                return known
            # Written over in place, and the link with it; or never judged, and now never to be.
            if known.judgement is None or _same_file(known.kept, path):
                self._drop(known)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            kept, how = self._link_or_copy(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotWrite(self._folder / path.name, reason_of(error)) from error
        entry = KeptFile(original=mark, kept=kept, how=how)
        self._put(entry)
        return entry

    def consider(self, path: Path, judgement: Judgement) -> KeptFile | None:
        """Take in what a file is, and keep what is best by now.

        Args:
            path: The file.
            judgement: What it was found to be.

        Returns:
            The kept file where this one is kept.

        Raises:
            CannotWrite: It was not held before, and could not be kept now.
        """
        if judgement not in HOPEFUL:
            entry = self._held(path)
            if entry is not None:
                self._drop(entry)
            return None
        entry = self.hold(path) or self._held(path)
        if entry is None:
            return None
        entry = entry.model_copy(update={"judgement": judgement})
        self._put(entry)
        self._let_go_but(NEWEST)
        return entry

    def release(self) -> tuple[KeptFile, ...]:
        """Let go of what is needless when the run is over and all its files are judged.

        Only the newest file of a kind is still needed, and only when the trainer has removed it.

        Returns:
            What stays kept, because it exists nowhere else.
        """
        self._let_go_but(1)
        for entry in self.files:
            if entry.in_place:
                self._drop(entry)
        if not self._files:
            with contextlib.suppress(OSError):
                (self._folder / JOURNAL).unlink(missing_ok=True)
                self._folder.rmdir()
                self._folder.parent.rmdir()
        return self.files

    def _held(self, path: Path) -> KeptFile | None:
        """Return what is kept of the trainer's file of that name, the newest where it wrote it twice."""
        return next((entry for entry in reversed(self.files) if entry.original.path == path), None)

    def _let_go_but(self, newest: int) -> None:
        for kind in HOPEFUL:
            for entry in [entry for entry in self.files if entry.judgement == kind][:-newest]:
                self._drop(entry)

    def _link_or_copy(self, path: Path) -> tuple[Path, Literal["link", "copy"]]:
        """Make the kept file under a name of its own, in one step, over nothing."""
        with contextlib.suppress(NotImplementedError, OSError):
            target = self._free_name(path)
            self._link(path, target)
            return target, "link"
        return self._copy(path), "copy"

    def _copy(self, path: Path) -> Path:
        size = path.stat().st_size
        if shutil.disk_usage(self._folder).free < ROOM_FOR_COPY * size:
            raise OSError(errno.ENOSPC, _("there is no room for a copy beside the next save"))
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as target_file, path.open("rb") as source:
                shutil.copyfileobj(source, target_file, 1 << 20)
                target_file.flush()
                os.fsync(target_file.fileno())
            shutil.copystat(path, temporary)
            target = self._free_name(path)
            temporary.rename(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return target

    def _free_name(self, path: Path) -> Path:
        target = self._folder / path.name
        number = 2
        while target.exists():
            target = self._folder / f"{path.stem} ({number}){path.suffix}"
            number += 1
        return target

    def _put(self, entry: KeptFile) -> None:
        self._files[entry.kept] = entry
        self._write()

    def _drop(self, entry: KeptFile) -> None:
        """Remove a link or copy that this program made; the trainer's file is not touched."""
        with contextlib.suppress(OSError):
            entry.kept.unlink(missing_ok=True)
            del self._files[entry.kept]
        self._write()

    def _write(self) -> None:
        """Note what is kept; where even that has no room, the files are there all the same."""
        document = _Journal(files=self.files).model_dump_json(indent=1)
        with contextlib.suppress(CannotWrite):
            write_atomically(self._folder / JOURNAL, document)


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _read(folder: Path) -> list[KeptFile]:
    """Return what an earlier supervisor has kept; only what lies in the folder itself is believed."""
    try:
        journal = _Journal.model_validate(read_json(folder / JOURNAL))
    except (CannotRead, ValidationError):
        return []
    return [entry for entry in journal.files if entry.kept.parent == folder and entry.kept.exists()]
