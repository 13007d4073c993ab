"""One line of progress on a terminal, and text that cannot move the cursor."""

from __future__ import annotations

import shutil
import sys
import time

QUIET_SECONDS = 0.5
"""What takes no longer shows no progress."""

REDRAW_SECONDS = 0.1


class ProgressLine:
    """One line on stderr that is drawn over, where stderr is a terminal."""

    def __init__(self) -> None:
        self._due = time.monotonic() + QUIET_SECONDS
        self._drawn = 0

    def show(self, text: str) -> None:
        """Draw the line, unless it was drawn just now."""
        now = time.monotonic()
        if now < self._due or not sys.stderr.isatty():
            return
        self._due = now + REDRAW_SECONDS
        shown = text[: shutil.get_terminal_size().columns - 1]
        print("\r" + shown.ljust(self._drawn), end="", file=sys.stderr, flush=True)
        self._drawn = len(shown)

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            print("\r" + " " * self._drawn + "\r", end="", file=sys.stderr, flush=True)


def plain(line: str) -> str:
    """Return a line that cannot move the cursor: names of files can hold anything."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
