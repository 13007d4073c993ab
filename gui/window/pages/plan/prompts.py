"""Sample prompts: a file of the user's own, or lines that are written into one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QPlainTextEdit

from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle
from gui.window.pages.plan.editors import shown
from gui.window.pages.plan.finding_lines import FindingLines
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.prompt_files import (
    PromptFile,
    file_of,
    place_for_prompts,
    read_prompts,
    write_prompts,
)
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import PathField
from gui.window.widgets.labels import Label

PROMPTS = "sample_prompts"
LINES = 4
PAUSE_MS = 800
"""After so long without a key, what was typed is written."""


class PromptsCard(Card):
    """One prompt a line, or a file.

    Args:
        parts: The plan and what is known about it.
    """

    refused = Signal(str)
    """Why they could not be read or written."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(_("Sample images"), name="prompts")
        self._parts = parts
        self._file: PromptFile | None = None
        self._path: Path | None = None
        self._told = ""
        self.text = QPlainTextEdit()
        self.text.setObjectName("sample-prompts")
        self.text.setAccessibleName(_("Sample prompts, one a line"))
        self.text.setPlaceholderText(
            _("One prompt a line, such as: mira_x on a bridge at night --w 1024 --h 1024 --s 28")
        )
        self.text.setTabChangesFocus(True)
        self.text.installEventFilter(self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._write)
        self.text.textChanged.connect(self._pause.start)
        self.path = PathField(
            "file",
            pattern=_("Prompts (*.txt *.toml *.json)"),
            placeholder=_("or drop a file of prompts here"),
            name=f"field-{PROMPTS}",
            words=_("File of sample prompts"),
        )
        self.path.changed.connect(self._choose_file)
        self._state = Label("", "small")
        self.findings = FindingLines(parts.document)
        self.body.addWidget(
            Label(_("The trainer draws these as it learns, so that you see how it goes."), "small")
        )
        for part in (self.text, self.path, self._state, self.findings):
            self.body.addWidget(part)
        parts.theme.changed.connect(self._fit)
        self._fit()

    def refresh(self) -> None:
        """Show what the plan has now."""
        document = self._parts.document
        value = document.effective(PROMPTS).value
        self.path.show_value(shown(value))
        self.setEnabled(not document.read_only)
        path = file_of(value, document.base)
        if path == self._path and self._file is not None:
            return
        self._path, self._file = path, None
        if path is None:
            self._show(None)
            return
        self._parts.tasks.run(
            lambda _handle: read_prompts(path), self._show, self._unread, key="plan-prompts"
        )

    def show_findings(self) -> None:
        """Show what preflight says now."""
        self.findings.show_findings(self._parts.checks.at(PROMPTS))

    def focus(self) -> None:
        """Give the prompts the keyboard."""
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Write what was typed once the field is left."""
        if watched is self.text and event.type() == QEvent.Type.FocusOut:
            self._write()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        self.text.setFixedHeight(self._parts.theme.px(24) * LINES)

    def _show(self, file: PromptFile | None) -> None:
        self._told = file.text.strip() if file else ""
        if self.text.toPlainText().strip() != self._told:
            self.text.setPlainText(self._told)
            self._pause.stop()
        self._show_state(file)

    def _show_state(self, file: PromptFile | None) -> None:
        self._file = file
        foreign = file is not None and not file.own
        self.text.setReadOnly(foreign)
        if file is None:
            self._state.setText(_("What you type here is kept in a file of its own."))
        elif foreign:
            self._state.setText(
                _("This file is yours and stays as it is. Empty the field to type prompts here.")
            )
        else:
            self._state.setText(_("Kept in {path}.").format(path=file.path))

    def _unread(self, error: PreflightError) -> None:
        self._file = None
        self._told = ""
        self.text.setReadOnly(True)
        self.text.setPlainText("")
        self._state.setText(str(error))

    def _choose_file(self, _text: str) -> None:
        self._parts.document.set_value(PROMPTS, self.path.path() or None)
        self._parts.document.end_merge()

    def _write(self) -> None:
        self._pause.stop()
        text = self.text.toPlainText().strip()
        if self.text.isReadOnly() or text == self._told or self._parts.document.read_only:
            return
        self._told = text
        document, own = self._parts.document, self._file
        if not text:
            document.set_value(PROMPTS, None)
            return
        path = own.path if own else place_for_prompts(document.path, document.name, self._parts.home)

        def work(_handle: TaskHandle) -> PromptFile:
            write_prompts(path, text)
            return PromptFile(path, text, own=True)

        self._parts.tasks.run(work, self._written, self._unwritten, key="plan-prompts")

    def _written(self, file: PromptFile) -> None:
        document = self._parts.document
        self._path = file.path
        self._show_state(file)
        beside = document.path is not None and file.path.parent == document.base.absolute()
        document.set_value(PROMPTS, file.path.name if beside else str(file.path))
        self._parts.checks.check_again()

    def _unwritten(self, error: PreflightError) -> None:
        self._told = ""
        self.refused.emit(str(error))
