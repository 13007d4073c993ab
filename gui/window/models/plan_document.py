"""The plan that is being edited: every change undoable, drafts against a crash, careful saving."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import CannotRead, CannotWrite, PreflightError, WrongUsage
from gui.engine.plan.changes import same_value
from gui.engine.plan.drafts import Draft, Drafts, LeftDraft, fingerprint
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute
from gui.engine.plan.plan_file import PlanFile, load_plan, moved_plan
from gui.engine.plan.preset_choice import fresh_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.recents import Recents
from gui.engine.plan.saving import is_in_the_way, save_plan
from gui.engine.plan.tokens import tokens_in, without_secrets
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.window.models.editable_plan import EditablePlan, differing

DRAFT_DELAY_MS = 300
FRESH_NAME = "my_lora"


class DiskLook(NamedTuple):
    """A look at a plan's file.

    Attributes:
        path: The file; None where there is none.
        known: Fingerprint of the text that it had.
    """

    path: Path | None
    known: str

    def found(self) -> bool:
        """Whether another program changed it since; reads the file."""
        return self.path is not None and is_in_the_way(self.path, self.known)


class PlanDocument(EditablePlan):
    """One plan, open for editing, and its file.

    Only what opens, saves and closes plans raises, and only ``PreflightError``.

    Attributes:
        drafts: Where unsaved work is kept.
        recents: Where files that were open are remembered.
        disk_changed: Whether another program changed the file since it was opened; see ``look_at_disk``.
        draft_problem: Why no draft can be kept, in a plain sentence; empty when all is well.
    """

    state_changed = Signal()
    """Path, whether it is saved, whether there is something to undo."""
    opened = Signal()
    """Another plan is open now; ``changed`` follows."""

    def __init__(
        self,
        *,
        drafts: Drafts,
        recents: Recents,
        library: PresetLibrary | None = None,
        catalogue: Catalogue | None = None,
        fresh: Callable[[], TrainingPlan] | None = None,
        parent: QObject | None = None,
    ) -> None:
        """Begin with a fresh plan.

        Args:
            drafts: Where unsaved work is kept.
            recents: Where files that were open are remembered.
            library: The presets; None takes the program's own.
            catalogue: The trainer's arguments; None when not known yet.
            fresh: Makes the plan that is shown when a new one is asked for; None for the usual one.
            parent: Qt's.
        """
        presets = library or PresetLibrary()
        self._fresh = fresh or (lambda: fresh_plan(FRESH_NAME, presets))
        self._file = PlanFile(self._fresh())
        super().__init__(
            self._file.plan, base=self._file.base, library=presets, catalogue=catalogue, parent=parent
        )
        self.drafts = drafts
        self.recents = recents
        self.disk_changed = False
        self.draft_problem = ""
        self._known = ""
        self._saved: Mapping[str, Any] | None = without_secrets(self.plan.data())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAFT_DELAY_MS)
        self._timer.timeout.connect(self.keep_draft)
        self.undo_stack.indexChanged.connect(self._stepped)

    @property
    def file(self) -> PlanFile:
        """What was read or written last, with notes; its ``plan`` is not this document's."""
        return self._file

    @property
    def path(self) -> Path | None:
        """The plan's file; None when it was never saved."""
        return self._file.path

    @property
    def dirty(self) -> bool:
        """Whether there is something to save; a file that still holds a token that was taken out counts."""
        if self._saved is None or not same_value(self._saved, without_secrets(self.plan.data())):
            return True
        return self.path is not None and not {*tokens_in(self._file.plan)} <= {*tokens_in(self.plan)}

    def as_file(self) -> PlanFile:
        """Return the plan as it stands, for checking and launching: saved or not."""
        return PlanFile(self.plan, self.path, read_only=self.read_only)

    def open(self, path: Path) -> None:
        """Open a plan file.

        Raises:
            CannotRead: It is no plan file; the open plan stays.
            CannotWrite: As ``load``.
        """
        self.load(load_plan(path))

    def load(self, file: PlanFile) -> None:
        """Show a plan that was read already; unsaved work of the one before is kept as a draft.

        Raises:
            CannotWrite: It cannot be kept; the open plan stays.
        """
        self._set_aside()
        self._begin(file, file.plan, known=fingerprint(file.text), saved=True)
        self._remember()

    def new(self, plan: TrainingPlan | None = None, *, unsaved: bool = False) -> None:
        """Show a plan without a file.

        Args:
            plan: None for a fresh one.
            unsaved: Whether it is work that would be lost, as an imported plan is.

        Raises:
            CannotWrite: Unsaved work of the plan before cannot be kept as a draft; it stays open.
        """
        fresh = plan or self._fresh()
        self._set_aside()
        self._begin(PlanFile(fresh), fresh, known="", saved=not unsaved)

    def reopen(self, left: LeftDraft) -> bool:
        """Show work that was left unsaved; whether it was still there.

        Raises:
            CannotWrite: No draft can be kept; what was left stays.
        """
        aside = self._set_aside()
        draft = self.drafts.take_over(left)
        if draft is None:
            if aside is not None:
                self.drafts.discard(aside)
            return False
        file, known = _file_of(draft), draft.fingerprint
        plan = draft.plan
        if str(file.base) != draft.base:
            plan = moved_plan(plan, Path(draft.base), file.base)
        self._begin(file, plan, known=known, saved=bool(file.text))
        return True

    def save(self, *, overwrite: bool = False) -> None:
        """Write the plan to its file.

        Args:
            overwrite: Whether to write although another program changed the file meanwhile.

        Raises:
            WouldOverwrite: It did; the error has both plans.
            WrongUsage: There is no file yet.
            NewerDocument: A newer version wrote the plan.
            CannotWrite: The file cannot be written.
        """
        if self.path is None:
            raise WrongUsage(_("This plan has no file yet. Save it under a name."))
        self.save_as(self.path, overwrite=overwrite)

    def save_as(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the plan to a file, which is its file from then on.

        Args:
            path: Where to.
            overwrite: Whether to write over what is there.

        Raises:
            WouldOverwrite: Something else is there.
            NewerDocument: A newer version wrote the plan.
            CannotWrite: The file cannot be written.
        """
        place = Path(absolute(str(path), self.base))
        before = self.base
        self._file = save_plan(self._file, self.plan, place, known=self._known, overwrite=overwrite)
        self.base = self._file.base
        self._known = fingerprint(self._file.text)
        self.disk_changed = False
        self.undo_stack.setClean()
        self.end_merge()
        plan = self.plan if before == self.base else moved_plan(self.plan, before, self.base)
        self._saved = without_secrets(plan.data())
        self._use(plan)
        self.keep_draft()
        self._remember()
        self.state_changed.emit()

    def look_at_disk(self) -> bool:
        """Look whether another program changed the file since it was opened; tells it as well."""
        look = self.disk_look()
        self.take_disk_look(look, look.found())
        return self.disk_changed

    def disk_look(self) -> DiskLook:
        """Return how to look at the file in a thread: its disk may be slow, or not answer at all."""
        return DiskLook(self.path, self._known)

    def take_disk_look(self, look: DiskLook, found: bool) -> None:
        """Take what a look found, unless another file or text is open by now."""
        if look == self.disk_look() and found != self.disk_changed:
            self.disk_changed = found
            self.state_changed.emit()

    def keep_draft(self) -> None:
        """Write the draft now; done by itself soon after every change."""
        self._timer.stop()
        problem = ""
        try:
            if self.dirty:
                self.drafts.write(self._draft())
            else:
                self.drafts.clear()
        except PreflightError as error:
            problem = _("Unsaved changes cannot be kept safe from a crash. {reason}").format(reason=error)
        if problem != self.draft_problem:
            self.draft_problem = problem
            self.state_changed.emit()

    def close(self) -> None:
        """End editing; unsaved work is there at the next start."""
        self.keep_draft()
        self.drafts.close()

    def _begin(self, file: PlanFile, plan: TrainingPlan, *, known: str, saved: bool) -> None:
        before, self._values = self._values, self._valued(plan)
        self._file = file
        self._known = known
        self.base = file.base
        self.read_only = file.read_only
        self._saved = without_secrets(file.plan.data()) if saved else None
        self.disk_changed = bool(file.text) and fingerprint(file.text) != known
        self.end_merge()
        self.undo_stack.clear()
        self.keep_draft()
        self.opened.emit()
        self.changed.emit(differing(before, self._values))
        self.state_changed.emit()

    def _set_aside(self) -> LeftDraft | None:
        """Keep unsaved work before another plan takes its place."""
        return self.drafts.set_aside(self._draft()) if self.dirty else None

    def _draft(self) -> Draft:
        return Draft.of(self.plan, self.path, self.base, self._known)

    def _remember(self) -> None:
        if self.path is not None:
            with contextlib.suppress(CannotWrite):
                self.recents.add(self.path, self.plan)

    def _stepped(self, _index: int) -> None:
        if not self._timer.isActive():
            self._timer.start()
        self.state_changed.emit()


def _file_of(draft: Draft) -> PlanFile:
    """Return the file that a draft belongs to, as it is now; a new plan where there is none to save to."""
    if draft.path is None:
        return PlanFile(draft.plan)
    place = Path(draft.path)
    try:
        file = load_plan(place)
    except CannotRead:
        return PlanFile(draft.plan, place)
    return PlanFile(draft.plan) if file.read_only else file
