"""What recovery says of a run: what happened, from where it can go on, and what to try, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from gui.engine.documents import Document
from gui.engine.runs.clean_points import CleanPoint
from gui.engine.runs.records import Versioned

RecoveryKind = Literal["alive", "fine", "loss", "memory", "image", "disk", "gpu", "power", "stopped", "other"]
"""``alive`` has not ended, ``fine`` needs none; ``power`` ended without anybody of this program."""

Start = Literal["point", "weights", "older", "beginning"]
"""Where a way begins: the newest clean point, its weights alone, the point before it, or anew."""


class Way(NamedTuple):
    """Something that could be tried, before its plan is made.

    Attributes:
        id: Its name.
        change: What is other, for a button.
        effect: What is to be expected.
        changes: Target to value.
        start: Where it begins.
        set_aside: Images that are moved into quarantine before it.
        superseded: Findings that what the run has shown replaces.
        unchanged: Whether it is to be tried although it changes nothing.
    """

    id: str
    change: str
    effect: str
    changes: dict[str, Any]
    start: Start = "weights"
    set_aside: tuple[Path, ...] = ()
    superseded: tuple[str, ...] = ()
    unchanged: bool = False


class ChangeRow(Document):
    """One difference to the run's own plan.

    Attributes:
        target: Where.
        before: The old value, None where there was none.
        after: The new one, None where it is removed.
    """

    target: str
    before: Any = None
    after: Any = None


class RecoveryTry(Document):
    """Something to try whose plan was made and checked: it has no stop that the run's own did not have.

    Attributes:
        id: Stable: ``recover RUN --try ID``.
        title: What a button says.
        effect: What is to be expected.
        changes: Target to new value, those included with which it goes on from its point.
        rows: The same as differences to the run's plan.
        point: The clean point that it goes on from; None from the beginning.
        continues: Where it begins and how many steps remain, in words; empty from the beginning.
        set_aside: Images that are moved into quarantine before it starts.
        cautions: Dangers of its plan that the run's own did not have.
        superseded: Findings that what the run has shown replaces.
        by_itself: Whether a plan that allows it may take this one without asking.
    """

    id: str
    title: str
    effect: str
    changes: dict[str, Any]
    rows: tuple[ChangeRow, ...]
    point: CleanPoint | None = None
    continues: str = ""
    set_aside: tuple[Path, ...] = ()
    cautions: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    by_itself: bool = True


class Recovery(Versioned):
    """What recovery says of a run: ``recover RUN --json``.

    Attributes:
        run: The run's name.
        kind: What kind of end it had.
        happened: That in one sentence.
        causes: Ids of the likely causes.
        point: The newest clean point.
        point_words: The same in words, or that there is none.
        tries: What to try, in order; each changes one thing.
        by_hand: What to do outside of the plan, before or beside.
        hopeless: What cannot help, and why.
        left_out: Tries whose plans would be refused, and why.
        tried_by: The run that tries it again by itself already; empty without one.
    """

    run: str
    kind: RecoveryKind
    happened: str
    causes: tuple[str, ...] = ()
    point: CleanPoint | None = None
    point_words: str = ""
    tries: tuple[RecoveryTry, ...] = ()
    by_hand: tuple[str, ...] = ()
    hopeless: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    tried_by: str = ""

    def try_of(self, identity: str) -> RecoveryTry | None:
        """Return the try of an id, None where there is none."""
        return next((each for each in self.tries if each.id == identity), None)
