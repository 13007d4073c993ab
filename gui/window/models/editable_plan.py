"""A plan that can be changed, with undo; it knows nothing of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from gui.engine.errors import PlanNotRunnable, ScriptNotUsable
from gui.engine.plan.changes import UnknownTarget, apply_changes, differences, same_value
from gui.engine.plan.effective import Effective, PlanValues, without_own
from gui.engine.plan.families import script_for
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import moved_plan, type_trouble
from gui.engine.plan.preset_choice import layer_on, with_family, with_layer
from gui.engine.plan.preset_filling import FilledPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.window.models.plan_steps import PlanStep, Snapshot

MOST_STEPS = 1000


class EditablePlan(QObject):
    """A plan, what fills it, and the steps that were made. Nothing here raises, whatever a plan holds.

    Attributes:
        undo_stack: The steps made, with texts.
        read_only: Whether the plan can only be looked at.
        base: The folder against which its relative paths are meant.
    """

    changed = Signal(object)
    """The targets (frozenset of str) whose own or filled-in value is another one now; undo included."""

    read_only = False

    def __init__(
        self,
        plan: TrainingPlan,
        *,
        base: Path,
        library: PresetLibrary,
        catalogue: Catalogue | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.base = base
        self._library = library
        self._catalogue = catalogue
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(MOST_STEPS)
        self._merges: dict[str, int] = {}
        self._next_merge = 0
        self._values = self._valued(plan)

    @property
    def plan(self) -> TrainingPlan:
        """The plan itself, without what presets fill in."""
        return self._values.plan

    @property
    def filled(self) -> FilledPlan:
        """The plan with the values of its presets and its family."""
        return self._values.filled

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def library(self) -> PresetLibrary:
        """The presets."""
        return self._library

    @property
    def catalogue(self) -> Catalogue | None:
        """The trainer's arguments."""
        return self._catalogue

    @property
    def script(self) -> str:
        """The script that trains the plan; empty when family or kind is not known."""
        try:
            return script_for(self.plan)
        except PlanNotRunnable:
            return ""

    @property
    def script_arguments(self) -> ScriptArguments | None:
        """The arguments of the plan's script; None when they are not known."""
        return self._arguments_of(self.plan)

    def effective(self, target: str) -> Effective:
        """Return what counts at a place: (value, source, reason, preset_value)."""
        return self._values.effective(target)

    def layer_of(self, target: str) -> str:
        """Return the preset that says the value here, or would if the plan did not; empty for none."""
        return self._values.layer_of(target)

    def deviates(self, target: str) -> bool:
        """Whether the user says something else here than the presets."""
        return self._values.deviates(target)

    def default(self, target: str) -> Any:
        """Return what the trainer does when nobody says anything; None when not known."""
        return self._values.default(target)

    def layer_on(self, axis: str) -> str | None:
        """Return the plan's preset on an axis (``purpose``, ``caution``, ``memory`` …)."""
        return layer_on(self.plan, axis, self._library)

    def change(self, changes: Mapping[str, Any], text: str, *, merge: str = "") -> str:
        """Make changes in one undo step.

        Args:
            changes: Target to new value, in the words of fixes; None removes.
            text: What is done, for the undo button.
            merge: Changes of the same key that follow each other become one step, until
                ``end_merge``, a save, or another change.

        Returns:
            Empty, or why the plan cannot hold this, in one plain sentence; nothing changed then.
        """
        try:
            plan = apply_changes(self.plan, changes)
        except (UnknownTarget, ValidationError, RecursionError) as error:
            return _refusal(error)
        return self.replace(plan, text, merge=merge)

    def refusal_of(self, changes: Mapping[str, Any]) -> str:
        """Return why the plan could not hold changes, without making them; empty when it could."""
        try:
            apply_changes(self.plan, changes)
        except (UnknownTarget, ValidationError, RecursionError) as error:
            return _refusal(error)
        return ""

    def replace(self, plan: TrainingPlan, text: str, *, merge: str = "") -> str:
        """Put another plan in this one's place, in one undo step.

        Returns:
            As ``change``.
        """
        if self.read_only:
            return _("A newer version of Kohya Preflight wrote this plan; it can only be looked at.")
        if not same_value(plan.data(), self.plan.data()):
            base = str(self.base)
            step = PlanStep(
                self._show, Snapshot(self.plan, base), Snapshot(plan, base), text, self._merge_of(merge)
            )
            self.undo_stack.push(step)
        return ""

    def end_merge(self) -> None:
        """Let the next typing be a step of its own: the field was left."""
        self._merges.clear()

    def set_value(self, target: str, value: Any, *, merge: str = "") -> str:
        """Say a value at a place, and at no other that means the same; None takes it back.

        Returns:
            As ``change``.
        """
        if value is None:
            return self.take_back(target, merge=merge)
        try:
            plan = apply_changes(without_own(self.plan, target), {target: value})
        except (UnknownTarget, ValidationError, RecursionError) as error:
            return _refusal(error)
        return self.replace(plan, _("Change {name}").format(name=target), merge=merge)

    def take_back(self, target: str, *, merge: str = "") -> str:
        """Forget what the plan itself says at a place: presets and defaults count there again."""
        try:
            plan = without_own(self.plan, target)
        except (UnknownTarget, ValidationError, RecursionError) as error:
            return _refusal(error)
        return self.replace(plan, _("Take back {name}").format(name=target), merge=merge)

    def set_presets(self, presets: Sequence[str], text: str = "") -> str:
        """Stand on other presets, in this order."""
        plan = self.plan.model_copy(update={"presets": tuple(presets)})
        return self.replace(plan, text or _("Choose presets"))

    def set_layer(self, axis: str, name: str | None, text: str = "") -> str:
        """Choose the preset on one axis; None for none."""
        return self.set_presets(with_layer(self.plan.presets, axis, name, self._library), text)

    def set_family(self, family: str, kind: str | None = None, text: str = "") -> str:
        """Choose the model family, and the kind of training where it is given."""
        plan = with_family(self.plan, family, kind, self._library)
        return self.replace(plan, text or _("Choose the model family"))

    def use_catalogue(self, catalogue: Catalogue | None) -> None:
        """Know the arguments of another trainer."""
        if catalogue is self._catalogue:
            return
        self._catalogue = catalogue
        self._use(self.plan)

    def use_library(self, library: PresetLibrary) -> None:
        """Know other presets."""
        self._library = library
        self._use(self.plan)

    def _use(self, plan: TrainingPlan) -> None:
        """Take over a plan, or the same one with what fills it now."""
        before, self._values = self._values, self._valued(plan)
        targets = differing(before, self._values)
        if targets:
            self.changed.emit(targets)

    def _show(self, moment: Snapshot) -> None:
        plan = moment.plan
        if moment.base != str(self.base):
            plan = moved_plan(plan, Path(moment.base), self.base)
        self._use(plan)

    def _valued(self, plan: TrainingPlan) -> PlanValues:
        script = self._arguments_of(plan)
        defaults = None if script is None else {n: a.default for n, a in script.arguments.items()}
        return PlanValues(plan, self._library, defaults)

    def _arguments_of(self, plan: TrainingPlan) -> ScriptArguments | None:
        if self._catalogue is None:
            return None
        try:
            return self._catalogue.script(script_for(plan))
        except (PlanNotRunnable, ScriptNotUsable):
            return None

    def _merge_of(self, key: str) -> int:
        if not key:
            return -1
        if key not in self._merges:
            self._next_merge += 1
            self._merges[key] = self._next_merge
        return self._merges[key]


def differing(before: PlanValues, after: PlanValues) -> frozenset[str]:
    """Return the targets whose own or filled-in value differs."""
    pairs = ((before.plan, after.plan), (before.filled.plan, after.filled.plan))
    return frozenset(change.target for one, other in pairs for change in differences(one, other))


def _refusal(error: UnknownTarget | ValidationError | RecursionError) -> str:
    if isinstance(error, UnknownTarget):
        return _("A plan has no place “{target}”.").format(target=error.target)
    if isinstance(error, ValidationError):
        return type_trouble(error.errors(include_url=False)[0])
    return _("it is nested too deeply")
