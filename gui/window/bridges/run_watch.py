"""Watches one run from the window: what it does, what happened, its figures; and asks things of it."""

from __future__ import annotations

import contextlib
import threading
import time
from queue import Empty, SimpleQueue

from PySide6.QtCore import QObject, Signal

from gui.engine.documents import reason_of
from gui.engine.errors import NewerDocument, PreflightError
from gui.engine.runs.events import RequestKind
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.requests import ask
from gui.engine.runs.start import ensure_supervisor
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.window.bridges.run_reader import Piece, RunReader

LOOK_SECONDS = 0.1
ENDED_SECONDS = 1.0
"""So often a run is looked at that is over: its folder may be moved or deleted."""

SUPERVISOR_SECONDS = 2.0
"""So often it is seen whether a supervisor lives."""

REFUSED_SECONDS = 10.0
"""So long it is waited after two refusals."""

PATIENCE_SECONDS = 1.5
"""So long is waited until what was asked for is written down; the disk may hang."""


class RunWatch(QObject):
    """Follows a run in a thread of its own, from its very beginning.

    Nothing is read before what was read last has been taken in, however long the run is: the window
    stays quick. Several watches may follow one run, in one program or in several.

    Args:
        run: The folder.
    """

    status = Signal(object)
    """`RunStatus`, where it is another one than before."""

    events = Signal(object)
    """List of `Happening`, in their order; single steps are among the rows."""

    rows = Signal(object)
    """List of metric rows (`AnyRow`), in their order."""

    memory = Signal(object)
    """List of `MemoryRow`: what the trainer's torch said of its memory, in their order."""

    alarms = Signal(object)
    """Tuple of `Alarm`: what must be told loudly now, the gravest first; empty when it is over."""

    advice = Signal(object)
    """Tuple of `LossAdvice`: what the loss curve tells now; empty for a sound one."""

    caught_up = Signal()
    """All that had happened when the watch began has been told; what comes now is news."""

    trouble = Signal(str)
    """Why the run cannot be read or looked after; "" when it can again."""

    gone = Signal(str)
    """The run's folder is no longer there; it may come back."""

    taken_over = Signal(str)
    """Nobody looked after the run, and a new supervisor does now."""

    refused = Signal(str)
    """Why something that was asked for could not be."""

    _arrived = Signal(object)

    def __init__(self, run: RunFolder) -> None:
        super().__init__()
        self.run = run
        self.last: RunStatus | None = None
        self.is_gone = False
        self.all_read = False
        self._eye = _Eye(run, self)
        self._arrived.connect(self._take)
        self._thread = threading.Thread(target=self._eye.watch, name="run-watch", daemon=True)

    def start(self) -> None:
        """Begin, once everything is connected."""
        self._thread.start()

    def ask(self, kind: RequestKind) -> None:
        """Ask something of the run's supervisor.

        Args:
            kind: What. It is answered among the events; `refused` tells where it cannot be asked.
        """
        self._eye.wish(kind)

    def close(self) -> None:
        """End the watching, not the run; what was asked for by now is still asked.

        Only that is waited for: the thread may hang in a disk that does not answer.
        """
        self._eye.close()
        if self._thread.is_alive() and self._eye.owes:
            self._thread.join(PATIENCE_SECONDS)

    def post(self, what: Piece | _Word) -> None:
        """Bring something to the GUI thread; called from others."""
        with contextlib.suppress(RuntimeError):  # the window has just been closed
            self._arrived.emit(what)

    def _take(self, what: Piece | _Word) -> None:
        """Tell what was read, in the GUI thread, and let the thread read on."""
        if self._eye.closed:
            return
        try:
            if isinstance(what, Piece):
                self._tell(what)
            elif what.kind == "refused":
                self.refused.emit(what.sentence)
            elif what.kind == "taken-over":
                self.taken_over.emit(what.sentence)
            else:
                self.trouble.emit(what.sentence)
        finally:
            if isinstance(what, Piece):
                self._eye.taken.release()

    def _tell(self, piece: Piece) -> None:
        if piece.gone != self.is_gone and (piece.gone or piece.trouble == ""):
            self.is_gone = piece.gone
            if piece.gone:
                self.gone.emit(piece.trouble or "")
        if piece.trouble is not None and not piece.gone:
            self.trouble.emit(piece.trouble)
        if piece.status is not None:
            self.last = piece.status
            self.status.emit(piece.status)
        if piece.events:
            self.events.emit(list(piece.events))
        if piece.rows:
            self.rows.emit(list(piece.rows))
        if piece.memory:
            self.memory.emit(list(piece.memory))
        if piece.alarms is not None:
            self.alarms.emit(piece.alarms)
        if piece.advice is not None:
            self.advice.emit(piece.advice)
        if not piece.more and not self.all_read:
            self.all_read = True
            self.caught_up.emit()


