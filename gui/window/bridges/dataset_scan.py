"""Looks at all images of a dataset in processes; what is found comes to the GUI thread as it is found."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import PreflightError
from gui.engine.freed_memory import give_back_memory, no_full_collections
from gui.engine.paths import Home
from gui.window.bridges.dataset_source import DatasetSource, OpenedDataset, open_dataset
from gui.window.bridges.tasks import UnexpectedFault
from gui.window.models.image_rows import ImageRows, worst_first
from gui.window.models.looked_images import FolderImages, LookedAt

if TYPE_CHECKING:
    from gui.engine.dataset.doctor import Doctor
    from gui.engine.dataset.report import DatasetReport
    from gui.engine.dataset.scan import ScanBatch, ScanProgress
    from gui.window.bridges.plan_check import PlanCheck

State = Literal["idle", "opening", "looking", "paused", "reading", "done", "stopped", "failed"]
"""``opening``: the folders are listed; ``looking``: at images; ``reading``: captions and caches;
``stopped``: it was called off."""

TELL_SECONDS = 0.1
"""What was found is told so often, however much it is."""

SLICE = 400
"""So many images are told at once; between two slices the window answers its user."""

PATIENCE_SECONDS = 5.0
"""So long closing waits until all processes are gone."""


@dataclass(frozen=True)
class Begun:
    """A look that has begun.

    Attributes:
        dataset: What is looked at.
        folders: The folders of images, each once.
        rows: Their images, with what is still known of an earlier look.
    """

    dataset: OpenedDataset
    folders: tuple[FolderImages, ...]
    rows: ImageRows


@dataclass(frozen=True)
class Finished:
    """A look that is over.

    Attributes:
        report: With what the rules say.
        rows: The images as the report sees them.
    """

    report: DatasetReport
    rows: ImageRows


@dataclass(frozen=True)
class Found:
    """Images that were looked at, and how far the look is."""

    images: tuple[LookedAt, ...]
    progress: ScanProgress


class DatasetScan(QObject):
    """One look at a time; a newer one ends the older.

    Args:
        home: Holds what is remembered of images.
        processes: How many look at images; None takes one a core.
    """

    begun = Signal(object)
    """`Begun`."""
    found = Signal(object)
    """`Found`."""
    finished = Signal(object)
    """`Finished`."""
    failed = Signal(object)
    """`PreflightError`: why nothing can be looked at."""
    changed = Signal()
    """`state` is another one."""

    _told = Signal(int, str, object)

    def __init__(self, home: Home, processes: int | None = None) -> None:
        super().__init__()
        self.state: State = "idle"
        self._home = home
        self._processes = processes
        self._number = 0
        self._look: _Look | None = None
        self._waiting: deque[LookedAt] = deque()
        self._progress: ScanProgress | None = None
        self._slices = QTimer(self)
        self._slices.setSingleShot(True)
        self._slices.timeout.connect(self._tell_slice)
        self._told.connect(self._take)

    @property
    def busy(self) -> bool:
        """Whether something is being looked at."""
        return self.state in ("opening", "looking", "paused", "reading")

    @property
    def memory(self) -> Path:
        """Where what was found out is remembered."""
        from gui.engine.dataset.doctor import CACHE_FOLDER

        return self._home.cache / CACHE_FOLDER

    def start(self, source: DatasetSource, check: PlanCheck, before: ImageRows | None = None) -> None:
        """Look at a dataset.

        Args:
            source: Which.
            check: The open plan, and what checks it.
            before: What an earlier look has found; it must not be changed any more.
        """
        self._end()
        self._number += 1
        number = self._number

        def tell(what: str, value: object) -> None:
            with contextlib.suppress(RuntimeError):  # the window has just been closed
                self._told.emit(number, what, value)

        opening = partial(open_dataset, source, check)
        self._look = _Look(opening, self.memory, self._processes, tell, before)
        self._be("opening")
        self._look.start()

    def pause(self) -> None:
        """Begin no more images."""
        if self._look is not None and self.state == "looking":
            self._look.pause()
            self._be("paused")

    def resume(self) -> None:
        """Go on."""
        if self._look is not None and self.state == "paused":
            self._look.resume()
            self._be("looking")

    def cancel(self) -> None:
        """End the look; what was found is remembered."""
        if self.busy:
            self._end()
            self._number += 1
            self._be("stopped")

    def close(self) -> None:
        """End everything, and wait until no process is left."""
        look = self._look
        self._end()
        if look is not None:
            look.wait(PATIENCE_SECONDS)

    def _end(self) -> None:
        self._waiting.clear()
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _be(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()

    def _take(self, number: int, what: str, value: object) -> None:
        if number != self._number:
            return
        if what == "begun":
            self.begun.emit(value)
            self._be("looking")
        elif what == "found" and isinstance(value, Found):
            self._waiting.extend(value.images)
            self._progress = value.progress
            self._tell_slice()
        elif what == "reading":
            self._be("reading")
        elif what == "finished":
            self._waiting.clear()  # all of it is in the rows that come now
            self._be("done")
            self.finished.emit(value)
        else:
            self._be("failed")
            self.failed.emit(value)

    def _tell_slice(self) -> None:
        """Tell what waits, not more at once than the window has time for."""
        images = tuple(self._waiting.popleft() for _image in range(min(SLICE, len(self._waiting))))
        if self._progress is not None:
            self.found.emit(Found(images, self._progress))
        if self._waiting:
            self._slices.start()


class _Look:
    """The thread of one look."""

    def __init__(
        self,
        opening: Callable[[], OpenedDataset],
        memory: Path,
        processes: int | None,
        tell: Callable[[str, object], None],
        before: ImageRows | None,
    ) -> None:
        self._before = before
        self._opening = opening
        self._memory = memory
        self._processes = processes
        self._tell = tell
        self._doctor: Doctor | None = None
        self._cancelled = threading.Event()
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="dataset look", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def pause(self) -> None:
        with self._guard:
            if self._doctor is not None:
                self._doctor.scan.pause()

    def resume(self) -> None:
        with self._guard:
            if self._doctor is not None:
                self._doctor.scan.resume()

    def cancel(self) -> None:
        with self._guard:
            self._cancelled.set()
            if self._doctor is not None:
                self._doctor.scan.cancel()

    def _run(self) -> None:
        try:
            with no_full_collections():
                self._work()
        except PreflightError as error:
            self._tell("failed", error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it has to be said
            self._tell("failed", UnexpectedFault(error))

    def _work(self) -> None:
        from gui.engine.dataset.doctor import Doctor

        dataset = self._opening()
        doctor = Doctor(dataset.spec, self._memory, self._processes)
        try:
            with self._guard:
                self._doctor = doctor
                if self._cancelled.is_set():
                    return
            folders = _folders_of(doctor, dataset)
            rows, self._before = ImageRows(folders, self._before), None
            self._tell("begun", Begun(dataset, folders, rows))
            for found in _gathered(doctor, rows):
                self._tell("found", found)
            if not self._cancelled.is_set():
                self._tell("reading", None)
                report = dataset.with_rules(doctor.report())
                self._tell("finished", Finished(report, rows.judged(report)))
        finally:
            doctor.close()
            with self._guard:
                self._doctor = None
            del doctor
            give_back_memory()


def _folders_of(doctor: Doctor, dataset: OpenedDataset) -> tuple[FolderImages, ...]:
    """Return the folders of images: those of masks are looked at, but are not the dataset."""
    wanted = {subset.image_dir for subset in dataset.spec.subsets}
    return tuple(FolderImages(each, doctor.images_in(each)) for each in doctor.folders if each in wanted)


def _gathered(doctor: Doctor, rows: ImageRows) -> Iterator[Found]:
    """Yield what is found, not more often than it can be shown."""
    wanted = {subset.image_dir for subset in doctor.spec.subsets}
    places = {
        old: new for new, old in enumerate(i for i, each in enumerate(doctor.folders) if each in wanted)
    }
    images: list[LookedAt] = []
    progress: ScanProgress | None = None
    due = time.monotonic() + TELL_SECONDS
    for batch in doctor.batches():
        images += _looked_at(doctor, batch, places, rows)
        progress = batch.progress
        if time.monotonic() >= due:
            yield Found(tuple(images), progress)
            images = []
            due = time.monotonic() + TELL_SECONDS
    if progress is not None:
        yield Found(tuple(images), progress)


def _looked_at(
    doctor: Doctor, batch: ScanBatch, places: dict[int, int], rows: ImageRows
) -> Iterator[LookedAt]:
    for image in batch.images:
        if image.place not in places:
            continue  # a mask
        row = rows.row_of(places[image.place], image.name)
        if row is not None:
            keys = [key for each in doctor.subsets_of(image) for key in doctor.problems_of(image, each)]
            size = image.facts.size if image.facts.fault is None else (0, 0)
            rows.measure(row, size)
            yield LookedAt(row, worst_first(keys))
