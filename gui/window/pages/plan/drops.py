"""What was dropped on the wizard, by kind; looks at the disk, so for threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gui.engine.dataset.listing import IMAGE_LIKE
from gui.window.pages.plan.model_files import MODEL_SUFFIXES


@dataclass
class Dropped:
    """What was dropped.

    Attributes:
        folders: Of images; for an image, the folder that it is in.
        models: Model files.
        setups: Anything else: plans and setups.
    """

    folders: list[Path] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    setups: list[Path] = field(default_factory=list)


def sorted_drop(paths: Sequence[str]) -> Dropped:
    """Look at what was dropped."""
    dropped = Dropped()
    for text in paths:
        path = Path(text)
        if path.is_dir():
            dropped.folders.append(path)
        elif path.suffix.lower() in IMAGE_LIKE:
            if path.parent not in dropped.folders:
                dropped.folders.append(path.parent)
        elif path.suffix.lower() in MODEL_SUFFIXES:
            dropped.models.append(text)
        else:
            dropped.setups.append(path)
    return dropped
