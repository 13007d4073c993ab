"""``parse``: raw trainer output, from a file or a pipe, as events."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from gui.engine.texts import _
from gui.engine.trainer.events import TrainerEvent
from gui.engine.trainer.output import OutputParser, as_utf8, read_log, read_stream
from gui.engine.trainer.output.sentences import sentence_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("log", metavar="LOG", help=_("the file with the output, or - for standard input"))
    parser.add_argument("--json-lines", action="store_true", help=_("print one event a line as JSON"))


def run(options: argparse.Namespace) -> int:
    """Print the events as soon as the output settles them.

    Raises:
        CannotRead: The log cannot be read.
    """
    form: Callable[[TrainerEvent], str | None] = _as_json if options.json_lines else sentence_of
    parser = OutputParser()
    for chunk in _chunks(options.log):
        _print(parser.feed(chunk), form)
    _print(parser.finish(), form)
    return 0


def _chunks(log: str) -> Iterator[bytes]:
    if log == "-":
        return as_utf8(read_stream(sys.stdin.buffer))
    return read_log(Path(log))


def _as_json(event: TrainerEvent) -> str:
    return event.model_dump_json()


def _print(events: list[TrainerEvent], form: Callable[[TrainerEvent], str | None]) -> None:
    lines = [line for event in events if (line := form(event)) is not None]
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
