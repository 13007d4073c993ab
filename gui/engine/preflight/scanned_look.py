"""What a finished scan of a folder says, in the words of facts: rules then need no quick look of their own.

A scan decodes every image, so it knows more than names, headers and tails tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.folder_records import FolderRecord
from gui.engine.preflight.file_facts import ImageFault

Kind = Literal["unreadable", "format", "large", "bomb"]

_FAULTS: Mapping[str, Kind] = {
    "img-truncated": "unreadable",
    "img-decode": "unreadable",
    "img-empty": "unreadable",
    "img-denied": "unreadable",
    "img-magic": "format",
    "img-huge": "bomb",
    "img-large": "large",
}
"""Which kinds of trouble are image faults, and of which kind."""

_TOLD_ANYWAY = frozenset({"img-small", "img-dupstem"})
"""What rules tell by names and sizes alone."""


def faults_of(record: FolderRecord) -> tuple[ImageFault, ...]:
    """Return the images that the trainer would stumble over."""
    return tuple(
        ImageFault(name=name, kind=kind)
        for key, kind in _FAULTS.items()
        for name in record.problems.get(key, ())
    )


def others_of(record: FolderRecord, captions: CaptionReport | None = None) -> dict[str, tuple[str, ...]]:
    """Return all other trouble by its key; see ``problem_kinds``.

    Args:
        record: What is known of the images.
        captions: What is known of the captions; None for nothing.
    """
    told = _FAULTS.keys() | _TOLD_ANYWAY
    found = {key: names for key, names in record.problems.items() if key not in told}
    return found | {problem.key: problem.names for problem in (captions.problems if captions else ())}
