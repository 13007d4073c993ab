"""Has captions made in threads: asks the trainer, starts its captioner, follows it, brings what it made."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import Cancelled, PreflightError
from gui.engine.paths import Home
from gui.engine.runs.captioning import (
    CaptionOrder,
    follow_captioning,
    images_to_caption,
    prepare_captioning,
    start_captioning,
)
from gui.engine.runs.captioning_job import Captioning, CaptionJob, unwritten
from gui.engine.runs.captioning_results import CaptionProposal, proposals, reason_of_failure
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.captioners import CaptionerFacts, ask_captioner, captioners
from gui.engine.trainer.installs import TrainerInstall
from gui.window.bridges.tasks import TaskHandle, Tasks


class Made(NamedTuple):
    """Captions that were made.

    Attributes:
        made: Where they are until they are written.
        job: What was asked for; another window may remove the folder in which it stands.
        found: The captions.
        problem: Why it ended early; empty for no reason.
    """

    made: Captioning
    job: CaptionJob
    found: tuple[CaptionProposal, ...]
    problem: str


_ASK, _MAKE, _COUNT = "captioning-ask", "captioning-make", "captioning-count"


class CaptioningWork(QObject):
    """What is known about captioners, and the captions that are being made or wait to be written.

    Args:
        home: Where they are kept until they are written.
        tasks: Where it is done.
    """

    changed = Signal()
    """Anything below."""

    def __init__(self, home: Home, tasks: Tasks) -> None:
        super().__init__()
        self._home = home
        self._tasks = tasks
        self._stop = threading.Event()
        self.facts: CaptionerFacts | None = None
        self.refusal = ""
        self.without: int | None = None
        self.progress: tuple[str, int, int] | None = None
        self.made: Captioning | None = None
        self.job: CaptionJob | None = None
        self.found: tuple[CaptionProposal, ...] = ()
        self.problem = ""

    @property
    def busy(self) -> bool:
        """Whether captions are being made."""
        return self.progress is not None

    def ask(self, install: TrainerInstall, tagger: str) -> None:
        """Ask a trainer what it says about a captioner: ``facts``, or ``refusal``."""
        self.facts, self.refusal = None, ""

        def asked(facts: CaptionerFacts) -> None:
            self.facts = facts
            self.changed.emit()

        self._tasks.run(
            lambda handle: ask_captioner(
                install, captioners()[tagger], self._home.cache, cancelled=handle.is_cancelled
            ),
            asked,
            self._refuse,
            key=_ASK,
        )
        self.changed.emit()

    def count(self, spec: DatasetSpec, *, everything: bool) -> None:
        """Count the images that would get a caption: ``without``."""

        def counted(images: list[tuple[Path, str, str]]) -> None:
            self.without = len(images)
            self.changed.emit()

        self._tasks.run(lambda _handle: images_to_caption(spec, everything=everything), counted, key=_COUNT)

    def start(self, install: TrainerInstall, spec: DatasetSpec, order: CaptionOrder) -> None:
        """Have captions made."""
        facts = self.facts
        if facts is None or self.busy:
            return

        def work(handle: TaskHandle) -> Made:
            words = _("Looking at the images …")
            made = prepare_captioning(
                self._home,
                install,
                facts,
                spec,
                order,
                lambda done, total: handle.progress(words, done, total),
                lambda: handle.cancelled or self._stop.is_set(),
            )
            start_captioning(made, TokenStore(self._home).for_run({}))
            return self._follow(made, handle)

        self._stop.clear()
        self.problem, self.progress = "", (_("Looking at the images …"), 0, 0)
        self._tasks.run(work, self._take, self._fail, key=_MAKE, progress=self._tell)
        self.changed.emit()

    def pick_up(self, spec: DatasetSpec) -> None:
        """Show captions of these images that were made before and never written, also while they are made."""
        if self.busy or self.made is not None:
            return
        folders = {str(subset.image_dir) for subset in spec.subsets}

        def work(handle: TaskHandle) -> Made | None:
            for made in unwritten(self._home):
                try:
                    if any(image.folder in folders for image in made.job().images):
                        return self._follow(made, handle)
                except PreflightError:
                    continue  # a damaged folder is nobody's
            return None

        self._tasks.run(work, self._take, self._fail, key=_MAKE, progress=self._tell)

    def cancel(self) -> None:
        """Stop the captioner; what it has made stays."""
        self._stop.set()

    def throw_away(self) -> None:
        """Forget the captions that were made; nothing was written."""
        made, self.made, self.job, self.found, self.problem = self.made, None, None, (), ""
        if made is not None:
            self._tasks.run(lambda _handle: made.discard(), lambda _nothing: None, self._fail)
        self.changed.emit()

    def _follow(self, made: Captioning, handle: TaskHandle) -> Made:
        """Wait, in a thread; whoever leaves the window lets the captioner go on."""

        def told(done: int, total: int) -> None:
            if handle.cancelled:
                raise Cancelled
            handle.progress(_("Making captions …"), done, total)

        state = follow_captioning(made, told, self._stop.is_set)
        failed = state.failed and not self._stop.is_set()
        return Made(made, made.job(), proposals(made), reason_of_failure(made) if failed else "")

    def _tell(self, words: str, done: int, total: int) -> None:
        self.progress = (words, done, total)
        self.changed.emit()

    def _take(self, answer: Made | None) -> None:
        self.progress = None
        if answer is not None:
            self.made, self.job, self.found, self.problem = answer
            if not self.found and not self.problem:
                self.throw_away()
        self.changed.emit()

    def _fail(self, error: PreflightError) -> None:
        self.progress = None
        self.problem = "" if isinstance(error, Cancelled) else str(error)
        self.changed.emit()

    def _refuse(self, error: PreflightError) -> None:
        self.refusal = str(error)
        self.changed.emit()
