"""Where a caption is taken apart and cut off by the text encoder, and where its trigger word stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from gui.engine.dataset.caption_files import longest_forms, taken_of
from gui.engine.dataset.caption_settings import MORE_TOKENS, CaptionSettings
from gui.engine.dataset.caption_style import trigger_pattern
from gui.engine.dataset.clip_tokens import clip_tokenizer

Span = tuple[int, int]
"""From one character up to another one."""


@dataclass(frozen=True)
class CaptionMarks:
    """What there is to see in the text of a caption file.

    Attributes:
        tokens: How many tokens its longest line is, with prefix and suffix.
        chunks: Where a text encoder reads on anew, each with how many tokens it has read by then.
        cut: What is cut off.
        unread: What the trainer does not take: the lines after the first one.
        triggers: Where the trigger word stands.
    """

    tokens: int = 0
    chunks: tuple[tuple[int, int], ...] = ()
    cut: tuple[Span, ...] = ()
    unread: Span | None = None
    triggers: tuple[Span, ...] = ()


def caption_marks(text: str, settings: CaptionSettings, trigger: str = "") -> CaptionMarks:
    """Return what there is to see in the text of a caption file.

    Args:
        text: All of it.
        settings: How captions are taken.
        trigger: The trigger word; empty for none.
    """
    lines = list(_lines(text))
    taken = lines if settings.wildcard else lines[:1]
    chunks: list[tuple[int, int]] = []
    cut: list[Span] = []
    for start, line in taken:
        for place, tokens in _places(line, settings):
            chunks.append((start + place, tokens))
            if tokens == settings.limit:
                cut.append((start + place, start + len(line)))
    whole = taken_of(text, wildcard=settings.wildcard)
    forms = longest_forms(whole) if settings.wildcard else iter((whole,))
    rest = lines[1][0] if len(taken) < len(lines) else len(text)
    words = trigger_pattern(trigger).finditer(text) if trigger else iter(())
    return CaptionMarks(
        tokens=max(map(settings.tokens, forms), default=0) if whole else 0,
        chunks=tuple(chunks),
        cut=tuple(cut),
        unread=(rest, len(text)) if text[rest:].strip() else None,
        triggers=tuple(word.span() for word in words),
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each line begins, and the line."""
    for found in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|$)", text):
        yield found.start(), found[0].rstrip("\r\n")


def _places(line: str, settings: CaptionSettings) -> Iterator[tuple[int, int]]:
    """Yield the places before the first word that does not fit any more, with the tokens up to there."""
    tokenizer = clip_tokenizer(*settings.alone)
    read = tokenizer.count(settings.prefix) if settings.prefix else 0
    ends = list(settings.chunk_ends())
    for mark in tokenizer.marks(line):
        read += mark.tokens
        while ends and ends[0] < (read if settings.exact else ceil(MORE_TOKENS * read)):
            yield mark.start, ends.pop(0)
