"""How sd-scripts is installed: its own steps, to copy; and how to show one that is elsewhere."""

from __future__ import annotations

import os

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import PathField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column, held, row
from gui.window.widgets.styled import style

PROJECT = "https://github.com/kohya-ss/sd-scripts"
_TORCH = "pip install torch==2.6.0 torchvision==0.21.0"
"""The versions that the trainer's own README asks for; on Linux pip's usual build is the one for NVIDIA."""
_TORCH_PAGE = "https://pytorch.org/get-started/locally/"
"""On Windows pip's usual build is for the processor only."""


def install_steps(windows: bool) -> tuple[tuple[str, str], ...]:
    """Return what to do and the command for it, in order.

    Args:
        windows: Whether it is for Windows' PowerShell instead of a POSIX shell.
    """
    python = "py -3.10 -m venv venv" if windows else "python3.10 -m venv venv"
    activate = r".\venv\Scripts\activate" if windows else "source venv/bin/activate"
    torch = (
        (_("Install torch: take the command that this page gives for Pip and CUDA."), _TORCH_PAGE)
        if windows
        else (_("Install torch for NVIDIA GPUs; some GB are fetched."), _TORCH)
    )
    return (
        (_("Fetch the scripts. This needs git."), f"git clone {PROJECT}.git"),
        (_("Go into their folder."), "cd sd-scripts"),
        (_("Make them a Python of their own. This needs Python 3.10."), python),
        (_("Use it in this terminal."), activate),
        torch,
        (_("Install what else they need."), "pip install --upgrade -r requirements.txt"),
    )


class InstallGuide(Card):
    """The steps.

    Args:
        icons: Draws the buttons.
    """

    closed = Signal()
    look_again = Signal()
    folder_chosen = Signal(str)

    def __init__(self, icons: Icons) -> None:
        close = IconButton(icons.icon("cross"), _("Close"), name="guide-close")
        super().__init__(_("Install sd-scripts"), close, name="install-guide")
        self._close = close
        self._icons = icons
        self._copies: list[IconButton] = []
        windows = os.name == "nt"
        where = _("In PowerShell, in the folder where it is to be:") if windows else _("In a terminal:")
        self.body.addWidget(Label(where, "muted"))
        for number, (words, command) in enumerate(install_steps(windows), 1):
            self.body.addWidget(self._step(number, words, command))
        note = _("An RTX 50 card needs torch 2.8.0 and torchvision 0.23.0, made for CUDA 12.8.")
        self.body.addWidget(Label(note, "small"))
        self.body.addLayout(self._ways_on())
        self._close.clicked.connect(self.closed)
        icons.theme.changed.connect(self._draw)

    def show_trouble(self, text: str) -> None:
        """Say why a folder is none that can be used."""
        self._trouble.setText(text)
        self._trouble.setVisible(bool(text))
        self._folder.show_trouble(text)

    def _step(self, number: int, words: str, command: str) -> QWidget:
        code = Label(command, "code", selectable=True)
        code.setObjectName(f"guide-command-{number}")
        copy = IconButton(
            self._icons.icon("copy"),
            _("Copy command {number}").format(number=number),
            name=f"guide-copy-{number}",
        )
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(command))
        self._copies.append(copy)
        line = row(code, copy, spacing=Space.XS)
        line.setStretch(0, 1)
        return held(column(Label(f"{number}. {words}"), line, spacing=Space.XS))

    def _ways_on(self) -> QVBoxLayout:
        page = Button(
            PROJECT.removeprefix("https://"), "link", name="guide-page", tip=_("Open in the browser")
        )
        page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(PROJECT)))
        again = Button(_("It is installed: look again"), "primary", name="guide-again")
        again.clicked.connect(self.look_again)
        self._folder = PathField(
            "folder",
            placeholder=_("I have it elsewhere: its folder"),
            name="guide-folder",
            words=_("Folder of sd-scripts"),
        )
        self._folder.changed.connect(self._chosen)
        self._trouble = Label("")
        self._trouble.setObjectName("guide-trouble")
        style(self._trouble, tone="bad")
        self._trouble.hide()
        more = row(Label(_("All about it:"), "muted", wrap=False), page, None, spacing=Space.S)
        return column(more, self._folder, self._trouble, row(again, None), spacing=Space.M)

    def _chosen(self, path: str) -> None:
        self.show_trouble("")
        if path.strip():
            self.folder_chosen.emit(path.strip())

    def _draw(self) -> None:
        self._close.setIcon(self._icons.icon("cross"))
        for copy in self._copies:
            copy.setIcon(self._icons.icon("copy"))
