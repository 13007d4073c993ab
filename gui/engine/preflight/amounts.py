"""Figures about what goes together in a training of a LoRA, as data with their sources."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class ImageAmounts(Document):
    """How many images are few.

    Attributes:
        too_few: Below there is too little to learn from.
        few: Below that, near-identical ones are learnt by heart.
        purposes: What a purpose wants, where that is more.
    """

    too_few: int
    few: int
    purposes: dict[str, int]
    sources: tuple[str, ...]


class RankLimit(Document):
    """A rank that is too high.

    Attributes:
        most: Above it is.
        meant: What to take instead.
    """

    most: int
    meant: int


class RankBand(RankLimit):
    """The same with up to so many images."""

    images: int


class RankAmounts(Document):
    """Which ranks go with how many images, and with which purpose.

    Attributes:
        bands: By images; the first that fits counts.
        purposes: By purpose, whatever the images.
    """

    bands: tuple[RankBand, ...]
    purposes: dict[str, RankLimit]
    sources: tuple[str, ...]


class RateBand(Document):
    """What becomes of the usual rate with so many images.

    Attributes:
        images: From, to.
        least: So many times the usual rate at least is within what is advised.
        times: So many times are advised.
        most: So many times at most are within.
    """

    images: tuple[int, int]
    least: float
    times: float
    most: float


class RateAmounts(Document):
    """Which rates go with how many images.

    Attributes:
        families: The usual rate of the model by family.
        bands: By images.
        careful: A lower share of the usual rate was chosen on purpose.
        alpha: An alpha below this share of the rank takes higher rates.
    """

    families: dict[str, float]
    bands: tuple[RateBand, ...]
    careful: float
    alpha: float
    sources: tuple[str, ...]


class StepAmounts(Document):
    """How many steps are usual.

    Attributes:
        families: Beginning of a family's name to fewest and most.
        purposes: A purpose's, which widens them.
        others: Of any other family.
        far: So many times fewer or more are far from usual.
    """

    families: dict[str, tuple[int, int]]
    purposes: dict[str, tuple[int, int]]
    others: tuple[int, int]
    far: float
    sources: tuple[str, ...]


class EpochAmounts(Document):
    """Which epochs are too short.

    Attributes:
        few_steps: Fewer are over before the loaders are at work.
        many_epochs: From so many epochs on that tells.
    """

    few_steps: int
    many_epochs: int
    sources: tuple[str, ...]


class Amounts(Document):
    """``resources/amounts.yaml``."""

    schema_: Literal[1] = Field(alias="schema")
    images: ImageAmounts
    rank: RankAmounts
    rates: RateAmounts
    steps: StepAmounts
    epochs: EpochAmounts


@lru_cache(maxsize=4)
def amounts(path: Path | None = None) -> Amounts:
    """Return the figures.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    return read_yaml(path or resource_path("amounts.yaml"), Amounts)
