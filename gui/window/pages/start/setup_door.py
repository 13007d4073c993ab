"""The door for what somebody has already: a plan, or a list of arguments; by dialog, drop or paste."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from gui.engine.documents import write_atomically
from gui.engine.errors import PreflightError, ScriptNeeded
from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.paths import Home
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.bridges.trainers import Trainers
from gui.window.pages.start.door import Door
from gui.window.widgets.buttons import Button
from gui.window.widgets.dropping import Drops
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label

_KEY = "start-setup"


class SetupDoor(Door):
    """Bring a setup.

    Args:
        trainers: Whose scripts and arguments count.
        tasks: For reading.
        home: Gets what was pasted.
    """

    opened = Signal(str, object)
    """The file that can be read, and the training script that it is for; None where it says so itself."""

    def __init__(self, trainers: Trainers, tasks: Tasks, home: Home) -> None:
        super().__init__("door-setup", _("Bring a setup"))
        self._trainers = trainers
        self._tasks = tasks
        self._home = home
        self._path = Path()
        self.chip.show_state(_("plan · list of arguments"), "neutral")
        self.text.setText(
            _(
                "Drop a plan file or a text with one argument a line here, or paste it. "
                "It is checked and explained. Settings of other programs are not read yet."
            )
        )
        self._script_words = Label(_("Which training script are these arguments for?"), "body")
        self._script = Choice(name="door-setup-script", words=self._script_words.text())
        self._go_on = Button(_("Open with this script"), "primary", name="door-setup-go-on", compact=True)
        for part in (self._script_words, self._script, self._go_on):
            self.more.addWidget(part)
        self._open = Button(_("Open…"), shortcut="Ctrl+O", name="door-setup-open")
        self._paste = Button(_("Paste"), name="door-setup-paste", tip=_("Key: Ctrl+V"))
        for button in (self._open, self._paste):
            self.buttons.addWidget(button)
        self._ask_script(())
        Drops(self, lambda paths: self.take(Path(paths[0])), take_text=self._take_text)
        self._open.clicked.connect(self._choose)
        self._paste.clicked.connect(self.paste)
        self._go_on.clicked.connect(lambda: self.take(self._path, str(self._script.value())))

    def take(self, path: Path, script: str | None = None) -> None:
        """Read a file, and hand it on where that works."""
        self._path = path
        self.show_trouble("")
        self._ask_script(())
        catalogue = self._trainers.catalogue

        def work(_handle: TaskHandle) -> PlanInput:
            return read_setup(path, script, catalogue)

        self._tasks.run(work, lambda _given: self.opened.emit(str(path), script), self._not_read, key=_KEY)

    def paste(self) -> None:
        """Take what lies in the clipboard: files, or the text of a setup."""
        mime = QGuiApplication.clipboard().mimeData()
        urls = mime.urls() if mime else []  # some systems give nothing at all for an empty clipboard
        files = [url.toLocalFile() for url in urls if url.isLocalFile()]
        text = mime.text().strip() if mime else ""
        if files:
            self.take(Path(files[0]))
            return
        if not text:
            self.show_trouble(_("There is no text in the clipboard."))
            return
        self._take_text(text)

    def _take_text(self, text: str) -> None:
        first = text.strip().strip('"')
        if "\n" not in first and Path(first).expanduser().is_absolute():
            self.take(Path(first).expanduser())
            return
        looks_like_plan = any(line.strip().startswith("[") for line in text.splitlines())
        path = self._home.cache / "pasted" / ("setup.toml" if looks_like_plan else "setup.txt")
        try:
            write_atomically(path, text + "\n", durable=False)
        except PreflightError as error:
            self.show_trouble(str(error))
            return
        self.take(path)

    def _choose(self) -> None:
        wanted = _("Plans and lists of arguments (*.toml *.txt);;All files (*)")
        path = QFileDialog.getOpenFileName(self, _("Bring a setup"), "", wanted)[0]
        if path:
            self.take(Path(path))

    def _not_read(self, error: PreflightError) -> None:
        if isinstance(error, ScriptNeeded):
            self._ask_script(tuple(self._trainers.catalogue.scripts))
        else:
            self.show_trouble(str(error))

    def _ask_script(self, scripts: tuple[str, ...]) -> None:
        for part in (self._script_words, self._script, self._go_on):
            part.setVisible(bool(scripts))
        if scripts:
            self._script.set_options([(name, name) for name in scripts])
            self._script.show_value(next((s for s in scripts if "network" in s), scripts[0]))
            self._script.setFocus()
