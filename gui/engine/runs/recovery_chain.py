"""Which run goes on from which: the tries of one training as a tree, from the runs' own records."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from gui.engine.documents import Document, read_bytes, read_json
from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.plan.changes import changes_in_words, differences, without_folder
from gui.engine.plan.model import TrainingPlan
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import FollowedRun
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunState, RunStatus, VerdictWord
from gui.engine.texts import _

FOLLOWS = b'"follows": {'
"""What a record holds that is worth reading: of a thousand runs few are, and each look must be cheap."""


class ChainRun(Document):
    """One run of a chain, and what followed it.

    Attributes:
        run: Its name.
        way: The try by which it follows the one above; empty for the first.
        words: What is different in it, short; empty for the first.
        by_itself: Whether nobody asked for it but the plan's own word.
        state: What it is doing; None where that cannot be read.
        verdict: How it ended, None while it has not.
        reason: What decided that, for programs.
        step: The last step.
        total: How many there were to be.
        tries: Those that follow it, the oldest first.
    """

    run: str
    way: str = ""
    words: str = ""
    by_itself: bool = False
    state: RunState | None = None
    verdict: VerdictWord | None = None
    reason: str = ""
    step: int | None = None
    total: int | None = None
    tries: tuple[ChainRun, ...] = ()

    def runs(self) -> Iterator[ChainRun]:
        """Yield this one and all that follow, in the order of reading."""
        yield self
        for each in self.tries:
            yield from each.runs()


def followed(home: Home, plan: TrainingPlan, *, by_itself: bool = False) -> FollowedRun | None:
    """Return what a new run notes of the one that its plan goes on from; None where it names none.

    Args:
        home: Where runs are.
        plan: Of the new run.
        by_itself: Whether nobody asked for it but the plan's own word.
    """
    if plan.follows is None:
        return None
    name = plan.follows.run
    changes: dict[str, Any] = {}
    with contextlib.suppress(PreflightError):  # its record is gone or broken; it is followed all the same
        before = plan_of_run(RunFolder(home.runs / name)).plan
        own = plan.model_copy(update={"follows": None, "name": before.name})
        changes = {each.target: each.after for each in differences(before, own)}
    return FollowedRun(run=name, way=plan.follows.way, changes=changes, by_itself=by_itself)


def chain_of(home: Home, run: RunFolder) -> ChainRun:
    """Return the tree of tries that a run belongs to, from the first one on; alone where it has none.

    Reads the record of every run; what cannot be read belongs to no tree.

    Args:
        home: Where runs are.
        run: Any of the tree.
    """
    follows = dict(_follows(home))
    root, seen = run.name, {run.name}
    while root in follows and follows[root].run not in seen:
        root = follows[root].run
        seen.add(root)
    return _tree(home, root, follows, frozenset())


def _follows(home: Home) -> Iterator[tuple[str, FollowedRun]]:
    for name in run_names(home):
        path = RunFolder(home.runs / name).manifest
        try:
            if FOLLOWS not in read_bytes(path):
                continue
            data = read_json(path)
            yield name, FollowedRun.model_validate(data.get("follows"))
        except (PreflightError, ValueError, AttributeError):
            continue


def _tree(home: Home, name: str, follows: Mapping[str, FollowedRun], above: frozenset[str]) -> ChainRun:
    own, status = follows.get(name) if above else None, _status(RunFolder(home.runs / name))
    verdict = status.verdict if status else None
    below = sorted(each for each, noted in follows.items() if noted.run == name and each not in above)
    return ChainRun(
        run=name,
        way=own.way if own else "",
        words=_words(own) if own else "",
        by_itself=own is not None and own.by_itself,
        state=status.state if status else None,
        verdict=verdict.verdict if verdict else None,
        reason=verdict.reason if verdict else "",
        step=status.step if status else None,
        total=status.total if status else None,
        tries=tuple(_tree(home, each, follows, above | {name}) for each in below),
    )


def _words(own: FollowedRun) -> str:
    """Return what a try changes, short: of files the name, and not what its own are called."""
    shown = {
        target: without_folder(value) for target, value in own.changes.items() if target != "output_name"
    }
    aside = [_("without bad images")] if own.way == "set-aside" else []
    return ", ".join(filter(None, (*aside, changes_in_words(shown))))


def _status(run: RunFolder) -> RunStatus | None:
    try:
        return read_status(run)
    except PreflightError:
        return None
