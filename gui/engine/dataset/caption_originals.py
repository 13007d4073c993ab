"""Writes changed captions, each in one step beside its kept original, and brings originals back.

Originals are kept before anything is written: whenever this process is ended, each caption is the old or the
new one, and the old one can be had again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.caption_edits import CaptionEdit, EditPreview, hash_of
from gui.engine.dataset.journal import checked_folder, read_journal, remove_folder, write_journal
from gui.engine.dataset.listing import OWN
from gui.engine.dataset.presence import is_folder, is_there
from gui.engine.documents import Document, read_bytes, reason_of, write_atomically
from gui.engine.errors import Cancelled, CannotRead, CannotWrite
from gui.engine.file_lock import held
from gui.engine.texts import _

ORIGINALS = f"{OWN}originals"
JOURNAL = "originals.json"


class KeptOriginal(Document):
    """One caption that was changed.

    Attributes:
        name: The caption file, and its original in ``_preflight_originals``.
        content: A hash of the original; empty when there was no such file.
        written: Hashes of everything that was written instead, so that changes by others are known.
    """

    name: str
    content: str
    written: tuple[str, ...]


class OriginalsJournal(Document):
    """All captions of a folder that were, or were about to be, changed."""

    schema_: int = Field(default=1, alias="schema")
    files: tuple[KeptOriginal, ...] = ()


@dataclass(frozen=True)
class Written:
    """What came of writing or restoring captions.

    Attributes:
        done: Names of the captions that were.
        left: Names of those that somebody else changed meanwhile; they are as they were.
    """

    done: tuple[str, ...]
    left: tuple[str, ...]


def write_edits(
    preview: EditPreview,
    told: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Written:
    """Write what a preview shows.

    Args:
        preview: Which captions, and what they become.
        told: Gets how many are written, and how many there are.
        cancelled: Asked before each one; True ends it, what is written stays.

    Raises:
        CannotWrite: A caption or its original cannot be written, such as on a full disk; those before are.
            Or their folder is gone.
        CannotRead: The journal is damaged.
        Cancelled: The caller asked for it.
    """
    folder = Path(preview.folder)
    place = checked_folder(folder / ORIGINALS)
    if not preview.edits:
        return Written((), ())
    if not is_folder(folder):  # a disk that was taken away must not get a double of it
        raise CannotWrite(folder, _("the folder is no longer there"))
    with held(place / JOURNAL):
        edits = [edit for edit in preview.edits if _content(folder / edit.name) == edit.content]
        begun = _keep_originals(place, edits, cancelled)
        for number, edit in enumerate(edits if begun else ()):
            if cancelled():
                raise Cancelled
            write_atomically(folder / edit.name, edit.after)
            told(number + 1, len(edits))
    if not begun:
        if not _kept(place):
            remove_folder(place, JOURNAL)
        raise Cancelled
    done = {edit.name: None for edit in edits}
    return Written(tuple(done), tuple(edit.name for edit in preview.edits if edit.name not in done))


def _keep_originals(place: Path, edits: Sequence[CaptionEdit], cancelled: Callable[[], bool]) -> bool:
    """Copy the captions that are about to be changed for the first time, and write all of them down.

    Returns:
        False when it was called off; nothing is kept then that was not before.
    """
    journal = {kept.name: kept for kept in _kept(place)}
    copied: list[Path] = []
    for edit in edits:
        if cancelled():
            for path in copied:
                path.unlink(missing_ok=True)
            return False
        old = journal.get(edit.name)
        if old is None and edit.content:
            write_atomically(place / edit.name, read_bytes(place.parent / edit.name))
            copied.append(place / edit.name)
        new = hash_of(edit.after.encode("utf-8"))
        before = old or KeptOriginal(name=edit.name, content=edit.content, written=())
        journal[edit.name] = before.model_copy(update={"written": (*before.written, new)})
    write_journal(place / JOURNAL, OriginalsJournal(files=tuple(journal.values())))
    return True


def kept_originals(folder: Path) -> tuple[KeptOriginal, ...]:
    """Return the captions of a folder whose originals are kept.

    Raises:
        CannotRead: The journal is damaged.
    """
    return _kept(folder / ORIGINALS)


def restore_originals(folder: Path, names: Iterable[str] | None = None, *, force: bool = False) -> Written:
    """Bring the originals of captions back, to the byte; captions that there were not are removed.

    Args:
        folder: Where the captions are.
        names: Which; None takes all.
        force: Whether those are replaced as well that somebody else changed since.

    Raises:
        CannotWrite: A caption cannot be written; its original is still kept.
        CannotRead: The journal or an original is damaged.
    """
    place = checked_folder(folder / ORIGINALS)
    if not is_folder(place):
        return Written((), ())
    wanted = None if names is None else set(names)
    done, left, kept = [], [], []
    with held(place / JOURNAL):
        for entry in _kept(place):
            if wanted is not None and entry.name not in wanted:
                kept.append(entry)
            elif not force and _content(folder / entry.name) not in ("", entry.content, *entry.written):
                left.append(entry.name)
                kept.append(entry)
            else:
                _restore(folder / entry.name, place / entry.name, entry)
                done.append(entry.name)
        write_journal(place / JOURNAL, OriginalsJournal(files=tuple(kept)))
        for name in done:
            if is_there(place / name):
                (place / name).unlink(missing_ok=True)
    if not kept:
        remove_folder(place, JOURNAL)
    return Written(tuple(done), tuple(left))


def _restore(path: Path, original: Path, entry: KeptOriginal) -> None:
    if not entry.content:
        try:
            if is_there(path):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise CannotWrite(path, reason_of(error)) from error
        return
    if _content(path) == entry.content:
        return
    data = read_bytes(original)
    if hash_of(data) != entry.content:
        raise CannotRead(original, _("it is damaged"))
    write_atomically(path, data)


def _kept(place: Path) -> tuple[KeptOriginal, ...]:
    journal = read_journal(place / JOURNAL, OriginalsJournal)
    return journal.files if journal else ()


def _content(path: Path) -> str:
    """Return the hash of a file; empty when it is not there."""
    return hash_of(read_bytes(path)) if is_there(path) else ""
