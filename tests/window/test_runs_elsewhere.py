"""What is told of runs that nobody looks at: their ends, and what goes wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal

from gui.engine.runs.run_entry import RunEntry
from gui.window.bridges.elsewhere import Elsewhere


class Told(QObject):
    """Stands for the list of runs and for the desktop: both are tested where they are."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[RunEntry, ...] = ()
        self.said: list[tuple[str, str, str]] = []

    @property
    def living(self) -> list[RunEntry]:
        return [entry for entry in self.entries if entry.state != "ended"]

    def ended(self, name, verdict) -> None:
        self.said.append((name, verdict.verdict, verdict.sentence))

    def show(self, **states: str) -> None:
        self.entries = tuple(_entry(name, state) for name, state in states.items())
        self.changed.emit()


def _entry(name: str, state: str) -> RunEntry:
    ended = {"verdict": "finished", "sentence": "Finished: 5 of 5 steps."} if state == "ended" else {}
    return RunEntry(name=name, folder=Path("runs", name), plan_name=name, state=state, **ended)


@pytest.fixture
def told(qapp) -> Told:
    return Told()


def watch(told: Told, tasks, is_open=lambda _folder: False) -> Elsewhere:
    return Elsewhere(told, told, tasks, is_open=is_open, in_sight=is_open)


def test_that_the_end_of_a_run_that_is_not_open_is_told_once(told, tasks):
    elsewhere = watch(told, tasks)
    told.show(mira="running", older="ended")
    told.show(mira="ended", older="ended")
    told.show(mira="ended", older="ended")
    assert told.said == [("mira", "finished", "Finished: 5 of 5 steps.")]
    assert elsewhere is not None


def test_that_the_run_page_tells_of_its_own(told, tasks):
    elsewhere = watch(told, tasks, lambda folder: folder.name == "mira")
    told.show(mira="running", ink="running")
    told.show(mira="ended", ink="ended")
    assert [name for name, *_more in told.said] == ["ink"]
    assert elsewhere is not None
