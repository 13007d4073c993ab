"""Finds single events in ``events.jsonl`` without reading the hundred thousand steps between them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gui.engine.runs.events import LOG_EVENT, FileSeen
from gui.engine.runs.folder import RunFolder
from gui.engine.trainer.events import Setting, Step


def told_settings(run: RunFolder) -> dict[str, int | float | str]:
    """Return what the trainer printed about the run before its first step, by the names of its facts."""
    found: dict[str, int | float | str] = {}
    for event in _events(run.events, (b'"setting"', b'"step"')):
        if isinstance(event, Step):
            break
        if isinstance(event, Setting):
            found[event.name] = event.value
    return found


def drawn_samples(run: RunFolder) -> dict[Path, int | None]:
    """Return the samples that the run has drawn and the step of each, in the order of their drawing."""
    found: dict[Path, int | None] = {}
    for event in _events(run.events, (b'"sample"',)):
        if isinstance(event, FileSeen) and event.kind == "sample":
            found.setdefault(Path(event.path), event.step)
    return found


def _events(path: Path, words: tuple[bytes, ...]) -> Iterator[object]:
    """Yield the events of the lines that hold one of some words."""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            if any(word in line for word in words):
                with contextlib.suppress(ValueError, RecursionError):
                    yield LOG_EVENT.validate_json(line)
