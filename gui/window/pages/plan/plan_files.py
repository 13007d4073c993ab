"""Opening, saving and beginning plans; nothing is lost and nothing foreign is written over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from gui.engine.errors import PreflightError, ScriptNeeded
from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.plan.drafts import LeftDraft
from gui.engine.plan.saving import WouldOverwrite
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle
from gui.window.pages.plan.notices import Notices
from gui.window.pages.plan.parts import Parts
from gui.window.widgets.buttons import Button

PLAN_SUFFIX = ".toml"


class PlanFiles(QObject):
    """What the header's buttons do.

    Args:
        parts: The plan and what is known about it.
        notices: Where messages are shown.
        window: Above which the system's dialogs stand.
    """

    def __init__(self, parts: Parts, notices: Notices, window: QWidget) -> None:
        super().__init__(window)
        self._parts = parts
        self._notices = notices
        self._window = window

    def new(self) -> None:
        """Begin a fresh plan; unsaved work is kept."""
        try:
            self._parts.document.new()
        except PreflightError as error:
            self.fail(error)

    def choose(self) -> None:
        """Open what the user chooses."""
        pattern = _("Plans and setups (*.toml *.txt *.json *.bat *.sh);;All files (*)")
        start = str(self._parts.document.base)
        path = QFileDialog.getOpenFileName(self._window, _("Open a plan"), start, pattern)[0]
        if path:
            self.open(Path(path))

    def open(self, path: Path) -> None:
        """Read a plan or a setup in a thread, and show it."""
        catalogue, script = self._parts.trainers.catalogue, self._parts.document.script

        def work(_handle: TaskHandle) -> PlanInput:
            try:
                return read_setup(path, None, catalogue)
            except ScriptNeeded:
                if not script:
                    raise
                return read_setup(path, script, catalogue)

        self._parts.tasks.run(work, self._opened, self.fail, key="plan-open")

    def save(self) -> None:
        """Write the plan to its file; asks for one where it has none."""
        document = self._parts.document
        if document.path is None:
            self.save_as()
        else:
            self._save_to(document.path)

    def save_as(self) -> None:
        """Write the plan to a file that the user chooses."""
        document = self._parts.document
        start = document.path or document.base / f"{document.name or 'plan'}{PLAN_SUFFIX}"
        pattern = _("Plans (*.toml)")
        path = QFileDialog.getSaveFileName(self._window, _("Save the plan"), str(start), pattern)[0]
        if path:
            chosen = Path(path)
            # The dialog has asked already about a file that it saw.
            self._save_to(
                chosen if chosen.suffix else chosen.with_suffix(PLAN_SUFFIX), asked=bool(chosen.suffix)
            )

    def look_for_left(self) -> None:
        """Look for work that was never saved, in a thread, and offer it."""
        drafts = self._parts.document.drafts
        self._parts.tasks.run(lambda _handle: drafts.left_behind(), self._offer, self.fail, key="plan-left")

    def fail(self, error: PreflightError) -> None:
        """Say what could not be done."""
        self._notices.tell("error", _("That did not work."), str(error), "bad")

    def _opened(self, found: PlanInput) -> None:
        document = self._parts.document
        try:
            if found.file.path is not None:
                document.load(found.file)
            else:
                document.new(found.file.plan, unsaved=True)
        except PreflightError as error:
            self.fail(error)
            return
        notes = [*found.file.notes, *(finding.title for finding in found.findings)]
        if notes:
            self._notices.tell("notes", _("To know about this plan"), "\n".join(notes), "accent")
        if found.secrets:
            self._parts.tokens.keep(found.secrets)

    def _save_to(self, path: Path, *, asked: bool = False) -> None:
        document = self._parts.document
        same = document.path is not None and path == document.path
        try:
            document.save_as(path, overwrite=asked and not same)
        except WouldOverwrite as error:
            self._notices.ask(
                str(error),
                _("What is in the file now is lost when this plan is written over it."),
                (_("Write over it"), lambda: self._write_over(path)),
                _("Leave it"),
                "bad",
            )
        except PreflightError as error:
            self.fail(error)
        else:
            self._notices.drop("error")
            self._notices.end_question()

    def _write_over(self, path: Path) -> None:
        try:
            self._parts.document.save_as(path, overwrite=True)
        except PreflightError as error:
            self.fail(error)

    def _offer(self, left: Sequence[LeftDraft]) -> None:
        if not left:
            self._notices.drop("left")
            return
        first = left[0]
        bring = Button(_("Bring it back"), "primary", compact=True, name="bring-back")
        bring.clicked.connect(lambda: self._bring_back(first))
        forget = Button(_("Throw it away"), "danger", compact=True, name="throw-away")
        forget.clicked.connect(lambda: self._throw_away(first))
        more = len(left) - 1
        text = _("It was never saved. It stays here until you decide.")
        if more:
            text += " " + _("There are {count} more.").format(count=more)
        title = _("Unsaved work on “{name}” is kept").format(name=first.name)
        self._notices.tell("left", title, text, "accent", (bring, forget))

    def _bring_back(self, left: LeftDraft) -> None:
        try:
            if not self._parts.document.reopen(left):
                self._notices.tell("error", _("Another window has taken this work over."), "", "accent")
        except PreflightError as error:
            self.fail(error)
        self.look_for_left()

    def _throw_away(self, left: LeftDraft) -> None:
        self._notices.ask(
            _("Throw the unsaved work on “{name}” away?").format(name=left.name),
            _("It cannot be brought back after that."),
            (_("Throw it away"), lambda: self._discard(left)),
            _("Keep it"),
            "bad",
        )

    def _discard(self, left: LeftDraft) -> None:
        self._parts.document.drafts.discard(left)
        self.look_for_left()
