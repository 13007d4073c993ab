"""Several values in one line of text, as people type them: blanks between, quotes around blanks.

No shell's rules: a backslash is a backslash, so that paths of Windows can be typed.
"""

from __future__ import annotations

from collections.abc import Iterable

_QUOTES = "\"'"


def split_line(line: str) -> list[str] | None:
    """Return the values in a line; None where a quote is not closed.

    ``weight_decay=0.01 "a b" it's'x'`` has a quote that is not closed; ``a" "b`` is one value.
    """
    words: list[str] = []
    word: str | None = None
    quote = ""
    for sign in line:
        if quote:
            if sign == quote:
                quote = ""
            else:
                word = (word or "") + sign
        elif sign in _QUOTES:
            quote = sign
            word = word or ""
        elif sign.isspace():
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + sign
    if quote:
        return None
    return words if word is None else [*words, word]


def join_line(words: Iterable[str]) -> str:
    """Return a line that gives exactly these values again."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if word and not any(sign.isspace() or sign in _QUOTES for sign in word):
        return word
    if '"' not in word:
        return f'"{word}"'
    if "'" not in word:
        return f"'{word}'"
    parts = word.split('"')
    return "'\"'".join(f'"{part}"' if part else "" for part in parts)
