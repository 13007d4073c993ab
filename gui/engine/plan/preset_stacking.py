"""Puts layers over each other: what they stand on, what they set, and how values follow others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gui.engine.documents import Document
from gui.engine.plan.families import lineage
from gui.engine.plan.preset_layer import Entry, Share, Situation
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.texts import _

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
class Slot:
    """A value while the layers go over it."""

    value: Any
    layer: str
    reasons: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def add(self, layer: str, entry: Entry) -> None:
        """Note who had the last word, and why."""
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


def situation_of(family: str, kind: str, order: Sequence[str]) -> Situation:
    """Return what decides whether entries count.

    Args:
        family: The model family.
        kind: The kind of training.
        order: All layers in use.
    """
    return Situation(lineage(family), kind, frozenset(order))


def layered(order: Sequence[str], situation: Situation, library: PresetLibrary) -> dict[str, Slot]:
    """Return what the layers set, one over the other; shares are not yet counted.

    Args:
        order: The layers as ``expand`` gives them.
        situation: What decides whether an entry counts.
        library: Where they are.
    """
    slots: dict[str, Slot] = {}
    for name in order:
        for entry in library.layers[name].values:
            if entry.when.holds(situation):
                _apply(slots, name, entry)
    return slots


def _apply(slots: dict[str, Slot], name: str, entry: Entry) -> None:
    for target, value in entry.set.items():
        slots.pop(target, None)
        if value is not None:
            slots[target] = Slot(value, name)
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


def finished(slots: Mapping[str, Slot], own: Mapping[str, Any] | None = None) -> dict[str, Value]:
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


def _counted(value: Any, slots: Mapping[str, Slot], own: Mapping[str, Any], above: tuple[str, ...]) -> Any:
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


def notes_of(order: Sequence[str], situation: Situation, library: PresetLibrary) -> Iterator[str]:
    """Yield what the layers have to say besides values, in the user's language."""
    for name in order:
        for entry in library.layers[name].notes:
            if entry.when.holds(situation):
                yield _(entry.note)
