"""Tells what encoding a caption is in, when it is not the UTF-8 that the trainer reads.

Captions come from old programs in Japan, Korea and China as well. Their encodings share most bytes, so the
one counts whose letters are what people write.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping

LEAST = 0.5
"""Below this share of likely letters no encoding is named."""

_UTF16_ZEROS = 0.3
"""From this share of zero bytes on, all at even or all at odd places, it is UTF-16 without its mark."""


def decoded(data: bytes) -> tuple[str, str] | None:
    """Return a caption's text without its mark, and the encoding it is in; None when that cannot be told.

    Args:
        data: The content of the file.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _strictly(data, "utf-16")
    if data.startswith(codecs.BOM_UTF8):
        return _strictly(data, "utf-8-sig")
    for name in (_utf16_of(data), "utf-8"):
        found = _strictly(data, name) if name else None
        if found is not None:
            return found
    likely = [(_likelihood(data, name, weight), name) for name, weight in _WEIGHTS.items()]
    share, best = max(likely)
    return _strictly(data, best) if share >= LEAST else None


def _strictly(data: bytes, encoding: str) -> tuple[str, str] | None:
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        return None


def _utf16_of(data: bytes) -> str | None:
    half = len(data) // 2
    if half == 0 or len(data) % 2:
        return None
    if data[1::2].count(0) > _UTF16_ZEROS * half and not data[::2].count(0):
        return "utf-16-le"
    if data[::2].count(0) > _UTF16_ZEROS * half and not data[1::2].count(0):
        return "utf-16-be"
    return None


def _likelihood(data: bytes, encoding: str, weight: Callable[[str], float]) -> float:
    found = _strictly(data, encoding)
    letters = [letter for letter in found[0] if not letter.isascii()] if found else []
    return sum(map(weight, letters)) / len(letters) if letters else 0.0


def _is_ideograph(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _korean(letter: str) -> float:
    if "\uac00" <= letter <= "\ud7a3":
        return 1.0 if len(letter.encode("euc_kr", "ignore")) == 2 else 0.2
    return 0.3 if _is_ideograph(letter) else 0.1


def _japanese(letter: str) -> float:
    if "\u3040" <= letter <= "\u30ff" or letter in "、。ー「」・":
        return 1.0
    return 0.6 if _is_ideograph(letter) else 0.1


def _chinese(letter: str) -> float:
    if letter in "，。、“”！？：；（）":
        return 1.0
    if not _is_ideograph(letter):
        return 0.1
    data = letter.encode("gb2312", "ignore")
    return 0.9 if data and data[0] <= _LAST_COMMON_ROW else 0.4


def _western(letter: str) -> float:
    return 0.6 if letter.isalpha() else 0.5 if letter in "‘’“”–—…€©®°" else 0.1


_LAST_COMMON_ROW = 0xD7
"""GB 2312 orders its ideographs by use: up to this row are the common ones."""

_WEIGHTS: Mapping[str, Callable[[str], float]] = {
    "cp949": _korean,
    "cp932": _japanese,
    "gbk": _chinese,
    "cp1252": _western,
}
"""Encoding to how likely a letter is in what people write in it."""
