"""What is to be seen of an image's caption in a list: a word or two, by what was found last."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gui.engine.dataset.report import DatasetReport
from gui.window.pages.data.tile_words import short_words, tone_of
from gui.window.widgets.chip import Tone

OF_ALL = ("cap-style", "cap-template", "cap-common")
"""What is said of captions as a whole, not of one."""


class CaptionState(NamedTuple):
    """The worst that is known of a caption.

    Attributes:
        key: Which kind of trouble; see ``problem_kinds``.
        words: In a word or two.
        tone: How bad.
    """

    key: str
    words: str
    tone: Tone


def caption_states(report: DatasetReport | None) -> dict[tuple[Path, str], CaptionState]:
    """Return the state of each caption with something to see, by folder and image.

    Args:
        report: What was found; None before the first look is over.
    """
    found: dict[tuple[Path, str], CaptionState] = {}
    for subset in report.subsets if report else ():
        for problem in subset.captions.problems if subset.captions else ():
            if problem.key not in OF_ALL:
                state = CaptionState(problem.key, short_words(problem.key), tone_of(problem.severity))
                for name in problem.names:
                    found.setdefault((Path(subset.image_dir), name), state)
    return found
