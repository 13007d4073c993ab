"""Progress bars that are drawn as the trainer's are: the same text, the same redraws, the same nesting."""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")
WIDTH = 10
SHORTEST_REDRAW_SECONDS = 0.1
UP = "\x1b[A"
_BLOCKS = " ▏▎▍▌▋▊▉█"
_ASCII = " 123456789#"


def duration(seconds: float) -> str:
    """Return ``MM:SS``, from one hour on ``H:MM:SS``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def figure(value: Any) -> str:
    """Return a postfix value: numbers with three significant digits, exponents without padding."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.3g}".replace("e+0", "e+").replace("e-0", "e-")
    plain = str(value)
    return text if len(text) < len(plain) else plain


def speed_text(rate: float | None) -> str:
    """Return steps a second, or seconds a step where it is slower; unknown before the first."""
    if rate is None:
        return "?it/s"
    return f"{rate:5.2f}it/s" if rate >= 1 else f"{1 / rate:5.2f}s/it"


def drawing(done: int, total: int, characters: str) -> str:
    """Return the bar itself, ten cells wide."""
    steps = len(characters) - 1
    full, part = divmod(int(done / total * WIDTH * steps), steps)
    if full >= WIDTH:
        return characters[-1] * WIDTH
    return characters[-1] * full + characters[part] + characters[0] * (WIDTH - full - 1)


class Bar:
    """One bar on stderr.

    Bars that are open at the same time lie below one another: a nested one is reached by line
    feeds and left by cursor-up codes. A bar that is closed is drawn once more at the left edge.

    Attributes:
        name: The description, may be empty.
        total: How many are expected.
        done: How many are done.
    """

    _open: ClassVar[list[Bar]] = []

    def __init__(self, total: int, name: str = "") -> None:
        sys.stdout.flush()
        self.name = name
        self.total = total
        self.done = 0
        taken = {bar._line for bar in Bar._open}
        self._line = next(line for line in range(len(taken) + 1) if line not in taken)
        Bar._open.append(self)
        self._postfix = ""
        self._length = 0
        self._began = time.monotonic()
        self._drawn_at = self._began
        self._paused_at: float | None = None
        self._characters = _BLOCKS if "utf" in (sys.stderr.encoding or "").lower() else _ASCII
        self.draw()

    def text(self) -> str:
        """Return what the bar shows now."""
        elapsed = (self._paused_at or time.monotonic()) - self._began
        rate = self.done / elapsed if self.done and elapsed > 0 else None
        speed = speed_text(rate)
        prefix = f"{self.name}: " if self.name else ""
        extra = f", {self._postfix}" if self._postfix else ""
        if not self.total or self.done > self.total:
            return f"{prefix}{self.done}it [{duration(elapsed)}, {speed}{extra}]"
        left = duration((self.total - self.done) / rate) if rate else "?"
        bar = drawing(self.done, self.total, self._characters)
        percent = f"{100 * self.done / self.total:3.0f}%"
        return (
            f"{prefix}{percent}|{bar}| {self.done}/{self.total} [{duration(elapsed)}<{left}, {speed}{extra}]"
        )

    def draw(self, line: int | None = None) -> None:
        """Draw the bar on its line, padded over what stood there before."""
        line = self._line if line is None else line
        text = self.text()
        padding = " " * max(0, self._length - len(text))
        self._length = len(text)
        sys.stderr.write("\n" * line + "\r" + text + padding + UP * line)
        sys.stderr.flush()

    def update(self, count: int = 1) -> None:
        """Count on, and redraw unless the last redraw was a moment ago."""
        self.done += count
        now = time.monotonic()
        if now - self._drawn_at >= SHORTEST_REDRAW_SECONDS:
            self.draw()
            self._drawn_at = now

    def postfix(self, **values: Any) -> None:
        """Set what stands after the rate, and redraw at once."""
        self._postfix = ", ".join(f"{name}={figure(value).strip()}" for name, value in values.items())
        self.draw()

    def pause(self) -> None:
        """Stop the bar's clock, so that other work does not count."""
        self._paused_at = time.monotonic()

    def go_on(self) -> None:
        """Let the bar's clock run again."""
        if self._paused_at is not None:
            gone = time.monotonic() - self._paused_at
            self._began += gone
            self._drawn_at += gone
            self._paused_at = None

    @classmethod
    def close_all(cls) -> None:
        """Close what is still open; at the end of the program, so after the traceback of a failure."""
        for bar in list(cls._open):
            bar.close()

    def close(self) -> None:
        """Draw the bar for the last time and end its line; closing twice does nothing."""
        if self in Bar._open:
            Bar._open.remove(self)
            self.draw(line=0)
            sys.stderr.write("\n")
            sys.stderr.flush()


atexit.register(Bar.close_all)


def track(items: Iterable[T], total: int, name: str = "") -> Iterator[T]:
    """Yield the items under a bar; it is closed at the end, also by an exception."""
    bar = Bar(total, name)
    try:
        for item in items:
            yield item
            bar.update()
    finally:
        bar.close()
