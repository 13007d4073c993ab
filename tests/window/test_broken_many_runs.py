"""So many runs that whatever is done for each pair of them, or each second, would be felt."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from written_runs import write_run

from gui.engine.runs import listing
from gui.engine.runs.listing import RunIndex
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.run_search import RunFilter
from gui.window.models.run_table import ENTRY_ROLE, RunColumn, RunTable
from gui.window.models.shown_runs import ShownRuns

MANY = 2000
OUTCOMES = ("finished", "failed", "stopped")


def entries(count: int) -> list[RunEntry]:
    chance = random.Random(1)
    return [
        RunEntry(
            name=f"20260101-{number:06}-run{number}",
            folder=f"/runs/{number}",
            plan_name=f"run{number}",
            state="ended",
            verdict=chance.choice(OUTCOMES),
            step=chance.randrange(5000) if chance.random() < 0.9 else None,
            loss=chance.random() if chance.random() < 0.9 else None,
        )
        for number in reversed(range(count))
    ]


class Counted(RunTable):
    """Counts how often it is asked for a cell."""

    asked = 0

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        self.asked += 1
        return super().data(index, role)


@pytest.fixture
def table(qapp) -> Counted:
    return Counted()


@pytest.fixture
def shown(table) -> ShownRuns:
    shown = ShownRuns(table)
    table.show(entries(MANY), {})
    return shown


def names(shown: ShownRuns) -> list[str]:
    return [shown.index(row, 0).data(ENTRY_ROLE).name for row in range(shown.rowCount())]


def test_that_the_model_keeps_qts_rules(shown, table, qtmodeltester: ModelTester):
    table.show(entries(20), {})
    qtmodeltester.check(shown)
    shown.sort(RunColumn.LOSS)
    shown.choose(RunFilter("trouble", ("run1",)))
    qtmodeltester.check(shown)


@pytest.mark.parametrize("column", list(RunColumn))
def test_that_sorting_asks_for_no_cells(shown, table, column):
    shown.sort(column, Qt.SortOrder.AscendingOrder)
    shown.choose(RunFilter(words=("run7",)))
    assert table.asked == 0


def test_that_numbers_sort_as_numbers_and_unknown_ones_at_the_low_end(shown):
    shown.sort(RunColumn.STEPS, Qt.SortOrder.DescendingOrder)
    steps = [shown.index(row, 0).data(ENTRY_ROLE).step for row in range(shown.rowCount())]
    known = [step for step in steps if step is not None]
    assert known == sorted(known, reverse=True)
    assert steps[len(known) :] == [None] * (MANY - len(known))


def test_that_what_is_selected_stays_so_in_another_order(shown):
    selected = QPersistentModelIndex(shown.index(5, 1))
    name = selected.data(ENTRY_ROLE).name
    shown.sort(RunColumn.STARTED, Qt.SortOrder.AscendingOrder)
    assert selected.data(ENTRY_ROLE).name == name
    assert selected.row() == MANY - 1 - 5 == shown.row_of(name)


def test_that_the_newest_come_first_where_no_order_is_chosen(shown):
    shown.sort(RunColumn.LOSS)
    shown.sort(-1)
    assert names(shown) == sorted(names(shown), reverse=True)


def test_that_a_run_that_has_gone_on_moves_to_its_place(shown, table, qtbot):
    shown.sort(RunColumn.STEPS, Qt.SortOrder.DescendingOrder)
    changed = list(table.entries)
    changed[100] = changed[100].model_copy(update={"step": 1_000_000})
    with qtbot.waitSignal(shown.dataChanged):
        table.show(changed, {})
    assert shown.row_of(changed[100].name) == 0


def test_that_a_run_that_is_no_longer_of_the_kind_goes(shown, table):
    shown.choose(RunFilter("finished"))
    first = shown.index(0, 0).data(ENTRY_ROLE)
    before = shown.rowCount()
    table.show(
        [
            each.model_copy(update={"verdict": "failed"}) if each.name == first.name else each
            for each in table.entries
        ],
        {},
    )
    assert shown.rowCount() == before - 1
    assert shown.row_of(first.name) is None


def test_that_what_is_over_is_seldom_looked_at_where_looking_is_dear(home, monkeypatch):
    looks = []
    mark = listing._mark
    monkeypatch.setattr(listing, "_mark", lambda path: looks.append(path.parent.name) or mark(path))
    monkeypatch.setattr(listing, "DEAR_SECONDS", -1.0)
    over = [write_run(home, f"over{number}", age_days=number + 1) for number in range(3)]
    living = write_run(home, "living", verdict=None, age_days=9, status={"state": "running"})
    index = RunIndex(home)
    assert len(index.entries()) == 4
    looks.clear()
    assert len(index.entries()) == 4
    assert set(looks) == {living.name}
    over[0].status.write_text("{")
    monkeypatch.setattr(index, "_rest_until", 0.0)
    assert index.entries()[0].condition == "broken"
