"""What each kind of trouble with images and captions means: how bad it is and what is said about it.

Several keys share an id where they are the same thing in two grades. Ids are part of the interface
(the rule index of the cases, where it has one). How bad each is was tried on the trainer's own reader
(train_util.py:1478, 2948).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from gui.engine.dataset.caption_kinds import caption_file_kinds, caption_text_kinds, caption_word_kinds
from gui.engine.dataset.file_kinds import among_kinds, file_kinds, mask_kinds, unreadable_kinds
from gui.engine.dataset.picture_kinds import colours_kinds, look_kinds, placed_kinds, shape_kinds
from gui.engine.dataset.problem_kind import ProblemKind


@cache
def problem_kinds() -> Mapping[str, ProblemKind]:
    """Return all kinds by key, in the order in which they are told."""
    kinds = (
        *unreadable_kinds(),
        *file_kinds(),
        *colours_kinds(),
        *shape_kinds(),
        *look_kinds(),
        *placed_kinds(),
        *among_kinds(),
        *mask_kinds(),
        *caption_file_kinds(),
        *caption_text_kinds(),
        *caption_word_kinds(),
    )
    return {kind.key: kind for kind in kinds}
