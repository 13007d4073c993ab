"""The queue, by clicking, typing and dragging: put in, put in order, put off, paused, taken out, put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sight
from plan_window import OneTrainer, small_plan
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.errors import CannotWrite
from gui.engine.findings import Finding
from gui.engine.hardware.gpu import GpuDevice
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile
from gui.engine.runs import queue_look, queue_session
from gui.engine.runs.queue_foresight import foresee
from gui.engine.runs.queue_items import QueueBoard, QueueItem
from gui.engine.runs.queue_store import QueueStore
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.queue_adder import QueueAdder
from gui.window.bridges.queue_list import QueueList
from gui.window.bridges.tasks import Tasks
from gui.window.models.queue_table import QueueColumn
from gui.window.pages.queue.queue_page import QueuePage
from gui.window.pages.queue.queue_view import QueueView
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme


class TwoGpus:
    """Hardware with two GPUs that never changes."""

    devices = (GpuDevice(index=0, uuid="a", name="Small"), GpuDevice(index=1, uuid="b", name="Large"))

    class sampled:  # noqa: N801 - stands for a signal
        @staticmethod
        def connect(_slot: object) -> None: ...


class Shown:
    """The page and the hands of a person."""

    def __init__(self, qtbot: QtBot, page: QueuePage, home: Home) -> None:
        self.qtbot = qtbot
        self.page = page
        self.store = QueueStore(home)

    @property
    def view(self) -> QueueView:
        return self.page.findChild(QueueView, "queue-table")

    def names(self) -> list[str]:
        return [item.name for item in self.store.read().items]

    def rows(self) -> list[str]:
        model = self.view.model()
        return [model.index(row, QueueColumn.NAME).data() for row in range(model.rowCount())]

    def choose(self, name: str) -> None:
        index = self.view.model().index(self.rows().index(name), QueueColumn.NAME)
        sight.click_item(self.qtbot, self.view, index)

    def find(self, name: str) -> QWidget:
        part = self.page.findChild(QWidget, name)
        self.qtbot.waitUntil(part.isVisible)
        return part

    def click(self, name: str) -> None:
        part = self.find(name)
        self.qtbot.waitUntil(part.isEnabled)
        self.qtbot.mouseClick(part, Qt.MouseButton.LeftButton)

    def reads(self, words: str) -> None:
        def there() -> bool:
            return any(words in each.text() for each in self.page.findChildren(QLabel) if each.isVisible())

        self.qtbot.waitUntil(there, timeout=20_000)

    def until(self, true: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(true()))


Open = Callable[..., Shown]


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[QueueStore]:
    """Start no schedulers; return whose would have been seen to."""
    stores: list[QueueStore] = []
    monkeypatch.setattr(queue_session, "ensure_scheduler", stores.append)
    return stores


@pytest.fixture
def queue(
    qtbot: QtBot,
    tasks: Tasks,
    home: Home,
    theme: Theme,
    icons: Icons,
    show: Callable[..., QWidget],
    woken: list[QueueStore],
) -> Iterator[Open]:
    """Return what shows the page of a queue of these items."""
    made: list[QueueList] = []

    def open_page(*items: QueueItem, trainer: Trainer | None = None, **board: object) -> Shown:
        home.queue.mkdir(parents=True)
        for item in items:
            item.write(home.queue / f"{item.number}.json")
            (home.queue / f"{item.number}.toml").write_text(f'name = "{item.name}"\n', "utf-8")
        if items:
            QueueBoard(last=len(items), **board).write(home.queue / "queue.json")
        listed = QueueList(home, tasks, milliseconds=50)
        made.append(listed)
        adder = QueueAdder(OneTrainer(trainer), tasks, home)
        page = QueuePage(queue=listed, adder=adder, hardware=TwoGpus(), home=home, theme=theme, icons=icons)
        shown = Shown(qtbot, show(page, 1184, 760), home)
        listed.start()
        qtbot.waitUntil(lambda: listed.known and shown.rows() == shown.names())
        page.activateWindow()
        qtbot.waitUntil(page.isActiveWindow)
        return shown

    yield open_page
    for each in made:
        each.close()


def waiting(*names: str) -> list[QueueItem]:
    return [QueueItem(number=n, name=name, trainer="/sd") for n, name in enumerate(names, start=1)]


def test_that_an_empty_queue_says_how_to_fill_it(queue: Open) -> None:
    shown = queue()
    shown.reads("drop plan files")
    assert shown.find("queue-add-first").isVisible()


def test_that_each_row_says_what_became_of_it_and_what_it_waits_for(queue: Open) -> None:
    tomorrow = datetime.now().replace(hour=2, minute=0) + timedelta(days=1)
    first, bad, runs, late, last = waiting("first", "bad", "runs", "late", "last")
    shown = queue(
        first.model_copy(update={"state": "done", "run": "r", "sentence": "Finished: all is well."}),
        bad.model_copy(update={"state": "failed", "run": "r", "sentence": "Failed: it broke."}),
        runs.model_copy(update={"state": "running", "run": "r"}),
        late.model_copy(update={"not_before": tomorrow}),
        last,
    )
    model = shown.view.model()
    told = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(5)]
    assert told == [
        "finished, first, GPU 0, Finished: all is well.",
        "failed, bad, GPU 0, Failed: it broke.",
        "running, runs, GPU 0",
        "waiting, late, GPU 0, tomorrow 02:00, It starts not before tomorrow 02:00.",
        "waiting, last, GPU 0, in its turn, It starts after number 3, runs.",
    ]
    shown.reads("1 is running · 2 wait")


def test_that_rows_go_up_and_down_by_keys_and_buttons_and_keep_the_selection(queue: Open) -> None:
    shown = queue(*waiting("a", "b", "c"))
    shown.choose("c")
    shown.qtbot.keyClick(shown.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    shown.until(lambda: shown.rows() == ["a", "c", "b"])
    assert shown.view.current_item().name == "c"
    shown.click("queue-up")
    shown.until(lambda: shown.rows() == ["c", "a", "b"])
    shown.until(lambda: not shown.find("queue-up").isEnabled())
    shown.qtbot.keyClick(shown.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    shown.click("queue-down")
    shown.until(lambda: shown.names() == ["a", "c", "b"])
    for _press in range(2):  # sooner than the page can show the first
        shown.qtbot.keyClick(shown.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        shown.qtbot.keyClick(shown.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        shown.qtbot.keyClick(shown.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    shown.until(lambda: shown.names() == ["a", "b", "c"])


def test_that_a_row_is_dragged_to_another_place(queue: Open) -> None:
    shown = queue(*waiting("a", "b", "c"))
    model, none = shown.view.model(), QModelIndex()
    # What the view itself does at the end of a drag; Qt tells tests of no other way.
    dragged = model.mimeData([model.index(0, QueueColumn.NAME)])
    assert model.canDropMimeData(dragged, Qt.DropAction.MoveAction, 2, 0, none)
    model.dropMimeData(dragged, Qt.DropAction.MoveAction, 2, 0, none)
    shown.until(lambda: shown.rows() == ["b", "a", "c"])
    model.dropMimeData(dragged, Qt.DropAction.MoveAction, -1, 0, none)
    shown.until(lambda: shown.rows() == ["b", "c", "a"])
    assert shown.view.dragDropMode() == shown.view.DragDropMode.InternalMove


def test_that_what_is_taken_out_comes_back_to_its_place(queue: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = queue(*waiting("a", "b", "c"))
    shown.choose("b")
    for _press in range(2):  # the second finds it out already
        shown.qtbot.keyClick(shown.view, Qt.Key.Key_Delete)
    shown.until(lambda: shown.rows() == ["a", "c"])
    shown.reads("“b” was taken out of the queue.")
    shown.qtbot.keyClick(shown.view, Qt.Key.Key_Delete)
    shown.until(lambda: shown.rows() == ["a"])
    shown.click("queue-undo")
    shown.until(lambda: shown.rows() == ["a", "c"])
    shown.reads("“b” was taken out of the queue.")
    monkeypatch.setattr(QueueItem, "write", _full)
    shown.click("queue-undo")
    shown.reads("This was not done.")
    monkeypatch.undo()
    shown.click("queue-undo")
    shown.until(lambda: shown.rows() == ["a", "b", "c"])
    assert shown.store.plan(2).plan.name == "b"


def _full(_item: QueueItem, path: Path) -> None:
    raise CannotWrite(path, "no space left")


def test_that_what_runs_cannot_be_taken_out_and_its_run_is_opened(queue: Open, home: Home) -> None:
    shown = queue(*[item.model_copy(update={"state": "running", "run": "r"}) for item in waiting("a")])
    shown.choose("a")
    assert not shown.find("queue-remove").isEnabled()
    shown.qtbot.keyClick(shown.view, Qt.Key.Key_Delete)
    shown.click("queue-open")
    shown.reads("Its run is just being started.")
    (home.runs / "r").mkdir(parents=True)
    (home.runs / "r" / "command.json").touch()
    with shown.qtbot.waitSignal(shown.page.open_run) as opened:
        shown.click("queue-open")
    assert opened.args == [home.runs / "r"]
    with shown.qtbot.waitSignal(shown.page.open_run):
        shown.qtbot.keyClick(shown.view, Qt.Key.Key_Return)
    assert shown.names() == ["a"]


def test_that_hour_gpu_and_memory_are_chosen_for_what_waits(queue: Open) -> None:
    shown = queue(*waiting("a"))
    shown.choose("a")
    hour = shown.find("queue-hour")
    shown.qtbot.keyClicks(hour, "25:00")
    shown.qtbot.keyClick(hour, Qt.Key.Key_Return)
    shown.until(lambda: "no hour" in hour.toolTip())
    hour.clear()
    shown.qtbot.keyClicks(hour, "02:00")
    shown.qtbot.keyClick(hour, Qt.Key.Key_Return)
    shown.until(lambda: shown.store.read().items[0].not_before is not None)
    shown.click("queue-when-free")
    shown.until(lambda: shown.store.read().items[0].when_free)
    choice = shown.find("queue-gpu")
    choice.setFocus()
    shown.qtbot.keyClick(choice, Qt.Key.Key_End)
    shown.until(lambda: shown.store.read().items[0].gpus == (1,))
    shown.reads("not before")


def test_that_the_queue_is_paused_and_goes_on(queue: Open, woken: list[QueueStore]) -> None:
    shown = queue(*waiting("a"))
    shown.click("queue-pause")
    shown.until(lambda: shown.store.read().board.paused)
    shown.reads("The queue is paused: nothing is started, what runs goes on.")
    before = len(woken)
    shown.click("queue-go-on")
    shown.until(lambda: not shown.store.read().board.paused)
    shown.until(lambda: len(woken) > before)


def test_that_a_failure_that_holds_a_gpu_is_said_and_let_go(
    queue: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Finding(id="output-exists", severity="danger", title="Files of this name exist.")
    monkeypatch.setattr(queue_look, "look_again", lambda _store, _item, yeses: foresee([there], yeses))
    failed, other = waiting("bad", "next")
    failed = failed.model_copy(update={"state": "failed", "sentence": "Failed: it broke."})
    shown = queue(failed, other, on_failure="stop", held={"0": "stopped at number 1, bad"})
    shown.reads("Nothing is started on GPU 0: stopped at number 1, bad.")
    shown.choose("bad")
    shown.click("queue-retry")
    shown.reads("“bad” would be refused at its turn")
    shown.reads("Files of this name exist.")
    shown.click("queue-all-the-same")
    shown.until(lambda: shown.store.read().items[0].state == "waiting")
    shown.until(lambda: not shown.store.read().board.held)
    assert shown.store.read().items[0].accepted == ("output-exists",)
    policy = shown.find("queue-policy")
    policy.setFocus()
    shown.qtbot.keyClick(policy, Qt.Key.Key_Home)
    shown.until(lambda: shown.store.read().board.on_failure == "continue")


def test_that_what_is_over_is_taken_out_at_one_stroke(queue: Open) -> None:
    done, other = waiting("done", "other")
    shown = queue(done.model_copy(update={"state": "done"}), other)
    shown.click("queue-clear")
    shown.until(lambda: shown.rows() == ["other"])


def test_that_a_broken_queue_is_told(queue: Open, home: Home) -> None:
    shown = queue(*waiting("a"), paused=True)
    (home.queue / "7.json").write_text("{", "utf-8")
    shown.reads("7.json cannot be read")
    (home.queue / "queue.json").write_text('{"schema": 99}', "utf-8")
    shown.reads("newer version")
    shown.until(lambda: not shown.page.findChild(QWidget, "queue-details").isVisible())


def saved(tmp_path: Path, name: str, **more: object) -> Path:
    plan = small_plan(tmp_path, **more).model_copy(update={"name": name})
    return PlanFile(plan).save(plan, tmp_path / f"{name}.toml").path


def test_that_dropped_plans_are_checked_and_added(
    queue: Open, practice: Trainer, drop: Callable[..., None], tmp_path: Path
) -> None:
    shown = queue(trainer=practice)
    good, bad = saved(tmp_path, "good"), saved(tmp_path, "bad", max_train_stepz=3)
    drop(shown.page, [good])
    shown.qtbot.waitUntil(lambda: shown.rows() == ["good"], timeout=20_000)
    drop(shown.page, [bad])
    shown.qtbot.waitUntil(lambda: shown.page.findChild(QWidget, "queue-said").isVisible(), timeout=20_000)
    shown.reads("“bad” was not put into the queue.")
    assert not shown.page.findChild(QWidget, "queue-all-the-same").isVisible()
    with shown.qtbot.waitSignal(shown.page.open_plan) as opened:
        shown.click("queue-open-plan")
    assert opened.args == [bad] and shown.names() == ["good"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"somebody's work")
    drop(shown.page, [saved(tmp_path, "over")])
    shown.reads("“over” was not put into the queue.")
    shown.click("queue-all-the-same")
    shown.qtbot.waitUntil(lambda: shown.rows() == ["good", "over"], timeout=20_000)
    assert shown.store.read().items[1].accepted == ("output-exists",)
    others = [saved(tmp_path, name, output_name=name) for name in ("c", "d", "e")]
    drop(shown.page, [others[0], tmp_path / "gone.toml", bad, *others[1:]])
    shown.reads("2 plans were not put into the queue.")
    shown.reads("gone.toml cannot be read")
    shown.qtbot.waitUntil(lambda: shown.rows() == ["good", "over", "c", "d", "e"], timeout=20_000)
