"""The exact command, as it can be pasted into a shell."""

from __future__ import annotations

import os

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import QButtonGroup, QPlainTextEdit, QWidget

from gui.engine.texts import _
from gui.engine.trainer.quoting import Shell
from gui.window.bridges.launch_preview import LaunchPreview
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held, row
from gui.window.widgets.styled import style

COPIED_MS = 2000
LINES_SHOWN = 14


class CommandCard(Card):
    """The command with a choice of shells and a copy button.

    Args:
        icons: Draw pictures.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__(name="command")
        self._theme = icons.theme
        self._preview: LaunchPreview | None = None
        self._shell: Shell = "powershell" if os.name == "nt" else "posix"
        self._choice = QButtonGroup(self)
        segments = [self._segment(shell, words) for shell, words in _shells()]
        self._copy = Button(
            _("Copy"), icon=icons.icon("copy"), name="copy-command", compact=True, shortcut="Alt+C"
        )
        self._copy.clicked.connect(self._copy_it)
        self._back = QTimer(self)
        self._back.setSingleShot(True)
        self._back.setInterval(COPIED_MS)
        self._back.timeout.connect(lambda: self._copy.setText(_("Copy")))
        self._why = Label("", "muted")
        self._why.setObjectName("command-why")
        self._text = QPlainTextEdit()
        self._text.setObjectName("command-text")
        self._text.setAccessibleName(_("Command"))
        self._text.setReadOnly(True)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setTabChangesFocus(True)
        style(self._text, mono="true")
        head = row(Label(_("Command"), "card"), None, self._copy)
        self.body.setSpacing(Space.M)
        self.body.addLayout(head)
        self.body.addWidget(held(FlowLayout(*segments)))
        self.body.addWidget(self._why)
        self.body.addWidget(self._text, 1)
        self._theme.changed.connect(self._size)
        self._theme.changed.connect(lambda: self._copy.setIcon(icons.icon("copy")))
        self._size()
        self.show_preview(None)

    def focus_order(self) -> list[QWidget]:
        """Return what takes the keyboard, in the order of the eye."""
        return [self._copy, *self._choice.buttons(), self._text]

    def show_preview(self, preview: LaunchPreview | None) -> None:
        """Show a command, or why there is none."""
        self._preview = preview
        texts = preview.texts if preview else {}
        why = _("Choose a trainer to see the command that would run.")
        if preview is not None:
            why = _("No command can be made yet: {reason}").format(reason=preview.reason)
        self._why.setText(why)
        self._why.setVisible(not texts)
        self._text.setVisible(bool(texts))
        self._copy.setEnabled(bool(texts))
        for button in self._choice.buttons():
            button.setEnabled(bool(texts))
        text = texts.get(self._shell, "")
        if text != self._text.toPlainText():
            place = self._text.verticalScrollBar().value()
            self._text.setPlainText(text)
            self._text.verticalScrollBar().setValue(place)

    def _segment(self, shell: Shell, words: str) -> Button:
        button = Button(words, "segment", name=f"shell-{shell}")
        button.setChecked(shell == self._shell)
        self._choice.addButton(button)
        button.clicked.connect(lambda: self._use(shell))
        return button

    def _use(self, shell: Shell) -> None:
        self._shell = shell
        self.show_preview(self._preview)

    def _copy_it(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self._copy.setText(_("Copied ✓"))
        self._back.start()

    def _size(self) -> None:
        self._text.setMinimumHeight(self._theme.px(17 * LINES_SHOWN))


def _shells() -> tuple[tuple[Shell, str], ...]:
    return (("posix", "bash"), ("powershell", "PowerShell"), ("cmd", "cmd"))
