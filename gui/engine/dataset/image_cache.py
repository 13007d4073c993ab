"""Remembers what images hold, so that a second look at the same files costs nothing.

A file is known again by folder, name, size and time of change; else, once it was read, by its content.
What cannot be remembered is found out again: nothing here ever fails.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gui.engine.dataset.image_facts import FACTS_VERSION, ImageFacts

FILE_NAME = "images.sqlite"
MOST_ALIKE = 32
"""Of files of one size so many contents are offered to be recognised."""

_TABLES = """
CREATE TABLE IF NOT EXISTS images (
  folder BLOB NOT NULL, name BLOB NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
  content TEXT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (folder, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_size ON images (size);
"""


class FileState(NamedTuple):
    """By what a file is known again.

    Attributes:
        size_bytes: Its size.
        changed_ns: When its content was changed last, nanoseconds.
    """

    size_bytes: int
    changed_ns: int


class ImageCache:
    """What is remembered of images; for one thread at a time.

    Args:
        folder: Where the cache lies; None remembers for as long as this object lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / FILE_NAME if folder else None
        self._connection = self._open()

    def close(self) -> None:
        """Write everything down and let the file go."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.commit()
        self._connection.close()

    def find(self, folder: Path, name: str, state: FileState) -> ImageFacts | None:
        """Return what a file holds; None when it is not known, or changed."""
        row = self._one(
            "SELECT facts FROM images WHERE folder = ? AND name = ? AND size = ? AND changed_ns = ?",
            (os.fsencode(folder), os.fsencode(name), *state),
        )
        return _facts(row[0]) if row else None

    def of_size(self, size_bytes: int) -> dict[str, ImageFacts]:
        """Return the contents that are known of files of one size, and what they are."""
        with contextlib.suppress(sqlite3.Error):
            rows = self._connection.execute(
                "SELECT DISTINCT content, facts FROM images WHERE size = ? AND content != '' LIMIT ?",
                (size_bytes, MOST_ALIKE),
            )
            found = {content: _facts(text) for content, text in rows}
            return {content: facts for content, facts in found.items() if facts is not None}
        return {}

    def remember(self, folder: Path, found: Iterable[tuple[str, FileState, ImageFacts]]) -> None:
        """Remember what files hold, each with its name and state before it was read."""
        place = os.fsencode(folder)
        rows = [
            (place, os.fsencode(name), *state, facts.content, _text(facts)) for name, state, facts in found
        ]
        with contextlib.suppress(sqlite3.Error):
            self._connection.executemany("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._connection.commit()

    def forget_others(self, folder: Path, names: Iterable[str]) -> None:
        """Forget files of a folder that are not there any more."""
        place = os.fsencode(folder)
        with contextlib.suppress(sqlite3.Error):
            there = set(names)
            known = (row[0] for row in self._connection.execute(_NAMES, (place,)))
            gone = [name for name in known if os.fsdecode(name) not in there]
            self._connection.executemany(
                "DELETE FROM images WHERE folder = ? AND name = ?", [(place, name) for name in gone]
            )
            self._connection.commit()

    def _one(self, question: str, values: tuple[object, ...]) -> tuple[str, ...] | None:
        with contextlib.suppress(sqlite3.Error):
            row: tuple[str, ...] | None = self._connection.execute(question, values).fetchone()
            return row
        return None

    def _open(self) -> sqlite3.Connection:
        """Open the file; make it anew where it is damaged, or of an older program; do without at worst."""
        if self._file is not None:
            for _attempt in range(2):
                with contextlib.suppress(sqlite3.Error, OSError):
                    self._file.parent.mkdir(parents=True, exist_ok=True)
                    return _prepared(self._file)
                with contextlib.suppress(OSError):
                    self._file.unlink()
        return _prepared(None)


_NAMES = "SELECT name FROM images WHERE folder = ?"


def _prepared(file: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(file or ":memory:", timeout=5.0, check_same_thread=False)
    try:
        # All of it can be made again: nothing waits for the disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FACTS_VERSION):
            connection.execute("DROP TABLE IF EXISTS images")
        connection.executescript(_TABLES)
        connection.execute(f"PRAGMA user_version = {FACTS_VERSION}")
        connection.commit()
    except BaseException:
        connection.close()
        raise
    return connection


def _text(facts: ImageFacts) -> str:
    return facts.to_json()


def _facts(text: str) -> ImageFacts | None:
    try:
        return ImageFacts.from_json(text)
    except ValueError:
        return None
