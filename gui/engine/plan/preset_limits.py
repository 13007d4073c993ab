"""Says what cannot be done: kinds and networks that a family lacks, GPUs that are too small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gui.engine.plan.families import Family
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.preset_stacking import expand, finished, layered, situation_of
from gui.engine.texts import _

_NO_SAVERS = frozenset({"optimizer_args", "gradient_accumulation_steps"})
"""What goes with a memory saver and says nothing by itself."""


def kind_trouble(kin: Family, kind: str) -> Iterator[str]:
    """Yield why a family does not have a kind of training, and which it has."""
    if kind in kin.kinds:
        return
    why = next((_(entry.reason) for entry in kin.missing_kinds if kind in entry.kinds), "")
    yield (
        _("{family} has no kind of training “{kind}”. {why}")
        .format(family=_(kin.title), kind=kind, why=why)
        .strip()
    )
    yield _("Possible are: {kinds}.").format(kinds=", ".join(kin.kinds))


def network_trouble(kin: Family, kind: str, network: str | None, library: PresetLibrary) -> Iterator[str]:
    """Yield why a network cannot be trained, and which can."""
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
    situation = situation_of(family, kind, order)
    for name in order:
        for entry in library.layers[name].least_memory:
            if entry.when.holds(situation):
                found = entry.gib, entry.reason
    return found


def memory_trouble(
    kin: Family, kind: str, vram_gib: float, names: Sequence[str], library: PresetLibrary
) -> Iterator[str]:
    """Yield why the GPU's memory is not enough, and what would be; nothing when it is.

    Args:
        kin: The family.
        kind: One of its kinds of training.
        vram_gib: The GPU's memory, for the sentence.
        names: The layers in use, among them that of the GPU's class, when it has one.
        library: Where they are.
    """
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
    values = finished(layered(order, situation_of(family, kind, order), library))
    said = [
        target if value.value is True else f"{target} {value.value}"
        for target, value in values.items()
        if value.layer == enough and target not in _NO_SAVERS and value.value is not False
    ]
    return ", ".join(said) or _("the settings of this preset")
