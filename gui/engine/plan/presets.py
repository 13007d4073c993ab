"""Composes settings from layers: family, purpose, caution, GPU memory, size of the dataset.

``compose`` proposes settings with reasons; ``effective_plan`` fills a plan with those of its layers.
"""

from __future__ import annotations

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import UnknownFamily, UnknownPreset
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_filling import FilledPlan, effective_plan, fill_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.preset_limits import kind_trouble, memory_trouble, network_trouble
from gui.engine.plan.preset_stacking import Value, expand, finished, layered, notes_of, situation_of
from gui.engine.texts import _

__all__ = ["Composition", "FilledPlan", "Value", "compose", "effective_plan", "fill_plan"]

NATIVE_BF16 = (8, 0)
"""Compute capability from which a GPU computes bf16 itself (ENV-04)."""

NO_BF16 = "no-bf16"
"""The layer for older GPUs."""

GIVEN = ""
"""Stands for a layer where a value was given by whoever asked."""


class Composition(Document):
    """Settings for a training, each with its reason.

    Attributes:
        family: The model family.
        kind: The kind of training.
        layers: What a plan's ``presets`` would be.
        values: Target to value, in the words of fixes.
        impossible: Why it cannot be done, and what could be; empty when it can be done.
        notes: What to know besides, already translated.
    """

    schema_: int = Field(default=1, alias="schema")
    family: str
    kind: str
    layers: tuple[str, ...]
    values: dict[str, Value]
    impossible: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def plan(self, name: str = "training") -> TrainingPlan:
        """Return a new plan that stands on these layers."""
        given = {target: value.value for target, value in self.values.items() if value.layer == GIVEN}
        plan = TrainingPlan(name=name, family=self.family, kind=self.kind, presets=self.layers)
        return apply_changes(plan, given)


def compose(
    family: str,
    kind: str = "lora",
    purpose: str = "character",
    caution: str = "safe",
    vram_gib: float | None = None,
    *,
    images: int | None = None,
    repeats: int | None = None,
    network: str | None = None,
    compute_capability: tuple[int, int] | None = None,
    library: PresetLibrary | None = None,
) -> Composition:
    """Return settings for a training.

    Args:
        family: The model family.
        kind: The kind of training.
        purpose: A layer on the axis ``purpose``.
        caution: A layer on the axis ``caution``.
        vram_gib: The GPU's memory, as it reports it; None leaves memory out of account.
        images: Different images, regularisation images not counted; None when not known.
        repeats: How often an epoch shows each image; None when not known.
        network: A layer on the axis ``network``; None for the family's usual network.
        compute_capability: Of the GPU; None when not known.
        library: The presets; None takes the program's own.

    Raises:
        UnknownFamily: There is no such family.
        UnknownPreset: There is no such layer on its axis.
    """
    known = families()
    if family not in known:
        raise UnknownFamily(family, tuple(known))
    place = library or PresetLibrary()
    names = [family, _on("purpose", purpose, place), _on("caution", caution, place)]
    if compute_capability is not None and compute_capability < NATIVE_BF16:
        names.append(NO_BF16)
    if vram_gib is not None:
        names += _memory_layer(vram_gib, place)
    if images is not None:
        names += _dataset_layer(images, place)
    if network is not None:
        names.append(_on("network", network, place))
    trouble = [*kind_trouble(known[family], kind), *network_trouble(known[family], kind, network, place)]
    if not trouble and vram_gib is not None:
        trouble = list(memory_trouble(known[family], kind, vram_gib, names, place))
    order = expand(names, place).order
    situation = situation_of(family, kind, order)
    values = {} if trouble else finished(layered(order, situation, place))
    if values and repeats is not None:
        values["dataset.num_repeats"] = Value(value=repeats, reason=_("As given."), layer=GIVEN)
    return Composition(
        family=family,
        kind=kind,
        layers=tuple(names),
        values=values,
        impossible=tuple(trouble),
        notes=() if trouble else tuple(notes_of(order, situation, place)),
    )


def _on(axis: str, name: str, library: PresetLibrary) -> str:
    known = library.on(axis)
    if name not in known:
        raise UnknownPreset(name, tuple(known))
    return name


def _memory_layer(vram_gib: float, library: PresetLibrary) -> list[str]:
    fitting = [
        (layer.memory.gib, name)
        for name, layer in library.on("memory").items()
        if layer.memory is not None and layer.memory.from_gib <= vram_gib
    ]
    return [max(fitting)[1]] if fitting else []


def _dataset_layer(images: int, library: PresetLibrary) -> list[str]:
    return [
        name
        for name, layer in library.on("dataset").items()
        if layer.images is not None
        and layer.images.least <= images
        and (layer.images.most is None or images <= layer.images.most)
    ][:1]
