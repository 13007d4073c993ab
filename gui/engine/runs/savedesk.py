"""Follows what a run saves: announces it, looks into it, and keeps the last clean file."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from gui.engine.runs.checkpoints import CheckpointVerdict, judge_series
from gui.engine.runs.counting import Counting
from gui.engine.runs.events import FileKind, FileSeen, Judged, Kept
from gui.engine.runs.inspector import Inspector
from gui.engine.runs.keeper import HOPEFUL
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.records import CommandRecord, FileMark, Manifest, mark_of
from gui.engine.runs.saves import NewFile, SaveWatcher
from gui.engine.runs.series import saved_model
from gui.engine.runs.status import FileNow
from gui.engine.runs.watch import TrainerWatch
from gui.engine.runs.wholeness import has_writer, is_whole
from gui.engine.trainer.events import Saved
from gui.engine.trainer.tensors import TensorReport, check_tensors

LOOK_SECONDS = 0.5

MOST_SHARE = 0.02
"""Most of its time that the supervisor spends on looking."""

LAST_LOOK_SECONDS = 3.0
"""So long the files may need to look settled when nothing writes any more."""


class SaveDesk:
    """Looks twice a second; reading the numbers of a file is done in a thread.

    Args:
        ledger: Where it is written down.
        command: Says where the trainer saves.
        manifest: Says what lay there before.
        inspector: Reads models and keeps the last clean one.
        counting: Says how a trainer counts that goes on from a state.

    Attributes:
        complete: Models and states that have become complete.
        marks: What each complete file was, to find it when it is renamed.
    """

    def __init__(
        self,
        ledger: Ledger,
        command: CommandRecord,
        manifest: Manifest,
        inspector: Inspector,
        counting: Counting,
    ) -> None:
        self._ledger = ledger
        self._counting = counting
        self._cwd = command.cwd
        self._before = {mark.path: mark for mark in manifest.existing}
        self._inspector = inspector
        self._watcher = (
            None
            if command.output_dir is None
            else SaveWatcher(command.output_dir, command.output_name, since=manifest.existing)
        )
        self._due = 0.0
        self._reports: dict[Path, TensorReport] = {}
        self._judged_for: int | None = None
        self._samples = 0
        self.complete: dict[FileKind, set[Path]] = {"model": set(), "state": set()}
        self.marks: dict[Path, FileMark] = {}

    def look(self, watch: TrainerWatch) -> None:
        """Look for files when it is time to, and take in what the thread has found."""
        now = self._ledger.now()
        if self._watcher is None or now < self._due:
            return
        for file in self._watcher.poll():
            self._take(file, watch.tally.last_step)
        self._note_removed(self._watcher, tell=watch.nonfinite)
        self._collect(watch)
        # A folder of ten thousand samples, or on a slow network drive, is looked at less often.
        took = self._ledger.now() - now
        self._due = now + max(LOOK_SECONDS, took / MOST_SHARE)

    def in_progress(self, saved: Saved | None) -> str | None:
        """Return the name of the announced file unless it is all there."""
        if saved is None or saved.kind == "sample":
            return None
        path = self._cwd / saved.path
        mark = mark_of(path)
        untouched = mark is None or mark == self._before.get(path)
        if untouched or not is_whole(path, saved.kind) or has_writer(path):
            return path.name
        return None

    def report(self, path: Path) -> TensorReport:
        """Return what is in a file, from before where it has not changed since.

        Raises:
            CannotRead: It cannot be read.
        """
        known = self._reports.get(path)
        if known is not None and self.marks.get(path) == mark_of(path):
            return known
        return check_tensors(path)

    def finish(self, watch: TrainerWatch, meanwhile: Callable[[], None]) -> None:
        """Look until nothing changes any more and every model has been judged."""
        until = time.monotonic() + LAST_LOOK_SECONDS
        while self._watcher is not None:
            self._due = 0.0
            self.look(watch)
            settled = all(file.complete for file in self._watcher.files) or time.monotonic() >= until
            if settled and self._check_the_rest(self._watcher):
                break
            meanwhile()
            time.sleep(0.05)
        self._inspector.release()
        while self._inspector.busy:
            self._collect(watch)
            meanwhile()
            time.sleep(0.01)
        if self._watcher is not None:
            self._note_removed(self._watcher, tell=True)

    def close(self) -> None:
        """Give up what is being read."""
        self._inspector.close()

    def _take(self, file: NewFile, step: int | None) -> None:
        self._ledger.say_once(
            FileSeen(
                path=str(file.path),
                kind=file.kind,
                complete=file.complete,
                size=file.size,
                step=file.name.step,
            )
        )
        if file.kind == "sample":
            self._samples += file.complete
            self._ledger.board.put(samples=self._samples, last_sample=file.path)
            return
        known, mark = self._ledger.board.files.get(file.path), mark_of(file.path)
        self._ledger.board.file(
            FileNow(
                path=file.path,
                kind=file.kind,
                complete=file.complete,
                size=file.size,
                step=self._step_of(file) or (known.step if known else step),
                modified_ns=mark.mtime_ns if mark is not None and file.complete else None,
            )
        )
        if not file.complete:
            return
        self.complete[file.kind].add(file.path)
        if file.kind == "model":
            self._check(file.path)

    def _note_removed(self, watcher: SaveWatcher, *, tell: bool) -> None:
        """See which files the trainer has removed, and which of them are kept.

        Args:
            watcher: Knows what is there.
            tell: Whether the user should hear of what is kept. While all is well a file is kept only
                until the next one is found clean.
        """
        there = {file.path for file in watcher.files}
        for path, file in list(self._ledger.board.files.items()):
            removed = path not in there
            kept = self._inspector.kept.get(path) if removed else None
            kept_as = kept.kept if kept is not None else None
            if (file.removed, file.kept_as) != (removed, kept_as):
                self._ledger.board.file(file.model_copy(update={"removed": removed, "kept_as": kept_as}))
            if tell and kept is not None and file.judgement in HOPEFUL:
                self._ledger.say_once(Kept(path=str(path), kept_as=str(kept.kept), how=kept.how))

    def _check(self, path: Path) -> None:
        mark = mark_of(path)
        if mark is not None:
            self.marks[path] = mark
            self._reports.pop(path, None)
            self._inspector.read(path)

    def _check_the_rest(self, watcher: SaveWatcher) -> bool:
        """Have files looked into that never became complete; return whether all have been."""
        for file in watcher.files:
            looked_into = file.path in self._reports or self._inspector.reads(file.path)
            if file.kind == "model" and not looked_into:
                self._check(file.path)
        return not self._inspector.busy

    def _collect(self, watch: TrainerWatch) -> None:
        """Take in what the thread has found, and judge all files anew where anything has changed."""
        found = self._inspector.collect()
        self._reports.update(found)
        if self._inspector.problem is not None:
            self._ledger.notice("keeper", self._inspector.problem)
        first_bad = watch.tally.first_nonfinite_step if watch.nonfinite else None
        if not found and first_bad == self._judged_for:
            return
        self._judged_for = first_bad
        # A supervisor that takes over finds all files at once, in no order; steps tell it.
        files = sorted(
            self._ledger.board.files.values(), key=lambda file: math.inf if file.step is None else file.step
        )
        reports = [self._reports[file.path] for file in files if file.path in self._reports]
        steps = {str(file.path): file.step for file in files if file.step is not None}
        for verdict in judge_series(reports, first_bad, steps if self._counting.course else None):
            self._judge(verdict)

    def _step_of(self, file: NewFile) -> int | None:
        """Return the run's step at a file by its name, or by what it says itself once it is complete."""
        counted = file.name.step
        if counted is None and file.complete and file.kind == "model":
            counted = saved_model(file.path).step
        return None if counted is None else self._counting.run_step(counted)

    def _judge(self, verdict: CheckpointVerdict) -> None:
        path = Path(verdict.path)
        file = self._ledger.board.files[path]
        if file.judgement == verdict.judgement:
            return
        self._ledger.board.file(
            file.model_copy(
                update={
                    "judgement": verdict.judgement,
                    "sentence": verdict.sentence,
                    "step": file.step if verdict.step is None else verdict.step,
                }
            )
        )
        self._inspector.consider(path, verdict.judgement)
        self._ledger.say_once(
            Judged(
                path=verdict.path,
                judgement=verdict.judgement,
                factor=verdict.factor,
                sentence=f"{path.name}: {verdict.sentence}",
            )
        )
