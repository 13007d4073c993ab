"""Makes a preset of a plan: its settings, without what belongs to this one training only."""

from __future__ import annotations

from typing import Any

from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.plan.preset_layer import Entry, Layer, is_target

_OF_ONE_TRAINING = frozenset(
    {
        *("output_name", "token_string", "init_word", "training_comment", "log_prefix", "log_tracker_name"),
        *("initial_step", "initial_epoch", "skip_until_initial_step", "resume_from_huggingface"),
    }
)
_ITS_PREFIXES = ("metadata_", "huggingface_", "wandb_")
"""Names, titles and accounts: nothing that another training would share."""


def preset_of_plan(plan: TrainingPlan, title: str = "", description: str = "") -> Layer:
    """Return what a plan sets over its presets, as a layer that stands on them.

    Left out are paths, names, tokens, the images, and values that no argument can have.

    Args:
        plan: The plan.
        title: For people.
        description: What the preset is for.
    """
    values: dict[str, Any] = {
        name: value
        for name, value in plan.arguments.items()
        if name not in PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS | _OF_ONE_TRAINING
        and not name.startswith(_ITS_PREFIXES)
    }
    values |= {f"dataset.{key}": value for key, value in plan.dataset.items()}
    values |= {target: None for target in plan.without if target not in values}
    kept = {target: value for target, value in values.items() if is_target(target) and _is_plain(value)}
    return Layer(
        title=title or plan.name,
        description=description,
        families=(plan.family,) if plan.family in families() else (),
        layers=plan.presets,
        values=(Entry(set=kept),) if kept else (),
    )


def _is_plain(value: Any) -> bool:
    """Whether a preset can hold a value."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, (bool, int, float, str)) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))
