"""Puts the model files of a folder into the order in which the trainer saved them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import CannotRead
from gui.engine.runs.save_names import DEFAULT_EPOCH_NAME, DEFAULT_LAST_NAME, DEFAULT_STEP_NAME
from gui.engine.trainer.model_metadata import number_of
from gui.engine.trainer.safetensors_file import read_header
from gui.engine.trainer.tensors import SAFETENSORS_SUFFIX

_NAME = re.compile(r"(?P<base>.*?)(?:-step(?P<step>\d{8,})|-(?P<epoch>\d{6,}))?", re.DOTALL)
_DEFAULTS = frozenset({DEFAULT_EPOCH_NAME, DEFAULT_STEP_NAME})


class SavedModel(NamedTuple):
    """Where a model file stands in its series.

    Attributes:
        path: The file or folder.
        base: The output name that it belongs to.
        step: Optimizer steps behind it, by its name, else by its metadata; None where unknown.
        epoch: Epochs behind it, likewise.
        final: Whether it is named as the run's last one.
        changed_ns: When it was written, for those that tell neither step nor epoch.
    """

    path: Path
    base: str
    step: int | None
    epoch: int | None
    final: bool
    changed_ns: int


def saved_model(path: Path) -> SavedModel:
    """Return where a model file or folder stands, by its name, its metadata and its time.

    The output name is not known here: what precedes the step or epoch is taken for it.
    """
    match = _matched(path)
    steps, epoch = _from_metadata(path)
    base = match["base"]
    return SavedModel(
        path=path,
        base=DEFAULT_LAST_NAME if base in _DEFAULTS else base,
        step=step_of(path, steps),
        epoch=int(match["epoch"]) if match["epoch"] else epoch,
        final=match["step"] is None and match["epoch"] is None,
        changed_ns=_changed(path),
    )


def step_of(path: Path, from_metadata: int | None) -> int | None:
    """Return how many optimizer steps are behind a file: by its name, else by its metadata."""
    step = _matched(path)["step"]
    return int(step) if step else from_metadata


def in_order(paths: Iterable[Path]) -> list[list[SavedModel]]:
    """Return the series among the files and folders, each in the order in which it was saved.

    Files of one folder and one output name make a series. Where all tell their steps, or all their
    epochs, that is the order, else the time of writing; of one step the trainer saves the file of
    the step first, then that of the epoch, then the last one.
    """
    series: dict[tuple[Path, str], list[SavedModel]] = {}
    for path in paths:
        model = saved_model(path)
        series.setdefault((path.parent, model.base), []).append(model)
    return [_sorted(models) for _key, models in sorted(series.items())]


def _sorted(models: list[SavedModel]) -> list[SavedModel]:
    named = [model for model in models if not model.final]
    if all(model.step is not None for model in models):
        return sorted(models, key=lambda m: (m.step or 0, m.final, _is_of_epoch(m), m.path.name))
    if all(model.epoch is not None and model.step is None for model in named):
        return sorted(models, key=lambda m: (m.final, m.epoch or 0, m.path.name))
    return sorted(models, key=lambda m: (m.final, m.changed_ns, m.path.name))


def _is_of_epoch(model: SavedModel) -> bool:
    return _matched(model.path)["epoch"] is not None


def _matched(path: Path) -> re.Match[str]:
    """Match the name without its suffix; a folder's name has none, even with a dot in it."""
    name = path.name if path.is_dir() else path.stem
    match = _NAME.fullmatch(name)
    assert match is not None  # noqa: S101 -- every name matches: all of it may be the base
    return match


def _from_metadata(path: Path) -> tuple[int | None, int | None]:
    if path.suffix.lower() != SAFETENSORS_SUFFIX or path.is_dir():
        return None, None
    try:
        metadata = read_header(path).metadata
    except CannotRead:
        return None, None
    return number_of(metadata, "ss_steps"), number_of(metadata, "ss_epoch")


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
