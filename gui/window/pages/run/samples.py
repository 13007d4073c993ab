"""The samples that a run draws: small ones in a strip, one of them large."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QIcon,
    QImage,
    QImageIOHandler,
    QImageReader,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractItemView, QListView

from gui.engine.errors import CannotRead
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.space import SMALL_RADIUS
from gui.window.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex

SIDE = 72
"""Of a small one, in pixels at a text size of 100 %."""

LARGEST_SIDE = 4096
"""A larger picture is brought down to this when it is read."""


LARGEST_BYTES = 256 << 20
"""A picture that takes more memory while it is read is not shown."""


@dataclass(frozen=True)
class Sample:
    """One picture.

    Attributes:
        path: Where.
        caption: Short: the step or epoch.
        prompt: What it was drawn from, "" where that is not known.
    """

    path: Path
    caption: str
    prompt: str = ""


def read_picture(path: Path, largest: QSize) -> QImage:
    """Read a picture, brought down to a size; called in a thread.

    Raises:
        CannotRead: It is no longer there, or no picture.
    """
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    size = reader.size()
    if _bytes_of(size) > LARGEST_BYTES and not reader.supportsOption(QImageIOHandler.ImageOption.ScaledSize):
        words = _("{width} × {height} pixels are too many to show")
        raise CannotRead(path, words.format(width=f"{size.width():,}", height=f"{size.height():,}"))
    if size.isValid() and (size.width() > largest.width() or size.height() > largest.height()):
        reader.setScaledSize(size.scaled(largest, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise CannotRead(path, _("it is no longer there") if not path.exists() else reader.errorString())
    return image


def _bytes_of(size: QSize) -> int:
    """Return what the whole picture takes, four bytes a pixel."""
    return 4 * size.width() * size.height() if size.isValid() else 0


class SampleModel(QAbstractListModel):
    """Samples, the newest first; each is read when it is first seen.

    Args:
        theme: Gives the size and the colour of what is not there.
        tasks: Where pictures are read.
    """

    def __init__(self, theme: Theme, tasks: Tasks) -> None:
        super().__init__()
        self._theme = theme
        self._tasks = tasks
        self._samples: list[Sample] = []
        self._pictures: dict[Path, QPixmap | None] = {}
        self._generation = 0

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 - Qt's name and default
        """Return how many there are."""
        return 0 if parent.isValid() else len(self._samples)

    def sample(self, row: int) -> Sample:
        """Return one of them."""
        return self._samples[row]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a sample's caption, picture and words."""
        if not index.isValid() or index.row() >= len(self._samples):
            return None
        sample = self._samples[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return sample.caption
        if role == Qt.ItemDataRole.DecorationRole:
            return QIcon(self._picture(sample))
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return "\n".join(part for part in (sample.caption, sample.prompt, sample.path.name) if part)
        return None

    def add(self, samples: Iterable[Sample]) -> None:
        """Put newer ones in front; one that is drawn again under its name takes its old place."""
        known = {sample.path for sample in self._samples}
        newer: list[Sample] = []
        for sample in samples:
            if sample.path in known:
                self._pictures.pop(sample.path, None)
            else:
                known.add(sample.path)
                newer.insert(0, sample)
        if newer:
            self.beginInsertRows(QModelIndex(), 0, len(newer) - 1)
            self._samples[:0] = newer
            self.endInsertRows()

    def clear(self) -> None:
        """Forget all of them."""
        self.beginResetModel()
        self._samples, self._pictures = [], {}
        self._generation += 1
        self.endResetModel()

    def _picture(self, sample: Sample) -> QPixmap:
        if sample.path not in self._pictures:
            self._pictures[sample.path] = None
            side = self._theme.px(SIDE) * 2
            generation = self._generation

            def work(_handle: TaskHandle) -> QImage:
                return read_picture(sample.path, QSize(side, side))

            self._tasks.run(
                work,
                lambda image: self._take(sample, generation, image),
                lambda _error: self._take(sample, generation, QImage()),
            )
        found = self._pictures[sample.path]
        return found if found is not None else self._rounded(QImage())

    def _take(self, sample: Sample, generation: int, image: QImage) -> None:
        if generation != self._generation or sample not in self._samples:
            return
        self._pictures[sample.path] = self._rounded(image)
        place = self.index(self._samples.index(sample), 0)
        self.dataChanged.emit(place, place)

    def _rounded(self, image: QImage) -> QPixmap:
        """Return a square picture with round corners; a plain surface where there is none."""
        side = self._theme.px(SIDE) * 2
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRoundedRect(0, 0, side, side, 2 * SMALL_RADIUS, 2 * SMALL_RADIUS)
        painter.fillPath(path, QColor(self._theme.color("line")))
        painter.setClipPath(path)
        if not image.isNull():
            whole = image.scaled(
                side,
                side,
                Qt.AspectRatioMode.KeepAspectRatioByExpanding,
                Qt.TransformationMode.SmoothTransformation,
            )
            painter.drawImage((side - whole.width()) // 2, (side - whole.height()) // 2, whole)
        painter.end()
        pixmap.setDevicePixelRatio(2.0)
        return pixmap


class SampleStrip(QListView):
    """Samples in one line, the newest first.

    Args:
        theme: Gives their size.
        model: The samples.
    """

    wanted = Signal(int)
    """Show the sample of this row large."""

    def __init__(self, theme: Theme, model: SampleModel) -> None:
        super().__init__()
        self.setObjectName("run-samples-strip")
        self.setAccessibleName(_("Samples, the newest first"))
        self._theme = theme
        self.setModel(model)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        self.clicked.connect(lambda index: self.wanted.emit(index.row()))
        theme.changed.connect(self._measure)
        self._measure()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter shows it large."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.key() in keys and self.currentIndex().isValid():
            self.wanted.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def _measure(self) -> None:
        side = self._theme.px(SIDE)
        self.setFont(self._theme.font("small"))
        line = self.fontMetrics().height()
        self.setIconSize(QSize(side, side))
        self.setGridSize(QSize(side + 8, side + line + 8))
        self.setFixedHeight(side + line + 8 + self._theme.px(10))


def caption_of(step: int | None, epoch: int | None) -> str:
    """Return what is written below a sample."""
    if epoch is not None:
        return _("epoch {epoch}").format(epoch=epoch)
    if step is not None:
        return _("step {step}").format(step=f"{step:,}")
    return _("sample")
