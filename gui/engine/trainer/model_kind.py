"""What a model file is: family, variant, and what it is for, told from its header alone.

What the trainer's loaders look for is data (``resources/model_signatures.yaml``). Source: MODEL-01
to MODEL-12, MODEL-15, knowledge S7.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.texts import _
from gui.engine.trainer.model_signatures import (
    TEXT_ENCODERS,
    Layout,
    Names,
    Part,
    Prediction,
    Signatures,
    model_signatures,
)
from gui.engine.trainer.safetensors_file import SafetensorsHeader

WhatItIs = Literal["checkpoint", "network", "unknown"] | Part
"""``checkpoint`` is a denoiser with its VAE or text encoders, ``denoiser`` one alone, ``network`` a LoRA
or its like."""

Container = Literal["safetensors", "pickle", "gguf", "web-page", "empty", "other", "folder"]


class ModelKind(Document):
    """What a model file is.

    Attributes:
        container: How it is packed.
        kind: What it is for.
        title: What it is, in English, such as ``Stable Diffusion XL``; empty when it is not known.
        family: The family that plans name.
        variant: Such as ``refiner``, ``inpainting``, ``schnell``; of a VAE, which.
        network: Of a network how it is built, such as ``LoHa``.
        layout: Whose names its tensors have.
        parts: What a file holds, such as ``denoiser`` and ``vae``.
        prediction: What it says that it predicts.
        zero_terminal_snr: Whether it says that it was trained down to full noise.
        dtypes: Kind of number to how many tensors are of it, most first.
        quantised: Whether its weights are in pieces with scales beside them.
        complete: Whether it is as long as its header says.
        loads: Whether the format's own reader takes it; None where that is not known.
        problem: What is wrong with the file, in one sentence.
    """

    container: Container
    kind: WhatItIs = "unknown"
    title: str = ""
    family: str | None = None
    variant: str | None = None
    network: str | None = None
    layout: Layout | None = None
    parts: tuple[Part, ...] = ()
    prediction: Prediction | None = None
    zero_terminal_snr: bool = False
    dtypes: dict[str, int] = Field(default_factory=dict)
    quantised: bool = False
    complete: bool | None = None
    loads: bool | None = None
    problem: str | None = None

    @property
    def sentence(self) -> str:
        """What it is, in words: ``checkpoint of Stable Diffusion XL, BF16``."""
        words = self.words()
        if self.prediction == "v" and self.kind in ("checkpoint", "denoiser"):
            words = _("{model}, predicts velocity").format(model=words)
        return f"{words}, {kinds}" if (kinds := ", ".join(self.dtypes)) else words

    def words(self) -> str:
        """Return what it is without its number formats."""
        title = _(self.title) if self.title else ""
        if self.kind == "checkpoint":
            return _("checkpoint of {model}").format(model=title)
        if self.kind == "denoiser":
            return _("{model} without text encoders and VAE").format(model=title)
        if self.kind == "network":
            return (
                _("{network} for {model}") if title else _("{network} for a model that is not known")
            ).format(network=self.network, model=title)
        if title:
            return title
        return {
            "pickle": _("PyTorch file, which is not looked into"),
            "gguf": _("GGUF file, compressed for making images"),
            "web-page": _("web page"),
            "empty": _("empty file"),
        }.get(self.container, _("model that is not known"))


def kind_of_header(header: SafetensorsHeader, table: Signatures | None = None) -> ModelKind:
    """Return what a safetensors file is by its header."""
    table = table or model_signatures()
    names = Names(header)
    dtypes = Counter(tensor.dtype for tensor in header.tensors.values())
    kind = _network(names, table) or _model(names, table)
    return kind.model_copy(
        update={
            "dtypes": dict(dtypes.most_common()),
            "quantised": any(names.find(pattern) is not None for pattern in table.quantised),
            "complete": header.complete,
            "loads": header.complete,
        }
    )


def _network(names: Names, table: Signatures) -> ModelKind | None:
    found = table.found_network(names)
    if found is None:
        return None
    network, base = found
    return ModelKind(
        container="safetensors",
        kind="network",
        network=network.title,
        title=base.title if base else "",
        family=base.family if base else None,
    )


def _model(names: Names, table: Signatures) -> ModelKind:
    parts = {signature.part: signature for signature in table.found_parts(names)}
    denoiser = parts.get("denoiser")
    first = denoiser or next(iter(parts.values()), None)
    if first is None:
        return ModelKind(container="safetensors")
    beside = [part for part in parts if part == "vae" or part in TEXT_ENCODERS]
    prediction = table.prediction(names) if denoiser else None
    descendant = table.descendant(names, first.family or "", prediction) if denoiser else None
    return ModelKind(
        container="safetensors",
        kind="checkpoint" if denoiser and beside else first.part,
        title=(descendant or first).title,
        family=(descendant or first).family,
        variant=first.variant,
        layout=first.layout,
        parts=tuple(parts),
        prediction=prediction,
        zero_terminal_snr=any(mark in names.tensors for mark in table.marks["zero_terminal_snr"]),
    )
