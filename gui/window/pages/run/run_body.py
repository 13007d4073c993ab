"""The cards of the page: curves and memory at the left, samples, files and events at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.metrics import AnyRow, GpuRow, StepRow, ValidationRow
from gui.engine.runs.status import RunStatus
from gui.window.bridges.run_reader import Happening
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.curves_card import CurvesCard
from gui.window.pages.run.gpu_card import GpuCard
from gui.window.pages.run.side_cards import FilesCard, SamplesCard, TimelineCard
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

_SIDE_WIDTH = 280
_LEAST_CURVES = 340
"""Pixels at a text size of 100 %: of the right column, and of the curves' height above everything else."""


class RunBody(QWidget):
    """All cards.

    Args:
        theme: Colours and sizes.
        icons: Pictures.
        tasks: Where pictures are read.
    """

    def __init__(self, theme: Theme, icons: Icons, tasks: Tasks) -> None:
        super().__init__()
        self._theme = theme
        self.curves = CurvesCard(icons)
        self.gpu = GpuCard(theme)
        self.samples = SamplesCard(theme, tasks)
        self.files = FilesCard(theme)
        self.happened = TimelineCard(theme)
        self.happened.picked.connect(self.curves.show_place)
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(Space.L)
        left.addWidget(self.curves, 5)
        left.addWidget(self.gpu)
        right.addWidget(self.samples)
        right.addWidget(self.files, 2)
        right.addWidget(self.happened, 5)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._columns.setContentsMargins(0, 0, 0, 0)
        self._columns.setSpacing(Space.L)
        self._columns.addLayout(left, 7)
        self._columns.addLayout(right, 3)
        theme.changed.connect(self._arrange)

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self.curves.begin(run.output_log)
        self.gpu.clear()
        self.samples.begin(run)
        self.files.show_files(())
        self.happened.clear()

    def end(self) -> None:
        """Let go of the run's files."""
        self.curves.end()

    def show_status(self, status: RunStatus) -> None:
        """Show what is true now."""
        self.curves.show_status(status)
        self.gpu.show_status(status)
        self.files.show_files(status.files)

    def add_events(self, happenings: Sequence[Happening]) -> None:
        """Take what happened."""
        self.curves.add_marks(happenings)
        self.samples.add(happenings)
        self.happened.add(happenings)

    def add_rows(self, rows: Sequence[AnyRow]) -> None:
        """Take figures."""
        self.curves.add_rows([row for row in rows if isinstance(row, StepRow)])
        self.curves.add_validations([row for row in rows if isinstance(row, ValidationRow)])
        self.gpu.add_rows([row for row in rows if isinstance(row, GpuRow)])

    def add_memory(self, rows: Sequence[MemoryRow]) -> None:
        """Take what the trainer's torch said of its memory."""
        self.gpu.add_torch(rows)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Its height is what is left, not what its texts would like."""
        return False

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It wants no more than it needs: the page scrolls only where it must."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It can always be as narrow as one column, and must be as high as its texts are at this width."""
        narrow = max(card.minimumSizeHint().width() for card in self._cards)
        texts = self._columns.minimumHeightForWidth(self.width()) if self._columns.hasHeightForWidth() else 0
        return QSize(narrow, max(super().minimumSizeHint().height(), texts))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set the cards below each other where there is no room for two columns."""
        super().resizeEvent(event)
        self._arrange()
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    @property
    def _cards(self) -> tuple[QWidget, ...]:
        return (self.curves, self.gpu, self.samples, self.files, self.happened)

    def _arrange(self) -> None:
        right = self._theme.px(_SIDE_WIDTH)
        beside = self.curves.minimumSizeHint().width() + Space.L + right <= self.width()
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        for card in (self.samples, self.files, self.happened):
            card.setMinimumWidth(right if beside else 0)
        self.curves.setMinimumHeight(0 if beside else self._theme.px(_LEAST_CURVES))
        if self._columns.direction() != way:
            self._columns.setDirection(way)
            self.updateGeometry()
