"""How large models, networks and caches of each family are, for the forecast of disk space."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.plan.families import families
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class LoraSize(Document):
    """Parameters of a LoRA of rank 1.

    Attributes:
        model: For the U-Net or transformer.
        text: For the text encoders that are trained unless told otherwise.
        conv: What ``conv_dim`` 1 adds for 3×3 convolutions.
        beside_conv: What any ``conv_dim`` adds beside them.
    """

    model: int
    text: int = 0
    conv: int = 0
    beside_conv: int = 0


class LatentSize(Document):
    """What an image becomes.

    Attributes:
        channels: Numbers at each place.
        scale_px: Pixels of a side that become one place.
    """

    channels: int = Field(gt=0)
    scale_px: int = Field(gt=0)


class ModelSize(Document):
    """The sizes of one family, in parameters.

    Attributes:
        model: The U-Net or transformer.
        text: All text encoders.
        vae: The VAE.
        whole: Which of these a full training saves.
        control: A ControlNet; None where there is none.
        lora: A LoRA of rank 1.
        oft: An OFT, to be divided by its dim; None where it was not counted.
        latent: What an image becomes.
        text_values: Numbers in the cache of one caption; None where captions are not cached.
    """

    model: int
    text: int = 0
    vae: int = 0
    whole: tuple[Literal["model", "text", "vae"], ...]
    control: int | None = None
    lora: LoraSize
    oft: int | None = None
    latent: LatentSize
    text_values: int | None = None

    @property
    def saved(self) -> int:
        """Parameters in a save of a full training."""
        return sum({"model": self.model, "text": self.text, "vae": self.vae}[part] for part in self.whole)


class _ModelSizes(Document):
    schema_: Literal[1] = Field(alias="schema")
    families: dict[str, ModelSize]
    sources: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def _load(path: Path) -> dict[str, ModelSize]:
    return read_yaml(path, _ModelSizes).families


@lru_cache(maxsize=64)
def model_size(family: str, path: Path | None = None) -> ModelSize | None:
    """Return the sizes of a family, or of the nearest family that it extends; None when not known.

    Args:
        family: Its name.
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    sizes = _load(path or resource_path("model_sizes.yaml"))
    known = families()
    name: str | None = family
    while name is not None:
        if name in sizes:
            return sizes[name]
        name = known[name].extends if name in known else None
    return None
