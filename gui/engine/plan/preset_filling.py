"""Fills a plan with the values of its presets, under the plan's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.dataset_options import OPTIONS
from gui.engine.plan.families import Family, families, lineage
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.preset_limits import memory_trouble
from gui.engine.plan.preset_stacking import Expansion, Value, expand, finished, layered, situation_of
from gui.engine.texts import _

_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "max_train_epochs": ("max_train_steps",),
    "max_train_steps": ("max_train_epochs",),
    "save_every_n_epochs": ("save_every_n_steps",),
    "save_every_n_steps": ("save_every_n_epochs",),
    "save_n_epoch_ratio": ("save_every_n_steps", "save_every_n_epochs"),
    "use_8bit_adam": ("optimizer_type", "optimizer_args"),
    "use_lion_optimizer": ("optimizer_type", "optimizer_args"),
    "lr_scheduler_type": ("lr_scheduler", "lr_warmup_steps"),
    "dim_from_weights": ("network_dim", "network_alpha"),
}
"""What the plan says itself, and what it then leaves no room for."""

_FOLLOWERS: Mapping[str, tuple[str, ...]] = {
    "optimizer_type": ("optimizer_args", "fused_backward_pass"),
    "network_module": ("network_args",),
    "lr_scheduler": ("lr_scheduler_args", "lr_scheduler_num_cycles", "lr_scheduler_min_lr_ratio"),
}
"""What was chosen for one value and would be wrong with another."""

_WITHOUT_WARMUP = ("constant", "adafactor")


@dataclass(frozen=True)
class FilledPlan:
    """A plan as the trainer would understand it.

    Attributes:
        plan: With the values of its presets and of its family filled in.
        values: What the presets gave, by target.
        findings: What is wrong with the presets that the plan names.
    """

    plan: TrainingPlan
    values: Mapping[str, Value]
    findings: tuple[Finding, ...]


def effective_plan(
    plan: TrainingPlan, library: PresetLibrary | None = None, known: Collection[str] | None = None
) -> TrainingPlan:
    """Return the plan with the values of its presets and of its family under its own.

    Args:
        plan: Stays as it is.
        library: The presets; None takes the program's own.
        known: The script's arguments; others are not filled in. None fills in all.
    """
    return fill_plan(plan, library, known).plan


def fill_plan(
    plan: TrainingPlan, library: PresetLibrary | None = None, known: Collection[str] | None = None
) -> FilledPlan:
    """Return the plan with the values of its presets and of its family under its own, and what is wrong.

    A layer that is missing, broken, cyclic or made for another family is left out and reported.

    Args:
        plan: Stays as it is.
        library: The presets; None takes the program's own.
        known: The script's arguments; others are not filled in. None fills in all.
    """
    kin = families().get(plan.family)
    place = library or PresetLibrary()
    wanted = expand(plan.presets, place)
    findings = [*_not_there(plan, wanted, place), *_cyclic(plan, wanted, place)]
    order = list(wanted.order)
    if kin is not None:
        foreign = [name for name in order if not _is_for(name, kin, place)]
        findings += [_foreign(plan, name, kin, place) for name in foreign]
        order = [name for name in order if name not in foreign]
        findings += _too_small(kind_of(plan, kin), order, kin, place)
    own = _own_values(plan)
    situation = situation_of(plan.family, kind_of(plan, kin), order)
    values = finished(layered(order, situation, place), own)
    taken = {target: value for target, value in values.items() if _fits(target, value, plan, own, known)}
    taken = {target: value for target, value in taken.items() if not _is_in_the_way(target, values, own)}
    return FilledPlan(_filled(plan, taken, kin, known), taken, tuple(findings))


def kind_of(plan: TrainingPlan, kin: Family | None) -> str:
    """Return the kind of training: the one that the plan's script does, where it names a script."""
    if kin is None or plan.script is None:
        return plan.kind
    script = plan.script if plan.script.endswith(".py") else f"{plan.script}.py"
    own = kin.kinds.get(plan.kind)
    if own is not None and own.script == script:
        return plan.kind
    return next((name for name, kind in kin.kinds.items() if kind.script == script), plan.kind)


def _own_values(plan: TrainingPlan) -> dict[str, Any]:
    """Return what the plan itself says, by target, wherever it says it."""
    own = {name: value for name, value in plan.arguments.items() if value is not None}
    general = plan.dataset.get("general")
    levels = (general if isinstance(general, Mapping) else {}, plan.dataset)
    for key, option in OPTIONS.items():
        said = [level[key] for level in levels if level.get(key) is not None]
        if not said and option.argument is not None and own.get(option.argument) is not None:
            said = [own[option.argument]]
        if said:
            own[f"dataset.{key}"] = said[-1]
    return own


def _fits(
    target: str,
    value: Value,
    plan: TrainingPlan,
    own: Mapping[str, Any],
    known: Collection[str] | None,
) -> bool:
    if target in own or target in plan.without:
        return False
    if target.startswith("dataset."):
        return own.get("dataset_config") is None and own.get("dataset_class") is None
    return value.value is not None and (known is None or target in known)


