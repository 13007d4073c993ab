"""From where on a loss curve is spoken of; the figures are data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class LevelLimits(Document):
    """Levels that mean something only for the plain loss of some families.

    Attributes:
        families: Those.
        too_low: Below, a falling loss learns by heart.
        stuck: Above, a loss that does not fall learns nothing.
        stuck_after_steps: From so many steps on.
        other_loss: Arguments with which the loss is another one.
    """

    families: tuple[str, ...]
    too_low: float
    stuck: float
    stuck_after_steps: int
    other_loss: tuple[str, ...]


class SwingLimits(Document):
    """When levels swing.

    Attributes:
        spread: High levels against low ones, times.
        noise: Variance between levels against what single steps explain, times.
        turns: Share of levels that are above or below both beside them.
        levels: How many there must be.
    """

    spread: float
    noise: float
    turns: float
    levels: int


class SpikeLimits(Document):
    """When a single step stands out.

    Attributes:
        largest: Times the largest of the steps before.
        usual: Times their median.
        deviations: Standard deviations above their median, of their logarithms, by the upper quartile.
        window: How many steps before are looked at.
        most: How many are told.
    """

    largest: float
    usual: float
    deviations: float
    window: int
    most: int


class OverfitLimits(Document):
    """When the loss on images that are not trained on has turned.

    Attributes:
        points: How many looks there must be.
        above: Each of the last is so many times the lowest, at least.
        last: How many the last are.
    """

    points: int
    above: float
    last: int


class WindowLimits(Document):
    """Which part of a run usually holds the best file.

    Attributes:
        begin: Share of its steps.
        to: Likewise.
        least_steps: A shorter run has no such part.
    """

    begin: float = Field(alias="from")
    to: float
    least_steps: int


class LossLimits(Document):
    """The figures of ``resources/loss_advice.yaml``, which says where they come from.

    Attributes:
        levels: See there; as the others.
        least_steps: Before so many steps nothing is said.
        sure: Standard errors by which two levels must differ.
        rising: Times the lowest level before.
        falling: Times the level before.
        swinging: See there.
        spike: See there.
        overfit: See there.
        best_window: See there.
    """

    schema_: Literal[1] = Field(alias="schema")
    levels: LevelLimits
    least_steps: int
    sure: float
    rising: float
    falling: float
    swinging: SwingLimits
    spike: SpikeLimits
    overfit: OverfitLimits
    best_window: WindowLimits
    sources: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def loss_limits(path: Path | None = None) -> LossLimits:
    """Return the figures.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    return read_yaml(path or resource_path("loss_advice.yaml"), LossLimits)
