"""The documents of the queue: what waits for its turn, and how the queue as a whole is set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field, NaiveDatetime

from gui.engine.errors import QueueRefused
from gui.engine.findings import Finding
from gui.engine.runs.queue_hours import has_come
from gui.engine.runs.records import Versioned
from gui.engine.texts import _
from gui.engine.trainer.choosing import PRACTICE

QueueState = Literal["waiting", "running", "done", "stopped", "failed", "refused"]
"""``refused`` was never started; ``stopped`` is what the user stopped, and no failure."""

FailurePolicy = Literal["continue", "stop"]

OVER: frozenset[QueueState] = frozenset({"done", "stopped", "failed", "refused"})
FAILURES: frozenset[QueueState] = frozenset({"failed", "refused"})


class QueueItem(Versioned):
    """One plan in the queue: ``<number>.json``, its plan beside it as ``<number>.toml``.

    Attributes:
        number: By which the user calls it; never given twice.
        name: The plan's.
        family: The plan's.
        plan_file: Where the plan came from, for reading only.
        trainer: The install's folder, or ``practice``.
        python: Its interpreter; None looks for it.
        gpus: Indices in NVML's order; empty leaves the choice to the trainer, which takes the first.
        accepted: Ids of the dangers that the user said yes to.
        not_before: Local time of day before which it does not start; None: at once. Meant as on the
            clock on the wall, so it has no offset.
        when_free: Whether it waits until its GPU has the memory that it is expected to need.
        added: Local time with its offset, for reading only.
        state: What became of it.
        run: Name of its run; noted before anything is launched, so that nothing is launched twice.
        before: Its earlier runs, the oldest first.
        sentence: Why it was refused, how it ended, what it waits for: in plain words.
        findings: Why it was refused.
        attempts: Starts from which no run came, one after the other.
    """

    number: int = Field(ge=1)
    name: str
    family: str = ""
    plan_file: str | None = None
    trainer: str
    python: str | None = None
    gpus: tuple[int, ...] = ()
    accepted: tuple[str, ...] = ()
    not_before: NaiveDatetime | None = None
    when_free: bool = False
    added: str = ""
    state: QueueState = "waiting"
    run: str | None = None
    before: tuple[str, ...] = ()
    sentence: str = ""
    findings: tuple[Finding, ...] = ()
    attempts: int = 0

    @property
    def practice(self) -> bool:
        """Whether the practice trainer is to run."""
        return self.trainer == PRACTICE

    @property
    def over(self) -> bool:
        """Whether nothing more will happen with it by itself."""
        return self.state in OVER

    def hour_to_come(self, now: datetime) -> datetime | None:
        """Return before which moment it does not start; None once that is past.

        Args:
            now: Local time.
        """
        return None if has_come(self.not_before, now.timestamp()) else self.not_before

    def require_over(self) -> None:
        """Refuse to begin anew what is not over.

        Raises:
            QueueRefused: It waits, or runs.
        """
        if not self.over:
            raise QueueRefused(_("Number {number} is not over.").format(number=self.number))


class QueueBoard(Versioned):
    """How the queue as a whole is set: ``queue.json``.

    Attributes:
        order: Numbers of the items; those that it does not name come behind.
        last: The highest number that was ever given.
        paused: Whether nothing is started; what runs goes on.
        on_failure: Whether the next item starts after one that failed or was refused.
        held: Lanes in which nothing is started, and why in plain words; see ``queue_lanes``.
    """

    order: tuple[int, ...] = ()
    last: int = 0
    paused: bool = False
    on_failure: FailurePolicy = "continue"
    held: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Queue:
    """All of it at one moment.

    Attributes:
        board: How it is set.
        items: In their order.
        problems: Items that cannot be read, and why, in plain words.
    """

    board: QueueBoard
    items: tuple[QueueItem, ...] = ()
    problems: tuple[str, ...] = ()

    def item(self, number: int) -> QueueItem | None:
        """Return an item; None where there is none of that number."""
        return next((item for item in self.items if item.number == number), None)

    @property
    def running(self) -> tuple[QueueItem, ...]:
        """Those whose run is there and not over."""
        return tuple(item for item in self.items if item.state == "running")

    @property
    def waiting(self) -> tuple[QueueItem, ...]:
        """Those whose turn has not come."""
        return tuple(item for item in self.items if item.state == "waiting")
