"""Small pictures of images for whoever shows them: made when they are wanted, few of them remembered."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPainterPath

from gui.engine.dataset.small_picture import PictureMaker, PictureWish, SmallPicture
from gui.engine.errors import ScanFailed

MOST_BYTES = 24 << 20
"""So much all remembered pictures may take, besides those that are in sight."""

PROCESSES = 2


class RoundWish(NamedTuple):
    """A picture that is wanted.

    Attributes:
        wish: What the process makes.
        radius: Of its corners, in its own pixels; 0 for none.
    """

    wish: PictureWish
    radius: float = 0.0


class _Kept(NamedTuple):
    wanted: RoundWish
    image: QImage | None
    age: int


class DatasetPictures(QObject):
    """Makes pictures in processes; the newest wish first, and none that nobody wants any more.

    Args:
        processes: How many make pictures at once.
        words: Their command line; None takes this program.
    """

    arrived = Signal()
    """Some that were wanted are there now."""

    def __init__(self, processes: int = PROCESSES, words: list[str] | None = None) -> None:
        super().__init__()
        self._kept: OrderedDict[Path, _Kept] = OrderedDict()
        self._bytes = 0
        self._age = 0
        self._in_sight: set[Path] = set()
        self._wanted: list[RoundWish] = []
        self._making: set[RoundWish] = set()
        self._change = threading.Condition()
        self._told = False
        self._closed = False
        self._arrive.connect(self._tell)
        self._makers = [PictureMaker(words) for _number in range(processes)]
        self._threads: list[threading.Thread] = []

    _arrive = Signal()

    @property
    def bytes(self) -> int:
        """What the remembered pictures take."""
        return self._bytes

    def find(self, path: Path) -> QImage | None:
        """Return a picture of a file, of whatever size there is; None where there is none (yet)."""
        with self._change:
            kept = self._kept.get(path)
            if kept is None:
                return None
            self._kept.move_to_end(path)
            return kept.image

    def knows(self, path: Path) -> bool:
        """Whether it was tried to make a picture of a file; one that has none is known too."""
        return path in self._kept

    def want(self, wishes: Sequence[RoundWish]) -> None:
        """Make these, the first one first, and no others that were wanted before."""
        with self._change:
            self._in_sight = {wish.wish.path for wish in wishes}
            self._wanted = [wish for wish in reversed(wishes) if self._is_new(wish)]
            if not self._wanted or self._closed:
                return
            if not self._threads:
                self._start()
            self._change.notify_all()

    def look_again(self) -> None:
        """Files may be other ones by now: make their pictures anew; the old ones are shown meanwhile."""
        with self._change:
            self._age += 1

    def close(self) -> None:
        """End all processes."""
        with self._change:
            self._closed = True
            self._wanted = []
            self._change.notify_all()
        for maker in self._makers:
            maker.close()
        for thread in self._threads:
            thread.join(2.0)

    def _is_new(self, wanted: RoundWish) -> bool:
        kept = self._kept.get(wanted.wish.path)
        return wanted not in self._making and (kept is None or kept.wanted != wanted or kept.age != self._age)

    def _start(self) -> None:
        for maker in self._makers:
            thread = threading.Thread(target=self._run, args=(maker,), name="small pictures", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self, maker: PictureMaker) -> None:
        while (taken := self._next()) is not None:
            wanted, age = taken
            try:
                picture = maker.make(wanted.wish)
            except ScanFailed:
                self._put(wanted, None, age)
                return  # there will be no process next time either
            self._put(wanted, _image(picture, wanted.radius) if picture else None, age)

    def _next(self) -> tuple[RoundWish, int] | None:
        with self._change:
            while not self._wanted and not self._closed:
                self._change.wait()
            if self._closed:
                return None
            wanted = self._wanted.pop()
            self._making.add(wanted)
            return wanted, self._age

    def _put(self, wanted: RoundWish, image: QImage | None, age: int) -> None:
        with self._change:
            self._making.discard(wanted)
            if self._closed:
                return
            path = wanted.wish.path
            before = self._kept.pop(path, None)
            self._bytes += _size(image) - (_size(before.image) if before else 0)
            self._kept[path] = _Kept(wanted, image, age)
            self._forget()
            tell, self._told = not self._told, True
        if tell:
            with contextlib.suppress(RuntimeError):  # the window has just been closed
                self._arrive.emit()

    def _forget(self) -> None:
        """Forget those that were not seen for longest."""
        for path in list(self._kept) if self._bytes > MOST_BYTES else ():
            if self._bytes <= MOST_BYTES:
                break
            if path not in self._in_sight:
                self._bytes -= _size(self._kept.pop(path).image)

    def _tell(self) -> None:
        self._told = False
        self.arrived.emit()


def _size(image: QImage | None) -> int:
    return image.sizeInBytes() if image is not None else 64


def _image(picture: SmallPicture, radius: float) -> QImage:
    """Return a picture with round corners."""
    width, height = picture.size
    plain = QImage(picture.pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if radius:
        corners = QPainterPath()
        corners.addRoundedRect(QRectF(0, 0, width, height), radius, radius)
        painter.setClipPath(corners)
    painter.drawImage(0, 0, plain)
    painter.end()
    return image