def _is_in_the_way(target: str, values: Mapping[str, Value], own: Mapping[str, Any]) -> bool:
    """Return whether a preset's value would contradict what the plan says itself."""
    for name, instead in _INSTEAD.items():
        if target in instead and own.get(name) not in (None, False):
            return True
    for name, followers in _FOLLOWERS.items():
        if target in followers and name in own and not _same(own[name], values.get(name)):
            return True
    return target == "lr_warmup_steps" and own.get("lr_scheduler") in _WITHOUT_WARMUP


def _same(own: Any, value: Value | None) -> bool:
    return value is not None and str(own).lower() == str(value.value).lower()


def _filled(
    plan: TrainingPlan, taken: Mapping[str, Value], kin: Family | None, known: Collection[str] | None
) -> TrainingPlan:
    arguments = {
        name: value
        for name, value in family_arguments(kin, kind_of(plan, kin)).items()
        if (known is None or name in known) and name not in plan.without
    }
    dataset: dict[str, Any] = {}
    for target, value in taken.items():
        if target.startswith("dataset."):
            dataset[target.removeprefix("dataset.")] = value.value
        else:
            arguments[target] = value.value
    own = {name: value for name, value in plan.arguments.items() if value is not None}
    return plan.model_copy(update={"arguments": arguments | own, "dataset": dataset | dict(plan.dataset)})


def family_arguments(kin: Family | None, kind: str) -> dict[str, Any]:
    """Return what tells the scripts which family it is, and what the kind cannot do without."""
    if kin is None:
        return {}
    found = dict(kin.arguments)
    if kind in kin.kinds:
        found |= kin.kinds[kind].arguments
        if kin.kinds[kind].network_modules:
            found["network_module"] = kin.kinds[kind].network_modules[0]
    return found


def _is_for(name: str, kin: Family, library: PresetLibrary) -> bool:
    wanted = library.layers[name].families
    return not wanted or not lineage(kin.name).isdisjoint(wanted)


def _not_there(plan: TrainingPlan, wanted: Expansion, library: PresetLibrary) -> Iterator[Finding]:
    for name, asker in wanted.missing:
        broken = library.broken.get(name)
        if broken is not None:
            title = _("The preset “{name}” cannot be used.").format(name=name)
            detail = broken.sentence
        elif asker is not None:
            title = _("There is no preset “{name}”.").format(name=name)
            detail = _("{place} stands on it; the key is layers.").format(place=_place(asker, library))
        else:
            title = _("There is no preset “{name}”.").format(name=name)
            detail = _("Known are: {names}.").format(names=", ".join(library.layers))
        yield _finding(
            "preset-broken" if broken else "preset-unknown", title, detail, plan, name=name, asker=asker
        )


def _cyclic(plan: TrainingPlan, wanted: Expansion, library: PresetLibrary) -> Iterator[Finding]:
    if wanted.cyclic:
        ring = " → ".join((*wanted.cyclic, wanted.cyclic[0]))
        first = wanted.cyclic[0]
        yield _finding(
            "preset-cyclic",
            _("Presets stand on each other in a ring: {ring}.").format(ring=ring),
            _("Take one of them out of the key layers in {place}.").format(place=_place(first, library)),
            plan,
            name=first,
        )


def _foreign(plan: TrainingPlan, name: str, kin: Family, library: PresetLibrary) -> Finding:
    layer = library.layers[name]
    return _finding(
        "preset-family",
        _("The preset “{name}” is made for another model family.").format(name=name),
        _("It is for {wanted}, the plan trains {family}. Its values are left out.").format(
            wanted=", ".join(layer.families), family=kin.name
        ),
        plan,
        name=name,
        instead=kin.name if layer.axis == "family" and kin.name in library.layers else None,
    )


def _too_small(kind: str, order: list[str], kin: Family, library: PresetLibrary) -> Iterator[Finding]:
    """Say that the GPUs of a plan's memory layer are too small for what it trains."""
    classes = [library.layers[name].memory for name in order]
    memory = next((found for found in classes if found is not None), None)
    trouble = (
        list(memory_trouble(kin, kind, memory.gib, order, library)) if memory and kind in kin.kinds else []
    )
    if trouble:
        yield Finding(
            id="preset-memory",
            severity="danger",
            title=trouble[0],
            detail=" ".join(trouble[1:]),
            arguments=("plan.presets", "plan.kind"),
        )


def _place(name: str, library: PresetLibrary) -> str:
    return str(library.path_of(name)) if name in library.own else name


def _finding(
    identity: str,
    title: str,
    detail: str,
    plan: TrainingPlan,
    *,
    name: str,
    asker: str | None = None,
    instead: str | None = None,
) -> Finding:
    """Make a finding about a preset; the plan's own mention of it, or of who asked for it, can be mended."""
    named = name if name in plan.presets else asker
    others = [other for other in plan.presets if other != named]
    fixes = [
        Fix(
            id="leave-out",
            label=_("leave the preset {name} out").format(name=named or name),
            changes={"plan.presets": others},
            safe=False,
        )
    ]
    if instead is not None:
        swapped = list(dict.fromkeys(instead if other == named else other for other in plan.presets))
        fixes.insert(
            0,
            Fix(
                id="family",
                label=_("use the preset {name} instead").format(name=instead),
                changes={"plan.presets": swapped},
                safe=False,
            ),
        )
    return Finding(
        id=identity,
        severity="stop",
        title=title,
        detail=detail,
        arguments=("plan.presets",),
        where=name,
        fixes=tuple(fixes) if named in plan.presets else (),
    )
