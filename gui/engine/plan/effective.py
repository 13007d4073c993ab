"""Tells for one place of a plan what counts there, who says so, and what the presets would say.

Places are named as fixes name them (``unet_lr``, ``dataset.batch_size``, ``launch.num_processes``).
Nothing here raises, whatever a plan from elsewhere holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from gui.engine.plan.changes import UnknownTarget, apply_changes, value_at
from gui.engine.plan.dataset_options import OPTIONS, read_value
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_filling import FilledPlan, family_arguments, fill_plan, kind_of
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.texts import _

Source = Literal["user", "preset", "family", "trainer"]
_SECTIONS = ("plan", "launch", "guard")


class Effective(NamedTuple):
    """What counts at one place.

    Attributes:
        value: The value; None where nobody says one.
        source: Who says so: the plan itself, a preset, the family, or the trainer's own default.
        reason: Why the presets or the family say what they say; empty where they say nothing.
        preset_value: What counts once the plan itself says nothing; None where neither presets nor
            family say anything.
    """

    value: Any
    source: Source
    reason: str
    preset_value: Any


class _Given(NamedTuple):
    value: Any = None
    reason: str = ""
    layer: str = ""


class PlanValues:
    """A plan with what fills it.

    Attributes:
        plan: As the user has it.
    """

    def __init__(
        self,
        plan: TrainingPlan,
        library: PresetLibrary,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """Take a plan.

        Args:
            plan: As the user has it.
            library: The presets.
            defaults: The script's arguments with the trainer's own defaults; None when not known.
        """
        self.plan = plan
        self._library = library
        self._defaults = defaults
        self._without_own: dict[str, _Given] = {}

    @cached_property
    def filled(self) -> FilledPlan:
        """The plan with the values of presets and family."""
        return self._fill(self.plan)

    def effective(self, target: str) -> Effective:
        """Return what counts at a place."""
        own = own_value(self.plan, target)
        if own is not None or target in self.plan.without:
            given, reason, _layer = self._given_without_own(target)
            if own is not None:
                return Effective(own, "user", reason, given)
            return Effective(self.default(target), "trainer", reason, given)
        preset = self.filled.values.get(target)
        if preset is not None:
            return Effective(preset.value, "preset", preset.reason, preset.value)
        family = self._of_family(self.plan).get(target)
        if family is not None:
            return Effective(family, "family", _family_reason(), family)
        return Effective(self.default(target), "trainer", "", None)

    def deviates(self, target: str) -> bool:
        """Whether the plan says something else here than its presets and its family would."""
        if own_value(self.plan, target) is None and target not in self.plan.without:
            return False
        found = self.effective(target)
        if found.preset_value is None:
            return False
        return found.source != "user" or not _alike(found.value, found.preset_value)

    def layer_of(self, target: str) -> str:
        """Return the preset that says the value here, or would if the plan did not; empty for none."""
        preset = self.filled.values.get(target)
        if preset is not None:
            return preset.layer
        if own_value(self.plan, target) is None and target not in self.plan.without:
            return ""
        return self._given_without_own(target).layer

    def default(self, target: str) -> Any:
        """Return what the trainer does when nobody says anything; None when not known."""
        section, _dot, rest = target.partition(".")
        if section in _SECTIONS and rest:
            return _value_of(TrainingPlan(), target)
        if section == "dataset" and rest:
            option = OPTIONS.get(rest.rpartition(".")[2])
            known = (self._defaults or {}).get(option.argument or "") if option else None
            return read_value(option.type, known) if option else None
        return (self._defaults or {}).get(target)

    def _given_without_own(self, target: str) -> _Given:
        if target not in self._without_own:
            self._without_own[target] = self._computed_without_own(target)
        return self._without_own[target]

    def _computed_without_own(self, target: str) -> _Given:
        if target.split(".", maxsplit=1)[0] in (*_SECTIONS, "env") and "." in target:
            return _Given()
        try:
            bare = without_own(self.plan, target)
        except (UnknownTarget, ValidationError):
            return _Given()
        preset = self._fill(bare).values.get(target)
        if preset is not None:
            return _Given(preset.value, preset.reason, preset.layer)
        family = self._of_family(bare).get(target)
        return _Given() if family is None else _Given(family, _family_reason())

    def _fill(self, plan: TrainingPlan) -> FilledPlan:
        return fill_plan(plan, self._library, self._defaults)

    def _of_family(self, plan: TrainingPlan) -> Mapping[str, Any]:
        kin = families().get(plan.family)
        found = family_arguments(kin, kind_of(plan, kin))
        return {
            name: value
            for name, value in found.items()
            if (self._defaults is None or name in self._defaults) and name not in plan.without
        }


def own_value(plan: TrainingPlan, target: str) -> Any:
    """Return what the plan itself says at a place, wherever it may say it; None for nothing."""
    section, _dot, rest = target.partition(".")
    if not rest:
        return plan.arguments.get(target)
    if section in _SECTIONS:
        value = _value_of(plan, target)
        return None if value == _value_of(TrainingPlan(), target) else value
    if section == "dataset" and "." not in rest and rest in OPTIONS:
        general = plan.dataset.get("general")
        for level in (plan.dataset, general if isinstance(general, Mapping) else {}):
            if level.get(rest) is not None:
                return level[rest]
        argument = OPTIONS[rest].argument
        return plan.arguments.get(argument) if argument else None
    return _value_of(plan, target)


def without_own(plan: TrainingPlan, target: str) -> TrainingPlan:
    """Return the plan without what it says itself at a place: presets count there again.

    Raises:
        UnknownTarget: A plan has no such place.
    """
    changes: dict[str, Any] = {target: None}
    key = target.removeprefix("dataset.")
    if target.startswith("dataset.") and key in OPTIONS:
        if isinstance(plan.dataset.get("general"), Mapping):
            changes[f"dataset.general.{key}"] = None
        if OPTIONS[key].argument:
            changes[str(OPTIONS[key].argument)] = None
    # What is removed from a plan with presets is kept out of them; here they shall have it again.
    bare = apply_changes(plan.model_copy(update={"presets": ()}), changes)
    kept = tuple(name for name in plan.without if name not in changes)
    return bare.model_copy(update={"presets": plan.presets, "without": kept})


def _value_of(plan: TrainingPlan, target: str) -> Any:
    try:
        return value_at(plan, target)
    except UnknownTarget:
        return plan.arguments.get(target)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _family_reason() -> str:
    return _("The model family asks for it.")
