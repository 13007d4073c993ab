"""Captions: found beside the images, changed for each use, and turned into hashed words."""

from __future__ import annotations

import random
import re
import zlib
from pathlib import Path

from library.config_util import Subset

VOCABULARY = 1024
LENGTH = 24
_WORD = re.compile(r"\w+")


def read_caption(image: Path, subset: Subset) -> str | None:
    """Return the caption that lies beside an image, None when there is none.

    Raises:
        AssertionError: The file is empty.
        UnicodeDecodeError: The file is not UTF-8.
    """
    file = image.with_suffix(subset.caption_extension)
    if not file.is_file():
        return None
    lines = file.read_text("utf-8").splitlines()
    assert lines, f"caption file is empty / キャプションファイルが空です: {file}"
    if subset.enable_wildcard:
        return "\n".join(line.strip() for line in lines if line.strip())
    return lines[0].strip()


def caption_for_step(caption: str, subset: Subset, epoch: int) -> str:
    """Return the caption as one step uses it: with prefix and suffix, shuffled, or dropped."""
    every = subset.caption_dropout_every_n_epochs
    if every > 0 and epoch % every == 0:
        return ""
    if subset.caption_dropout_rate > 0 and random.random() < subset.caption_dropout_rate:
        return ""
    parts = [subset.caption_prefix, caption, subset.caption_suffix]
    text = " ".join(part for part in parts if part)
    lines = text.split("\n")
    text = random.choice(lines) if subset.enable_wildcard else lines[0]
    if not (subset.shuffle_caption or subset.caption_tag_dropout_rate > 0):
        return text
    tags = [tag.strip() for tag in text.split(subset.caption_separator)]
    kept, free = tags[: subset.keep_tokens], tags[subset.keep_tokens :]
    if subset.shuffle_caption:
        random.shuffle(free)
    if subset.caption_tag_dropout_rate > 0:
        free = [tag for tag in free if random.random() >= subset.caption_tag_dropout_rate]
    return ", ".join(kept + free)


def tokens(caption: str) -> list[int]:
    """Return the numbers of a caption's words, filled up with 0; equal words get equal numbers."""
    words = _WORD.findall(caption.lower())[:LENGTH]
    numbers = [1 + zlib.crc32(word.encode()) % (VOCABULARY - 1) for word in words]
    return numbers + [0] * (LENGTH - len(numbers))
