"""Reads captions exactly as the trainer does, and tells what keeps it from doing so.

Source: trainer-facts 2.6, 6.3 (train_util.py:1946-1972).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gui.engine.dataset.caption_encoding import decoded
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.presence import is_file

CaptionFileFault = Literal["missing", "denied", "encoding", "mark", "empty", "blank"]
"""``missing``: there is none; ``denied``: it must not be read; ``encoding``: no UTF-8; ``mark``: begins with
a byte order mark, which is learnt; ``empty``: no line at all; ``blank``: no words where the trainer looks."""

FACE_PARTS = 4
"""So many parts of a name tell where a face is; a caption may be called without them."""

MOST_BYTES = 1 << 20
"""No caption is longer; of a longer file only the beginning is read."""

_CHOICE = re.compile(r"\{([^}]+)\}")


@dataclass(frozen=True)
class ReadCaption:
    """One caption.

    Attributes:
        image: The image's file name.
        name: The caption's file name; None when there is none.
        text: What the trainer takes of it; as it was meant, where the trainer cannot read it.
        fault: What is wrong with the file; None for nothing.
        encoding: What it is in; empty when that cannot be told.
    """

    image: str
    name: str | None
    text: str = ""
    fault: CaptionFileFault | None = None
    encoding: str = "utf-8"


def caption_names(folder: Path, image: str, extension: str) -> tuple[str, ...]:
    """Return what an image's caption may be called, the one that is taken first in front.

    Args:
        folder: Where both are, as the trainer is told.
        image: The image's file name.
        extension: With its dot.
    """
    stem = stem_of(image)
    if str(folder).count("_") + stem.count("_") < FACE_PARTS:
        return (stem + extension,)
    parts = stem_of(str(folder / image)).split("_")
    short = Path("_".join(parts[:-FACE_PARTS]) + extension)
    # The parts are those of the whole path: what is left may lie in another folder, or not below this one.
    return (stem + extension, short.name) if short.parent == folder else (stem + extension,)


def read_caption(folder: Path, image: str, extension: str, *, wildcard: bool = False) -> ReadCaption:
    """Read an image's caption.

    Args:
        folder: Where both are.
        image: The image's file name.
        extension: With its dot.
        wildcard: Whether all lines count (``enable_wildcard``); the text then holds them all.
    """
    for name in caption_names(folder, image, extension):
        path = folder / name
        if not is_file(path):
            continue
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            return ReadCaption(image, name, fault="denied", encoding="")
        return _read(image, name, data, wildcard=wildcard)
    return ReadCaption(image, None, fault="missing", encoding="")


def _read(image: str, name: str, data: bytes, *, wildcard: bool) -> ReadCaption:
    if not data:
        return ReadCaption(image, name, fault="empty")
    found = decoded(data)
    if found is None:
        return ReadCaption(image, name, fault="encoding", encoding="")
    text, encoding = found
    taken = taken_of(text, wildcard=wildcard)
    if encoding == "utf-8-sig":
        return ReadCaption(image, name, taken, "mark", encoding)
    if encoding != "utf-8":
        return ReadCaption(image, name, taken, "encoding", encoding)
    return ReadCaption(image, name, taken, None if taken else "blank")


def taken_of(text: str, *, wildcard: bool = False) -> str:
    """Return what the trainer takes of a caption file's text: the first line, or all that are not blank."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip()) if wildcard else lines[0].strip()


def longest_forms(text: str) -> Iterator[str]:
    """Yield each line of a caption with the longest of its choices ``{a|b}``, for ``enable_wildcard``."""
    for line in text.split("\n"):
        plain = line.replace("{{", "").replace("}}", "")
        yield _CHOICE.sub(lambda choice: max(choice[1].split("|"), key=len), plain)


def state_words(folder: Path, images: Iterable[str], extension: str) -> Iterator[bytes]:
    """Yield for each image what its caption's state is known by: name, size and time of change."""
    for image in images:
        for name in caption_names(folder, image, extension):
            try:
                status = os.stat(f"{folder}{os.sep}{name}")  # noqa: PTH116 - there can be 100,000
            except (OSError, ValueError):
                continue
            yield os.fsencode(name) + f"\0{status.st_size} {status.st_mtime_ns}\n".encode("ascii")
            break
        else:
            yield os.fsencode(image) + b"\0\n"
