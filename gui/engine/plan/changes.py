"""Changes plans by targets, the words in which fixes are written.

A bare name is a trainer argument. Other targets are dotted: ``dataset.batch_size``,
``dataset.subsets.0.shuffle_caption``, ``launch.num_processes``, ``guard.nonfinite``,
``env.NAME``, ``plan.kind``. None removes; ``action`` names something that is no value.
Source: cli.md, ``changes``.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _

ACTION = "action"
_MISSING = object()


@dataclass(frozen=True)
class Change:
    """One difference between two plans.

    Attributes:
        target: In the words of fixes.
        before: The old value, None where there was none.
        after: The new value, None where it was removed.
    """

    target: str
    before: Any
    after: Any


class UnknownTarget(ValueError):
    """A change names a place that a plan does not have.

    Attributes:
        target: As it was written.
    """

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


def _path_of(target: str) -> list[str]:
    first, *rest = target.split(".")
    if not rest:
        return ["arguments", first]
    if first == "plan":
        return rest
    if first == "env":
        return ["launch", "env", ".".join(rest)]
    if first in ("dataset", "launch", "guard"):
        return [first, *rest]
    raise UnknownTarget(target)


def _descend(place: Any, name: str) -> Any:
    if isinstance(place, list):
        return place[int(name)] if name.isdecimal() and int(name) < len(place) else _MISSING
    return place.get(name, _MISSING) if isinstance(place, dict) else _MISSING


def value_at(plan: TrainingPlan, target: str) -> Any:
    """Return what the plan itself has at a target, None where it has nothing.

    Raises:
        UnknownTarget: A plan has no such place.
    """
    place: Any = plan.model_dump(by_alias=True, mode="python")
    for name in _path_of(target):
        place = _descend(_as_lists(place), name)
        if place is _MISSING:
            return None
    return place


def _as_lists(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def apply_changes(plan: TrainingPlan, changes: Mapping[str, Any]) -> TrainingPlan:
    """Return the plan with the changes made; ``action`` entries are left to whoever asked.

    What is removed from a plan that has presets is also noted in its ``without``, so that no
    preset brings it back.

    Args:
        plan: Stays as it is.
        changes: Target to new value; None removes, and removing what is not there is fine.

    Raises:
        UnknownTarget: A target names a place that a plan does not have.
    """
    data: dict[str, Any] = copy.deepcopy(plan.model_dump(by_alias=True, mode="python"))
    for target, value in changes.items():
        if target != ACTION:
            _set(data, target, value)
    if plan.presets:
        data["without"] = _without(plan.without, changes)
    return TrainingPlan.model_validate(data)


def _without(before: tuple[str, ...], changes: Mapping[str, Any]) -> list[str]:
    """Return the targets that presets must not fill in after the changes."""
    fillable = {target: value for target, value in changes.items() if _may_be_filled(target)}
    kept = [target for target in before if fillable.get(target) is None]
    removed = [target for target, value in fillable.items() if value is None]
    return list(dict.fromkeys((*kept, *removed)))


def _may_be_filled(target: str) -> bool:
    """Whether presets fill this place in: an argument, or an option of the whole dataset."""
    dots = target.count(".")
    return target != ACTION and (dots == 0 or (dots == 1 and target.startswith("dataset.")))


def _set(data: dict[str, Any], target: str, value: Any) -> None:
    *way, last = _path_of(target)
    place: Any = data
    for name in way:
        found = _descend(place, name)
        if found is _MISSING and isinstance(place, dict):
            if value is None:
                return
            found = place[name] = {}
        elif isinstance(found, tuple) and isinstance(place, dict):
            found = place[name] = list(found)
        if found is _MISSING:
            raise UnknownTarget(target)
        place = found
    if isinstance(place, list):
        if not last.isdecimal() or int(last) >= len(place):
            raise UnknownTarget(target)
        if value is None:
            del place[int(last)]
        else:
            place[int(last)] = value
    elif not isinstance(place, dict):
        raise UnknownTarget(target)
    elif value is None:
        place.pop(last, None)
    else:
        place[last] = value


def changes_in_words(changes: Mapping[str, Any]) -> str:
    """Return what changes say, by the last word of each target: ``batch_size 1, no optimizer_args``."""
    return ", ".join(_in_words(target, value) for target, value in changes.items() if target != ACTION)


def _in_words(target: str, value: Any) -> str:
    name = target.rpartition(".")[2]
    if value is True:
        return name
    return _("no {name}").format(name=name) if value is None else f"{name} {value}"


def difference_in_words(target: str, before: Any, after: Any) -> str:
    """Return one difference in a line: ``unet_lr: 0.002 → 0.001``, with a dash for nothing."""
    shown = ("–" if value is None else str(value) for value in (before, after))
    return f"{target}: {' → '.join(shown)}"


def without_folder(value: Any) -> Any:
    """Return a value as there is room for in a line: of a file's whole path its name."""
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def differences(before: TrainingPlan, after: TrainingPlan) -> list[Change]:
    """Return what differs between two plans, in the order of the plan file."""
    old = _flat(before.model_dump(by_alias=True, mode="python"), "")
    new = _flat(after.model_dump(by_alias=True, mode="python"), "")
    return [
        Change(_target_of(path), old.get(path), new.get(path))
        for path in [*old, *(path for path in new if path not in old)]
        if not same_value(old.get(path, _MISSING), new.get(path, _MISSING))
    ]


def same_value(one: Any, other: Any) -> bool:
    """Return whether two values are written the same: ``1``, ``1.0`` and ``true`` are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_value, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


def _flat(value: Any, path: str) -> dict[str, Any]:
    value = _as_lists(value)
    if isinstance(value, dict):
        children: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        children = list(enumerate(value))
    else:
        return {path: value}
    flat: dict[str, Any] = {}
    for name, child in children:
        flat |= _flat(child, f"{path}.{name}" if path else str(name))
    return flat


def _target_of(path: str) -> str:
    if path.startswith("arguments."):
        return path.removeprefix("arguments.")
    if path.startswith("launch.env."):
        return "env." + path.removeprefix("launch.env.")
    if path.startswith(("dataset.", "launch.", "guard.")):
        return path
    return f"plan.{path}"
