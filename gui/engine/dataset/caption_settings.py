"""What a plan means to do with captions, as far as it tells good ones from bad ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from gui.engine.dataset.clip_tokens import clip_tokenizer
from gui.engine.plan.families import CaptionStyle

CLIP_TOKENS = 75
"""So many tokens CLIP reads at once."""

MORE_TOKENS = 1.25
"""Other text encoders need about so many times CLIP's tokens; an estimate, from above."""


@dataclass(frozen=True)
class CaptionSettings:
    """How captions are taken.

    Attributes:
        style: What suits the family best; None when it is not known.
        limit: So many tokens are read; None when that is not known.
        exact: Whether the text encoder is a CLIP; else tokens are estimated.
        alone: What the family's tokenizer always takes as one token.
        wildcard: ``enable_wildcard``.
        prefix: ``caption_prefix``, where it is put in front.
        suffix: ``caption_suffix``.
        separator: ``caption_separator``.
    """

    style: CaptionStyle | None = None
    limit: int | None = CLIP_TOKENS
    exact: bool = True
    alone: tuple[str, ...] = ()
    wildcard: bool = False
    prefix: str = ""
    suffix: str = ""
    separator: str = ","

    def tokens(self, caption: str) -> int:
        """Return how many tokens a caption is, with prefix and suffix."""
        parts = (self.prefix, caption, self.suffix)
        count = clip_tokenizer(*self.alone).count(" ".join(part for part in parts if part))
        return count if self.exact else ceil(MORE_TOKENS * count)

    def tokens_alone(self, word: str) -> int:
        """Return how many of CLIP's tokens a word is; one that it knows is a single one."""
        return clip_tokenizer(*self.alone).count(word)

    def chunk_ends(self) -> tuple[int, ...]:
        """Return after which numbers of tokens a text is taken apart; the last one is where it is cut."""
        if self.limit is None:
            return ()
        step = CLIP_TOKENS if self.exact else self.limit
        return tuple(range(step, self.limit + 1, step))
