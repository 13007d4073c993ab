"""The queue on the command line; it is paused here, so that nothing is started."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from quick_trainer import quick_plan

from gui.cli import queue_add
from gui.cli.main import run as cli
from gui.engine.errors import QueueRefused
from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.runs.lock import is_held
from gui.engine.runs.queue_foresight import Foresight, foresee
from gui.engine.runs.queue_items import QueueItem
from gui.engine.runs.queue_store import QueueStore
from gui.engine.trainer.output.records import cells


@pytest.fixture
def store(home: Home) -> QueueStore:
    """Return a queue in which nothing is started."""
    store = QueueStore(home)
    store.pause()
    return store


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    return capsys


Put = Callable[..., QueueItem]


@pytest.fixture
def put(store: QueueStore) -> Put:
    """Return what writes an item as it is."""

    def write(name: str, **more: object) -> QueueItem:
        number = store.read().board.last + 1
        item = QueueItem(number=number, name=name, trainer="/sd", **more)
        item.write(store.home.queue / f"{number}.json")
        return item

    return write


def queue(*words: object) -> int:
    return cli(["queue", *map(str, words)])


def shown(said: pytest.CaptureFixture[str], *words: object) -> dict:
    said.readouterr()
    assert queue(*words, "--json") == 0
    return json.loads(said.readouterr().out)


@pytest.mark.usefixtures("practice_is_known")
def test_that_plans_are_added_with_their_wishes_or_not_at_all(
    tmp_path: Path, store: QueueStore, said: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    good, bad = quick_plan(tmp_path, "good"), quick_plan(tmp_path, "bad")
    assert bad.path is not None and good.path is not None
    text = bad.path.read_text("utf-8")
    bad.path.write_text(text.replace("max_train_steps", "max_train_stepz"), "utf-8")
    assert queue("add", good.path, bad.path, "--practice") == 1
    refused = said.readouterr().err
    assert "bad was not put into the queue." in refused and "max_train_stepz" in refused
    assert store.read().items == ()
    assert queue("add", good.path, "--practice", "--gpu", 1, "--at", "02:00", "--when-free") == 0
    assert said.readouterr().out == "Number 1 in the queue: good\n"
    (item,) = shown(said)["items"]
    moment = datetime.fromisoformat(item["not_before"])
    assert moment.hour == 2 and moment - datetime.now() < timedelta(days=1)
    assert (item["gpus"], item["when_free"], item["trainer"]) == ([1], True, "practice")
    assert queue("add", good.path, "--practice") == 1
    assert "Number 1 in the queue, good, saves under the same names." in said.readouterr().err
    assert queue("add", good.path, "--practice", "--accept", "output-exists") == 0
    assert len(store.read().items) == 2
    assert not is_held(store.lock)


def test_that_the_list_says_what_is_there_and_how_to_begin(
    store: QueueStore, said: pytest.CaptureFixture[str], put: Put
) -> None:
    assert queue() == 0
    assert "queue add PLAN" in said.readouterr().out
    put("first")
    put("second", state="failed", run="20261130-010203-second", sentence="It broke.")
    assert queue("list") == 0
    lines = said.readouterr().out.splitlines()
    assert lines == [
        "  1  first   GPU 0 · waiting · The queue is paused.",
        "  2  second  GPU 0 · failed · 20261130-010203-second · It broke.",
        "The queue is paused: nothing is started, what runs goes on.",
        "After a failure the next one is started.",
    ]


def test_that_a_queue_without_a_scheduler_is_shown_all_the_same(
    store: QueueStore, said: pytest.CaptureFixture[str], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("first")

    def refuses(_store: QueueStore) -> None:
        raise QueueRefused("Read-only file system")

    monkeypatch.setattr("gui.cli.queue.ensure_scheduler", refuses)
    assert queue() == 2
    told = said.readouterr()
    assert "  1  first  GPU 0" in told.out and "Read-only" in told.err


def test_that_order_policy_and_pauses_are_changed(
    store: QueueStore, said: pytest.CaptureFixture[str], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        put(name, state="done" if name == "b" else "waiting")
    assert [item["name"] for item in shown(said, "move", 3, 1)["items"]] == ["c", "a", "b"]
    assert shown(said, "policy", "stop")["on_failure"] == "stop"
    assert shown(said, "pause", "--gpu", 1)["held"] == {"1": "paused"}
    assert shown(said, "continue", "--gpu", 1)["held"] == {}
    monkeypatch.setattr(queue_add, "look_again", lambda *_words: Foresight((), ()))
    listed = shown(said, "retry", 2)
    assert listed["paused"] and not listed["scheduled"]
    assert [item["state"] for item in listed["items"]] == ["waiting"] * 3
    store.conclude(1, "done", "")
    assert [item["name"] for item in shown(said, "clear")["items"]] == ["c", "b"]
    assert shown(said, "remove", 2, 3)["items"] == []
    assert not shown(said, "continue")["paused"]
    assert shown(said, "start")["items"] == []


def test_that_a_name_keeps_to_its_row_and_of_several_numbers_none_is_done_in_vain(
    store: QueueStore, said: pytest.CaptureFixture[str], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A scheduler would come to see how the run went that is said to be running, and find none.
    monkeypatch.setattr("gui.cli.queue.ensure_scheduler", lambda _store: None)
    put("밤의 항구 " * 30)
    put("two\nlines \x1b[31mred", state="running", run="r")
    assert queue() == 0
    first, second, *_rest = said.readouterr().out.splitlines()
    assert cells(first.split("GPU 0")[0]) == cells(second.split("GPU 0")[0]) < 60
    assert "밤의 항구" in first and "\x1b" not in second
    for action in ("remove", "retry"):
        assert queue(action, 1, 7) == 2
        assert "no number 7" in said.readouterr().err
    assert queue("retry", 2) == 2
    assert [item.state for item in store.read().items] == ["waiting", "running"]


def test_that_what_would_be_refused_again_is_said_at_once(
    store: QueueStore, said: pytest.CaptureFixture[str], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Finding(id="output-exists", severity="danger", title="Files of this name exist.")
    full = Finding(id="vram", severity="stop", title="The GPU is full.")
    monkeypatch.setattr(queue_add, "look_again", lambda _store, _item, yeses: foresee([there, full], yeses))
    put("a", state="failed", run="r")
    assert queue("retry", 1) == 1
    told = said.readouterr().err
    assert "a would be refused at its turn" in told and "--accept output-exists" in told
    assert store.read().items[0].state == "failed"
    assert queue("retry", 1, "--accept", "output-exists") == 0
    assert "As things are now a would be refused: The GPU is full." in said.readouterr().err
    assert store.read().items[0].accepted == ("output-exists",)


@pytest.mark.parametrize(
    "words",
    [
        ("add",),
        ("list", "1"),
        ("remove",),
        ("remove", "first"),
        ("remove", "7"),
        ("move", "1"),
        ("policy",),
        ("policy", "retry"),
        ("clear", "1"),
        ("pause", "3"),
        ("continue", "3"),
        ("start", "--at", "02:00"),
        ("remove", "1", "--when-free"),
        ("pause", "--accept", "cuda"),
        ("pause", "--gpu", "-1"),
        ("dance",),
        ("add", "gone.toml"),
    ],
)
def test_that_what_makes_no_sense_is_said_in_one_line(
    words: tuple[str, ...], store: QueueStore, said: pytest.CaptureFixture[str]
) -> None:
    assert queue(*words) == 2
    assert len(said.readouterr().err.splitlines()) == 1


def test_that_commands_about_runs_wake_the_queue(
    store: QueueStore, said: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[Path] = []
    monkeypatch.setattr(
        "gui.engine.runs.queue_session.ensure_scheduler",
        lambda store, wait: woken.append(store.home.root),
    )
    assert cli(["runs"]) == 0 and cli(["families"]) == 0
    assert woken == [store.home.root]
    assert cli(["schedule"]) == 0
