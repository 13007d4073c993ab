"""Shows every file of a report before it is saved; what is not ticked stays at home."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QClipboard, QImage, QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.runs.figures import size
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.report import Report, ReportPart
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import held, row
from gui.window.widgets.styled import style

_KEY, _SAVING = "report", "report-saving"
SHOWN_LETTERS = 200_000
"""Of a long text so much is shown at its end; all of it goes into the zip."""


class ReportPanel(QWidget):
    """The panel; hidden until a report is wanted.

    Args:
        tasks: Where the report is made.
        icons: Pictures.
        clipboard: Takes the diagnosis.
    """

    closed = Signal()
    opened = Signal()

    def __init__(self, tasks: Tasks, icons: Icons, clipboard: QClipboard) -> None:
        super().__init__()
        self.setObjectName("report-panel")
        self._tasks = tasks
        self._icons = icons
        self._clipboard = clipboard
        self._report: Report | None = None
        self._back = Button(_("Back"), icon=icons.icon("chevron-left"), name="report-back", tip=_("Key: Esc"))
        self._title = Label(_("Report"), "card", wrap=False)
        self._words = Label(
            _(
                "This is all that would be in the zip. Tokens, user names, the name of this machine and home "
                "folders are taken out; look through it all the same, and untick what others need not see."
            ),
            "muted",
        )
        self._busy = Busy(_("Making the report …"), name="report-busy")
        self._said = Banner(icons, "warn", name="report-said")
        self._list = QListWidget()
        self._text = QPlainTextEdit()
        self._picture = _Picture()
        self._shown = QStackedWidget()
        self._splitter = self._make_parts()
        self._copy = Button(_("Copy the diagnosis"), name="report-copy")
        self._save = Button(_("Save…"), "primary", name="report-save")
        self._told = ElidedLabel("", "muted")
        self._told.setObjectName("report-told")
        self._make_layout()
        self._connect()
        self.hide()

    def show_run(self, run: RunFolder) -> None:
        """Make the report of a run, and show it."""
        home = home_of(run) or Home.find()
        self._told.setText("")
        self._show(self._busy)
        self.show()
        self.opened.emit()

        def work(_handle: TaskHandle) -> Report:
            from gui.engine.runs.report_making import report_of_run  # heavy, and seldom wanted

            return report_of_run(run, home)

        self._tasks.run(work, self._take, self._fail, key=_KEY)
        self._back.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_it(self) -> None:
        """Go back; nothing is saved."""
        self._tasks.cancel(_KEY)
        self._report = None
        self._list.clear()
        self._text.clear()
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        else:
            super().keyPressEvent(event)

    def _make_parts(self) -> QSplitter:
        self._list.setObjectName("report-parts")
        self._list.setAccessibleName(_("Files of the report"))
        style(self._list, role="parts")
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.setObjectName("report-text")
        self._text.setAccessibleName(_("What is in the file"))
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        style(self._text, mono=True)
        for part in (self._text, self._picture):
            self._shown.addWidget(part)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._list)
        splitter.addWidget(self._shown)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 5)
        return splitter

    def _make_layout(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addLayout(row(self._back, self._title, None))
        for part in (self._busy, self._words, self._said):
            layout.addWidget(part)
        layout.addWidget(self._splitter, 1)
        bar = row(self._save, self._copy, self._told)
        bar.setStretch(2, 1)
        self._bar = held(bar)
        layout.addWidget(self._bar)

    def _connect(self) -> None:
        self._back.clicked.connect(self.close_it)
        self._busy.cancelled.connect(self.close_it)
        self._list.currentRowChanged.connect(self._show_part)
        self._list.itemChanged.connect(lambda _item: self._allow())
        self._copy.clicked.connect(self._copy_text)
        self._save.clicked.connect(self._ask_where)
        self._icons.theme.changed.connect(self._draw)

    def _draw(self) -> None:
        self._back.setIcon(self._icons.icon("chevron-left"))
        self._text.setFont(self._icons.theme.font("mono"))

    def _take(self, report: Report) -> None:
        self._report = report
        self._title.setText(_("Report of {name}").format(name=report.name))
        self._list.clear()
        for part in report.parts:
            item = QListWidgetItem(f"{part.name}  ·  {size(len(part.data))}\n{part.words}")
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            item.setData(Qt.ItemDataRole.UserRole, part.name)
            item.setToolTip("\n".join(filter(None, (part.words, part.note))))
            self._list.addItem(item)
        self._draw()
        self._list.setCurrentRow(0)
        self._show(self._splitter)
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)
        self._allow()

    def _fail(self, error: PreflightError) -> None:
        self._said.show_words(_("There is no report."), error.message(), "warn")
        self._show(self._said)

    def _show(self, shown: QWidget) -> None:
        parts: tuple[QWidget, ...] = (self._busy, self._said, self._splitter)
        for part in parts:
            part.setVisible(part is shown)
        for beside in (self._words, self._bar):
            beside.setVisible(shown is self._splitter)

    def _show_part(self, number: int) -> None:
        if self._report is None or not 0 <= number < len(self._report.parts):
            return
        part = self._report.parts[number]
        if part.is_picture:
            self._picture.show_image(QImage.fromData(part.data))
            self._shown.setCurrentWidget(self._picture)
            return
        self._text.setPlainText(_shown_text(part))
        self._shown.setCurrentWidget(self._text)

    def _chosen(self) -> Report | None:
        """Return the report without what is not ticked."""
        if self._report is None:
            return None
        items = [self._list.item(number) for number in range(self._list.count())]
        unticked = [
            str(item.data(Qt.ItemDataRole.UserRole))
            for item in items
            if item.checkState() != Qt.CheckState.Checked
        ]
        return self._report.without(unticked)

    def _allow(self) -> None:
        chosen = self._chosen()
        self._save.setEnabled(chosen is not None and bool(chosen.parts))

    def _copy_text(self) -> None:
        if self._report is not None:
            self._clipboard.setText(self._report.text)
            self._told.setText(_("Copied: the diagnosis can be pasted now."))

    def _ask_where(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save the report"), chosen.file_name, _("Zip files (*.zip)")
        )
        if path:
            self._write(chosen, Path(path))

    def _write(self, report: Report, path: Path) -> None:
        def work(_handle: TaskHandle) -> None:
            report.write(path)

        self._tasks.run(
            work,
            lambda _nothing: self._told.setText(_("Saved as {path}").format(path=path)),
            lambda error: self._told.setText(error.message()),
            key=_SAVING,  # going back ends the making of a report, not the saving
        )


def _shown_text(part: ReportPart) -> str:
    text = part.data.decode("utf-8", "replace")
    if len(text) <= SHOWN_LETTERS:
        return text
    more = _("… {count} letters before are not shown; they are in the file.")
    return more.format(count=f"{len(text) - SHOWN_LETTERS:,}") + "\n" + text[-SHOWN_LETTERS:]


class _Picture(QLabel):
    """A picture as large as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("report-picture")
        self.setAccessibleName(_("The figures as a picture"))
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._image = QImage()

    def show_image(self, image: QImage) -> None:
        """Show another picture."""
        self._image = image
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the picture anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._image.isNull():
            return
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap.fromImage(
            self._image.scaled(
                self.size() * ratio,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        )
        pixmap.setDevicePixelRatio(ratio)
        self.setPixmap(pixmap)
