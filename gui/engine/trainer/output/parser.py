"""Turns the trainer's raw output into events while it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from gui.engine.redaction import redact_text
from gui.engine.trainer.events import (
    Epoch,
    Error,
    LossNonfinite,
    Phase,
    PhaseName,
    Saved,
    Setting,
    Step,
    TrainerEvent,
    Warned,
)
from gui.engine.trainer.output.bars import Bar
from gui.engine.trainer.output.escapes import ESCAPE, EscapeStripper
from gui.engine.trainer.output.phrases import Meaning, read_bare_line, read_sentence
from gui.engine.trainer.output.records import Record, begin_record, continue_record, without_gui_prefix
from gui.engine.trainer.output.segments import Segmenter
from gui.engine.trainer.output.steps import ProgressGate, StepCounter, StepEvent
from gui.engine.trainer.output.tracebacks import TracebackCollector

SaidKind = Literal["exception", "wrapper", "record", "line", "step", "loss"]


class Said(NamedTuple):
    """One whole thing that the output says, for those who look for words rather than events.

    Attributes:
        kind: ``exception`` for a traceback, ``wrapper`` for a launcher's own, ``record`` for a log
            record put together again, ``line`` for any other line, ``step`` for a step, ``loss`` for a
            loss that is no number.
        line: The number of the line, from 1, at which it begins.
        text: Its words; of a traceback the exception's.
        context: Of a traceback the whole text, of a record its level, else empty.
    """

    kind: SaidKind
    line: int
    text: str
    context: str = ""


_LONGEST_MESSAGE = 4000
_MOST_KNOWN = 512
_ALL_GIVEN = 8
_NUMBERED = re.compile(r"(?:-step\d{8}|-\d{6})(?:\.\w+)?/?$")


class OutputParser:
    """Reads output in chunks of any size and gives typed events.

    The events depend on the bytes alone, never on how they were cut; only ``t`` and the rate of
    steps follow the clock. What is kept between chunks is bounded, whatever comes: 64 KiB of an
    unfinished line, 400 rows of a record, 200 lines of a traceback.

    An event comes as soon as the output settles it: a bar at its closing bracket, a bare line at
    its end, a log record or traceback at the next line that is not its own (or at ``finish``).

    Args:
        secrets: Tokens to keep out of all events, beside what looks like one.
        listener: Called with all that is said, quiet lines included; reading is slower then.
    """

    def __init__(self, secrets: Sequence[str] = (), listener: Callable[[Said], None] | None = None) -> None:
        self._secrets = tuple(secrets)
        self._listener = listener
        self._escapes = EscapeStripper()
        self._segments = Segmenter(self._line, self._training_bar, self._other_bar)
        self._steps = StepCounter()
        self._gate = ProgressGate()
        self._tracebacks = TracebackCollector()
        self._record: Record | None = None
        self._phase: PhaseName | None = None
        self._last_state = False
        self._seen: dict[str, int] = {}
        self._settings: dict[str, int | float | str] = {}
        self._t: float | None = None
        self._events: list[TrainerEvent] = []

    @property
    def line(self) -> int:
        """The number of the line, from 1, that is being read."""
        return self._segments.line

    def skip_lines(self, count: int) -> None:
        """Count lines that were left out, so that later ones keep their numbers."""
        self._segments.line += count

    def feed(self, data: bytes, t: float | None = None) -> list[TrainerEvent]:
        """Read the next bytes.

        Args:
            data: The bytes, cut anywhere.
            t: Seconds since the trainer started at which they came, None where unknown.

        Returns:
            The events that these bytes settle, in the order of the output.
        """
        self._t = t
        if self._escapes.waiting or ESCAPE in data:
            data = self._escapes.feed(data)
        self._segments.feed(data)
        return self._given()

    def finish(self, t: float | None = None) -> list[TrainerEvent]:
        """Say that nothing will follow, and get what was still open."""
        self._t = t
        self._segments.feed(self._escapes.finish())
        self._segments.finish()
        self._close_record()
        self._tracebacks.finish()
        self._give_tracebacks()
        self._events.extend(self._steps.finish(t))
        return self._given()

    def _given(self) -> list[TrainerEvent]:
        events, self._events = self._events, []
        return events

    def _training_bar(self, done: int, total: int | None, rate: bytes, postfix: bytes | None) -> None:
        if self._segments.attentive:
            self._end_text()
        events = self._steps.redraw(done, total, rate, postfix, self._t)
        if self._phase != "training" and not self._steps.interrupted:
            begins_anew = bool(events) and done < (total or 0)
            if self._phase != "done" or begins_anew:
                self._enter("training")
        if events:
            self._events.extend(events)
            if self._listener is not None:
                self._tell_steps(events)

    def _tell_steps(self, events: Sequence[StepEvent]) -> None:
        for event in events:
            if isinstance(event, Step):
                pace = f", {1 / event.rate:.3g} s/it" if event.rate else ""
                self._tell("step", self.line, f"step {event.step} of {event.total}{pace}")
            elif isinstance(event, LossNonfinite):
                self._tell("loss", self.line, f"step {event.step}: loss {event.value}")

    def _other_bar(self, bar: Bar) -> None:
        if self._segments.attentive:
            self._end_text()
        if bar.name in ("validation steps", "epoch validation steps") and bar.done < (bar.total or 0):
            self._enter("validating")
        progress = self._gate.admit(bar, self._t)
        if progress is not None:
            self._events.append(progress)

    def _end_text(self) -> None:
        """Note that a bar came: the record and the exceptions before it are over."""
        self._close_record()
        self._tracebacks.settle()
        self._give_tracebacks()
        self._attend()

    def _attend(self) -> None:
        """Ask for every line only while one may belong to what is open."""
        self._segments.attentive = (
            self._record is not None
            or self._tracebacks.busy
            or self._phase is None
            or self._listener is not None
        )

    def _line(self, raw: bytes, glued: bool) -> None:
        self._text(without_gui_prefix(raw.decode("utf-8", "replace")), glued)
        self._attend()

    def _text(self, text: str, glued: bool) -> None:
        if self._phase is None and text.strip():
            self._enter("loading")
        if self._record is not None:
            if continue_record(self._record, text):
                return
            self._close_record()
        if glued:
            text = text.lstrip(" ") if text.lstrip(" ").startswith("Traceback") else text
        record = begin_record(text, self.line)
        if record is not None:
            self._settle_tracebacks()
            self._record = record
            return
        began = self._tracebacks.busy
        left = self._tracebacks.take(text, self.line)
        if self._tracebacks.busy and not began:
            self._steps.interrupt()
        self._give_tracebacks()
        if left is not None:
            self._tell("line", self.line, left)
            meaning = read_bare_line(left)
            if meaning is not None:
                self._mean(meaning, self.line)

    def _settle_tracebacks(self) -> None:
        self._tracebacks.settle()
        self._give_tracebacks()

    def _give_tracebacks(self) -> None:
        for done in self._tracebacks.done:
            text = f"{done.type}: {done.words()}" if done.type else done.words()
            for earlier in done.earlier:
                self._tell("exception", done.line, earlier, done.text())
            self._tell("wrapper" if done.is_wrapper() else "exception", done.line, text, done.text())
            self._fail(
                Error(
                    t=self._t,
                    type=done.type,
                    message=self._clean(done.words()),
                    traceback=redact_text(done.text(), self._secrets),
                    wrapper=done.is_wrapper(),
                    line=done.line,
                    rank=done.rank,
                )
            )
        self._tracebacks.done.clear()

    def _close_record(self) -> None:
        record, self._record = self._record, None
        if record is None:
            return
        message = record.message()
        self._tell("record", record.line, message, record.level)
        meaning = read_sentence(message)
        if record.level == "WARNING":
            self._warn(message, record.source)
        elif record.level in ("ERROR", "CRITICAL"):
            self._fail(Error(t=self._t, message=self._clean(message), line=record.line))
        elif meaning is not None and meaning.kind not in ("warning", "error"):
            self._mean(meaning, record.line)

    def _mean(self, meaning: Meaning, line: int) -> None:
        """Act on what a sentence says."""
        kind, name, value = meaning.kind, meaning.name, meaning.value
        if kind == "phase":
            self._enter(name)  # type: ignore[arg-type]
        elif kind == "epoch":
            self._steps.epoch = int(value)
            self._events.append(Epoch(t=self._t, epoch=int(value), total=meaning.total))
        elif kind == "setting":
            self._set(name, value)
        elif kind in ("saved", "state"):
            self._save(kind, value, last=name == "final")
        elif kind == "last-state":
            self._last_state = True
            self._enter("saving")
        elif kind == "warning":
            self._warn(value, meaning.source)
        else:
            self._fail(Error(t=self._t, message=self._clean(value), line=line))

    def _enter(self, phase: PhaseName) -> None:
        if phase == self._phase:
            return
        trained = self._phase not in (None, "loading", "caching-latents", "caching-text")
        if phase == "loading" and (trained or self._phase == "done"):
            return
        if self._phase == "done" and phase != "training":
            return
        if self._phase == "training":
            self._steps.pause()
        self._phase = phase
        self._events.append(Phase(t=self._t, phase=phase))

    def _save(self, kind: str, path: str, *, last: bool) -> None:
        self._enter("saving")
        is_state = kind == "state"
        final = self._last_state if is_state else last or not _NUMBERED.search(path)
        if is_state:
            self._last_state = False
        self._events.append(
            Saved(t=self._t, path=self._clean(path), kind="state" if is_state else "model", final=final)
        )

    def _set(self, name: str, text: str) -> None:
        value: int | float | str = self._clean(text)
        if text.isdecimal() and len(text) < 16:
            value = int(text)
        if self._settings.get(name) != value:
            self._settings[name] = value
            self._events.append(Setting(t=self._t, name=name, value=value))

    def _warn(self, message: str, source: str | None) -> None:
        """Give a warning at its first, second, fourth, eighth … time: some come once a batch."""
        message = self._clean(message)
        count = self._times(message)
        if count & (count - 1) == 0:
            self._events.append(Warned(t=self._t, message=message, source=source, count=count))

    def _fail(self, error: Error) -> None:
        """Give an error; one that comes for ever is given less and less often."""
        count = self._times(f"{error.rank} {error.type}: {error.message}")
        if count <= _ALL_GIVEN or count & (count - 1) == 0:
            self._events.append(error)

    def _times(self, words: str) -> int:
        """Count how often the same words have come."""
        if len(self._seen) >= _MOST_KNOWN and words not in self._seen:
            self._seen.clear()
        self._seen[words] = count = self._seen.get(words, 0) + 1
        return count

    def _tell(self, kind: SaidKind, line: int, text: str, context: str = "") -> None:
        if self._listener is not None:
            self._listener(Said(kind, line, text, context))

    def _clean(self, text: str) -> str:
        return redact_text(text, self._secrets)[:_LONGEST_MESSAGE]
