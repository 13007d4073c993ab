"""Holds Ctrl+C back for the moments in which acting on it would leave something half done."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass
class Interrupts:
    """What was pressed meanwhile.

    Attributes:
        pressed: Whether Ctrl+C was.
    """

    pressed: bool = False


@contextlib.contextmanager
def interrupts_held() -> Iterator[Interrupts]:
    """Note Ctrl+C instead of raising; only for work that ends by itself within seconds."""
    held = Interrupts()

    def note(_number: int, _frame: FrameType | None) -> None:
        held.pressed = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)
