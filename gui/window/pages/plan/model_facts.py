"""What a model file is, below its field: told by its header at once, its hash when it has been read."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.bridges.model_hashes import HashState
from gui.window.theme.space import Space
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import held, row


class ModelFacts(QWidget):
    """A line about the file, and a line about its hash.

    Args:
        argument: The trainer's argument; ends the object names.
    """

    stop_wanted = Signal(object)
    """`Path` of the file whose hash is not wanted now."""
    again_wanted = Signal(object)

    def __init__(self, argument: str) -> None:
        super().__init__()
        self._path = Path()
        self._shown: HashState | None = None
        self._about = Label("", "small", selectable=True)
        self._about.setObjectName(f"model-about-{argument}")
        self._hash = ElidedLabel("", "mono")
        self._hash.setObjectName(f"model-hash-{argument}")
        self._copy_short = Button(_("Copy AutoV2"), "link", name=f"copy-autov2-{argument}")
        self._copy = Button(_("Copy SHA-256"), "link", name=f"copy-sha256-{argument}")
        self._busy = Busy(name=f"model-hashing-{argument}")
        self._busy.cancel.setObjectName(f"stop-hash-{argument}")
        self._soon = Label(_("Its hash comes after that of the other files."), "small")
        self._soon.setObjectName(f"model-hash-soon-{argument}")
        self._again = Button(_("Work out its hash"), "link", name=f"again-hash-{argument}")
        self._copy_short.clicked.connect(lambda: self._to_clipboard(short=True))
        self._copy.clicked.connect(lambda: self._to_clipboard(short=False))
        self._busy.cancelled.connect(lambda: self.stop_wanted.emit(self._path))
        self._again.clicked.connect(lambda: self.again_wanted.emit(self._path))
        found = row(spacing=Space.S)
        found.addWidget(self._hash, 1)
        found.addWidget(self._copy_short)
        found.addWidget(self._copy)
        self._found = held(found)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for part in (self._about, self._found, self._busy, self._soon, self._again):
            layout.addWidget(part)
        self.show_facts("", Path(), None)

    def show_facts(self, about: str, path: Path, state: HashState | None) -> None:
        """Show what is known.

        Args:
            about: What the file is; empty when that is not known.
            path: The file.
            state: How far its hash is; None when nobody works on it.
        """
        self._path, self._shown = path, state
        self._about.setText(about)
        self._about.setVisible(bool(about))
        found = state.found if state else None
        self._found.setVisible(found is not None)
        if found is not None:
            self._hash.setText(f"AutoV2 {found.autov2} · SHA-256 {found.sha256}")
        self._soon.setVisible(state is not None and state.waiting and not state.begun)
        self._busy.setVisible(state is not None and state.waiting and state.begun)
        if state is not None and state.begun:
            self._busy.show_progress(_hashing_words(state), state.done, state.total)
        self._again.setVisible(state is not None and (state.stopped or bool(state.problem)))
        self._again.set_tip(state.problem if state else "")
        self.setVisible(bool(about) or state is not None)

    def _to_clipboard(self, *, short: bool) -> None:
        found = self._shown.found if self._shown else None
        if found is not None:
            QGuiApplication.clipboard().setText(found.autov2 if short else found.sha256)


def _hashing_words(state: HashState) -> str:
    percent = min(99, 100 * state.done // state.total) if state.total else 0
    return _("Working out its hash: {percent} %").format(percent=percent)
