"""What presets of one axis would change, for cards that are put beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_choice import with_layer
from gui.engine.plan.preset_filling import fill_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.preset_stacking import Value
from gui.engine.texts import _
from gui.window.pages.plan.editors import shown
from gui.window.pages.plan.fields import training_groups
from gui.window.pages.plan.fields_of_files import data_groups, saving_groups
from gui.window.theme.space import Space
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import held, row

_TOP = Qt.AlignmentFlag.AlignTop
MOST = 6
"""Values told on a card; the others are seen in the steps."""

_ORDER = (
    "unet_lr",
    "learning_rate",
    "lr_warmup_steps",
    "dataset.batch_size",
    "gradient_accumulation_steps",
    "network_dim",
    "max_train_steps",
    "dataset.resolution",
    "optimizer_type",
    "gradient_checkpointing",
    "cache_latents",
    "cache_text_encoder_outputs",
    "network_train_unet_only",
    "blocks_to_swap",
    "fp8_base",
    "dataset.enable_bucket",
    "save_every_n_steps",
)


def values_with(
    plan: TrainingPlan, axis: str, name: str | None, library: PresetLibrary
) -> Mapping[str, Value]:
    """Return what the presets alone would say with another layer on an axis.

    Args:
        plan: Its own values are left out of account.
        axis: Of the layer.
        name: The layer; None for none.
        library: Where layers are.
    """
    presets = with_layer(plan.presets, axis, name, library)
    bare = TrainingPlan(family=plan.family, kind=plan.kind, presets=presets)
    return fill_plan(bare, library).values


def differing(several: Iterable[Mapping[str, Value]]) -> list[str]:
    """Return the targets that matter and are not alike in all, in the order of the wizard."""
    maps = list(several)
    found = [
        target
        for target in _ORDER
        if len({repr(values[target].value) if target in values else "" for values in maps}) > 1
    ]
    return [target for target in found if target != "learning_rate" or "unet_lr" not in found]


def effect_lines(values: Mapping[str, Value], targets: Iterable[str]) -> list[QWidget]:
    """Return a line for each value: its everyday name, the value, and the reason as tooltip."""
    lines, names = [], everyday_names()
    for target in list(targets)[:MOST]:
        found = values.get(target)
        name = Label(names.get(target, _own_name(target)), "small")
        value = Label(value_words(found.value if found else None), "mono", wrap=False)
        line = held(row(name, None, value, spacing=Space.S))
        line.setToolTip(f"{target}\n{found.reason}" if found else target)
        lines.append(line)
    return lines


def effect_grid(values: Mapping[str, Value], targets: Iterable[str]) -> QGridLayout:
    """Return the same with the reasons beside, in columns."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(Space.L)
    grid.setVerticalSpacing(Space.S)
    grid.setColumnStretch(2, 1)
    names = everyday_names()
    for place, target in enumerate(targets):
        found = values.get(target)
        words = value_words(found.value if found else None)
        grid.addWidget(Label(names.get(target, _own_name(target)), "small", wrap=False), place, 0, _TOP)
        grid.addWidget(Label(words, "mono", wrap=False), place, 1, _TOP)
        grid.addWidget(Label(found.reason if found else _("Not needed then."), "small"), place, 2, _TOP)
    return grid


def value_words(value: Any) -> str:
    """Return a value as a card tells it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(value, list | tuple):
        return " × ".join(map(shown, value))
    return shown(value)


def _own_name(target: str) -> str:
    """Return what the trainer calls a place."""
    return target.removeprefix("dataset.")


def everyday_names() -> dict[str, str]:
    """Return what the wizard calls the places that it has fields for."""
    groups = (*training_groups(), *data_groups(), *saving_groups())
    names = {field.name: field.title for group in groups for field in group.fields}
    return {**names, "network_dim": _("Rank"), "max_train_steps": _("Steps")}
