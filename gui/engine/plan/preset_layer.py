"""What a preset file holds: one layer of values, each with its reason and sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from gui.engine.documents import Document
from gui.engine.plan.dataset_options import OPTIONS
from gui.engine.redaction import SECRET_ARGUMENTS

Axis = Literal["common", "family", "purpose", "caution", "memory", "dataset", "network", "gpu", "own"]

_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NEVER = frozenset({"config_file", "output_config", *SECRET_ARGUMENTS})
"""Arguments that do something else than train, and tokens: a preset is passed on."""


class Share(Document):
    """A value that follows another one.

    Attributes:
        of: The target that it follows.
        times: By what that is multiplied.
        whole: Whether the result is rounded to a whole number.
    """

    of: str
    times: float = Field(gt=0, allow_inf_nan=False)
    whole: bool = False


@dataclass(frozen=True)
class Situation:
    """What is trained, by which layers.

    Attributes:
        lineage: The family and those that it extends.
        kind: The kind of training.
        layers: All layers in use.
    """

    lineage: frozenset[str]
    kind: str
    layers: frozenset[str]


class When(Document):
    """For what an entry counts; what is left empty does not restrict.

    Attributes:
        families: One of these, or a descendant of one.
        kinds: One of these kinds of training.
        layers: One of these layers is in use as well.
        not_families: None of these, nor a descendant.
        not_kinds: None of these.
        not_layers: None of these is in use.
    """

    families: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    not_families: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    not_layers: tuple[str, ...] = ()

    def holds(self, situation: Situation) -> bool:
        """Return whether the entry counts."""
        return (
            (not self.families or not situation.lineage.isdisjoint(self.families))
            and (not self.kinds or situation.kind in self.kinds)
            and (not self.layers or not situation.layers.isdisjoint(self.layers))
            and situation.lineage.isdisjoint(self.not_families)
            and situation.kind not in self.not_kinds
            and situation.layers.isdisjoint(self.not_layers)
        )


def is_target(name: str) -> bool:
    """Return whether a preset may set this: a trainer argument, or a dataset option above subsets."""
    if name.startswith("dataset."):
        option = OPTIONS.get(name.removeprefix("dataset."))
        return option is not None and "datasets" in option.levels
    return _ARGUMENT.fullmatch(name) is not None and name not in _NEVER


def _targets_only(value: dict[str, Any]) -> dict[str, Any]:
    for name in value:
        if not is_target(name):
            raise ValueError(f"a preset cannot set “{name}”")
    return value


class Entry(Document):
    """Values that belong together, with one reason.

    Attributes:
        when: For what they count.
        set: Target to value: plain, a list, or a ``Share``; None takes an earlier layer's value away.
        scale: Target to factor for the value that earlier layers set.
        most: Target to the largest value that earlier layers may have set.
        reason: Why, in English.
        sources: Knowledge rows, cases, places in the trainer.
    """

    when: When = When()
    set: dict[str, Share | bool | int | float | str | list[bool | int | float | str] | None] = Field(
        default_factory=dict
    )
    scale: dict[str, float] = Field(default_factory=dict)
    most: dict[str, float] = Field(default_factory=dict)
    reason: str = ""
    sources: tuple[str, ...] = ()

    _targets = field_validator("set", "scale", "most")(_targets_only)


class Note(Document):
    """Something to know that is no value.

    Attributes:
        when: For what it counts.
        note: What to know, in English.
        sources: Where this is from.
    """

    when: When = When()
    note: str
    sources: tuple[str, ...] = ()


class LeastMemory(Document):
    """The least GPU memory for what a layer sets; the last one that counts has the word.

    Attributes:
        when: For what it counts.
        gib: The memory, as cards are sold: 8, 12, 24.
        reason: Why less is not enough, in English.
        sources: Where this is from.
    """

    when: When = When()
    gib: int = Field(gt=0)
    reason: str
    sources: tuple[str, ...] = ()


class Memory(Document):
    """A class of GPUs by memory.

    Attributes:
        gib: As it is sold.
        from_gib: The least that such a card really reports: a "16 GB" T4 has 14.8 GiB.
    """

    gib: int = Field(gt=0)
    from_gib: float = Field(gt=0)


class ImageCount(Document):
    """A size of the dataset, in different images.

    Attributes:
        least: From this many.
        most: To this many; None for no end.
    """

    least: int = Field(ge=0)
    most: int | None = None


class Layer(Document):
    """One layer: values that go over those of the layers before it.

    Attributes:
        title: For people, in English.
        axis: What it is about; the user's own are ``own``.
        order: Place in lists.
        description: What it is for, in English.
        families: The families that it is made for, with their descendants; empty for all.
        layers: Layers that it stands on: they are applied before it.
        module: For ``network``: the ``network_module``.
        memory: For ``memory``: the class of GPUs.
        images: For ``dataset``: the number of images.
        least_memory: The least GPU memory for what it sets.
        values: The values, later ones win.
        notes: What to know besides.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    title: str = ""
    axis: Axis = "own"
    order: int = 100
    description: str = ""
    families: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    module: str | None = None
    memory: Memory | None = None
    images: ImageCount | None = None
    least_memory: tuple[LeastMemory, ...] = ()
    values: tuple[Entry, ...] = ()
    notes: tuple[Note, ...] = ()
