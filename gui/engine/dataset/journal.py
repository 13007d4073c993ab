"""Journals of what is done to a dataset: written before it is done, so that a crash can be undone."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TypeVar

from gui.engine.dataset.presence import is_there
from gui.engine.documents import Document, read_bytes, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.texts import _

KEPT = TypeVar("KEPT", bound=Document)


def read_journal(path: Path, kind: type[KEPT]) -> KEPT | None:
    """Return a journal; None when there is none.

    Args:
        path: The file.
        kind: What it must hold.

    Raises:
        CannotRead: It is damaged, or must not be read.
    """
    if not is_there(path):
        return None
    try:
        return kind.model_validate(json.loads(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise CannotRead(path, _("it is damaged")) from error


def write_journal(path: Path, journal: Document) -> None:
    """Replace a journal in one step; it survives a power cut.

    Names of files are kept whatever bytes they hold: JSON escapes what is no text.

    Raises:
        CannotWrite: It cannot be written.
    """
    data = journal.model_dump(mode="python", by_alias=True)
    write_atomically(path, json.dumps(data, ensure_ascii=True, indent=1))


def remove_folder(folder: Path, *files: str) -> None:
    """Remove a folder of this program's own that is no longer needed, where nothing else is in it."""
    with contextlib.suppress(OSError):
        for name in files:
            (folder / name).unlink(missing_ok=True)
            (folder / f".{name}.lock").unlink(missing_ok=True)
        folder.rmdir()


def checked_folder(folder: Path) -> Path:
    """Return a folder of this program's own inside a dataset, which must not lead elsewhere.

    Raises:
        CannotWrite: It is a link.
    """
    if folder.is_symlink():
        raise CannotWrite(folder, _("it is a link to another place"))
    return folder
