"""Adding a trainer that is in no usual place, or another Python for one that is known."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.bridges.settings import Settings
from gui.window.bridges.trainers import Trainers
from gui.window.pages.settings.parts import flow
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.inputs import PathField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column


class AddTrainer(QWidget):
    """A folder, its Python, and a button.

    Args:
        trainers: Adds it.
        settings: Tells when it was added.
    """

    def __init__(self, trainers: Trainers, settings: Settings) -> None:
        super().__init__()
        self.setObjectName("add-trainer")
        self._trainers = trainers
        self._settings = settings
        self._pending: Path | None = None
        self._folder = PathField(
            "folder",
            placeholder=_("Folder with train_network.py, or of a program that has it inside"),
            name="add-trainer-folder",
            words=_("Folder of the trainer"),
        )
        self._python = PathField(
            "file",
            placeholder=_("Found by itself where it is left empty"),
            name="add-trainer-python",
            words=_("Its Python"),
        )
        self._add = Button(_("Add this trainer"), compact=True, name="add-trainer-add")
        self._done = Label("", "small")
        self._done.setObjectName("add-trainer-done")
        self._done.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, Space.XS, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(Label(_("Add a trainer, or drop its folder here"), "strong"))
        for title, field in ((_("Folder"), self._folder), (_("Its Python"), self._python)):
            layout.addLayout(column(Label(title, "small"), field, spacing=2))
        layout.addWidget(flow(self._add, self._done))
        self._add.clicked.connect(self._start)
        self._folder.field.textChanged.connect(self._show_whether)
        self._folder.field.returnPressed.connect(self._start)
        self._python.field.returnPressed.connect(self._start)
        trainers.changed.connect(self._see_whether_done)
        trainers.refused.connect(self._refused)
        self._show_whether()

    def take(self, folder: str) -> None:
        """Write a folder into its field."""
        self._folder.show_value(folder)
        self._add.setFocus(Qt.FocusReason.OtherFocusReason)

    def name_python(self, folder: str) -> None:
        """Let the user name the Python of a trainer."""
        self._folder.show_value(folder)
        self._python.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_whether(self) -> None:
        self._add.setEnabled(bool(self._folder.path()) and self._pending is None)

    def _start(self) -> None:
        path = self._folder.path()
        if not path or self._pending is not None:
            return
        self._pending = Path(path).expanduser().absolute()
        self._done.hide()
        self._folder.show_trouble()
        self._show_whether()
        self._trainers.add(path, self._python.path() or None)

    def _see_whether_done(self) -> None:
        pending = self._pending
        if pending is None:
            return
        # What was named may hold the scripts deeper inside, or be one of them.
        for own in self._settings.values.trainers:
            place = Path(own.path)
            if place == pending or pending in place.parents or place in pending.parents:
                self._pending = None
                self._done.setText(_("Added: {path}").format(path=place.name or own.path))
                self._done.setVisible(True)
                self._folder.show_value("")
                self._python.show_value("")
        self._show_whether()

    def _refused(self, error: PreflightError) -> None:
        if self._pending is not None:
            self._pending = None
            self._folder.show_trouble(str(error))
            self._show_whether()
