"""Moves bad files out of a dataset's folder into one inside it, and back again.

The trainer does not look into sub-folders. What will be moved is written down first, and every file is moved
in one step: whenever this process is ended, each file is in one of the two places, and can be brought back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.caption_files import caption_names
from gui.engine.dataset.journal import checked_folder, read_journal, remove_folder, write_journal
from gui.engine.dataset.listing import OWN
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.presence import is_file, is_folder
from gui.engine.documents import Document, reason_of
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.file_lock import held

QUARANTINE = f"{OWN}quarantine"
JOURNAL = "journal.json"


class SetAside(Document):
    """One file in quarantine.

    Attributes:
        name: What it was called in the dataset's folder.
        stored: What it is called in quarantine.
        reason: Why it was set aside, in words or as the key of a kind of trouble.
    """

    name: str
    stored: str
    reason: str = ""


class QuarantineJournal(Document):
    """All files that were, or were about to be, moved."""

    schema_: int = Field(default=1, alias="schema")
    files: tuple[SetAside, ...] = ()


@dataclass(frozen=True)
class Returned:
    """What came of bringing files back.

    Attributes:
        back: Names that are in their place again.
        in_the_way: Names that stay in quarantine, since another file has their name by now.
    """

    back: tuple[str, ...]
    in_the_way: tuple[str, ...]


def with_captions(folder: Path, images: Iterable[str], extension: str, others: Iterable[str]) -> list[str]:
    """Return images together with their captions, which would be left behind without them.

    Args:
        folder: The dataset's folder.
        images: Names of the images to set aside.
        extension: Of captions, with its dot.
        others: Names of all images of the folder: a caption that another one shares stays.
    """
    chosen = list(dict.fromkeys(images))
    leaving = set(chosen)
    shared = {stem_of(name) for name in others if name not in leaving}
    captions = (caption_names(folder, name, extension)[0] for name in chosen if stem_of(name) not in shared)
    return [*chosen, *dict.fromkeys(name for name in captions if is_file(folder / name))]


def set_aside(folder: Path, names: Iterable[str], reason: str = "") -> tuple[str, ...]:
    """Move files of a dataset into quarantine; only ever when the user says so.

    Args:
        folder: The dataset's folder.
        names: Names of files in it; those that are not there are passed over.
        reason: Why.

    Returns:
        The names that were moved.

    Raises:
        CannotWrite: A file cannot be moved; those before it are, and can be brought back.
        CannotRead: The journal is damaged.
    """
    place = checked_folder(folder / QUARANTINE)
    with held(place / JOURNAL):
        before = _entries(place)
        taken = {entry.stored for entry in before}
        new = []
        for name in dict.fromkeys(names):
            if os.path.basename(name) == name and os.path.lexists(folder / name):  # noqa: PTH119 - any name
                stored = _free_name(place, name, taken)
                taken.add(stored)
                new.append(SetAside(name=name, stored=stored, reason=reason))
        write_journal(place / JOURNAL, QuarantineJournal(files=(*before, *new)))
        for entry in new:
            _move(folder / entry.name, place / entry.stored)
        return tuple(entry.name for entry in new)


def in_quarantine(folder: Path) -> tuple[SetAside, ...]:
    """Return the files of a dataset that are in quarantine, also after a crash in the middle of moving.

    Raises:
        CannotRead: The journal is damaged.
    """
    place = folder / QUARANTINE
    return tuple(entry for entry in _entries(place) if os.path.lexists(place / entry.stored))


def bring_back(folder: Path, names: Iterable[str] | None = None) -> Returned:
    """Move files back to where they were; nothing that is there is replaced.

    Args:
        folder: The dataset's folder.
        names: Which; None brings all of them back.

    Raises:
        CannotWrite: A file cannot be moved; it stays in quarantine.
        CannotRead: The journal is damaged.
    """
    place = checked_folder(folder / QUARANTINE)
    if not is_folder(place):
        return Returned((), ())
    wanted = None if names is None else set(names)
    back, in_the_way, kept = [], [], []
    with held(place / JOURNAL):
        for entry in in_quarantine(folder):
            if wanted is not None and entry.name not in wanted:
                kept.append(entry)
            elif os.path.lexists(folder / entry.name):
                in_the_way.append(entry.name)
                kept.append(entry)
            else:
                _move(place / entry.stored, folder / entry.name)
                back.append(entry.name)
        write_journal(place / JOURNAL, QuarantineJournal(files=tuple(kept)))
    if not kept:
        remove_folder(place, JOURNAL)
    return Returned(tuple(back), tuple(in_the_way))


def _entries(place: Path) -> tuple[SetAside, ...]:
    """Return what is written down, and files that are there without being so."""
    journal = read_journal(place / JOURNAL, QuarantineJournal)
    entries = journal.files if journal else ()
    known = {entry.stored for entry in entries}
    return (*entries, *(SetAside(name=name, stored=name) for name in _files(place) if name not in known))


def _files(place: Path) -> Iterator[str]:
    if not is_folder(place):
        return
    try:
        names = sorted(os.listdir(place))  # noqa: PTH208 - any name
    except OSError as error:
        raise CannotRead(place, reason_of(error)) from error
    own = (f".{JOURNAL}.", JOURNAL)
    yield from (name for name in names if not name.startswith(own))


def _free_name(place: Path, name: str, taken: set[str]) -> str:
    number, stored = 1, name
    while stored in taken or stored.startswith((f".{JOURNAL}.", JOURNAL)) or os.path.lexists(place / stored):
        number += 1
        stored = f"{number}~{name}"
    return stored


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:
        raise CannotWrite(target, reason_of(error)) from error
