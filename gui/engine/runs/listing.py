"""The runs on this machine; the set of folders is the only database of them."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from gui.engine.documents import read_json, read_text
from gui.engine.errors import NewerDocument, PreflightError
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.launched import arguments_of
from gui.engine.runs.lock import is_held
from gui.engine.runs.processes import read_exit
from gui.engine.runs.records import Manifest, Versioned
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.run_notes import RunNotes, read_notes
from gui.engine.runs.run_search import RunFilter, search_text
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _


class RunList(Versioned):
    """All of them, newest first: ``runs --json``."""

    runs: tuple[RunEntry, ...]


def list_runs(home: Home, wanted: RunFilter | None = None) -> RunList:
    """Return what lies in the place of runs; nothing there can make this fail.

    Args:
        home: Where runs are kept.
        wanted: Which of them; None for all.
    """
    entries = RunIndex(home).entries()
    if wanted is not None:
        entries = tuple(
            entry for entry in entries if wanted.takes(entry) and wanted.finds(search_text(entry))
        )
    return RunList(runs=entries)


DEAR_SECONDS = 0.05
"""A look at all runs that takes longer is not made each time."""

MOST_ARGUMENT_LETTERS = 20_000
"""Of a run's arguments, for searches; a command line is seldom a tenth as long."""

REST_SECONDS = 10.0
"""So long what is over is then believed to be as it was."""


class _Origin(NamedTuple):
    """What was true of a run from its launch on."""

    family: str = ""
    kind: str = ""
    trainer: str = ""
    started: float | None = None
    arguments: str = ""
    queue_item: int | None = None


_Mark = tuple[int, int, int] | None


class _Seen(NamedTuple):
    """An entry as it was made, and what the files of status and notes were like then."""

    mark: _Mark
    notes: _Mark
    entry: RunEntry


