"""Composes settings from layers: family, purpose, caution, GPU memory, size of the dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import UnknownFamily, UnknownPreset
from gui.engine.plan.families import Family, families, lineage
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_layer import Entry, Share, Situation
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.texts import _

NATIVE_BF16 = (8, 0)
"""Compute capability from which a GPU computes bf16 itself (ENV-04)."""

NO_BF16 = "no-bf16"
"""The layer for older GPUs."""

_NO_SAVERS = frozenset({"optimizer_args", "gradient_accumulation_steps"})
"""What goes with a memory saver and says nothing by itself."""

DIGITS = 6
"""Significant digits of a computed value: ``1e-4`` times 0.6 is 6e-05, not 5.9999999999999995e-05."""


class Value(Document):
    """One composed value.

    Attributes:
        value: As a plan would have it.
        reason: Why, in plain words and already translated.
        sources: Knowledge rows, cases, places in the trainer.
        layer: The layer that had the last word.
    """

    value: Any
    reason: str = ""
    sources: tuple[str, ...] = ()
    layer: str


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
        return TrainingPlan(name=name, family=self.family, kind=self.kind, presets=self.layers)


@dataclass(frozen=True)
class Expansion:
    """Layers in the order in which they are applied.

    Attributes:
        order: All that are applied, each once, what they stand on first.
        missing: Names that no layer has, with who asked for them: None for the plan.
        cyclic: Names that stand on themselves, directly or by others.
    """

    order: tuple[str, ...]
    missing: tuple[tuple[str, str | None], ...] = ()
    cyclic: tuple[str, ...] = ()


@dataclass
class _Slot:
    """A value while the layers go over it."""

    value: Any
    layer: str
    reasons: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def add(self, layer: str, entry: Entry) -> None:
        self.layer = layer
        self.reasons += [entry.reason] if entry.reason else []
        self.sources += [source for source in entry.sources if source not in self.sources]


def expand(names: Sequence[str], library: PresetLibrary) -> Expansion:
    """Return layers with all that they stand on.

    Args:
        names: As a plan names them.
        library: Where they are.
    """
    order: dict[str, None] = {}
    missing: dict[tuple[str, str | None], None] = {}
    cyclic: dict[str, None] = {}

    def visit(name: str, asker: str | None, above: tuple[str, ...]) -> None:
        if name in above:
            cyclic.update(dict.fromkeys(above[above.index(name) :]))
        elif name not in library.layers:
            missing[name, asker] = None
        elif name not in order:
            for below in library.layers[name].layers:
                visit(below, name, (*above, name))
            order[name] = None

    for name in names:
        visit(name, None, ())
    return Expansion(tuple(name for name in order if name not in cyclic), tuple(missing), tuple(cyclic))


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
    trouble = [*_kind_trouble(known[family], kind), *_network_trouble(known[family], kind, network, place)]
    if not trouble and vram_gib is not None:
        trouble = list(_memory_trouble(known[family], kind, vram_gib, names, place))
    order = expand(names, place).order
    situation = Situation(lineage(family), kind, frozenset(order))
    values = {} if trouble else finished(layered(order, situation, place))
    if values and repeats is not None:
        values["dataset.num_repeats"] = Value(value=repeats, reason=_("As given."), layer="")
    return Composition(
        family=family,
        kind=kind,
        layers=tuple(names),
        values=values,
        impossible=tuple(trouble),
        notes=() if trouble else tuple(_notes(order, situation, place)),
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


def layered(order: Sequence[str], situation: Situation, library: PresetLibrary) -> dict[str, _Slot]:
    """Return what the layers set, one over the other; shares are not yet counted.

    Args:
        order: The layers as ``expand`` gives them.
        situation: What decides whether an entry counts.
        library: Where they are.
    """
    slots: dict[str, _Slot] = {}
    for name in order:
        for entry in library.layers[name].values:
            if entry.when.holds(situation):
                _apply(slots, name, entry)
    return slots


def _apply(slots: dict[str, _Slot], name: str, entry: Entry) -> None:
    for target, value in entry.set.items():
        slots.pop(target, None)
        if value is not None:
            slots[target] = _Slot(value, name)
            slots[target].add(name, entry)
    for target, factor in entry.scale.items():
        slot = slots.get(target)
        scaled = _times(slot.value, factor) if slot else None
        if slot and scaled is not None:
            slot.value = scaled
            slot.add(name, entry)
    for target, most in entry.most.items():
        slot = slots.get(target)
        if slot and isinstance(slot.value, (int, float)) and slot.value > most:
            slot.value = type(slot.value)(most)
            slot.add(name, entry)


def _times(value: Any, factor: float, *, whole: bool = False) -> Any:
    """Return a number times a factor: whole numbers stay whole. None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    result = float(f"{value * factor:.{DIGITS}g}")
    if whole or isinstance(value, int):
        return max(1, round(result))
    return result


