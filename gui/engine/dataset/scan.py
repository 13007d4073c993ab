"""Looks at every image of some folders by full decode, in processes, as fast as the machine can."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gui.engine.dataset.crew import Crew
from gui.engine.dataset.image_cache import FileState, ImageCache
from gui.engine.dataset.image_facts import Fault, ImageFacts
from gui.engine.dataset.worker import Job
from gui.engine.quantities import about
from gui.engine.texts import _, ngettext

BATCH_IMAGES = 256
BATCH_SECONDS = 0.1
"""Results come in batches: as many, or whatever there is after so long."""

WRITE_SECONDS = 1.0
"""So often what was found is written down."""

PASSING: frozenset[Fault | None] = frozenset({"gone", "denied", "died", "slow"})
"""What may be otherwise at the next look."""

PACE_SECONDS = 10.0
"""Images per second are counted over the last so many seconds."""


class FolderToScan(NamedTuple):
    """One folder.

    Attributes:
        folder: Where; absolute.
        names: The files to look at.
    """

    folder: Path
    names: Sequence[str]


class ScannedImage(NamedTuple):
    """What was found out about one file.

    Attributes:
        place: Which of the folders, in their order.
        name: The file.
        facts: What it holds.
        state: Its size and time of change; None where it is not there.
    """

    place: int
    name: str
    facts: ImageFacts
    state: FileState | None


@dataclass(frozen=True)
class ScanProgress:
    """How far a scan is.

    Attributes:
        done: Images that are known.
        total: All images.
        per_second: Images per second lately; None before it can be told.
        seconds_left: None before it can be told.
    """

    done: int
    total: int
    per_second: float | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class ScanBatch:
    """Some results, in no order, and how far the scan is."""

    images: tuple[ScannedImage, ...]
    progress: ScanProgress


class _Unknown(NamedTuple):
    """A file that has to be looked at; there can be many, so it is small."""

    place: int
    at: int
    state: FileState


class _Pace:
    """Counts images per second over the last while."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._marks: deque[tuple[float, int]] = deque()

    def progress(self, done: int) -> ScanProgress:
        now = time.monotonic()
        self._marks.append((now, done))
        while now - self._marks[0][0] > PACE_SECONDS and len(self._marks) > 2:
            self._marks.popleft()
        began, before = self._marks[0]
        if done <= before or now - began < BATCH_SECONDS:
            return ScanProgress(done, self._total)
        rate = (done - before) / (now - began)
        return ScanProgress(done, self._total, rate, (self._total - done) / rate)

    def forget(self) -> None:
        """Do not count what went before: the scan stood still."""
        self._marks.clear()


