"""The queue as it lies in the home: read by anybody, changed by one at a time.

The window, the command line and the scheduler all change it, each for milliseconds under one lock. What is
written is in place as a whole or not at all, so a killed program leaves nothing half done: an item without
its plan is refused when its turn comes, a plan without its item is nobody's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
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
        self._folder = home.queue
        self._board = home.queue / "queue.json"

    @property
    def lock(self) -> Path:
        """Held by the scheduler for as long as it lives."""
        return self._folder / "scheduler.lock"

    @property
    def log(self) -> Path:
        """What the scheduler itself has to say; empty when all is well."""
        return self._folder / "scheduler.log"

    def exists(self) -> bool:
        """Whether anything was ever put into it."""
        return self._board.exists()

    def mark(self) -> int:
        """Return a number that is another one once anything in the queue was changed."""
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0

    def read(self) -> Queue:
        """Return the queue; what cannot be read is told in it.

        Raises:
            NewerDocument: A newer version of this program has set it.
        """
        board, problems = QueueBoard(), []
        if self.exists():
            try:
                board = QueueBoard.read(self._board)
            except CannotRead as error:  # its order is lost, the items are not
                problems.append(str(error))
        found: dict[int, QueueItem] = {}
        for number in self._numbers():
            try:
                found[number] = QueueItem.read(self._file(number))
            except (CannotRead, NewerDocument) as error:
                if self._file(number).exists():  # else somebody has just taken it out
                    problems.append(str(error))
        order = [number for number in dict.fromkeys(board.order) if number in found]
        order += sorted(found.keys() - set(order))
        board = board.model_copy(update={"last": max([board.last, *self._numbers()])})
        return Queue(board, tuple(found[number] for number in order), tuple(problems))

    def plan(self, number: int) -> PlanFile:
        """Return an item's plan.

        Raises:
            CannotRead: It is gone or damaged.
        """
        return load_plan(self._plan(number))

    @contextlib.contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Keep others from changing the queue meanwhile."""
        with held(self._board):
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
            queue = self.read()
            item = QueueItem(
                number=queue.board.last + 1,
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
            write_atomically(self._plan(item.number), plan_file.standalone_text())
            item.write(self._file(item.number))
            self._set(queue, [*queue.items, item], last=item.number)
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
            item = change(self._there(self.read(), number))
            item.write(self._file(number))
        return item

    def remove(self, number: int) -> Removed:
        """Take an item out.

        Raises:
            QueueRefused: There is none, or its run is not over.
            CannotWrite: The folder cannot be written.
        """
        with self.one_at_a_time():
            queue = self.read()
            item = self._there(queue, number)
            if item.state == "running":
                text = _("Number {number} is running; stop its run first: {run}.")
                raise QueueRefused(text.format(number=number, run=item.run))
            return self._take_out(queue, item)

    def put_back(self, removed: Removed) -> None:
        """Undo a removal.

        Raises:
            CannotWrite: The disk is full.
        """
        number = removed.item.number
        with self.one_at_a_time():
            queue = self.read()
            if removed.plan is not None:
                write_atomically(self._plan(number), removed.plan)
            removed.item.write(self._file(number))
            items = list(queue.items)
            items.insert(removed.place, removed.item)
            self._set(queue, items)

    def clear(self) -> int:
        """Take out all that is over; return how many that were.

        Raises:
            CannotWrite: The folder cannot be written.
        """
        with self.one_at_a_time():
            over = [item for item in self.read().items if item.over]
            for item in over:
                self._take_out(self.read(), item)
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
            queue = self.read()
            item = self._there(queue, number)
            items = [other for other in queue.items if other is not item]
            items.insert(max(0, place), item)
            self._set(queue, items)

    def conclude(
        self, number: int, state: QueueState, sentence: str, findings: tuple[Finding, ...] = ()
    ) -> None:
        """Note how an item ended, and hold its lanes where the queue is to stop at a failure.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            queue = self.read()
            item = queue.item(number)
            if item is None or item.over:
                return
            if state in FAILURES and queue.board.on_failure == "stop":
                # First of the two: killed in between, the next scheduler comes here again.
                text = _("stopped at number {number}, {name}").format(number=number, name=item.name)
                self._set(queue, held={**queue.board.held, **dict.fromkeys(lanes_of_item(item), text)})
            fresh = item.model_copy(update={"state": state, "sentence": sentence, "findings": findings})
            fresh.write(self._file(number))

    def retry(self, number: int) -> QueueItem:
        """Let an item that is over wait for its turn again, at its place; its lane is no longer held.

        Raises:
            QueueRefused: There is none, or it is not over.
            CannotWrite: The disk is full.
        """

        def again(item: QueueItem) -> QueueItem:
            if not item.over:
                raise QueueRefused(_("Number {number} is not over.").format(number=number))
            before = (*item.before, item.run) if item.run else item.before
            fresh = {"state": "waiting", "run": None, "before": before, "sentence": "", "findings": ()}
            return item.model_copy(update={**fresh, "attempts": 0})

        item = self.change(number, again)
        self.let_go(lanes_of_item(item))
        return item

    def pause(self, lanes: Sequence[str] = (), reason: str = "") -> None:
        """Start nothing any more; what runs goes on.

        Args:
            lanes: Only in these; empty is the whole queue.
            reason: Why a lane is held; by default that the user paused it.

        Raises:
            CannotWrite: The disk is full.
        """
        words = reason or _("paused")
        with self.one_at_a_time():
            queue = self.read()
            if lanes:
                self._set(queue, held={**queue.board.held, **dict.fromkeys(lanes, words)})
            else:
                self._set(queue, paused=True)

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
            self._set(self.read(), paused=False, held={})

    def let_go(self, lanes: Sequence[str] | frozenset[str]) -> None:
        """Hold lanes no longer.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            queue = self.read()
            kept = {lane: why for lane, why in queue.board.held.items() if lane not in lanes}
            if kept != queue.board.held:
                self._set(queue, held=kept)

    def set_policy(self, policy: FailurePolicy) -> None:
        """Choose what happens after an item that failed or was refused.

        Raises:
            CannotWrite: The disk is full.
        """
        with self.one_at_a_time():
            self._set(self.read(), on_failure=policy)

    def _set(self, queue: Queue, items: Sequence[QueueItem] | None = None, **changes: Any) -> None:
        order = tuple(item.number for item in (queue.items if items is None else items))
        queue.board.model_copy(update={"order": order, **changes}).write(self._board)

    def _there(self, queue: Queue, number: int) -> QueueItem:
        item = queue.item(number)
        if item is None:
            raise QueueRefused(_("There is no number {number} in the queue.").format(number=number))
        return item

    def _take_out(self, queue: Queue, item: QueueItem) -> Removed:
        number, items = item.number, list(queue.items)
        try:
            text: str | None = read_text(self._plan(number))
        except PreflightError:
            text = None
        place = items.index(item)
        items.remove(item)
        try:
            self._file(number).unlink(missing_ok=True)
            self._plan(number).unlink(missing_ok=True)
        except OSError as error:
            raise CannotWrite(self._file(number), reason_of(error)) from error
        self._set(queue, items)
        return Removed(item, text, place)

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.json"

    def _plan(self, number: int) -> Path:
        return self._folder / f"{number}.toml"

    def _numbers(self) -> list[int]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdecimal()]
