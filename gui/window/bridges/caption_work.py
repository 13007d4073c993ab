"""Writes captions in threads, one step after the other, and takes steps back again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gui.engine.dataset.caption_edits import EditPreview
from gui.engine.dataset.caption_originals import Written, write_edits
from gui.engine.dataset.caption_undo import take_back
from gui.engine.errors import Cancelled, PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle, Tasks

MOST_EDITS = 200_000
"""So many changed captions are remembered for undo; older steps are forgotten, their originals are kept."""

SHOWN_NAMES = 5

Deed = Literal["write", "undo", "redo"]


@dataclass(frozen=True)
class CaptionStep:
    """Captions that were, or will be, changed together.

    Attributes:
        text: What is done, for the user.
        previews: The captions, one preview a folder.
    """

    text: str
    previews: tuple[EditPreview, ...]

    @property
    def size(self) -> int:
        """How many captions it changes."""
        return sum(len(preview.edits) for preview in self.previews)


@dataclass(frozen=True)
class CaptionOutcome:
    """What came of a step.

    Attributes:
        deed: Whether it was written, taken back, or written again.
        step: Which.
        written: For each preview that was come to, what was written and what was left.
        error: What ended it early; None for nothing.
        reached: How many captions were written when it ended early.
    """

    deed: Deed
    step: CaptionStep
    written: tuple[Written, ...]
    error: PreflightError | None = None
    reached: int = 0

    @property
    def done(self) -> int:
        """How many captions were written, those included after which it ended early."""
        return max(self.reached, sum(len(written.done) for written in self.written))

    @property
    def left(self) -> tuple[str, ...]:
        """Captions that somebody else changed meanwhile; they are as they were."""
        return tuple(name for written in self.written for name in written.left)


class CaptionWork(QObject):
    """The steps that were done to captions, by whatever part of the window.

    Args:
        tasks: Where files are written.
    """

    changed = Signal()
    """There is more or less to undo, or work began or ended."""
    finished = Signal(object)
    """`CaptionOutcome`."""
    progressed = Signal(int, int)
    """How many captions of the step are written, and how many it has."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._done: list[CaptionStep] = []
        self._undone: list[CaptionStep] = []
        self._waiting: deque[tuple[Deed, CaptionStep]] = deque()
        self._busy = False
        self._cancel = threading.Event()

    @property
    def busy(self) -> bool:
        """Whether something is being written."""
        return self._busy

    @property
    def undo_text(self) -> str:
        """What would be taken back; empty for nothing."""
        return self._done[-1].text if self._done and not self._busy else ""

    @property
    def redo_text(self) -> str:
        """What would be done again; empty for nothing."""
        return self._undone[-1].text if self._undone and not self._busy else ""

    def write(self, text: str, previews: Sequence[EditPreview]) -> CaptionStep:
        """Write what previews show, after what is waiting already, and return it as a step."""
        step = CaptionStep(text, tuple(preview for preview in previews if preview.edits))
        if step.previews:
            self._ask("write", step)
        return step

    def undo(self) -> None:
        """Take the last step back."""
        if self.undo_text:
            self._ask("undo", self._done.pop())

    def redo(self) -> None:
        """Do again what was taken back last."""
        if self.redo_text:
            self._ask("redo", self._undone.pop())

    def cancel(self) -> None:
        """End what is being written; what is done so far stays, and can be taken back."""
        self._cancel.set()

    def forget(self) -> None:
        """Forget all steps: what they were about is gone, as after originals came back."""
        self._done, self._undone = [], []
        self.changed.emit()

    def _ask(self, deed: Deed, step: CaptionStep) -> None:
        self._waiting.append((deed, step))
        self._next()

    def _next(self) -> None:
        if not self._busy and self._waiting:
            self._busy = True
            self._cancel.clear()
            deed, step = self._waiting.popleft()
            self._tasks.run(
                lambda handle: self._work(deed, step, handle),
                self._end,
                lambda error: self._end(CaptionOutcome(deed, step, (), error)),
                progress=lambda _words, done, total: self.progressed.emit(done, total),
            )
        self.changed.emit()

    def _work(self, deed: Deed, step: CaptionStep, handle: TaskHandle) -> CaptionOutcome:
        """Do a step, in a thread; what ended it early is part of what came of it."""
        written: list[Written] = []
        before = reached = 0

        def told(done: int, _total: int) -> None:
            nonlocal reached
            reached = before + done
            handle.progress("", before + done, step.size)

        def cancelled() -> bool:
            return self._cancel.is_set() or handle.cancelled

        try:
            for preview in step.previews:
                undone = deed == "undo"
                written.append(take_back(preview) if undone else write_edits(preview, told, cancelled))
                before += len(preview.edits)
        except PreflightError as error:
            return CaptionOutcome(deed, step, tuple(written), error, reached)
        return CaptionOutcome(deed, step, tuple(written))

    def _end(self, outcome: CaptionOutcome) -> None:
        self._busy = False
        if outcome.deed == "undo" and outcome.error is None:
            self._undone.append(outcome.step)
        elif outcome.done or outcome.error:
            self._done.append(outcome.step)
            if outcome.deed == "write":
                self._undone = []
            while sum(step.size for step in self._done) > MOST_EDITS and len(self._done) > 1:
                self._done.pop(0)
        self.finished.emit(outcome)
        self._next()


def outcome_words(outcome: CaptionOutcome) -> tuple[str, str, bool]:
    """Return what came of a step: a title, what else is to be said, and whether all of it was done."""
    texts = {
        "write": ngettext("{count} caption was written.", "{count} captions were written.", outcome.done),
        "undo": ngettext(
            "{count} caption was taken back.", "{count} captions were taken back.", outcome.done
        ),
        "redo": ngettext("{count} caption was written.", "{count} captions were written.", outcome.done),
    }
    title = texts[outcome.deed].format(count=f"{outcome.done:,}")
    more = []
    if isinstance(outcome.error, Cancelled):
        more.append(_("It was called off; what was written before can be taken back."))
    elif outcome.error is not None:
        more.append(str(outcome.error))
    left = outcome.left
    if left:
        names = ", ".join(left[:SHOWN_NAMES]) + (" …" if len(left) > SHOWN_NAMES else "")
        words = ngettext(
            "{count} was changed elsewhere meanwhile and is as it was: {names}",
            "{count} were changed elsewhere meanwhile and are as they were: {names}",
            len(left),
        )
        more.append(words.format(count=f"{len(left):,}", names=names))
    return title, " ".join(more), not more
