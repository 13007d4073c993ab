"""Reads lines of a log for people: escapes taken out, secrets hidden, cut where nobody reads on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gui.engine.redaction import redact_text
from gui.engine.runs.log_levels import plain_bytes
from gui.engine.texts import _

SHOWN_CHARACTERS = 4000
"""So much of a line is shown; more would be text that nobody reads, and slow."""

READ_BYTES = 1 << 15
"""Enough for the shown characters, their escape sequences, and a token across the cut."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029]")


class LogText:
    """Reads from a log that may grow, shrink or go; one for each thread.

    Args:
        path: The log.
        secrets: Tokens to hide beside what looks like one.
    """

    def __init__(self, path: Path, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(secrets)
        self._file = path.open("rb", buffering=0)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def line(self, start: int, end: int) -> str:
        """Return a line by where it begins and ends; empty where the file has been cut away."""
        return self.shown(self.read(start, min(end - start, READ_BYTES)), end - start)

    def read(self, start: int, size: int) -> bytes:
        """Return bytes; fewer where the file ends, none where it cannot be read any more."""
        try:
            self._file.seek(start)
            return self._file.read(size) or b""
        except (OSError, ValueError):
            return b""

    def shown(self, data: bytes, whole_bytes: int) -> str:
        """Return bytes of a line as they are shown.

        Args:
            data: The line, or its first `READ_BYTES`.
            whole_bytes: How long the line is.
        """
        text = plain_bytes(data.rstrip(b"\r")).decode("utf-8", "replace").expandtabs(8)
        text = redact_text(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text), self._secrets)
        if len(text) <= SHOWN_CHARACTERS and whole_bytes <= READ_BYTES:
            return text
        more = _("… (cut; the line has {size} bytes)").format(size=f"{whole_bytes:,}")
        return text[:SHOWN_CHARACTERS] + more


class Needle(NamedTuple):
    """What is searched for, upper and lower case alike.

    Attributes:
        text: As typed.
        pattern: Finds the lines that may hold it, in bytes.
    """

    text: str
    pattern: re.Pattern[bytes]

    def within(self, text: str) -> bool:
        """Whether a shown text holds it."""
        return self.text.casefold() in text.casefold()


def needle_of(text: str) -> Needle:
    """Return what to search for."""
    ways = dict.fromkeys((text, text.lower(), text.upper()))
    words = b"|".join(re.escape(way.encode("utf-8", "replace")) for way in ways)
    return Needle(text, re.compile(words, re.IGNORECASE))
