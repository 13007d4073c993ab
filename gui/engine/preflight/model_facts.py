"""Looks at the model files that a plan names, each once as long as it does not change."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gui.engine.errors import CannotRead
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import ModelFact
from gui.engine.trainer.model_kind import ModelKind
from gui.engine.trainer.model_look import model_kind

MODEL_ARGUMENTS = (
    "pretrained_model_name_or_path",
    *("vae", "ae", "clip_l", "clip_g", "t5xxl", "gemma2", "text_encoder", "byt5", "qwen3"),
    *("network_weights", "base_weights", "controlnet_model_name_or_path"),
)
"""Trainer arguments that name model files, the base model first; ``base_weights`` is a list."""

KEPT = 256
"""So many files are remembered; a plan names a dozen at most."""

_Key = tuple[str, int, int]


class ModelLooker:
    """Remembers what files were, so that a check at each keystroke reads none twice."""

    def __init__(self) -> None:
        self._known: dict[_Key, ModelKind | None] = {}

    def facts(self, plan: TrainingPlan) -> tuple[ModelFact, ...]:
        """Return what is known about the model files of a plan whose paths are absolute."""
        return tuple(self._facts(plan))

    def _facts(self, plan: TrainingPlan) -> Iterator[ModelFact]:
        for argument in MODEL_ARGUMENTS:
            value = plan.arguments.get(argument)
            for path in value if isinstance(value, (list, tuple)) else (value,):
                if not isinstance(path, str) or not Path(path).is_absolute():
                    continue  # a name on the hub
                kind = self._kind(path)
                if kind is not None:
                    yield _fact(argument, path, kind)

    def _kind(self, path: str) -> ModelKind | None:
        """Return what a file is; None when it is not there or may not be read."""
        try:
            key = (path, *_changed(path))
        except (OSError, ValueError):
            return None
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            try:
                self._known[key] = model_kind(Path(path))
            except CannotRead:
                self._known[key] = None
        return self._known[key]


def _changed(path: str) -> tuple[int, int]:
    """Return what differs when a file or folder has changed: when, in nanoseconds, and its size.

    Raises:
        OSError: It is not there.
        ValueError: No disk can hold such a name.
    """
    found = os.stat(path)  # noqa: PTH116 - at each keystroke
    if not stat.S_ISDIR(found.st_mode):
        return found.st_mtime_ns, found.st_size
    with os.scandir(path) as entries:  # a file put into a folder within changes that folder
        inner = [entry.stat().st_mtime_ns for entry in entries]
    return max(found.st_mtime_ns, *inner, 0), len(inner)


def _fact(argument: str, path: str, kind: ModelKind) -> ModelFact:
    return ModelFact(
        argument=argument,
        path=path,
        family=kind.family,
        complete=kind.complete,
        kind=kind.kind if kind.kind != "unknown" else None,
        variant=kind.variant,
        title=kind.words(),
        layout=kind.layout,
        parts=kind.parts,
        prediction=kind.prediction,
        zero_terminal_snr=kind.zero_terminal_snr,
        dtypes=kind.dtypes,
        quantised=kind.quantised,
        pickle=kind.container == "pickle",
        loads=kind.loads,
        problem=kind.problem,
    )
