"""A histogram of buckets: a bar for each, as high as it has images; what a short last batch leaves empty."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gui.engine.dataset.bucket_use import Bucket, BucketUse
from gui.engine.texts import _, ngettext
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

HEIGHT = 170
WIDEST_BAR = 56
LABEL_PX = 78
"""A bucket's size is written below its bar where there is so much room for each."""


class BucketsChart(QWidget):
    """One dataset's buckets.

    Args:
        theme: Gives colours and sizes.
    """

    chosen = Signal(int)
    """A bar was clicked: its place among the buckets."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("buckets-chart")
        self._theme = theme
        self._use: BucketUse | None = None
        self._marked = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_use(self, use: BucketUse | None) -> None:
        """Show other buckets."""
        self._use = use
        self._marked = -1
        words = [bucket_words(bucket, use.batch_size) for bucket in use.buckets] if use else []
        self.setAccessibleName(_("Images in each bucket"))
        self.setAccessibleDescription("\n".join(words))
        self.update()

    def mark(self, number: int) -> None:
        """Show which bucket is meant; -1 for none."""
        if number != self._marked:
            self._marked = number
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room."""
        return QSize(self._theme.px(300), self._theme.px(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars."""
        del event
        if self._use is None or not self._use.buckets:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max(bucket.images for bucket in self._use.buckets)
        wide = self._slot_width()
        for number, bucket in enumerate(self._use.buckets):
            self._paint_bar(painter, self._bar(number, bucket, most), bucket, number)
            if wide >= self._theme.px(LABEL_PX):
                self._paint_label(painter, number, bucket, wide)
        painter.setPen(self._theme.color("line"))
        base = self._base()
        painter.drawLine(0, round(base), self.width(), round(base))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose a bucket."""
        number = self._at(event.position().toPoint())
        if number >= 0:
            self.chosen.emit(number)

    def event(self, event: QEvent) -> bool:
        """Tell what the bar under the pointer is."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self._at(event.pos())
            text = (
                bucket_words(self._use.buckets[number], self._use.batch_size)
                if self._use and number >= 0
                else ""
            )
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _paint_bar(self, painter: QPainter, bar: QRectF, bucket: Bucket, number: int) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent" if number == self._marked else "chart_1"))
        painter.drawRoundedRect(bar, 3, 3)
        if self._use is not None and bucket.last_batch < self._use.batch_size:
            mark = QRectF(bar.left(), self._base() + 2, bar.width(), self._theme.px(3))
            painter.setBrush(self._theme.color("warn"))
            painter.drawRoundedRect(mark, 1, 1)
        if self._slot_width() >= self._theme.px(24):
            painter.setPen(self._theme.color("muted"))
            painter.setFont(self._theme.font("small"))
            above = QRectF(
                bar.left() - 20, bar.top() - self._theme.px(18), bar.width() + 40, self._theme.px(18)
            )
            painter.drawText(above, int(Qt.AlignmentFlag.AlignCenter), f"{bucket.images:,}")

    def _paint_label(self, painter: QPainter, number: int, bucket: Bucket, wide: float) -> None:
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        below = QRectF(number * wide, self._base() + self._theme.px(5), wide, self._theme.px(18))
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), f"{bucket.size[0]}×{bucket.size[1]}")

    def _slot_width(self) -> float:
        count = len(self._use.buckets) if self._use else 1
        return min(self.width() / max(1, count), self._theme.px(2 * WIDEST_BAR))

    def _base(self) -> float:
        return self.height() - self._theme.px(26)

    def _bar(self, number: int, bucket: Bucket, most: int) -> QRectF:
        slot = self._slot_width()
        wide = min(max(2.0, slot - Space.S), self._theme.px(WIDEST_BAR))
        room = self._base() - self._theme.px(20)
        high = max(2.0, room * bucket.images / most)
        return QRectF(number * slot + (slot - wide) / 2, self._base() - high, wide, high)

    def _at(self, where: QPoint) -> int:
        count = len(self._use.buckets) if self._use else 0
        number = int(where.x() // self._slot_width())
        return number if number < count else -1

    def _restyle(self) -> None:
        self.setFixedHeight(self._theme.px(HEIGHT))
        self.update()


def bucket_words(bucket: Bucket, batch_size: int) -> str:
    """Return what is in a bucket, in a line."""
    size = f"{bucket.size[0]} × {bucket.size[1]}"
    inside = ngettext("{count} image", "{count} images", bucket.images).format(count=f"{bucket.images:,}")
    words = ngettext(
        "{size}: {images} in {count} batch", "{size}: {images} in {count} batches", bucket.batches
    )
    text = words.format(size=size, images=inside, count=f"{bucket.batches:,}")
    if bucket.last_batch < batch_size:
        text += ", " + _("the last of {last}").format(last=bucket.last_batch)
    return text