class Scan:
    """One scan. ``pause``, ``resume`` and ``cancel`` may come from any thread."""

    def __init__(
        self,
        folders: Sequence[FolderToScan],
        cache: ImageCache,
        processes: int | None = None,
        *,
        crew_words: list[str] | None = None,
    ) -> None:
        """Take what is to be looked at; nothing happens before batches are asked for.

        Args:
            folders: Which.
            cache: What is known already; it is used by the thread that asks for batches.
            processes: How many; None takes one a core.
            crew_words: The command line of a process; None takes this program.
        """
        self._folders = folders
        self._cache = cache
        self._total = sum(len(folder.names) for folder in folders)
        self._pace = _Pace(self._total)
        self._unknown: list[_Unknown] = []
        self._alike: dict[int, dict[str, ImageFacts]] = {}
        self._crew = Crew(self._jobs(), processes, words=crew_words)
        self._done = 0
        self.cancelled = False

    def pause(self) -> None:
        """Begin no more files."""
        self._crew.pause()
        self._pace.forget()

    def resume(self) -> None:
        """Go on."""
        self._pace.forget()
        self._crew.resume()

    def cancel(self) -> None:
        """End the scan; the batches end with what is known so far, which is also remembered."""
        self.cancelled = True
        self._crew.call_off()

    def batches(self) -> Iterator[ScanBatch]:
        """Yield results as they come: first what is remembered, then what the processes find.

        Raises:
            ScanFailed: No process can be started.
        """
        yield from self._grouped(self._remembered())
        if self._unknown and not self.cancelled:
            yield from self._grouped(self._found())

    def _grouped(self, images: Iterable[ScannedImage | None]) -> Iterator[ScanBatch]:
        waiting: list[ScannedImage] = []
        due = time.monotonic() + BATCH_SECONDS
        for image in images:
            if image is not None:
                waiting.append(image)
            if len(waiting) >= BATCH_IMAGES or time.monotonic() >= due:
                yield self._batch(waiting)
                waiting = []
                due = time.monotonic() + BATCH_SECONDS
        if waiting:
            yield self._batch(waiting)

    def _batch(self, images: list[ScannedImage]) -> ScanBatch:
        self._done += len(images)
        return ScanBatch(tuple(images), self._pace.progress(self._done))

    def _remembered(self) -> Iterator[ScannedImage]:
        """Yield what is known of unchanged files; keep the others for the processes."""
        for place, (folder, names) in enumerate(self._folders):
            for at, name in enumerate(names):
                if self.cancelled:
                    return
                state = state_of(folder / name)
                if state is None:
                    yield ScannedImage(place, name, _not_there(folder / name), None)
                    continue
                facts = self._cache.find(folder, name, state)
                if facts is not None:
                    yield ScannedImage(place, name, facts, state)
                    continue
                self._unknown.append(_Unknown(place, at, state))
                if state.size_bytes not in self._alike:
                    self._alike[state.size_bytes] = self._cache.of_size(state.size_bytes)
        self._pace.forget()  # remembering is no measure for looking

    def _jobs(self) -> Iterator[Job]:
        for tag, unknown in enumerate(self._unknown):
            folder, names = self._folders[unknown.place]
            known = self._alike[unknown.state.size_bytes]
            yield Job(folder / names[unknown.at], tuple(known), tag)

    def _found(self) -> Iterator[ScannedImage | None]:
        """Yield what the processes find, and remember it, also when the scan is called off."""
        new: dict[int, list[tuple[str, FileState, ImageFacts]]] = {}
        written = time.monotonic()
        try:
            for answer in self._crew.answers():
                if answer is None:
                    yield None
                    continue
                image = self._image(*answer)
                if image.state is not None and image.facts.fault not in PASSING:
                    new.setdefault(image.place, []).append((image.name, image.state, image.facts))
                yield image
                if time.monotonic() - written > WRITE_SECONDS:
                    self._remember(new)
                    written = time.monotonic()
        finally:
            self._remember(new)

    def _image(self, job: Job, answer: ImageFacts | str) -> ScannedImage:
        place, at, state = self._unknown[job.tag]
        name = self._folders[place].names[at]
        if isinstance(answer, str):
            return ScannedImage(place, name, self._alike[state.size_bytes][answer], state)
        if answer.fault == "gone":
            return ScannedImage(place, name, _not_there(job.path), None)
        return ScannedImage(place, name, answer, state)

    def _remember(self, new: dict[int, list[tuple[str, FileState, ImageFacts]]]) -> None:
        for place, rows in new.items():
            self._cache.remember(self._folders[place].folder, rows)
        new.clear()


def done_words(done: int, total: int) -> str:
    """Return how many images are done, of how many."""
    words = ngettext("{done} of {total} image", "{done} of {total} images", total)
    return words.format(done=f"{done:,}", total=f"{total:,}")


def progress_words(progress: ScanProgress) -> str:
    """Return how far a scan is, in a line."""
    words = done_words(progress.done, progress.total)
    if progress.per_second is not None and progress.seconds_left is not None:
        words += " · " + _("{rate:.0f} a second, {left} left").format(
            rate=progress.per_second, left=about(progress.seconds_left)
        )
    return words


def state_of(path: Path) -> FileState | None:
    """Return by what a file is known again; None when it is not there."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    # What is no file, such as a pipe, is never known.
    changed = status.st_mtime_ns if stat.S_ISREG(status.st_mode) else -1
    return FileState(status.st_size, changed)


def _not_there(path: Path) -> ImageFacts:
    """Tell a file that went away from a name that leads nowhere: the trainer stops at the second."""
    return ImageFacts(fault="denied" if os.path.lexists(path) else "gone")
