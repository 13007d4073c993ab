"""What captions are like as a whole: tags or sentences, one template, which words, a trigger word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Literal

CaptionForm = Literal["tags", "sentences", "short"]

PLAIN_WORDS = frozenset(
    {
        *("a", "an", "the", "of", "in", "on", "at", "to", "by", "with", "and", "or", "from", "for", "as"),
        *("is", "are", "was", "be", "being", "has", "have", "it", "its", "his", "her", "he", "she"),
        *("they", "their", "this", "that", "there", "into", "over", "under", "near"),
    }
)
"""Words that bind to nothing."""

FEW = 8
"""Of fewer captions nothing is said as a whole."""

_WORD = re.compile(r"[^\W_](?:[\w'’-]*\w)?|_\w+")
_NO_LETTER = re.compile(r"[\W\d_]+")
_NO_SIGN = re.compile(r"[\W_]+")
_TAG_WORDS = 3.5
_TRIGGER_SHARE = 0.8
_FIXED_SHARE = 0.9
_TEMPLATE_SHARE = 0.7
_TEMPLATE_WORDS = 3
_NEAR = 0.8


def tags_of(text: str, separator: str = ",") -> list[str]:
    """Return the parts of a caption between separators, in small letters."""
    return [tag.strip().lower() for tag in text.split(separator) if tag.strip()]


def words_of(text: str) -> list[str]:
    """Return the words of a caption, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def letters_of(text: str) -> str:
    """Return the mere letters of a text: names and captions are compared by them."""
    return _NO_LETTER.sub("", text.casefold())


def form_of(text: str, separator: str = ",") -> CaptionForm:
    """Return whether a caption is tags or sentences; of a few words nothing can be said."""
    tags, words = tags_of(text, separator), words_of(text)
    if len(tags) >= 3 and len(words) / len(tags) <= _TAG_WORDS and not re.search(r"[.!?]\s+\w", text):
        return "tags"
    return "sentences" if len(words) > 2 * _TAG_WORDS and len(words) / len(tags) > _TAG_WORDS else "short"


def guessed_trigger(captions: Sequence[str], tokens: Callable[[str], int]) -> str | None:
    """Return the made-up word that nearly all captions begin with; None when there is none.

    Args:
        captions: Some captions.
        tokens: Counts the tokens of a word: one that the model knows is a single one.
    """
    firsts = Counter(words[0] for caption in captions if (words := words_of(caption)))
    if len(captions) < FEW or not firsts:
        return None
    word, count = firsts.most_common(1)[0]
    made_up = word not in PLAIN_WORDS and (tokens(word) > 1 or any(sign.isdigit() for sign in word))
    return word if made_up and count >= _TRIGGER_SHARE * len(captions) else None


def has_word(text: str, trigger: str) -> bool:
    """Return whether a caption holds the trigger word as it is spelled; capitals do not matter to CLIP."""
    return trigger_pattern(trigger).search(text) is not None


def trigger_pattern(trigger: str) -> re.Pattern[str]:
    """Return what finds a trigger word in captions."""
    before = r"(?<!\w)" if trigger[:1].isalnum() else ""
    after = r"(?!\w)" if trigger[-1:].isalnum() else ""
    return re.compile(before + re.escape(trigger) + after, re.IGNORECASE)


def is_misspelled(text: str, trigger: str) -> bool:
    """Return whether a caption that lacks the trigger word holds nearly the same one."""
    wanted = _NO_SIGN.sub("", trigger.casefold())
    words = [_NO_SIGN.sub("", word) for word in text.casefold().replace(",", " ").split()]
    for at in range(len(words)):
        for length in (1, 2, 3):
            joined = "".join(words[at : at + length])
            if joined and (joined == wanted or (length == 1 and _is_near(joined, wanted))):
                return True
    return False


def _is_near(word: str, wanted: str) -> bool:
    if len(wanted) < 4 or abs(len(word) - len(wanted)) > 1 or word[0] != wanted[0]:
        return False
    return SequenceMatcher(None, word, wanted).ratio() >= _NEAR


class Template:
    """The one form that most captions of a dataset fill in.

    Args:
        captions: Some captions.
        trigger: The trigger word, which is in all of them rightly.
    """

    def __init__(self, captions: Sequence[str], trigger: str | None) -> None:
        self._own = set(words_of(trigger or ""))
        counts = Counter(word for caption in captions for word in set(words_of(caption)))
        often = _FIXED_SHARE * len(captions)
        self._fixed = {word for word, count in counts.items() if count >= often and word not in self._own}
        forms = Counter(map(self._form, captions))
        form, count = forms.most_common(1)[0] if forms else ((), 0)
        enough = len(captions) >= FEW and count >= _TEMPLATE_SHARE * len(captions)
        kept = sum(1 for word in form if word is not None)
        self._form_of_all = form if enough and kept >= _TEMPLATE_WORDS and kept > len(form) - kept else None

    def fits(self, caption: str) -> bool:
        """Return whether a caption only fills the form in."""
        return self._form_of_all is not None and self._form(caption) == self._form_of_all

    def _form(self, caption: str) -> tuple[str | None, ...]:
        """Return the fixed words of a caption, with None for what stands between them."""
        form: list[str | None] = []
        for word in words_of(caption):
            if word in self._own:
                continue
            kept = word if word in self._fixed else None
            if kept is not None or not form or form[-1] is not None:
                form.append(kept)
        return tuple(form)
