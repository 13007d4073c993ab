"""What the names of the trainer's files mean.

The trainer names files by ``--output_name`` and the step or epoch, always in the same way
(trainer-facts 7.4: train_util.py:90-102, 6577); without a name it has defaults.
"""

from __future__ import annotations

import os
import re
from typing import Literal

from gui.engine.documents import Document
from gui.engine.trainer.tensors import MODEL_SUFFIXES

SaveKind = Literal["model", "state", "sample"]

DEFAULT_EPOCH_NAME = "epoch"
DEFAULT_STEP_NAME = "at"
DEFAULT_LAST_NAME = "last"

_DEFAULT_BASES = (
    rf"(?:{DEFAULT_EPOCH_NAME}(?=-\d)|{DEFAULT_STEP_NAME}(?=-step)|{DEFAULT_LAST_NAME}(?=\.|-state|$))"
)
_SUFFIXES = "|".join(map(re.escape, sorted(MODEL_SUFFIXES)))
_COUNT = r"(?:-step(?P<step>\d{8,})|-(?P<epoch>\d{6,}))?"
_SAMPLE = re.compile(r"(?:e(?P<epoch>\d{6,})|(?P<step>\d{6,}))_(?P<prompt>\d{2,})_\d{14}(?:_-?\d+)?\.png")


class SaveName(Document):
    """What a name tells.

    Attributes:
        kind: Model file or folder, training state, or sample image.
        step: The optimizer step, where the name has one.
        epoch: The epoch, where the name has one.
        prompt: Which prompt a sample belongs to, from 0.
    """

    kind: SaveKind
    step: int | None = None
    epoch: int | None = None
    prompt: int | None = None

    @property
    def final(self) -> bool:
        """Whether it is named as the run's last one."""
        return self.kind != "sample" and self.step is None and self.epoch is None


class SaveNames:
    """Tells the files of one output name from all others in the same folder.

    Args:
        output_name: The trainer's argument; None means its defaults (``epoch``, ``at``, ``last``).
    """

    def __init__(self, output_name: str | None) -> None:
        flags = re.IGNORECASE if os.name == "nt" else 0
        if output_name is None:
            base, self._prefix = _DEFAULT_BASES, ""
        else:
            base, self._prefix = re.escape(output_name), f"{output_name}_"
        self._save = re.compile(rf"{base}{_COUNT}(?P<end>-state|{_SUFFIXES}|)", flags)

    def save(self, name: str, *, folder: bool) -> SaveName | None:
        """Return what the name of a file or folder in the output folder means; None: not ours."""
        match = self._save.fullmatch(name)
        if match is None or folder != (match["end"] in ("-state", "")):
            return None
        return SaveName(
            kind="state" if match["end"] == "-state" else "model",
            step=_number(match["step"]),
            epoch=_number(match["epoch"]),
        )

    def sample(self, name: str) -> SaveName | None:
        """Return what the name of a file in the folder of samples means; None: not ours."""
        if not name.startswith(self._prefix):
            return None
        match = _SAMPLE.fullmatch(name[len(self._prefix) :])
        if match is None:
            return None
        return SaveName(
            kind="sample",
            step=_number(match["step"]),
            epoch=_number(match["epoch"]),
            prompt=_number(match["prompt"]),
        )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