class _Word:
    """Something to say beside what was read."""

    def __init__(self, kind: str, sentence: str) -> None:
        self.kind = kind
        self.sentence = sentence


class _Eye:
    """The thread's part; knows the watch only to post to it."""

    def __init__(self, run: RunFolder, watch: RunWatch) -> None:
        self._run = run
        self._watch = watch
        self._trouble: str | None = ""
        self._told_end = False
        self._guardian = _Guardian(run, watch)
        self._wishes: SimpleQueue[RequestKind] = SimpleQueue()
        self._wished = self._written = 0
        self.wake = threading.Event()
        self.taken = threading.Semaphore(0)
        self.closed = False

    @property
    def owes(self) -> bool:
        """Whether something was asked for that is not written down yet."""
        return self._wished != self._written

    def wish(self, kind: RequestKind) -> None:
        """Have something asked, in the thread."""
        self._wished += 1
        self._wishes.put(kind)
        self.wake.set()

    def close(self) -> None:
        """Let the thread end."""
        self.closed = True
        self._guardian.closed = True
        self.wake.set()
        self.taken.release()

    def watch(self) -> None:
        """Look until closed."""
        reader = RunReader(self._run)
        try:
            while not self.closed:
                self._ask()
                piece = reader.look()
                self._post(piece)
                over = reader.status is not None and reader.status.state == "ended"
                if not over and not piece.gone and not piece.more:
                    self._guardian.look()
                if not piece.more:
                    self.wake.wait(ENDED_SECONDS if over or piece.gone else LOOK_SECONDS)
                    self.wake.clear()
        finally:
            self._ask()
            reader.close()

    def _post(self, piece: Piece) -> None:
        """Hand on what is new, and wait until it was taken in."""
        news = piece.trouble is not None and piece.trouble != self._trouble
        first_end = not piece.more and not self._told_end
        if piece.empty and not news and not first_end:
            return
        if piece.trouble is not None:
            self._trouble = piece.trouble
        self._told_end = self._told_end or not piece.more
        self._watch.post(piece)
        self.taken.acquire()

    def _ask(self) -> None:
        """Write down what was asked for."""
        with contextlib.suppress(Empty):
            while True:
                self._write(self._wishes.get_nowait())
                self._written += 1

    def _write(self, kind: RequestKind) -> None:
        if not self._run.exists():
            text = _("The folder of this run is no longer there: {folder}")
            self._watch.post(_Word("refused", text.format(folder=self._run.path)))
            return
        try:
            ask(self._run, kind, "window")
        except PreflightError as error:
            self._watch.post(_Word("refused", str(error)))


class _Guardian:
    """Sees to it that somebody looks after the run; starting a supervisor takes seconds."""

    def __init__(self, run: RunFolder, watch: RunWatch) -> None:
        self._run = run
        self._watch = watch
        self._due = 0.0
        self._busy = False
        self._refusals = 0
        self.closed = False

    def look(self) -> None:
        """Look when it is time to, in a thread of its own."""
        now = time.monotonic()
        if self._busy or now < self._due:
            return
        self._due = now + (SUPERVISOR_SECONDS if self._refusals < 2 else REFUSED_SECONDS)
        self._busy = True
        threading.Thread(target=self._ensure, name="run-supervisor", daemon=True).start()

    def _ensure(self) -> None:
        try:
            if ensure_supervisor(self._run):
                self._say("taken-over", _("Nobody looked after this run; a new supervisor does now."))
            if self._refusals > 1:
                self._say("trouble", "")
            self._refusals = 0
        except NewerDocument:
            self._refusals = 2  # said already, as the trouble of its status
        except (PreflightError, OSError) as error:
            # Once may be the moment in which the run's folder was taken away.
            self._refusals += 1
            if self._refusals > 1:
                self._say("trouble", str(error) if isinstance(error, PreflightError) else reason_of(error))
        finally:
            self._busy = False

    def _say(self, kind: str, sentence: str) -> None:
        if not self.closed:
            self._watch.post(_Word(kind, sentence))
