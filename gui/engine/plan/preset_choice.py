"""Changes which presets a plan stands on: one on each axis, in their proper order."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.plan.families import families, lineage
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import compose
from gui.engine.preferences import NonfinitePolicy

AXES = ("common", "family", "purpose", "caution", "gpu", "memory", "dataset", "network", "own")
"""In the order in which layers are applied; what is of none of them comes last."""


def fresh_plan(
    name: str, library: PresetLibrary, *, guard: NonfinitePolicy = "stop", gpu_ids: Sequence[int] = ()
) -> TrainingPlan:
    """Return a plan to start from: a careful LoRA of a character for the most used family.

    Args:
        name: Of the plan.
        library: Where its presets are.
        guard: What happens when the loss is not finite, as the user chose for new plans.
        gpu_ids: Where it trains, as the user chose; empty leaves it to the trainer.
    """
    plan = compose("sdxl", "lora", "character", "safe", library=library).plan(name)
    chosen = {
        "guard": plan.guard.model_copy(update={"nonfinite": guard}),
        "launch": plan.launch.model_copy(update={"gpu_ids": tuple(gpu_ids)}),
    }
    return plan.model_copy(update=chosen)


def layer_on(plan: TrainingPlan, axis: str, library: PresetLibrary) -> str | None:
    """Return the plan's layer on an axis, the last one where there are several; None for none."""
    found = [name for name in plan.presets if name in library.on(axis)]
    return found[-1] if found else None


def with_layer(
    presets: tuple[str, ...], axis: str, name: str | None, library: PresetLibrary
) -> tuple[str, ...]:
    """Return presets with another layer on an axis.

    Args:
        presets: As a plan names them.
        axis: Its layers are taken out.
        name: What comes in their place; None for nothing.
        library: Where layers are.
    """
    kept = [known for known in presets if known not in library.on(axis)]
    if name is not None and name not in kept:
        later = (place for place, known in enumerate(kept) if _rank(known, library) > AXES.index(axis))
        kept.insert(next(later, len(kept)), name)
    return tuple(kept)


def with_family(plan: TrainingPlan, family: str, kind: str | None, library: PresetLibrary) -> TrainingPlan:
    """Return the plan for another family or kind; layers that are made for others are left out.

    Args:
        plan: Stays as it is.
        family: A name in ``resources/families``.
        kind: The kind of training; None keeps it where the family has it, else takes the family's first.
        library: Where layers are.
    """
    kin = families().get(family)
    kinds = tuple(kin.kinds) if kin else ()
    chosen = kind or (plan.kind if plan.kind in kinds or not kinds else kinds[0])
    own_layer = family if family in library.on("family") else None
    presets = tuple(
        name
        for name in with_layer(plan.presets, "family", own_layer, library)
        if name not in library.layers
        or not library.layers[name].families
        or not lineage(family).isdisjoint(library.layers[name].families)
    )
    return plan.model_copy(update={"family": family, "kind": chosen, "presets": presets})


def _rank(name: str, library: PresetLibrary) -> int:
    layer = library.layers.get(name)
    return AXES.index(layer.axis) if layer is not None else len(AXES)
