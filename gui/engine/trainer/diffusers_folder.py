"""Tells what a folder in Diffusers' layout holds: by its configuration and its files' headers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.documents import read_json, reason_of
from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.texts import _
from gui.engine.trainer.model_kind import ModelKind, WhatItIs, kind_of_header
from gui.engine.trainer.model_signatures import Prediction, Signatures
from gui.engine.trainer.safetensors_file import SafetensorsHeader, read_header

INDEX = "model_index.json"
CONFIG = "config.json"
DENOISERS = ("unet", "transformer")
WEIGHTS = ("*.safetensors", "*.bin")
SINGLE_FILES = frozenset({".safetensors", ".ckpt"})


def folder_kind(folder: Path, table: Signatures) -> ModelKind:
    """Return what a folder is; ``unknown`` with a problem when it is no model.

    Args:
        folder: A whole Diffusers model, or the folder of its U-Net or transformer.
        table: What configurations mean.
    """
    index = _json(folder / INDEX)
    inner = next((folder / name for name in DENOISERS if (folder / name).is_dir()), folder)
    config = _json(inner / CONFIG)
    files = sorted(inner.glob(WEIGHTS[0]))
    pickles = sorted(inner.glob(WEIGHTS[1]))
    if not config or not (files or pickles):
        return ModelKind(container="folder", loads=False, problem=_no_model(folder))
    dtypes, complete, problem = _headers(files)
    known = _known(index, config, table)
    if not index and not known and inner == folder and complete:
        return kind_of_header(read_header(files[0]), table)  # a VAE or a text encoder of its own
    alone: WhatItIs = "denoiser" if known or inner != folder else "unknown"
    return ModelKind(
        container="folder" if files else "pickle",
        kind="checkpoint" if index else alone,
        layout="diffusers",
        parts=("denoiser",),
        prediction=_prediction(folder),
        dtypes=dtypes,
        complete=complete,
        loads=complete,
        problem=problem,
        **known,
    )


def _no_model(folder: Path) -> str:
    """Say what a folder lacks, and which file in it may have been meant."""
    try:
        files = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in SINGLE_FILES)
    except OSError as error:
        return _("The folder cannot be looked into: {reason}.").format(reason=reason_of(error))
    if files:
        return _("It is a folder and holds no Diffusers model. Name the file in it: {file}").format(
            file=files[0]
        )
    return _("It is a folder and holds no Diffusers model. Name the file of the model.")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content = read_json(path)
    except CannotRead:
        return {}
    return content if isinstance(content, dict) else {}


def _known(index: Mapping[str, Any], config: Mapping[str, Any], table: Signatures) -> dict[str, Any]:
    """Return title, family and variant: what the U-Net's width says goes before the class's name."""
    said = {str(index.get("_class_name")), str(config.get("_class_name"))}
    by_class = next((each for each in table.folders if said & set(each.classes)), None)
    by_width = next(
        (each for each in table.unet_widths if each.width == config.get("cross_attention_dim")), None
    )
    found = by_width or by_class
    if found is None:
        return {}
    variant = found.variant or (by_class.variant if by_class else None)
    if config.get("in_channels") == table.inpainting_channels:
        variant = "inpainting"
    family, title = found.family, found.title
    if family == "flux1" and config.get("guidance_embeds") is False:
        family, title, variant = "flux1-schnell", "FLUX.1 schnell", "schnell"
    return {"family": family, "title": title, "variant": variant}


def _prediction(folder: Path) -> Prediction | None:
    said = _json(folder / "scheduler" / "scheduler_config.json").get("prediction_type")
    known: dict[object, Prediction] = {"v_prediction": "v", "epsilon": "epsilon"}
    return known.get(said)


def _headers(files: list[Path]) -> tuple[dict[str, int], bool | None, str | None]:
    dtypes: Counter[str] = Counter()
    for file in files:
        try:
            header: SafetensorsHeader | None = read_header(file)
            reason = "" if header and header.complete else _("it is not as long as its header says")
        except NotSafetensors as error:
            header, reason = None, error.reason
        if header is None or reason:
            said = _("{file} in it is broken: {reason}.").format(file=file.name, reason=reason)
            return dict(dtypes), False, said
        dtypes.update(tensor.dtype for tensor in header.tensors.values())
    return dict(dtypes.most_common()), True if files else None, None
