"""Says which lines of the trainer's output warn of something, line by line and cheaply.

Only the bytes of the lines count, never how they were cut into chunks.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from gui.engine.trainer.output.escapes import EscapeStripper
from gui.engine.trainer.output.phrases import read_bare_line, read_sentence
from gui.engine.trainer.output.records import MESSAGE_COLUMN, without_gui_prefix

Level = Literal[0, 1, 2]
PLAIN: Level = 0
WARNING: Level = 1
ERROR: Level = 2

HEAD_BYTES = 512
"""So much of a line decides its level."""

LOUD_WORDS = (
    *(b"WARNING", b"ERROR", b"CRITICAL", b"Traceback", b"rror", b"arning", b"xception", b"Interrupt"),
    *(b" found", b"recognized"),
)
"""No line without one of these has a level, unless it goes on with one that has."""

LOUD = re.compile(b"|".join(map(re.escape, LOUD_WORDS)))

_RANK = re.compile(rb"\s*\[(?:rank|default)\d{1,4}\]:(?: |$)?")
_RECORD = re.compile(
    # At the start, or behind a bar that has no line end (trainer-output 3.2).
    rb"(?:^|\]|\|)\s{0,40}(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{1,6})? )?"
    rb"(WARNING|ERROR|CRITICAL|INFO|DEBUG)(?:[ :]|\s*$)"
)
_TRACEBACK = re.compile(rb"Traceback \(most recent call last\)|^\xe2\x95\xad.*Traceback ")
_EXCEPTION = re.compile(
    rb"\s{0,8}(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Interrupt|MultipleInvalid|BadZipFile)(?::|\s*$)"
)
_BOX = (b"\xe2\x94\x82", b"\xe2\x95\xb0", b"\xe2\x95\xad")
_MOST_ROWS = 400
_LEVELS: dict[bytes, Level] = {b"WARNING": WARNING, b"ERROR": ERROR, b"CRITICAL": ERROR}
_KINDS: dict[str, Level] = {"warning": WARNING, "error": ERROR, "missing": ERROR}


class Block(NamedTuple):
    """What the following lines may still belong to.

    Attributes:
        level: Of all of it.
        traceback: Whether it is one, not a wrapped record.
        left: So many more lines at most.
    """

    level: Level
    traceback: bool
    left: int = _MOST_ROWS


def judge_line(head: bytes, block: Block | None) -> tuple[Level, Block | None]:
    """Return the level of a line and what it leaves open.

    Args:
        head: The first `HEAD_BYTES` of what is seen of the line.
        block: What the line before left open.
    """
    if block is None and LOUD.search(head) is None:
        return PLAIN, None
    text = _RANK.sub(b"", plain_bytes(head), count=1)
    if _TRACEBACK.search(text):
        return ERROR, Block(ERROR, traceback=True)
    if block is not None and block.traceback:
        inside = text[:1] in (b" ", b"\t", b"|", b"+", b"") or text.startswith(_BOX)
        return ERROR, block._replace(left=block.left - 1) if inside and block.left > 1 else None
    record = _RECORD.search(text)
    if record is None and block is not None and block.left and text.startswith(b" " * MESSAGE_COLUMN):
        return block.level, block._replace(left=block.left - 1)
    if record is not None:
        return _record(record, text)
    return _bare(text), None


def _record(record: re.Match[bytes], text: bytes) -> tuple[Level, Block | None]:
    level = _LEVELS.get(record[1], PLAIN)
    if level:
        return level, Block(level, traceback=False)
    # Some complaints are logged as mere information.
    meaning = read_sentence(text[record.end() :].decode("utf-8", "replace").strip())
    return (_KINDS.get(meaning.kind, PLAIN) if meaning else PLAIN), None


def _bare(text: bytes) -> Level:
    if _EXCEPTION.match(text):
        return ERROR
    meaning = read_bare_line(without_gui_prefix(text.decode("utf-8", "replace")))
    return _KINDS.get(meaning.kind, PLAIN) if meaning else PLAIN


def plain_bytes(data: bytes) -> bytes:
    """Return bytes without terminal escape sequences."""
    if b"\x1b" not in data:
        return data
    stripper = EscapeStripper()
    return stripper.feed(data) + stripper.finish()
