"""Which words stand in the captions of a folder, the seldom ones too, and in the captions of which images."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_report import WordShare
from gui.engine.dataset.caption_style import has_word
from gui.engine.dataset.caption_words import WordCounts, parts_of
from gui.engine.errors import Cancelled


def all_words(
    where: CaptionFolder, trigger: str, cancelled: Callable[[], bool] = lambda: False
) -> list[WordShare]:
    """Return all words of a folder's captions, the seldom ones too, the most frequent first.

    Args:
        where: The captions.
        trigger: The trigger word; empty for none.
        cancelled: Asked at each caption; True ends it.

    Raises:
        Cancelled: The caller asked for it.
    """
    counts, settings = WordCounts(), where.settings
    for _image, text in _texts(where, cancelled):
        here = bool(trigger) and has_word(f"{settings.prefix} {text}", trigger)
        counts.add(parts_of(text, settings.separator), with_trigger=here)
    return list(counts.shares(trigger or None))


def images_with(
    where: CaptionFolder, words: Iterable[str], cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """Return the images whose captions have one of some words.

    Args:
        where: The captions.
        words: As ``all_words`` has them.
        cancelled: Asked at each caption; True ends it.

    Raises:
        Cancelled: The caller asked for it.
    """
    wanted = set(words)
    return tuple(
        image
        for image, text in _texts(where, cancelled)
        if not wanted.isdisjoint(parts_of(text, where.settings.separator))
    )


def _texts(where: CaptionFolder, cancelled: Callable[[], bool]) -> Iterator[tuple[str, str]]:
    for image in where.images:
        if cancelled():
            raise Cancelled
        text = where.read(image).text
        if text:
            yield image, text
