"""Counts of which tags or words captions are made of, and how often each is used (S1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gui.engine.dataset.caption_report import WordShare
from gui.engine.dataset.caption_style import PLAIN_WORDS, form_of, tags_of, words_of

COUNTED_WORDS = 200_000
"""Of so many different words are counts kept; of others nothing is known."""

EVERYWHERE = 0.98
"""From this share of captions on a word counts as being in all of them."""


class WordCounts:
    """In how many captions each word stands."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._bound: Counter[str] = Counter()
        self._captions = self._with_trigger = 0

    @property
    def with_trigger(self) -> int:
        """How many captions had the trigger word."""
        return self._with_trigger

    def add(self, words: set[str], *, with_trigger: bool) -> None:
        """Take the words of a caption.

        Args:
            words: See ``parts_of``.
            with_trigger: Whether the trigger word is among them.
        """
        self._captions += 1
        if len(self._words) >= COUNTED_WORDS:
            words = {word for word in words if word in self._words}
        self._words.update(words)
        if with_trigger:
            self._with_trigger += 1
            self._bound.update(words)

    def shares(self, trigger: str | None, most: int | None = None) -> Iterator[WordShare]:
        """Yield words, the most frequent first.

        Args:
            trigger: The trigger word, which is bound to nothing.
            most: So many at most; None yields all.
        """
        own = {trigger, *words_of(trigger or "")}
        whole, counts = self._captions, self._words
        if self._with_trigger:
            whole, counts = self._with_trigger, self._bound
        for word, count in self._words.most_common(most):
            yield WordShare(
                word=word,
                captions=count,
                share=round(count / self._captions, 4),
                bound=word not in own and word not in PLAIN_WORDS and counts[word] >= EVERYWHERE * whole,
            )


def parts_of(text: str, separator: str = ",") -> set[str]:
    """Return what a caption is made of: its tags, or its words where it is no list of tags."""
    form = form_of(text, separator)
    return set(tags_of(text, separator) if form == "tags" else words_of(text))
