"""The grid of images: only the tiles in sight cost anything, however many there are.

`QListView` lays all tiles out again whenever the width or the model changes; here a tile's place is
worked out from its number.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame

from gui.engine.dataset.small_picture import PictureWish
from gui.engine.texts import _
from gui.window.bridges.dataset_pictures import DatasetPictures, RoundWish
from gui.window.models.image_grid_model import ImageGridModel, Index
from gui.window.pages.data.tile_words import tile_words
from gui.window.pages.data.tiles import Tile, TilePainter
from gui.window.theme.icons import Icons
from gui.window.widgets.styled import style

Action = QAbstractItemView.CursorAction
AHEAD_LINES = 2
"""Pictures of so many lines below are made as well."""

_STEPS = {
    Action.MoveLeft: -1,
    Action.MovePrevious: -1,
    Action.MoveRight: 1,
    Action.MoveNext: 1,
}


class ImageGrid(QAbstractItemView):
    """Tiles of images in lines.

    Args:
        icons: With the theme.
        model: The images.
        pictures: Makes the small pictures.
    """

    moved = Signal()
    """Another image is the current one."""
    opened = Signal()
    """Enter or a double click: the current image is wanted large."""
    aside_wanted = Signal()
    """Delete: the selected images shall be set aside."""

    def __init__(self, icons: Icons, model: ImageGridModel, pictures: DatasetPictures) -> None:
        super().__init__()
        self._images = model
        self._pictures = pictures
        self._painter = TilePainter(icons)
        self._grid = self._painter.grid(1)
        self._drawn: dict[Path, QImage | None] = {}
        self.setObjectName("data-grid")
        self.setAccessibleName(_("Images"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        style(self, role="tiles")
        self.setModel(model)
        model.modelReset.connect(self.updateGeometries)
        pictures.arrived.connect(self._arrived)
        icons.theme.changed.connect(self._restyle)
        self.doubleClicked.connect(lambda _index: self.opened.emit())

    @property
    def current_row(self) -> int | None:
        """Which of all images is the current one."""
        index = self.currentIndex()
        return self._images.row(index.row()) if index.isValid() else None

    @property
    def selected_rows(self) -> list[int]:
        """Which of all images are selected, in their order."""
        return sorted(self._images.row(index.row()) for index in self.selectedIndexes())

    @property
    def selected_count(self) -> int:
        """How many images are selected."""
        selection = self.selectionModel().selection()
        return sum(selection.at(number).height() for number in range(selection.count()))

    def go_to(self, number: int) -> None:
        """Make an image the current one, and bring it into sight."""
        index = self._images.index(max(0, min(number, self._images.rowCount() - 1)))
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def stay_at(self, number: int, height: int) -> None:
        """Make an image the current one, and scroll to a height, whether or not it is in sight there."""
        self.setAutoScroll(False)
        self.setCurrentIndex(self._images.index(number))
        self.setAutoScroll(True)
        self.verticalScrollBar().setValue(height)

    def is_in_sight(self, index: Index) -> bool:
        """Return whether something of a tile can be seen."""
        return self.visualRect(index).intersects(self.viewport().rect())

    def select_also(self, numbers: Sequence[int]) -> None:
        """Select these besides the current one."""
        selection = QItemSelection()
        for number in numbers:
            selection.select(self._images.index(number), self._images.index(number))
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.Select)

    def redraw(self, rows: Set[int]) -> None:
        """Draw those of some images anew that are in sight."""
        for number in self._in_sight(0):
            if self._images.row(number) in rows:
                self.update(self._images.index(number))

    def visualRect(self, index: Index) -> QRect:  # noqa: N802 - Qt's name
        """Return where a tile is in sight."""
        if not index.isValid():
            return QRect()
        place = self._grid.place(index.row()).translated(0, -self.verticalOffset())
        return place.toAlignedRect()

    def scrollTo(  # noqa: N802 - Qt's name
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a tile into sight."""
        place, height = self.visualRect(index), self.viewport().height()
        if not place.isValid():
            return
        bar = self.verticalScrollBar()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + place.center().y() - height // 2)
        elif place.top() < 0 or hint == QAbstractItemView.ScrollHint.PositionAtTop:
            bar.setValue(bar.value() + place.top())
        elif place.bottom() >= height:
            bar.setValue(bar.value() + min(place.top(), place.bottom() - height + 1))

    def indexAt(self, point: QPoint) -> QModelIndex:  # noqa: N802 - Qt's name
        """Return the tile at a point in sight."""
        number = self._grid.at(QPointF(point.x(), point.y() + self.verticalOffset()))
        is_there = number is not None and number < self._images.rowCount()
        return self._images.index(number) if is_there and number is not None else QModelIndex()

    def moveCursor(self, action: Action, _modifiers: Qt.KeyboardModifier) -> QModelIndex:  # noqa: N802 - Qt's name
        """Return where a key leads to."""
        count, current = self._images.rowCount(), self.currentIndex()
        if not count:
            return QModelIndex()
        number = current.row() if current.isValid() else -1
        columns = self._grid.columns
        page = max(1, int(self.viewport().height() // self._grid.pitch)) * columns
        leaps = {Action.MoveUp: -columns, Action.MoveDown: columns}
        leaps |= {Action.MovePageUp: -page, Action.MovePageDown: page}
        if number < 0 or action == Action.MoveHome:
            target = 0
        elif action == Action.MoveEnd:
            target = count - 1
        elif action in leaps:
            target = self._leapt(number, leaps[action], count)
        else:
            target = number + _STEPS.get(action, 0)
        return self._images.index(max(0, min(target, count - 1)))

    def horizontalOffset(self) -> int:  # noqa: N802 - Qt's name
        """It never scrolls sideways."""
        return 0

    def verticalOffset(self) -> int:  # noqa: N802 - Qt's name
        """Return how far it is scrolled."""
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: Index) -> bool:  # noqa: N802 - Qt's name
        """All that the model has is shown."""
        return False

    def setSelection(self, place: QRect, command: QItemSelectionModel.SelectionFlag) -> None:  # noqa: N802 - Qt's name
        """Select from one corner to the other, in reading order."""
        ends = [self._nearest(QPoint(place.left(), place.top()))]
        ends.append(self._nearest(QPoint(place.right(), place.bottom())))
        if None in ends:
            return
        first, last = sorted(number for number in ends if number is not None)
        selection = QItemSelection(self._images.index(first), self._images.index(last))
        self.selectionModel().select(selection, command)

    def visualRegionForSelection(self, _selection: QItemSelection) -> QRegion:  # noqa: N802 - Qt's name
        """Draw all of it anew."""
        return QRegion(self.viewport().rect())

    def keyboardSearch(self, _text: str) -> None:  # noqa: N802 - Qt's name
        """Letters are for the search field."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter opens, Delete sets aside."""
        has_current = self.currentIndex().isValid()
        if has_current and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif has_current and event.key() == Qt.Key.Key_Delete:
            self.aside_wanted.emit()
        else:
            super().keyPressEvent(event)

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Tell that another image is the current one."""
        super().currentChanged(current, previous)
        self.viewport().update()
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Lay the tiles out, keeping what is in sight."""
        self._keep_in_sight()
        super().resizeEvent(event)

    def updateGeometries(self) -> None:  # noqa: N802 - Qt's name
        """Give the scroll bar its range."""
        super().updateGeometries()
        self._grid = self._painter.grid(self.viewport().width())
        height, bar = self.viewport().height(), self.verticalScrollBar()
        lines = self._grid.lines(self._images.rowCount())
        whole = max(0, round(lines * self._grid.pitch) - self._grid.gap)
        bar.setRange(0, max(0, whole - height))
        bar.setPageStep(height)
        bar.setSingleStep(max(1, round(self._grid.pitch / 3)))
        self.viewport().update()

    def scrollContentsBy(self, _across: int, down: int) -> None:  # noqa: N802 - Qt's name
        """Move what is in sight."""
        self.viewport().scroll(0, down)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It takes what there is."""
        return QSize(400, 300)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the tiles in sight, and ask for the pictures that are missing."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        dirty, offset = QRectF(event.rect()), self.verticalOffset()
        for number in self._in_sight(0):
            place = self._grid.place(number).translated(0, -offset)
            if place.intersects(dirty):
                self._painter.paint(painter, place, self._tile(number))
        painter.end()
        self._want_pictures()

    def _tile(self, number: int) -> Tile:
        rows, row = self._images.rows, self._images.row(number)
        path = rows.path(row)
        words, tone = tile_words(rows, row)
        picture = self._drawn[path] = self._pictures.find(path)
        return Tile(
            name=path.name,
            words=words,
            tone=tone,
            level=rows.level(row),
            picture=picture,
            broken=picture is None and self._pictures.knows(path),
            selected=self.selectionModel().isSelected(self._images.index(number)),
            current=self.currentIndex().row() == number,
            focused=self.hasFocus(),
        )

    def _in_sight(self, ahead: int) -> range:
        first = int(self.verticalOffset() // self._grid.pitch) * self._grid.columns
        lines = int(self.viewport().height() // self._grid.pitch) + 2 + ahead
        return range(first, min(self._images.rowCount(), first + lines * self._grid.columns))

    def _want_pictures(self) -> None:
        ratio = self.devicePixelRatioF()
        size, radius = self._painter.picture_size(self._grid, ratio), self._painter.picture_radius(ratio)
        rows, box = self._images.rows, (size.width(), size.height())
        paths = [rows.path(self._images.row(number)) for number in self._in_sight(AHEAD_LINES)]
        self._drawn = {path: self._drawn[path] for path in paths if path in self._drawn}
        self._pictures.want([RoundWish(PictureWish(path, box), radius) for path in paths])

    def _arrived(self) -> None:
        """Draw the tiles anew that have another picture now, or will have none."""
        rows = self._images.rows
        for number in self._in_sight(0):
            path = rows.path(self._images.row(number))
            before, now = self._drawn.get(path), self._pictures.find(path)
            if now is not before or (now is None and self._pictures.knows(path)):
                self.update(self._images.index(number))

    def _nearest(self, point: QPoint) -> int | None:
        """Return the tile that is nearest to a point, in reading order."""
        count = self._images.rowCount()
        if not count:
            return None
        grid = self._grid
        column = int(max(0, min(point.x() // (grid.tile.width() + grid.gap), grid.columns - 1)))
        line = int(max(0, (point.y() + self.verticalOffset()) // grid.pitch))
        return min(line * grid.columns + column, count - 1)

    def _leapt(self, number: int, leap: int, count: int) -> int:
        """Return where a leap over lines ends: in the same column, as long as there is one."""
        target = number + leap
        while target < 0:
            target += self._grid.columns
        if target >= count:
            same_line = target // self._grid.columns == (count - 1) // self._grid.columns
            last_line = (count - 1) // self._grid.columns * self._grid.columns
            below = last_line + number % self._grid.columns
            target = count - 1 if same_line or below >= count else below
        return target

    def _keep_in_sight(self) -> None:
        """Scroll so that the first tile in sight stays so at another width."""
        before = self._grid
        first = int(self.verticalOffset() // before.pitch) * before.columns
        self.updateGeometries()
        if self._grid.columns != before.columns:
            self.verticalScrollBar().setValue(int(self._grid.place(first).top()))

    def _restyle(self) -> None:
        self._painter.restyle()
        self.updateGeometries()
