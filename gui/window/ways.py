"""The ways between pages: opening plans, setups and runs, and coming back to what was left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer

from gui.engine.errors import PreflightError
from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.plan.changes import (
    ACTION,
    Change,
    UnknownTarget,
    apply_changes,
    difference_in_words,
    differences,
)
from gui.engine.plan.plan_file import PlanFile
from gui.engine.runs.folder import RunFolder
from gui.engine.texts import _, ngettext
from gui.engine.window_state import WindowState
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.bridges.trainers import Trainers
from gui.window.main_window import MainWindow
from gui.window.models.plan_document import PlanDocument
from gui.window.notes import Notes
from gui.window.widgets.buttons import Button

T = TypeVar("T")

_OPEN = "open-setup"
_DROP = "dropped"
_LOGS = (".log", ".txt", ".out")

SLOW_MS = 500
"""What takes longer to open is spoken of: the disk may be far away, or gone."""


class Ways(QObject):
    """Leads from page to page.

    Args:
        window: The frame with the pages.
        document: The open plan.
        trainers: Whose arguments count when a setup is read.
        runs: Those of this machine.
        tokens: Takes those that stood in a setup.
        tasks: For reading.
        notes: Where it is said when something cannot be opened.
    """

    def __init__(
        self,
        *,
        window: MainWindow,
        document: PlanDocument,
        trainers: Trainers,
        runs: RunList,
        tokens: Tokens,
        tasks: Tasks,
        notes: Notes,
    ) -> None:
        super().__init__()
        self._window = window
        self._document = document
        self._trainers = trainers
        self._runs = runs
        self._tokens = tokens
        self._tasks = tasks
        self._notes = notes
        self._opening = Path()
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(SLOW_MS)
        self._slow.timeout.connect(self._tell_slow)

    def new_plan(self) -> None:
        """Show a fresh plan."""
        if self._in_place(self._document.new):
            self.show_plan("what")

    def show_plan(self, step: str = "") -> None:
        """Bring the plan to the front, at one of its steps."""
        page: Any = self._window.show_page("plan")
        if step:
            page.show_step(step)

    def take_files(self, paths: list[str]) -> None:
        """Open what was dropped: a run, a log in Runs, images and models in the plan, else a setup."""
        first = Path(paths[0])
        self._tasks.run(
            lambda _handle: _kind_of(paths), lambda kind: self._take(kind, first, paths), key=_DROP
        )

    def _take(self, kind: str, first: Path, paths: list[str]) -> None:
        if kind == "run":
            self.open_run(first)
        elif kind == "data":
            page: Any = self._window.show_page("plan")
            page.take(paths)
        elif kind == "log":
            runs: Any = self._window.show_page("runs")
            runs.diagnose(first)
        else:
            self.open_setup(str(first))

    def open_setup(self, path: str | Path, script: str | None = None) -> None:
        """Open whatever the engine can read as a plan."""
        catalogue = self._trainers.catalogue
        self._open(
            Path(path),
            lambda: read_setup(Path(path), script, catalogue),
            self.use_setup,
            _("This was not opened."),
        )

    def open_run_as_plan(self, run: RunFolder | Path | str, changes: Mapping[str, Any] | None = None) -> None:
        """Make a plan of a run, with changes or without; an action among them leads to its images."""
        from gui.engine.runs.reuse import DATA_ACTIONS, plan_of_run  # heavy, and not for the first paint

        folder = _folder(run)
        wanted = dict(changes or {})
        action = wanted.pop(ACTION, None)

        def use(file: PlanFile) -> None:
            if self._open_file(file, "review"):
                if wanted:
                    self._change(wanted)
                if action in DATA_ACTIONS:
                    self._window.show_page("data")

        title = _("No plan could be made of this run.")
        self._open(folder.path, lambda: plan_of_run(folder), use, title)

    def open_run(self, run: RunFolder | Path | str) -> None:
        """Show a run."""
        page: Any = self._window.page("run")
        page.open(_folder(run))
        self._window.show_page("run")

    def reopen_left(self, state: WindowState) -> bool:
        """Bring back what the window had open; return whether unsaved work is shown now."""
        left = self._document.drafts.left_behind()
        if not left:
            return False
        newest, *others = left
        if not self._in_place(lambda: self._document.reopen(newest)):
            return False
        text = _("“{name}” was not saved when the window closed. It is open, as it was.")
        words = [text.format(name=newest.name)]
        if others:
            more = ngettext("{count} more is kept.", "{count} more are kept.", len(others))
            words.append(more.format(count=len(others)))
        self._notes.tell(_("Unsaved work is back."), " ".join(words), "draft-back")
        self.show_plan(state.step)
        return True

    def attach_when_known(self) -> None:
        """Show the newest run that is not over, as soon as the runs are known."""
        self._runs.changed.connect(self._attach)

    def _open(self, place: Path, read: Callable[[], T], use: Callable[[T], object], title: str) -> None:
        """Read something in a thread and use it; where that takes long, say so and let it be left."""
        self._notes.take_away(_OPEN)
        self._opening = place
        self._slow.start()

        def over() -> None:
            self._slow.stop()
            self._notes.take_away(_OPEN)

        def done(value: T) -> None:
            over()
            use(value)

        def failed(error: PreflightError) -> None:
            over()
            self._notes.error(title, error)

        self._tasks.run(lambda _handle: read(), done, failed, key=_OPEN)

    def _tell_slow(self) -> None:
        place = self._opening
        leave = Button(_("Leave it"), compact=True, name="note-open-leave")
        leave.clicked.connect(self._leave_opening)
        title = _("Opening “{name}” …").format(name=place.name)
        text = _("{folder} answers slowly. All else can be used meanwhile.").format(folder=place.parent)
        self._notes.tell(title, text, _OPEN, "accent", leave)

    def _leave_opening(self) -> None:
        self._tasks.cancel(_OPEN)
        self._slow.stop()
        self._notes.take_away(_OPEN)

    def _attach(self) -> None:
        self._runs.changed.disconnect(self._attach)
        living = self._runs.living
        if living and self._window.current == "start":
            self.open_run(living[0].folder)

    def use_setup(self, given: PlanInput) -> None:
        """Show what was read as a plan, and what was changed for it."""
        if self._open_file(given.file, "review"):
            notes = [*given.file.notes, *(finding.title for finding in given.findings)]
            if notes:
                title = _("What was changed when this was opened:")
                self._notes.tell(title, "\n".join(notes), "plan-notes")
            if given.secrets:
                self._tokens.keep(given.secrets)

    def _open_file(self, file: PlanFile, step: str) -> bool:
        if file.path is None:
            done = self._in_place(lambda: self._document.new(file.plan, unsaved=True))
        else:
            done = self._in_place(lambda: self._document.load(file))
        if done:
            for name in ("error", "plan-notes"):  # they are about what was to be opened before
                self._notes.take_away(name)
            self.show_plan(step)
        return done

    def _change(self, changes: Mapping[str, Any]) -> None:
        try:
            apply_changes(self._document.plan, changes)
        except UnknownTarget:
            return
        before = self._document.plan
        self._document.change(changes, _("Change for the next try"))
        made = [each for each in differences(before, self._document.plan) if _is_told(each)]
        if made:
            rows = [difference_in_words(each.target, each.before, each.after) for each in made]
            self._notes.tell(_("Changed for the next try:"), "\n".join(rows), "plan-notes")

    def _in_place(self, act: Callable[[], object]) -> bool:
        """Do something to the document; say it where that cannot be done."""
        try:
            act()
        except PreflightError as error:
            self._notes.error(_("The open plan cannot be put aside."), error)
            return False
        return True


def _kind_of(paths: list[str]) -> str:
    """Return what was dropped; looks at the disk."""
    from gui.engine.runs.diagnosing import is_output  # heavy, and not for the first paint
    from gui.window.pages.plan.drops import sorted_drop

    if RunFolder(Path(paths[0])).exists():
        return "run"
    first = Path(paths[0])
    if first.suffix.lower() in _LOGS and first.is_file() and is_output(first):
        return "log"
    dropped = sorted_drop(paths)
    return "data" if dropped.folders or dropped.models else "setup"


def _is_told(change: Change) -> bool:
    """Whether a change is about the training, rather than about which run it follows."""
    return not change.target.startswith("plan.follows")


def _folder(run: RunFolder | Path | str) -> RunFolder:
    return run if isinstance(run, RunFolder) else RunFolder(Path(run))
