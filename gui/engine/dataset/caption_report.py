"""What was found out about the captions of a folder."""

from __future__ import annotations

from gui.engine.dataset.report_parts import FoundProblem
from gui.engine.documents import Document


class WordShare(Document):
    """How often a tag or word is used.

    Attributes:
        word: In small letters.
        captions: In how many captions it stands.
        share: Of all captions, 0 to 1.
        bound: Whether it stands in every caption that has the trigger word: it is learnt with it.
    """

    word: str
    captions: int
    share: float
    bound: bool = False


class CaptionReport(Document):
    """The captions of one subset.

    Attributes:
        captions: How many were found, blank ones counted.
        trigger: The word that calls up what is taught; None when there is none.
        trigger_guessed: Whether it was found in the captions rather than named by the plan.
        with_trigger: How many captions hold it.
        tags: How many captions are lists of tags.
        sentences: How many are sentences.
        longest: Tokens of the longest caption.
        limit: So many tokens are read; None when that is not known.
        exact: Whether tokens were counted by the very vocabulary; else they are estimated.
        words: The most frequent tags, or words where captions are sentences.
        problems: What is wrong with captions; under ``cap-common`` words are named, else images.
    """

    captions: int
    trigger: str | None = None
    trigger_guessed: bool = False
    with_trigger: int = 0
    tags: int = 0
    sentences: int = 0
    longest: int = 0
    limit: int | None = None
    exact: bool = True
    words: tuple[WordShare, ...] = ()
    problems: tuple[FoundProblem, ...] = ()