def finished(slots: Mapping[str, _Slot], own: Mapping[str, Any] | None = None) -> dict[str, Value]:
    """Return the values with shares counted and reasons in the user's language.

    Args:
        slots: From ``layered``.
        own: Target to value of the plan itself, which shares follow before others.
    """
    made: dict[str, Value] = {}
    for target, slot in slots.items():
        value = _counted(slot.value, slots, own or {}, ())
        if value is not None:
            reason = " ".join(map(_, slot.reasons))
            made[target] = Value.model_construct(
                value=value, reason=reason, sources=tuple(slot.sources), layer=slot.layer
            )
    return made


def _counted(value: Any, slots: Mapping[str, _Slot], own: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    if not isinstance(value, Share):
        return value
    if value.of in above:
        return None
    base = own.get(value.of)
    if base is None:
        slot = slots.get(value.of)
        base = _counted(slot.value, slots, own, (*above, value.of)) if slot else None
    if isinstance(base, bool) or not isinstance(base, (int, float)):
        return None
    if value.whole:
        return _times(base, value.times, whole=True)
    result = float(f"{base * value.times:.{DIGITS}g}")
    return int(result) if isinstance(base, int) and result.is_integer() else result


def _notes(order: Sequence[str], situation: Situation, library: PresetLibrary) -> Iterator[str]:
    for name in order:
        for entry in library.layers[name].notes:
            if entry.when.holds(situation):
                yield _(entry.note)


def _kind_trouble(kin: Family, kind: str) -> Iterator[str]:
    if kind in kin.kinds:
        return
    why = next((_(entry.reason) for entry in kin.missing_kinds if kind in entry.kinds), "")
    yield (
        _("{family} has no kind of training “{kind}”. {why}")
        .format(family=_(kin.title), kind=kind, why=why)
        .strip()
    )
    yield _("Possible are: {kinds}.").format(kinds=", ".join(kin.kinds))


def _network_trouble(kin: Family, kind: str, network: str | None, library: PresetLibrary) -> Iterator[str]:
    if network is None or kind not in kin.kinds:
        return
    module = library.layers[network].module
    modules = kin.kinds[kind].network_modules
    if module is None or module in modules:
        return
    if not modules:
        yield _("This kind of training trains no network, so “{network}” has no place in it.").format(
            network=network
        )
        return
    yield _("{family} has no network {module}.").format(family=_(kin.title), module=module)
    yield _("Possible are: {modules}.").format(modules=", ".join(modules))


def least_memory(
    family: str, kind: str, library: PresetLibrary, layers: Sequence[str] = ()
) -> tuple[int, str] | None:
    """Return the least GPU memory in GiB for a kind of training, and why; None when nothing says it.

    Args:
        family: The model family.
        kind: The kind of training.
        library: The presets.
        layers: Other layers in use, such as that for GPUs without bf16.
    """
    found: tuple[int, str] | None = None
    order = expand([family, *layers], library).order
    situation = Situation(lineage(family), kind, frozenset(order))
    for name in order:
        for entry in library.layers[name].least_memory:
            if entry.when.holds(situation):
                found = entry.gib, entry.reason
    return found


def _memory_trouble(
    kin: Family, kind: str, vram_gib: float, names: Sequence[str], library: PresetLibrary
) -> Iterator[str]:
    classes = {name: layer.memory for name, layer in library.on("memory").items() if layer.memory}
    chosen = next((classes[name].gib for name in names if name in classes), 0)
    smallest = min(memory.gib for memory in classes.values())
    gpu = [name for name in names if library.layers[name].axis == "gpu"]
    least = {other: least_memory(kin.name, other, library, gpu) or (smallest, "") for other in kin.kinds}
    needed, why = least[kind]
    if chosen >= needed:
        return
    yield (
        _("{family}, {kind}, on {gib:g} GB: not possible. {why}")
        .format(family=_(kin.title), kind=kind, gib=round(vram_gib, 1), why=_(why))
        .strip()
    )
    enough = next(name for name, memory in classes.items() if memory.gib >= needed)
    yield _("{gib} GB would be enough, with {settings}.").format(
        gib=classes[enough].gib, settings=_savers(kin.name, kind, names, enough, library)
    )
    others = [other for other in kin.kinds if other != kind and least[other][0] <= chosen]
    if others:
        yield _("Possible on this GPU: {kinds}.").format(kinds=", ".join(others))


def _savers(family: str, kind: str, names: Sequence[str], enough: str, library: PresetLibrary) -> str:
    """Return what makes it fit, in the trainer's words: what the class of GPUs sets."""
    kept = [name for name in names if library.layers[name].axis in ("family", "purpose", "caution", "gpu")]
    order = expand([*kept, enough], library).order
    values = finished(layered(order, Situation(lineage(family), kind, frozenset(order)), library))
    said = [
        target if value.value is True else f"{target} {value.value}"
        for target, value in values.items()
        if value.layer == enough and target not in _NO_SAVERS and value.value is not False
    ]
    return ", ".join(said) or _("the settings of this preset")
