"""Finds what the trainer saves by watching its folders, since it names nothing reliably.

It announces models before they are written and samples not at all (trainer-output 3.3, 3.4), and
writes over existing files without a question (trainer-facts 2.4). So what lay there before launch is
noted first, and a file counts as the run's own when its identity or time differs from that.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import Document
from gui.engine.runs.records import FileMark, mark_of
from gui.engine.runs.save_names import SaveKind, SaveName, SaveNames
from gui.engine.runs.wholeness import has_writer, is_whole

SAMPLE_FOLDER = "sample"
"""Below the output folder (train_util.py:6438)."""

FILE_STILL_SECONDS = 0.5
"""A whole file that nobody is known to write counts as complete when unchanged for so long."""

FOLDER_STILL_SECONDS = 1.0
"""Likewise a folder: its files are written one after the other."""

Signature = tuple[tuple[str, int, int, int], ...]
"""Name, size, inode and time of change of a file, or of each file in a folder."""


class NewFile(Document):
    """A file or folder that the run wrote.

    Attributes:
        path: Where.
        kind: Model, state or sample.
        complete: Whether all of it is there and nobody writes any more.
        size: Bytes so far.
        name: What its name tells.
    """

    path: Path
    kind: SaveKind
    complete: bool
    size: int
    name: SaveName


@dataclass
class _Watched:
    """What is known about one path.

    Attributes:
        signature: As last seen.
        since: When it was first seen so.
        complete: Whether it was told to be complete in this form.
        told: Whether it was told at all.
    """

    signature: Signature
    since: float
    complete: bool = False
    told: bool = False


class SaveWatcher:
    """Looks for new and changed models, states and samples of one output name.

    Args:
        output_dir: The trainer's argument, absolute.
        output_name: The trainer's argument; None means its defaults.
        sample_dir: Where samples are written; None means below the output folder.
        since: What lay there before launch, from :func:`collisions`.
        clock: Seconds, never set back.
    """

    def __init__(
        self,
        output_dir: Path,
        output_name: str | None,
        sample_dir: Path | None = None,
        since: Iterable[FileMark] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folders = _Folders(output_dir, output_name, sample_dir)
        self._before = {str(mark.path): (mark.size, mark.inode, mark.mtime_ns) for mark in since}
        self._clock = clock
        self._watched: dict[Path, _Watched] = {}
        self._files: dict[Path, NewFile] = {}

    @property
    def files(self) -> tuple[NewFile, ...]:
        """The run's files that were there at the last look, in the order in which they appeared."""
        return tuple(self._files.values())

    def poll(self) -> list[NewFile]:
        """Look once.

        Returns:
            What appeared, became complete, or was written again since the last look.
        """
        news = []
        seen = set()
        for path, name in self._folders.entries():
            signature = _signature(path)
            if signature is None or self._is_old(path, signature):
                continue
            seen.add(path)
            if self._look(path, name, signature):
                news.append(self._files[path])
        for path in self._watched.keys() - seen:
            del self._watched[path], self._files[path]
        return news

    def _is_old(self, path: Path, signature: Signature) -> bool:
        """Whether all of it was there before launch just as it is now."""
        if path.is_dir() and not signature:
            return str(path) in self._before
        return all(self._before.get(inner) == tuple(facts) for inner, *facts in signature)

    def _look(self, path: Path, name: SaveName, signature: Signature) -> bool:
        """Take in one path; return whether there is news about it."""
        now = self._clock()
        known = self._watched.get(path)
        if known is None or known.signature != signature:
            told = known is not None and known.told and not known.complete
            known = self._watched[path] = _Watched(signature, now, told=told)
        complete = known.complete or self._is_complete(path, name, known, now)
        news = complete != known.complete or not known.told
        known.complete, known.told = complete, True
        size = sum(size for _name, size, _inode, _time in signature)
        self._files[path] = NewFile(path=path, kind=name.kind, complete=complete, size=size, name=name)
        return news

    def _is_complete(self, path: Path, name: SaveName, known: _Watched, now: float) -> bool:
        if not is_whole(path, name.kind):
            return False
        if path.is_dir():
            return now - known.since >= FOLDER_STILL_SECONDS
        writer = has_writer(path)
        if writer is None:
            return now - known.since >= FILE_STILL_SECONDS
        return not writer and _signature(path) == known.signature


def collisions(
    output_dir: Path, output_name: str | None, sample_dir: Path | None = None
) -> tuple[FileMark, ...]:
    """Return the files that already bear names of this run: what it may write over.

    Of a state or a model folder, the folder and all files in it are returned.

    Args:
        output_dir: The trainer's argument, absolute.
        output_name: The trainer's argument; None means its defaults.
        sample_dir: Where samples are written; None means below the output folder.
    """
    paths = (
        inner
        for path, _name in _Folders(output_dir, output_name, sample_dir).entries()
        for inner in ((path, *_files_in(path)) if path.is_dir() else (path,))
    )
    return tuple(mark for mark in map(mark_of, paths) if mark)


class _Folders:
    """The two folders that the trainer saves to, and which of their entries are the run's.

    An output name may hold a folder of its own, as in ``mira/v2``: the trainer joins it to the path.
    """

    def __init__(self, output_dir: Path, output_name: str | None, sample_dir: Path | None) -> None:
        samples = sample_dir or output_dir / SAMPLE_FOLDER
        base = output_name
        if output_name is not None:
            base = os.path.basename(output_name)  # noqa: PTH119 -- a name may be empty, a path may not
            output_dir, samples = (Path(f, output_name + "_").parent for f in (output_dir, samples))
        self._names = SaveNames(base)
        self._saves, self._samples = output_dir, samples

    def entries(self) -> Iterator[tuple[Path, SaveName]]:
        """Yield the entries with the run's names, old ones included, by name."""
        for entry in _listed(self._saves):
            name = self._names.save(entry.name, folder=entry.is_dir())
            if name:
                yield Path(entry.path), name
        for entry in _listed(self._samples):
            name = self._names.sample(entry.name)
            if name:
                yield Path(entry.path), name


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _files_in(folder: Path) -> list[Path]:
    return sorted(Path(root, name) for root, _folders, names in os.walk(folder) for name in names)


def _signature(path: Path) -> Signature | None:
    """Return what tells this form of a file or folder from another; None when it is gone."""
    facts = []
    with contextlib.suppress(OSError):
        for inner in _files_in(path) if path.is_dir() else [path]:
            stat = inner.stat()
            facts.append((str(inner), stat.st_size, stat.st_ino, stat.st_mtime_ns))
        return tuple(facts)
    return None
