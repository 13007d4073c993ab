"""One sample, as large as the page: previous, next, and what it was drawn from."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.samples import LARGEST_SIDE, SampleModel, read_picture
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import IconButton
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column, row
from gui.window.widgets.styled import style


class SampleViewer(QFrame):
    """Lies over the page until Escape or its button closes it.

    Args:
        icons: Draws its buttons.
        tasks: Where pictures are read.
        model: The samples.
        parent: What it lies over.
        name: How its object names begin.
    """

    closed = Signal()

    def __init__(
        self, icons: Icons, tasks: Tasks, model: SampleModel, parent: QWidget, name: str = "sample"
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}-viewer")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        style(self, role="card")
        self._icons = icons
        self._tasks = tasks
        self._model = model
        self._row = 0
        self._image = QImage()
        self.picture = QLabel()
        self.picture.setObjectName(f"{name}-large")
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.picture.setMinimumSize(80, 80)
        self.caption = Label("", "strong", wrap=False)
        self.caption.setObjectName(f"{name}-caption")
        self.prompt = Label("", "muted", selectable=True)
        self.prompt.setObjectName(f"{name}-prompt")
        icon = icons.icon
        self.before = IconButton(icon("chevron-left"), _("Newer sample"), name=f"{name}-before")
        self.after = IconButton(icon("chevron-right"), _("Older sample"), name=f"{name}-after")
        self.close_button = IconButton(icon("cross"), _("Close (Esc)"), name=f"{name}-close")
        self.before.clicked.connect(lambda: self.show_row(self._row - 1))
        self.after.clicked.connect(lambda: self.show_row(self._row + 1))
        self.close_button.clicked.connect(self.close_it)
        head = row(self.caption, None, self.before, self.after, self.close_button, spacing=Space.S)
        whole = column(head, self.picture, self.prompt, spacing=Space.S, margins=(Space.L,) * 4)
        whole.setStretch(1, 1)
        self.setLayout(whole)
        model.rowsInserted.connect(self._shift)
        model.modelReset.connect(self.close_it)
        icons.theme.changed.connect(self._draw)
        self.hide()

    def _draw(self) -> None:
        names = ("chevron-left", "chevron-right", "cross")
        for button, name in zip((self.before, self.after, self.close_button), names, strict=True):
            button.setIcon(self._icons.icon(name))

    def open_row(self, number: int) -> None:
        """Show a sample large."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect().adjusted(Space.L, Space.L, -Space.L, -Space.L))
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.show_row(number)

    def show_row(self, number: int) -> None:
        """Show another one; nothing happens beyond the first and the last."""
        if not 0 <= number < self._model.rowCount():
            return
        self._row = number
        sample = self._model.sample(number)
        self.before.setEnabled(number > 0)
        self.after.setEnabled(number + 1 < self._model.rowCount())
        place = _("{number} of {count}").format(number=number + 1, count=self._model.rowCount())
        self.caption.setText(f"{sample.caption} · {place}")
        self.prompt.setText(sample.prompt or sample.path.name)
        self.prompt.setToolTip(str(sample.path))
        self._tasks.run(
            lambda _handle: read_picture(sample.path, QSize(LARGEST_SIDE, LARGEST_SIDE)),
            self._take,
            self._say,
            key=f"run-large-{self.objectName()}",
        )

    def close_it(self) -> None:
        """Go back to the page."""
        if self.isVisible():
            self.hide()
            self._image = QImage()
            self.picture.clear()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Left and Right go through, Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.show_row(self._row - 1)
        elif event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.show_row(self._row + 1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the picture anew."""
        super().resizeEvent(event)
        self._fit()

    def _shift(self, _parent: object, first: int, last: int) -> None:
        """Newer ones came in front: the one that is shown has another number now."""
        if self.isVisible() and first <= self._row:
            self._row += last - first + 1
            self.before.setEnabled(self._row > 0)

    def _take(self, image: QImage) -> None:
        self._image = image
        self._fit()

    def _say(self, error: PreflightError) -> None:
        self._image = QImage()
        self.picture.setText(str(error))

    def _fit(self) -> None:
        if self._image.isNull():
            return
        ratio = self.devicePixelRatioF()
        room = self.picture.size() * ratio
        whole = self._image.size()
        # A small sample is shown at twice its size at most: more only shows squares.
        size = whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio).boundedTo(whole * 2)
        pixmap = QPixmap.fromImage(
            self._image.scaled(
                size, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        )
        pixmap.setDevicePixelRatio(ratio)
        self.picture.setPixmap(pixmap)
