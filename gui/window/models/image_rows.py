"""The images of a dataset and what is wrong with each, in a few bytes an image; it knows no Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.findings import RANKS

if TYPE_CHECKING:
    from gui.engine.dataset.buckets import Size
    from gui.engine.dataset.report import DatasetReport, SubsetReport
    from gui.window.models.looked_images import FolderImages, LookedAt

NOT_OF_IMAGES = ("cap-common", "mask-extra")
"""Kinds of trouble under which no names of images stand."""


class Level(IntEnum):
    """How bad the worst is that is wrong with an image."""

    UNKNOWN = 0
    FINE = 1
    LOOK = 2
    STOP = 3


@dataclass(frozen=True)
class ImageFilter:
    """Which images are shown.

    Attributes:
        level: Those of this level; None for all.
        key: Those with this kind of trouble; empty for all.
        place: Those of this folder; None for all.
        text: Those with this in their names, whatever the case.
        names: Those of ``place`` with these names; empty for all.
    """

    level: Level | None = None
    key: str = ""
    place: int | None = None
    text: str = ""
    names: frozenset[str] = frozenset()


@cache
def _levels() -> Mapping[str, tuple[int, Level]]:
    """Return for each kind of trouble where it stands among all, the worst first, and its level."""
    severities = {"stop": Level.STOP, "danger": Level.LOOK, "warning": Level.LOOK, "hint": Level.FINE}
    kinds = sorted(problem_kinds().values(), key=lambda kind: RANKS[kind.severity])
    return {kind.key: (rank, severities[kind.severity]) for rank, kind in enumerate(kinds)}


def worst_first(keys: Iterable[str]) -> tuple[str, ...]:
    """Return kinds of trouble, each once, the worst first; the same kinds are one tuple, however often."""
    return _ordered(frozenset(keys))


@lru_cache(maxsize=4096)
def _ordered(keys: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(keys, key=lambda key: _levels()[key][0]))


class ImageRows:
    """One row an image: folder by folder, by name.

    Args:
        folders: The folders and their images, sorted.
        before: Rows of an earlier look, whose answers count until there are new ones. With very many
            images that takes a while, and may be done in a thread.
    """

    def __init__(self, folders: Sequence[FolderImages], before: ImageRows | None = None) -> None:
        self.folders = tuple(folders)
        self._starts = [0]
        for folder in self.folders:
            self._starts.append(self._starts[-1] + len(folder.names))
        count = self._starts[-1]
        self._level = bytearray(count)
        self._width = array("I", bytes(4 * count))
        self._height = array("I", bytes(4 * count))
        self._keys: dict[int, tuple[str, ...]] = {}
        self._kinds: list[Counter[str]] = [Counter() for _folder in self.folders]
        self._twins: dict[int, str] = {}
        if before is not None:
            self._take_over(before)

    def __len__(self) -> int:
        return self._starts[-1]

    def place(self, row: int) -> int:
        """Return which folder an image lies in."""
        return bisect_right(self._starts, row) - 1

    def name(self, row: int) -> str:
        """Return an image's file name."""
        place = self.place(row)
        return self.folders[place].names[row - self._starts[place]]

    def path(self, row: int) -> Path:
        """Return where an image is."""
        return self.folders[self.place(row)].folder / self.name(row)

    def keys(self, row: int) -> tuple[str, ...]:
        """Return what is wrong with an image, the worst first."""
        return self._keys.get(row, ())

    def level(self, row: int) -> Level:
        """Return how bad the worst of it is."""
        return Level(self._level[row])

    def size(self, row: int) -> Size:
        """Return an image's size in pixels; (0, 0) where it is not known, or there is none."""
        return self._width[row], self._height[row]

    def twin(self, row: int) -> str:
        """Return the name of another image that is the same or looks alike; empty for none."""
        return self._twins.get(row, "")

    def row_of(self, place: int, name: str) -> int | None:
        """Return the row of an image; None where there is none."""
        names = self.folders[place].names
        at = bisect_left(names, name)
        return self._starts[place] + at if at < len(names) and names[at] == name else None

    def row_at(self, path: Path) -> int | None:
        """Return the row of a file; None where there is none."""
        for place, folder in enumerate(self.folders):
            if folder.folder == path.parent:
                return self.row_of(place, path.name)
        return None

    def measure(self, row: int, size: Size) -> None:
        """Take the size of an image in pixels as stored, (0, 0) where it has none; also from a thread."""
        self._width[row], self._height[row] = size

    def learn(self, images: Iterable[LookedAt]) -> set[int]:
        """Take what was found out about images, and return the rows that look otherwise now."""
        return {image.row for image in images if self._set(image.row, image.keys)}

    def judged(self, report: DatasetReport) -> ImageRows:
        """Return these rows as a whole report sees them: with captions, and compared with each other.

        Takes a while with very many images; may be called in a thread while nobody changes these rows.
        """
        rows = ImageRows(self.folders)
        rows._width, rows._height = self._width, self._height
        found: dict[int, tuple[str, ...]] = {}
        for row, key in self._of_report(report):
            found[row] = worst_first((*found.get(row, ()), key))
        rows._level = bytearray([Level.FINE]) * len(self)
        for row, keys in found.items():
            rows._set(row, keys)
        rows._twins = dict(self._twins_of(report))
        return rows

    def count(self, level: Level, place: int | None = None) -> int:
        """Return how many images are of a level."""
        first, last = self._range(place)
        return self._level.count(level, first, last)

    def kinds(self, place: int | None = None) -> Counter[str]:
        """Return the kinds of trouble to the number of images that have them."""
        counted = self._kinds if place is None else self._kinds[place : place + 1]
        return +sum(counted, Counter())

    def shown(self, wanted: ImageFilter) -> Sequence[int]:
        """Return the rows that a filter lets through."""
        first, last = self._range(wanted.place)
        rows: Iterable[int] = range(first, last)
        if wanted.names and wanted.place is not None:
            found = (self.row_of(wanted.place, name) for name in wanted.names)
            rows = sorted(row for row in found if row is not None)
        if wanted.key:
            inside = range(first, last) if isinstance(rows, range) else set(rows)
            rows = sorted(row for row, keys in self._keys.items() if wanted.key in keys and row in inside)
        if wanted.level is not None:
            level = self._level
            rows = [row for row in rows if level[row] == wanted.level]
        if wanted.text:
            rows = self._named(rows, wanted.text.casefold())
        return rows if isinstance(rows, range) else array("I", rows)

    def _named(self, rows: Iterable[int], text: str) -> list[int]:
        """Return rows with a text in their names; of whole folders that is quicker than one by one."""
        if not isinstance(rows, range):
            return [row for row in rows if text in self.name(row).casefold()]
        return [
            row
            for place, folder in enumerate(self.folders)
            if rows.start <= self._starts[place] < rows.stop
            for row, name in enumerate(folder.names, self._starts[place])
            if text in name.casefold()
        ]

    def _range(self, place: int | None) -> tuple[int, int]:
        return (0, len(self)) if place is None else (self._starts[place], self._starts[place + 1])

    def _set(self, row: int, keys: tuple[str, ...]) -> bool:
        """Take what is wrong with an image, the worst first; return whether that is news."""
        before = self._keys.get(row, ())
        if keys == before and self._level[row] != Level.UNKNOWN:
            return False
        self._level[row] = _levels()[keys[0]][1] if keys else Level.FINE
        kinds = self._kinds[self.place(row)]
        kinds.subtract(before)
        kinds.update(keys)
        if keys:
            self._keys[row] = keys
        else:
            self._keys.pop(row, None)
        return True

    def _of_report(self, report: DatasetReport) -> Iterator[tuple[int, str]]:
        for subset, place in self._subsets(report):
            captions = subset.captions.problems if subset.captions else ()
            for problem in (*subset.problems, *captions):
                for name in problem.names if problem.key not in NOT_OF_IMAGES else ():
                    row = self.row_of(place, name)
                    if row is not None:
                        yield row, problem.key

    def _twins_of(self, report: DatasetReport) -> Iterator[tuple[int, str]]:
        places = {number: place for number, (_subset, place) in enumerate(self._subsets(report))}
        for group in reversed(report.alike):  # the very same ones come first, and count most
            first, second = group.images[0].name, group.images[1].name
            for image in group.images:
                row = self.row_of(places[image.subset], image.name) if image.subset in places else None
                if row is not None:
                    yield row, second if image is group.images[0] else first

    def _subsets(self, report: DatasetReport) -> Iterator[tuple[SubsetReport, int]]:
        places = {str(folder.folder): place for place, folder in enumerate(self.folders)}
        return ((subset, places[subset.image_dir]) for subset in report.subsets if subset.image_dir in places)

    def _take_over(self, before: ImageRows) -> None:
        """Keep what was known of the same files, until they are looked at again."""
        places = {folder.folder: place for place, folder in enumerate(before.folders)}
        for place, folder in enumerate(self.folders):
            old_place = places.get(folder.folder)
            if old_place is None:
                continue
            for at, name in enumerate(folder.names, self._starts[place]):
                old = before.row_of(old_place, name)
                if old is not None:
                    self._copy(at, before, old)

    def _copy(self, row: int, before: ImageRows, old: int) -> None:
        self._level[row] = before._level[old]
        self._width[row], self._height[row] = before.size(old)
        if old in before._keys:
            self._keys[row] = before._keys[old]
            self._kinds[self.place(row)].update(before._keys[old])
        if old in before._twins:
            self._twins[row] = before._twins[old]
