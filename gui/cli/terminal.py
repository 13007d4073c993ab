"""How a run looks in a terminal: one line that is redrawn, and lines for what happens."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from gui.engine.runs.events import (
    Adopted,
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Launched,
    Notice,
    Paused,
    Resumed,
    RunEvent,
    Stopping,
)
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _, ngettext
from gui.engine.trainer.events import Epoch, Error, LossNonfinite, Phase, TrainerEvent, Warned

PERIOD_SECONDS = 10.0
"""Without a terminal a line comes so often, and at each event."""

MOST_LINES = 40
"""Of what happened before the watching began so many lines are shown."""

GIB = 1 << 30
MINUTE, HOUR = 60, 3600


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
        self._phases: set[str] = set()

    def events(self, events: Iterable[TrainerEvent | RunEvent]) -> None:
        """Print a line for each event that a person wants to know of."""
        lines = []
        for event in events:
            line = event_line(event)
            if isinstance(event, Phase):
                # Training and saving take turns; the progress line tells which it is.
                line = "" if event.phase in self._phases else line
                self._phases.add(event.phase)
            if line:
                lines.append(clock_time(event.t) + line)
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
    parts.append(_state_words(status))
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


def _state_words(status: RunStatus) -> str:
    words = {
        "starting": _("starting"),
        "running": "",
        "paused": _("paused"),
        "stopping": _("stopping"),
        "checking": _("looking at the files"),
        "ended": _("over"),
    }[status.state]
    if words:
        return words
    phase = phase_words().get(status.phase or "loading", "")
    if status.bar is not None and status.bar.total and status.phase != "training":
        return f"{phase} {status.bar.done}/{status.bar.total}"
    return phase


def phase_words() -> dict[str, str]:
    """Return what the trainer is doing, in words."""
    return {
        "loading": _("loading"),
        "caching-latents": _("caching latents"),
        "caching-text": _("caching text encoder outputs"),
        "training": _("training"),
        "validating": _("validating"),
        "sampling": _("sampling"),
        "saving": _("saving"),
        "done": _("done"),
    }


def _figures(status: RunStatus) -> list[str]:
    parts = []
    if status.remaining_seconds is not None and status.state == "running":
        parts.append(_("{time} left").format(time=duration(status.remaining_seconds)))
    loss = status.loss if status.loss is not None else status.avr_loss
    if loss is not None:
        parts.append(_("loss {loss}").format(loss=figure(loss)))
    if status.rate:
        parts.append(pace(status.rate))
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


def event_line(event: TrainerEvent | RunEvent) -> str:
    """Return the line for an event; empty for one that needs none."""
    line = ""
    match event:
        case Notice() | Guarded() | Stopping() | Judged() | DiskWarned() | Adopted():
            line = event.sentence
        case Answered():
            line = "" if event.done else event.sentence
        case Paused():
            line = _("Paused.")
        case Resumed():
            line = _("Going on.")
        case Launched():
            line = _("The trainer runs (process {pid}).").format(pid=event.trainer_pid)
        case Kept():
            line = _("{file} is kept as {copy}.").format(file=Path(event.path).name, copy=event.kept_as)
        case FileSeen():
            line = _file_line(event)
        case _:
            line = _trainer_line(event)
    return line


def _trainer_line(event: TrainerEvent | RunEvent) -> str:
    match event:
        case Phase():
            return phase_words().get(event.phase, event.phase)
        case Epoch():
            return _("epoch {epoch} of {epochs}").format(epoch=event.epoch, epochs=event.total)
        case LossNonfinite(source="bar"):
            return _("The loss is {value} at step {step}.").format(
                value=figure(event.value if event.value is not None else math.nan), step=event.step
            )
        case Warned():
            return _("warning: {message}").format(message=_short(event.message))
        case Error():
            kind = f"{event.type}: " if event.type else ""
            return "" if event.wrapper else _("error: {message}").format(message=kind + _short(event.message))
        case _:
            return ""


def _file_line(event: FileSeen) -> str:
    if not event.complete:
        return ""
    text = {
        "model": _("saved {file} ({size})"),
        "state": _("saved the state {file} ({size})"),
        "sample": _("sample {file}"),
    }[event.kind]
    return text.format(file=Path(event.path).name, size=size(event.size))


def _short(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= 200 else first[:199] + "…"


def figure(value: float) -> str:
    """Return a loss as people read it."""
    return f"{value:.4g}"


def pace(rate: float) -> str:
    """Return a speed; slow steps are told in seconds each."""
    if rate >= 1:
        return _("{rate:.2f} steps a second").format(rate=rate)
    return _("{seconds:.1f} s a step").format(seconds=1 / rate)


def duration(seconds: float) -> str:
    """Return a length of time, coarse where it is long."""
    whole = round(seconds)
    if whole < MINUTE:
        return _("{seconds} s").format(seconds=whole)
    if whole < HOUR:
        return _("{minutes} min {seconds:02d} s").format(minutes=whole // MINUTE, seconds=whole % MINUTE)
    return _("{hours} h {minutes:02d} min").format(hours=whole // HOUR, minutes=whole % HOUR // MINUTE)


def size(count: int) -> str:
    """Return a file's size."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def clock_time(t: float | None) -> str:
    """Return the time since the trainer's start in front of a line."""
    if t is None:
        return "      "
    whole = max(0, int(t))
    if whole < HOUR:
        return f"{whole // MINUTE:02d}:{whole % MINUTE:02d} "
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02d}:{whole % MINUTE:02d} "
