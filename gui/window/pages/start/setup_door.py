"""The door for what somebody has already: a plan, or a list of arguments; by dialog, drop or paste."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from gui.engine.errors import PreflightError, ScriptNeeded
from gui.engine.importers.reading import PlanInput, read_setup, read_setup_text
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
    """

    read = Signal(object)
    """`PlanInput`: what was brought, as a plan."""

    def __init__(self, trainers: Trainers, tasks: Tasks) -> None:
        super().__init__("door-setup", _("Bring a setup"))
        self._trainers = trainers
        self._tasks = tasks
        self._brought: Path | str = ""
        self.chip.show_state(_("json · toml · bat · sh"), "neutral")
        self.text.setText(
            _(
                "Drop a plan, a kohya_ss config, a TOML, a script or a LoRA file here, or paste a command. "
                "It is checked and explained."
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
        self._go_on.clicked.connect(lambda: self.take(self._brought, str(self._script.value())))

    def take(self, brought: Path | str, script: str | None = None) -> None:
        """Read a file or a text, and hand it on where that works; a text is written nowhere."""
        self._brought = brought
        self.show_trouble("")
        self._ask_script(())
        catalogue = self._trainers.catalogue

        def work(_handle: TaskHandle) -> PlanInput:
            if isinstance(brought, Path):
                return read_setup(brought, script, catalogue)
            return read_setup_text(brought, script, catalogue)

        self._tasks.run(work, self.read.emit, self._not_read, key=_KEY)

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
        self.take(text)

    def _choose(self) -> None:
        wanted = _("Setups (*.toml *.json *.bat *.cmd *.sh *.ps1 *.txt *.safetensors);;All files (*)")
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
