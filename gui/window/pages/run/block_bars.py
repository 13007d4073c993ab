"""How large each block of a file is, as bars, and how many times as large as in another file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.engine.runs.block_growth import BlockGrowth
from gui.engine.runs.checkpoints import factor_text
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

JUMPED = 3.0
"""From this factor on a block stands out, as between two files of a run (checkpoints.py)."""

FINE = 2.0
"""Below this factor hundredths are told: most blocks move by a few of them from file to file."""


class BlockBars(QWidget):
    """A line for each block: its name, a bar, its size and how it has grown.

    Args:
        theme: Colours and fonts.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("file-blocks")
        self.setAccessibleName(_("How large each block is"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._blocks: tuple[BlockGrowth, ...] = ()
        theme.changed.connect(self.updateGeometry)

    def show_blocks(self, blocks: Sequence[BlockGrowth]) -> None:
        """Show these."""
        self._blocks = tuple(blocks)
        self.setAccessibleDescription("\n".join(f"{each.block}: {figures_of(each)}" for each in blocks))
        self.setToolTip("")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It is as high as all its lines."""
        return QSize(self._theme.px(220), self._line_height() * len(self._blocks))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It may be narrow, never lower."""
        return QSize(self._theme.px(120), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font("small"))
        metrics = QFontMetrics(self._theme.font("small"))
        names = min(self.width() // 2, max(map(metrics.horizontalAdvance, self._names()), default=0) + 2)
        figures = max((metrics.horizontalAdvance(figures_of(each)) for each in self._blocks), default=0)
        room = self.width() - names - figures - 2 * Space.S
        largest = max((each.after or 0.0 for each in self._blocks), default=0.0)
        for number, each in enumerate(self._blocks):
            top = number * self._line_height()
            painter.setPen(self._theme.color("muted"))
            height = self._line_height()
            left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            name = metrics.elidedText(each.block, Qt.TextElideMode.ElideMiddle, names)
            painter.drawText(QRectF(0, top, names, height), left, name)
            stands_out = (each.factor or 1.0) >= JUMPED
            painter.setPen(self._theme.color("warn" if stands_out else "text"))
            painter.drawText(QRectF(self.width() - figures, top, figures, height), right, figures_of(each))
            if room > self._theme.px(24) and largest > 0:
                place = QRectF(names + Space.S, top + height * 0.3, room, height * 0.4)
                self._draw_bar(painter, place, (each.after or 0.0) / largest, stands_out=stands_out)

    def _draw_bar(self, painter: QPainter, place: QRectF, share: float, *, stands_out: bool) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(place, 2, 2)
        place.setWidth(max(2.0, place.width() * share))
        painter.setBrush(self._theme.color("warn" if stands_out else "chart_1"))
        painter.drawRoundedRect(place, 2, 2)

    def _names(self) -> list[str]:
        return [each.block for each in self._blocks]

    def _line_height(self) -> int:
        return QFontMetrics(self._theme.font("small")).height() + self._theme.px(4)


def figures_of(block: BlockGrowth) -> str:
    """Return how large a block is, and how many times as large as before."""
    if block.after is None:
        return "–"
    figure = f"{block.after:.2g}"
    if block.factor is None:
        return figure
    times = f"{block.factor:.2f}" if block.factor < FINE else factor_text(block.factor)
    return f"{figure}  {times}×"
