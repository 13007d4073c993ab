"""The queue as it lies in the home: read by anybody, changed by one at a time.

The window, the command line and the scheduler all change it, each for milliseconds under one lock. What is
written is in place as a whole or not at all, so a killed program leaves nothing half done: an item without
its plan is refused when its turn comes, a plan without its item is nobody's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gui.engine.documents import read_text, reason_of, write_atomically
from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, PreflightError, QueueRefused
from gui.engine.file_lock import held
from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile, load_plan
from gui.engine.runs.queue_files import QueueFiles
from gui.engine.runs.queue_items import FAILURES, FailurePolicy, Queue, QueueBoard, QueueItem, QueueState
from gui.engine.runs.queue_lanes import lanes_of_item
from gui.engine.runs.records import local_time
from gui.engine.texts import _
from gui.engine.trainer.choosing import PRACTICE
from gui.engine.trainer.installs import TrainerInstall


@dataclass(frozen=True)
class Wish:
    """How a plan is to be started.

    Attributes:
        install: The trainer.
        gpus: See ``QueueItem``; empty takes the plan's own.
        accepted: See there.
        not_before: See there.
        when_free: See there.
    """

    install: TrainerInstall
    gpus: tuple[int, ...] = ()
    accepted: tuple[str, ...] = ()
    not_before: datetime | None = None
    when_free: bool = False


@dataclass(frozen=True)
class Removed:
    """What was taken out of the queue, so that it can be put back.

    Attributes:
        item: The item.
        plan: Its plan's text; None where it had none any more.
        place: Where it stood, counted from 0.
    """

    item: QueueItem
    plan: str | None
    place: int


class QueueStore:
    """The queue of a home.

    Args:
        home: Where it is kept.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self._files = QueueFiles(home.queue)

    @property
    def lock(self) -> Path:
        """Held by the scheduler for as long as it lives."""
        return self.home.queue / "scheduler.lock"

    @property
    def log(self) -> Path:
        """What the scheduler itself has to say; empty when all is well."""
        return self.home.queue / "scheduler.log"

    def read(self) -> Queue:
        """Return the queue; what cannot be read is told in it.

        Raises:
            NewerDocument: A newer version of this program has set it.
            CannotRead: Its folder cannot be read.
        """
        return self._files.read()

    def item(self, number: int) -> QueueItem:
        """Return an item.

        Raises:
            QueueRefused: There is none, or it cannot be read.
        """
        try:
            return self._files.read_item(number)
        except (CannotRead, NewerDocument) as error:
            if self._files.item(number).exists():
                raise QueueRefused(str(error)) from error
            text = _("There is no number {number} in the queue.")
            raise QueueRefused(text.format(number=number)) from None

    def plan(self, number: int) -> PlanFile:
        """Return an item's plan.

        Raises:
            CannotRead: It is gone or damaged.
        """
        return load_plan(self._files.plan(number))

    def plan_text(self, number: int) -> str | None:
        """Return an item's plan as it is written; None where it cannot be read."""
        try:
            return read_text(self._files.plan(number))
        except PreflightError:
            return None

    @contextlib.contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Keep others from changing the queue meanwhile."""
        with held(self._files.board):
            yield

    def add(self, plan_file: PlanFile, wish: Wish) -> QueueItem:
        """Put a plan at the end; the plan is copied, so that later changes of the file do not count.

        Raises:
            NewerDocument: A newer version of this program wrote the plan.
            CannotWrite: The disk is full, or the folder cannot be written.
        """
        plan_file.require_known()
        plan, install = plan_file.plan, wish.install
        with self.one_at_a_time():
            board = self._files.read_board()
            item = QueueItem(
                number=board.last + 1,
                name=plan.name,
                family=plan.family,
                plan_file=str(plan_file.path.absolute()) if plan_file.path else None,
                trainer=PRACTICE if install.practice else str(install.root),
                python=str(install.python),
                gpus=wish.gpus or plan.launch.gpu_ids,
                accepted=wish.accepted,
                not_before=wish.not_before,
                when_free=wish.when_free,
                added=local_time(),
            )
            write_atomically(self._files.plan(item.number), plan_file.standalone_text())
            item.write(self._files.item(item.number))
            self._set(board, order=(*board.order, item.number), last=item.number)
        return item

    def change(self, number: int, change: Callable[[QueueItem], QueueItem]) -> QueueItem:
        """Change one item.

        Args:
            number: Which.
            change: Makes the new of the old; may refuse by raising.

        Raises:
            QueueRefused: There is none.
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            item = change(self.item(number))
            item.write(self._files.item(number))
        return item

    def note(self, number: int, **changes: object) -> None:
        """Note something of an item, if it is still there and not over.

        Raises:
            CannotWrite: The disk is full.
        """
        with contextlib.suppress(QueueRefused):  # somebody has taken it out
            self.change(number, lambda now: now if now.over else now.model_copy(update=changes))

    def remove(self, number: int) -> Removed:
        """Take an item out.

        Raises:
            QueueRefused: There is none, or its run is not over.
            CannotWrite: The folder cannot be written.
        """
        with self.one_at_a_time():
            queue = self.read()
            item = self.item(number)
            if item.state == "running":
                text = _("Number {number} is running; stop its run first: {run}.")
                raise QueueRefused(text.format(number=number, run=item.run))
            text_of_plan = self.plan_text(number)
            self._take_out([number])
        return Removed(item, text_of_plan, queue.items.index(item))

    def put_back(self, removed: Removed) -> None:
        """Undo a removal.

        Raises:
            CannotWrite: The disk is full.
        """
        number = removed.item.number
        with self.one_at_a_time():
            if removed.plan is not None:
                write_atomically(self._files.plan(number), removed.plan)
            removed.item.write(self._files.item(number))
            self._put(number, removed.place)

    def clear(self) -> int:
        """Take out all that is over; return how many that were.

        Raises:
            CannotWrite: The folder cannot be written.
        """
        with self.one_at_a_time():
            over = [item.number for item in self.read().items if item.over]
            self._take_out(over)
        return len(over)

    def move(self, number: int, place: int) -> None:
        """Put an item to another place.

        Args:
            number: Which.
            place: Counted from 0; beyond the end is the end.

        Raises:
            QueueRefused: There is none.
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            self.item(number)
            self._put(number, place)

    def shift(self, number: int, by: int) -> None:
        """Move an item by some places, from where it stands now: who looks at it may see an older order.

        Args:
            number: Which.
            by: Negative is earlier.

        Raises:
            QueueRefused: There is none.
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            item = self.item(number)
            self._put(number, max(0, self.read().items.index(item) + by))

    def conclude(
        self, number: int, state: QueueState, sentence: str, findings: tuple[Finding, ...] = ()
    ) -> None:
        """Note how an item ended, and hold its lanes where the queue is to stop at a failure.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            board = self._files.read_board()
            try:
                item = self.item(number)
            except QueueRefused:  # somebody has taken it out
                return
            if item.over:
                return
            if state in FAILURES and board.on_failure == "stop":
                # First of the two: killed in between, the next scheduler comes here again.
                text = _("stopped at number {number}, {name}").format(number=number, name=item.name)
                self._set(board, held={**board.held, **dict.fromkeys(lanes_of_item(item), text)})
            # What was refused was never started: the folder that was to be its run's is gone again.
            run = None if state == "refused" else item.run
            ended = {"state": state, "run": run, "sentence": sentence, "findings": findings}
            item.model_copy(update=ended).write(self._files.item(number))

    def retry(self, number: int, accepted: Sequence[str] = ()) -> QueueItem:
        """Let an item that is over wait for its turn again, at its place; its lane is no longer held.

        Args:
            number: Which.
            accepted: Ids of more dangers that the user says yes to.

        Raises:
            QueueRefused: There is none, or it is not over.
            CannotWrite: The disk is full.
        """

        def again(item: QueueItem) -> QueueItem:
            item.require_over()
            before = (*item.before, item.run) if item.run else item.before
            fresh = {"state": "waiting", "run": None, "before": before, "sentence": "", "findings": ()}
            yeses = tuple(dict.fromkeys((*item.accepted, *accepted)))
            return item.model_copy(update={**fresh, "accepted": yeses, "attempts": 0})

        item = self.change(number, again)
        self.let_go(lanes_of_item(item))
        return item

    def pause(self, lanes: Sequence[str] = ()) -> None:
        """Start nothing any more; what runs goes on.

        Args:
            lanes: Only in these; empty is the whole queue.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            board = self._files.read_board()
            if lanes:
                self._set(board, held={**board.held, **dict.fromkeys(lanes, _("paused"))})
            else:
                self._set(board, paused=True)

    def go_on(self, lanes: Sequence[str] = ()) -> None:
        """Undo a pause, and a stop after a failure.

        Args:
            lanes: Only in these; empty is everywhere.

        Raises:
            CannotWrite: The disk is full.
        """
        if lanes:
            self.let_go(lanes)
            return
        with self.one_at_a_time():
            self._set(self._files.read_board(), paused=False, held={})

    def let_go(self, lanes: Sequence[str] | frozenset[str]) -> None:
        """Hold lanes no longer.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            board = self._files.read_board()
            kept = {lane: why for lane, why in board.held.items() if lane not in lanes}
            if kept != board.held:
                self._set(board, held=kept)

    def set_policy(self, policy: FailurePolicy) -> None:
        """Choose what happens after an item that failed or was refused.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            self._set(self._files.read_board(), on_failure=policy)

    def _set(self, board: QueueBoard, **changes: Any) -> None:
        board.model_copy(update=changes).write(self._files.board)

    def _put(self, number: int, place: int) -> None:
        """Put an item to a place among those that can be read; the others come behind them."""
        board = self._files.read_board()
        numbers = [item.number for item in self.read().items if item.number != number]
        numbers.insert(max(0, place), number)
        self._set(board, order=tuple(numbers))

    def _take_out(self, numbers: Iterable[int]) -> None:
        board = self._files.read_board()
        for number in numbers:
            try:
                self._files.item(number).unlink(missing_ok=True)
                self._files.plan(number).unlink(missing_ok=True)
            except OSError as error:
                raise CannotWrite(self._files.item(number), reason_of(error)) from error
        with contextlib.suppress(CannotWrite):  # a full disk: of numbers that are gone an order tells nothing
            self._set(board)  # it has the highest number that was ever given
