"""Takes captions apart into tokens exactly as CLIP's text encoders are given them.

The trainer's CLIPTokenizer (transformers 4.54, with ftfy) repairs the text, takes capitals away, splits it
into words, numbers and marks, and each of these by the vocabulary in ``resources/clip``, which has a licence
of its own. Source: transformers/models/clip/tokenization_clip.py; train_util.py: strategy_base.py:217.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

from gui.engine.documents import read_text
from gui.engine.resources import resource_path

BEGIN, END = "<|startoftext|>", "<|endoftext|>"
"""Written in a caption they are one token each."""

_PARTS = regex.compile(
    r"""<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+""",
    regex.IGNORECASE,
)
"""How the tokenizer splits words."""

_REMEMBERED = 200_000
"""So many words keep their tokens; captions use the same ones again and again."""

_PLAIN = re.compile(r"[ !-%'-~]*")
"""In such a text there is nothing to repair."""


class TokenMark(NamedTuple):
    """One word of a text and its tokens.

    Attributes:
        start: Where it begins in the text, in characters.
        end: Where it ends.
        tokens: How many tokens it is.
    """

    start: int
    end: int
    tokens: int


class ClipTokenizer:
    """The tokenizer of CLIP's text encoders.

    Args:
        merges: The pairs that are joined, the most frequent first.
        alone: Texts that are always one token: the pad token ``!`` of Stable Diffusion 2.
    """

    def __init__(self, merges: tuple[tuple[str, str], ...], alone: tuple[str, ...] = ()) -> None:
        letters = _letters_of_bytes()
        words = [*letters.values(), *(letter + "</w>" for letter in letters.values())]
        words += ["".join(pair) for pair in merges]
        words += [BEGIN, END]
        self._letters = letters
        self._ids = {word: number for number, word in enumerate(words)}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._words: dict[str, tuple[int, ...]] = {}
        self._alone = re.compile("|".join(map(re.escape, (BEGIN, END, *alone))))

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text, without those that begin and end it."""
        found: list[int] = []
        at = 0
        for alone in self._alone.finditer(text):
            found += self._of_piece(text[at : alone.start()])
            found.append(self._ids[alone[0]])
            at = alone.end()
        return found + self._of_piece(text[at:])

    def count(self, text: str) -> int:
        """Return how many tokens a text is."""
        return len(self.ids(text))

    def marks(self, text: str) -> tuple[TokenMark, ...]:
        """Return the words of a text with their tokens, to show where it is cut."""
        words = re.finditer(r"\S+", text)
        return tuple(TokenMark(word.start(), word.end(), self.count(word[0])) for word in words)

    def _of_piece(self, text: str) -> list[int]:
        found: list[int] = []
        for word in _repaired(text).lower().split():
            known = self._words.get(word)
            if known is None:
                known = tuple(number for part in _PARTS.findall(word) for number in self._of_part(part))
                if len(self._words) < _REMEMBERED:
                    self._words[word] = known
            found += known
        return found

    def _of_part(self, part: str) -> Iterator[int]:
        if part in (BEGIN, END):
            yield self._ids[part]
            return
        letters = [self._letters[byte] for byte in part.encode("utf-8", "replace")]
        letters[-1] += "</w>"
        for token in self._joined(letters):
            yield self._ids[token]

    def _joined(self, word: list[str]) -> list[str]:
        """Join the most frequent pair, again and again, until no pair of the vocabulary is left."""
        while len(word) > 1:
            best = min(pairwise(word), key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            joined: list[str] = []
            at = 0
            while at < len(word):
                if at + 1 < len(word) and (word[at], word[at + 1]) == best:
                    joined.append(word[at] + word[at + 1])
                    at += 2
                else:
                    joined.append(word[at])
                    at += 1
            word = joined
        return word


@lru_cache(maxsize=2)
def clip_tokenizer(*alone: str) -> ClipTokenizer:
    """Return the tokenizer of the program's own vocabulary; see ``ClipTokenizer`` for ``alone``."""
    lines = read_text(resource_path("clip", "merges.txt")).splitlines()
    pairs = (line.partition(" ") for line in lines)
    return ClipTokenizer(tuple((first, second) for first, _space, second in pairs), alone)


def _repaired(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    import ftfy

    return ftfy.fix_text(text)


def _letters_of_bytes() -> dict[int, str]:
    """Return the letter that stands for each byte in the vocabulary: all can be seen, none is a space."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in seen]
    letters = {byte: chr(byte) for byte in seen}
    return letters | {byte: chr(256 + place) for place, byte in enumerate(others)}
