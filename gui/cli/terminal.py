"""How a run looks in a terminal: one line that is redrawn, and lines for what happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TextIO

from gui.engine.quantities import GIB
from gui.engine.runs.events import RunEvent, VerdictGiven
from gui.engine.runs.figures import clock_time, duration, figure, speed
from gui.engine.runs.status import RunStatus
from gui.engine.runs.words import Timeline, state_words
from gui.engine.texts import _, ngettext
from gui.engine.trainer.events import TrainerEvent

PERIOD_SECONDS = 10.0
"""Without a terminal a line comes so often, and at each event."""

MOST_LINES = 40
"""Of what happened before the watching began so many lines are shown."""


class Display:
    """Shows one run.

    Args:
        out: Where to.
        redraw: Whether one line may be drawn over; default: whether it is a terminal.
    """

    def __init__(self, out: TextIO | None = None, *, redraw: bool | None = None) -> None:
        self._out = out or sys.stdout
        self._redraw = self._out.isatty() if redraw is None else redraw
        self._drawn = 0
        self._due = 0.0
        self._last = ""
        self._timeline = Timeline()

    def events(self, events: Iterable[TrainerEvent | RunEvent]) -> None:
        """Print a line for each event that a person wants to know of."""
        lines = []
        for event in events:
            words = self._timeline.take(event)
            # The verdict is told at length when the watching ends.
            if words is not None and not isinstance(event, VerdictGiven):
                lines.append(f"{clock_time(event.t):<5} {words.text}")
        if len(lines) > MOST_LINES:
            earlier = len(lines) - MOST_LINES
            self.line(
                ngettext("… {count} line before", "… {count} lines before", earlier).format(count=earlier)
            )
        for line in lines[-MOST_LINES:]:
            self.line(line)

    def status(self, status: RunStatus) -> None:
        """Show the progress."""
        line = progress_line(status)
        if self._redraw:
            if line != self._last or not self._drawn:
                self._last = line
                self._draw(line)
        elif time.monotonic() >= self._due and line != self._last:
            self._due = time.monotonic() + PERIOD_SECONDS
            self._last = line
            print(line, file=self._out, flush=True)

    def line(self, text: str) -> None:
        """Print a line that stays."""
        if self._drawn:
            self._draw("")
            self._out.write("\r")
            self._drawn = 0
        print(text, file=self._out, flush=True)

    def done(self) -> None:
        """Leave the cursor on a line of its own."""
        if self._drawn:
            print(file=self._out, flush=True)
            self._drawn = 0

    def _draw(self, line: str) -> None:
        width = _columns(self._out)
        shown = line if len(line) < width else line[: width - 2] + "…"
        self._out.write("\r" + shown.ljust(self._drawn))
        self._out.flush()
        self._drawn = len(shown)


def _columns(out: TextIO) -> int:
    import os

    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def progress_line(status: RunStatus) -> str:
    """Return the state of a run in one line."""
    parts = [_("practice")] if status.practice else []
    parts.append(state_words(status).text)
    if status.step is not None and status.total:
        parts.append(
            _("step {step} of {total} ({percent} %)").format(
                step=status.step, total=status.total, percent=100 * status.step // status.total
            )
        )
    # In a narrow terminal the end is cut off, so what is asked for most comes first.
    parts += _figures(status)
    if status.epoch is not None:
        parts.append(_("epoch {epoch} of {epochs}").format(epoch=status.epoch, epochs=status.epochs or "?"))
    parts += _memory(status)
    troubles = status.warnings + status.errors
    if troubles:
        parts.append(ngettext("{count} warning", "{count} warnings", troubles).format(count=troubles))
    return " · ".join(parts)


def _figures(status: RunStatus) -> list[str]:
    parts = []
    if status.remaining_seconds is not None and status.state == "running":
        parts.append(_("{time} left").format(time=duration(status.remaining_seconds)))
    loss = status.loss if status.loss is not None else status.avr_loss
    if loss is not None:
        parts.append(_("loss {loss}").format(loss=figure(loss)))
    if status.rate:
        parts.append(speed(status.rate))
    return parts


def _memory(status: RunStatus) -> list[str]:
    parts = []
    for gpu in status.gpus:
        held = gpu.process_bytes if gpu.process_bytes is not None else gpu.used_bytes
        if held and gpu.total_bytes:
            parts.append(
                _("GPU {index}: {used:.1f} of {total:.1f} GiB").format(
                    index=gpu.index, used=held / GIB, total=gpu.total_bytes / GIB
                )
            )
    return parts