class RunIndex:
    """The runs, looked at again and again: only what has changed is read anew.

    Whoever holds it asks from one thread at a time.

    Args:
        home: Where the runs are.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._origins: dict[str, _Origin] = {}
        self._seen: dict[str, _Seen] = {}
        self._rest_until = 0.0

    def entries(self, changed: Collection[str] = ()) -> tuple[RunEntry, ...]:
        """Return all runs, newest first; nothing in their place can make this fail.

        Where there are so many that looking at each is dear, those that are over are seldom looked at.

        Args:
            changed: Names of runs that are looked at whatever it costs.
        """
        names = run_names(self._home)
        began = time.monotonic()
        rest = began < self._rest_until
        found = tuple(
            (rest and name not in changed and self._over(name)) or self._look(name) for name in names
        )
        if not rest and time.monotonic() - began > DEAR_SECONDS:
            self._rest_until = time.monotonic() + REST_SECONDS
        for gone in self._seen.keys() - set(names):
            del self._seen[gone]
            self._origins.pop(gone, None)
        return found

    def _over(self, name: str) -> RunEntry | None:
        seen = self._seen.get(name)
        return seen.entry if seen is not None and seen.entry.state == "ended" else None

    def _look(self, name: str) -> RunEntry:
        run = RunFolder(self._home.runs / name)
        mark, notes = _mark(run.status), _mark(run.notes)
        seen = self._seen.get(run.name)
        if seen is None or mark is None or seen.mark != mark:
            seen = _Seen(mark, notes, _with_notes(self._read(run), notes and read_notes(run)))
        elif seen.notes != notes:
            seen = _Seen(mark, notes, _with_notes(seen.entry, read_notes(run)))
        self._seen[run.name] = seen
        return _with_supervisor(run, seen.entry)

    def _read(self, run: RunFolder) -> RunEntry:
        entry = RunEntry(name=run.name, folder=run.path)
        if not run.exists():
            return entry.model_copy(update={"condition": "foreign", "problem": _("this folder is not a run")})
        try:
            status = RunStatus.read(run.status)
        except NewerDocument as error:
            return entry.model_copy(update={"condition": "newer", "problem": str(error)})
        except PreflightError as error:
            return entry.model_copy(update={"condition": "broken", "problem": str(error)})
        origin = self._origins.get(run.name)
        if origin is None:
            origin = self._origins[run.name] = _origin(run)
        return _entry(run, status, origin)


def _entry(run: RunFolder, status: RunStatus, origin: _Origin) -> RunEntry:
    verdict = status.verdict
    known_loss = verdict.loss if verdict is not None else None
    models = [file for file in status.files if file.kind == "model" and (file.kept_as or not file.removed)]
    clean = [file for file in models if file.judgement == "clean"]
    last = clean[-1] if clean else None
    return RunEntry(
        name=run.name,
        folder=run.path,
        plan_name=status.plan_name,
        practice=status.practice,
        state=status.state,
        verdict=verdict.verdict if verdict else None,
        sentence=verdict.sentence if verdict else "",
        reason=verdict.reason if verdict else "",
        step=status.step,
        total=status.total,
        loss=status.finite_loss if known_loss is None else known_loss,
        **origin._asdict(),
        ended=_ended(run) if verdict else None,
        duration_seconds=status.elapsed_seconds,
        last_clean=None if last is None else (last.kept_as if last.removed else last.path),
        checkpoints=len(models),
        samples=status.samples,
        troubles=_troubles(status),
    )


def _with_notes(entry: RunEntry, notes: RunNotes | None) -> RunEntry:
    """Return the entry with what a person has written down; None: nobody has."""
    if notes is None:
        return entry
    return entry.model_copy(update={"tags": notes.tags, "note": notes.note, "favourite": notes.favourite})


def _troubles(status: RunStatus) -> tuple[str, ...]:
    loss = ("loss-nonfinite",) if status.first_nonfinite_step is not None else ()
    return (*loss, *(trouble.id for trouble in status.troubles))


def _with_supervisor(run: RunFolder, entry: RunEntry) -> RunEntry:
    """Look whether somebody looks after a run that is not over."""
    if entry.state in (None, "ended") or is_held(run.lock):
        return entry
    problem = _("nobody looks after it; “attach {name}” finds out what became of it")
    return entry.model_copy(update={"condition": "unattended", "problem": problem.format(name=run.name)})


def _origin(run: RunFolder) -> _Origin:
    """Read what does not change; what cannot be read is left out."""
    family, kind = _plan_words(run)
    arguments = _argument_words(run)
    try:
        manifest = Manifest.read(run.manifest)
    except PreflightError:
        return _Origin(family, kind, arguments=arguments)
    version = manifest.trainer_version or (manifest.trainer_commit or "")[:8]
    label = _("practice trainer") if manifest.practice else Path(manifest.trainer).name
    trainer, started = f"{label} {version}".strip(), manifest.created_at or None
    return _Origin(family, kind, trainer, started, arguments, manifest.queue_item)


def _argument_words(run: RunFolder) -> str:
    """Return the arguments that the trainer was given, presets included."""
    try:
        record = read_json(run.command)  # not judged as a whole: a thousand are read at once
    except PreflightError:
        return ""
    argv = record.get("argv") if isinstance(record, dict) else None
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        return ""
    lines = (f"{name}={' '.join(words)}" if words else name for name, words in arguments_of(argv).items())
    return "\n".join(lines)[:MOST_ARGUMENT_LETTERS]


def _plan_words(run: RunFolder) -> tuple[str, str]:
    try:
        plan = tomllib.loads(read_text(run.plan))
    except (PreflightError, ValueError, RecursionError):
        return "", ""
    family, kind = plan.get("family", ""), plan.get("kind", "lora")
    return family if isinstance(family, str) else "", kind if isinstance(kind, str) else ""


def _ended(run: RunFolder) -> float | None:
    try:
        record = read_exit(run.path)
    except PreflightError:
        return None
    return None if record is None else record.ended


def _mark(path: Path) -> _Mark:
    """Return what is other once the file has been replaced; None where it is not there."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - a thousand times a second
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
