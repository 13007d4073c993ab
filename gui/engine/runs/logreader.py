"""Reads ``output.log`` while it is written, and turns it into events."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from gui.engine.trainer.events import TrainerEvent
from gui.engine.trainer.output.parser import OutputParser

CHUNK_BYTES = 1 << 18


class LogReader:
    """Follows the log from its first byte.

    Args:
        path: The log; it may not be there yet.
        seen_before: So many bytes were there when this supervisor came: nobody knows when they were
            written, so their events have no time.
        secrets: Tokens to keep out of all events.
    """

    def __init__(self, path: Path, seen_before: int = 0, secrets: Sequence[str] = ()) -> None:
        self._path = path
        self._seen_before = seen_before
        self._parser = OutputParser(secrets)
        self._file: BinaryIO | None = None
        self.position = 0

    @property
    def catching_up(self) -> bool:
        """Whether it still reads what was there before."""
        return self.position < self._seen_before

    def read(self, t: float | None, budget_seconds: float = 0.1) -> Iterator[TrainerEvent]:
        """Give the events of what was written since the last call.

        Args:
            t: Seconds since the trainer started, now.
            budget_seconds: After this time the rest is left to the next call.
        """
        file = self._file or self._open()
        if file is None:
            return
        until = time.monotonic() + budget_seconds
        while data := file.read(self._chunk()):
            known = None if self.catching_up else t
            self.position += len(data)
            yield from self._parser.feed(data, known)
            if time.monotonic() >= until:
                return

    def finish(self, t: float | None) -> Iterator[TrainerEvent]:
        """Give what is left when nobody writes any more."""
        while True:
            before = self.position
            yield from self.read(t, budget_seconds=1.0)
            if self.position == before:
                break
        yield from self._parser.finish(t)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _chunk(self) -> int:
        """A chunk does not reach over the end of what was there before."""
        left = self._seen_before - self.position
        return min(CHUNK_BYTES, left) if left > 0 else CHUNK_BYTES

    def _open(self) -> BinaryIO | None:
        try:
            self._file = self._path.open("rb", buffering=0)
        except OSError:
            return None
        return self._file
