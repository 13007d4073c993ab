"""What the names and shapes of a file's tensors say about the model in it; the table is data.

The table is ``resources/model_signatures.yaml``, taken from the trainer's own loaders and model
classes (trainer: model_util.py, sdxl_model_util.py, flux_utils.py, sd3_utils.py, lumina_util.py,
anima_utils.py, hunyuan_image_models.py, networks/).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_validator

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead
from gui.engine.resources import resource_path
from gui.engine.trainer.safetensors_file import SafetensorsHeader
from gui.engine.yaml_text import YamlProblem, parse_yaml

Layout = Literal["original", "diffusers", "openclip"]
Prediction = Literal["v", "epsilon"]
Part = Literal[
    "denoiser", "controlnet", "lllite", "vae", "embedding",
    "clip-l", "clip-g", "clip-h", "t5xxl", "byt5", "t5", "gemma2", "qwen2.5-vl", "qwen3", "language-model",
]  # fmt: skip
TEXT_ENCODERS: tuple[Part, ...] = (
    "clip-l", "clip-g", "clip-h", "t5xxl", "byt5", "t5", "gemma2", "qwen2.5-vl", "qwen3", "language-model",
)  # fmt: skip


class Names:
    """A header's tensor names, made for many questions.

    Args:
        header: What the file says.
    """

    def __init__(self, header: SafetensorsHeader) -> None:
        self.tensors = header.tensors
        self.metadata = header.metadata

    @cached_property
    def text(self) -> str:
        """All names, a line each."""
        return "\n".join(self.tensors)

    def find(self, pattern: str) -> str | None:
        """Return the first name in which a regular expression is found."""
        found = _compiled(pattern).search(self.text)
        if found is None:
            return None
        start = self.text.rfind("\n", 0, found.start()) + 1
        end = self.text.find("\n", found.end())
        return self.text[start : end if end >= 0 else None]

    def shaped(self, name: str, shape: tuple[int, ...]) -> bool:
        """Return whether there is a tensor of this name and shape; 0 stands for any length.

        What a network keeps as a convolution of one pixel counts as what it is: a matrix.
        """
        tensor = self.tensors.get(name)
        if tensor is None:
            return False
        actual = tensor.shape
        if len(actual) == 4 and len(shape) == 2 and actual[2:] == (1, 1):
            actual = actual[:2]
        return len(actual) == len(shape) and all(
            want in (0, have) for want, have in zip(shape, actual, strict=True)
        )

    def says(self, patterns: Mapping[str, str]) -> bool:
        """Return whether each text field of the file has what its regular expression looks for."""
        return all(_compiled(p).search(self.metadata.get(key, "")) for key, p in patterns.items())


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _checked(patterns: Iterable[str]) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern} is no regular expression: {error}") from error


class Signature(Document):
    """What must be in a file, and what it means.

    Attributes:
        title: What it is, in English.
        family: The family that plans name.
        variant: What tells it from others of the family.
        names: Tensors that must be there.
        without: Tensors that must not.
        shapes: Tensors that must have a shape; 0 stands for any length.
        like: Regular expressions that must each be found in a name.
        shapes_like: As ``shapes``, of the first name in which the regular expression is found.
        metadata: Text field to the regular expression that must be found in it.
        sources: Where this is from.
    """

    title: str
    family: str | None = None
    variant: str | None = None
    names: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    shapes: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    like: tuple[str, ...] = ()
    shapes_like: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    metadata: dict[str, str] = Field(default_factory=dict)
    sources: tuple[str, ...] = ()

    @field_validator("like", "shapes_like", "metadata")
    @classmethod
    def _regular(cls, value: tuple[str, ...] | dict[str, object]) -> tuple[str, ...] | dict[str, object]:
        _checked(value)
        if isinstance(value, dict):
            _checked(pattern for pattern in value.values() if isinstance(pattern, str))
        return value

    def fits(self, names: Names, prefix: str = "") -> bool:
        """Return whether the file has it, the exact names behind a prefix."""
        return (
            all(prefix + name in names.tensors for name in self.names)
            and not any(prefix + name in names.tensors for name in self.without)
            and all(names.shaped(prefix + name, shape) for name, shape in self.shapes.items())
            and all(names.find(pattern) is not None for pattern in self.like)
            and all(
                names.shaped(names.find(pattern) or "", shape) for pattern, shape in self.shapes_like.items()
            )
            and names.says(self.metadata)
        )


class PartSignature(Signature):
    """A part of a model: a denoiser, a VAE, a text encoder.

    Attributes:
        part: Which.
        layout: Whose names the tensors have.
        prefixes: What may stand before the exact names.
        general: Whether it counts only where no text encoder is told more exactly.
    """

    part: Part
    layout: Layout = "original"
    prefixes: tuple[str, ...] = ("",)
    general: bool = False


class NetworkSignature(Document):
    """How a small network beside the model is built.

    Attributes:
        title: ``LoRA``, ``LoHa``, …
        like: The regular expression that is found in one of its names.
    """

    title: str
    like: str


class Descendant(Document):
    """A model that only its text fields tell from its parent.

    Attributes:
        of: The parent's family.
        family: Its own.
        title: What it is.
        says: The regular expression that is found in a text field.
        prediction: What it must predict; None for any.
    """

    of: str
    family: str
    title: str
    says: str
    prediction: Prediction | None = None


class FolderClass(Document):
    """A Diffusers model by the class that its configuration names."""

    classes: tuple[str, ...]
    title: str
    family: str | None = None
    variant: str | None = None


class UnetWidth(Document):
    """A Diffusers U-Net by the width of what its text encoders give it."""

    width: int
    title: str
    family: str
    variant: str | None = None


class Signatures(Document):
    """The whole table; see the head of its file."""

    schema_: Literal[1] = Field(alias="schema")
    parts: tuple[PartSignature, ...]
    networks: tuple[NetworkSignature, ...]
    network_bases: tuple[Signature, ...]
    descendants: tuple[Descendant, ...]
    said_in: tuple[str, ...]
    marks: dict[Literal["v", "zero_terminal_snr"], tuple[str, ...]]
    prediction_said_in: dict[str, dict[Prediction, str]]
    quantised: tuple[str, ...]
    folders: tuple[FolderClass, ...]
    unet_widths: tuple[UnetWidth, ...]
    inpainting_channels: int

    def found_parts(self, names: Names) -> Iterator[PartSignature]:
        """Return the parts that a file holds, of each the first signature that fits."""
        seen: set[str] = set()
        for signature in self.parts:
            if signature.part in seen or (signature.general and seen & set(TEXT_ENCODERS)):
                continue
            if any(signature.fits(names, p) for p in signature.prefixes):
                seen.add(signature.part)
                yield signature

    def found_network(self, names: Names) -> tuple[NetworkSignature, Signature | None] | None:
        """Return how a file's network is built and for which model; None when there is none."""
        network = next((each for each in self.networks if names.find(each.like) is not None), None)
        if network is None:
            return None
        return network, next((base for base in self.network_bases if base.fits(names)), None)

    def prediction(self, names: Names) -> Prediction | None:
        """Return what a file says that its model predicts; None when it says nothing."""
        if any(mark in names.tensors for mark in self.marks["v"]):
            return "v"
        for key, values in self.prediction_said_in.items():
            for prediction, pattern in values.items():
                if _compiled(pattern).search(names.metadata.get(key, "")):
                    return prediction
        return None

    def descendant(self, names: Names, family: str, prediction: Prediction | None) -> Descendant | None:
        """Return the descendant that a file says it is."""
        said = "\n".join(names.metadata.get(key, "") for key in self.said_in)
        return next(
            (
                each
                for each in self.descendants
                if each.of == family
                and each.prediction in (None, prediction)
                and _compiled(each.says).search(said)
            ),
            None,
        )


@lru_cache(maxsize=2)
def model_signatures(path: Path | None = None) -> Signatures:
    """Return the table.

    Args:
        path: Another file than the program's own.

    Raises:
        CannotRead: It is no such table.
    """
    place = path or resource_path("model_signatures.yaml")
    try:
        return Signatures.model_validate(parse_yaml(read_text(place)))
    except (YamlProblem, ValidationError) as error:
        raise CannotRead(place, str(error)) from error
