"""Reads the beginnings of captions, to tell those that the trainer cannot read, or finds nothing in.

Source: trainer-facts 2.6, 6.3 (train_util.py:1946-1972); DATA-09, DATA-10.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gui.engine.dataset.pairing import stem_of
from gui.engine.preflight.file_facts import CaptionFault
from gui.engine.preflight.image_look import is_special

LOOKED_AT = 1_000
"""So many captions of a folder are read."""

MOST_BYTES = 64 * 1024
"""No caption is longer; of a longer file only the beginning is read."""

MARK = b"\xef\xbb\xbf"


def look_at_captions(folder: Path, images: Iterable[str], extension: str) -> tuple[CaptionFault, ...]:
    """Return what is wrong with captions.

    Args:
        folder: Where they are.
        images: Names of the images.
        extension: How caption files end; a missing leading dot is added.
    """
    wanted = extension if extension.startswith(".") else f".{extension}"
    faults: list[CaptionFault] = []
    for number, image in enumerate(images):
        if number >= LOOKED_AT:
            break
        name = f"{stem_of(image)}{wanted}"
        if is_special(folder / name):
            continue
        try:
            with (folder / name).open("rb") as file:
                fault = fault_of(file.read(MOST_BYTES))
        except OSError:
            continue  # there is none, or what is there is another rule's
        if fault is not None:
            faults.append(CaptionFault(name=name, kind=fault))
    return tuple(faults)


def fault_of(data: bytes) -> str | None:
    """Return what is wrong with a caption's content; see ``CaptionFault.kind``."""
    if not data:
        return "empty"
    if data.startswith(MARK):
        return "mark"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = len(data) == MOST_BYTES and error.start > MOST_BYTES - 4
        return None if cut else "encoding"
    return None if text.splitlines()[0].strip() else "blank"
