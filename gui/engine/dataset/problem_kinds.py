"""What each kind of trouble with images and captions means: how bad it is and what is said about it.

Several keys share an id where they are the same thing in two grades. Ids are part of the interface
(the rule index of the cases, where it has one). How bad each is was tried on the trainer's own reader
(train_util.py:1478, 2948).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from gui.engine.dataset.caption_kinds import CAPTION_FILE_KINDS, CAPTION_TEXT_KINDS, CAPTION_WORD_KINDS
from gui.engine.dataset.file_kinds import AMONG_KINDS, FILE_KINDS, MASK_KINDS, UNREADABLE_KINDS
from gui.engine.dataset.picture_kinds import COLOURS_KINDS, LOOK_KINDS, PLACED_KINDS, SHAPE_KINDS
from gui.engine.dataset.problem_kind import ProblemKind


@cache
def problem_kinds() -> Mapping[str, ProblemKind]:
    """Return all kinds by key, in the order in which they are told."""
    kinds = (
        *UNREADABLE_KINDS,
        *FILE_KINDS,
        *COLOURS_KINDS,
        *SHAPE_KINDS,
        *LOOK_KINDS,
        *PLACED_KINDS,
        *AMONG_KINDS,
        *MASK_KINDS,
        *CAPTION_FILE_KINDS,
        *CAPTION_TEXT_KINDS,
        *CAPTION_WORD_KINDS,
    )
    return {kind.key: kind for kind in kinds}
