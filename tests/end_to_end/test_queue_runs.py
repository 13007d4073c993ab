"""The queue for real: schedulers and trainers as processes, killed, restarted, racing; nothing runs twice."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from queue_helper import launches, states
from quick_trainer import ACCEPTED, AskedTrainer, quick_plan

from gui.engine.errors import QueueRefused
from gui.engine.paths import Home
from gui.engine.runs import queue_session
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import SupervisorLock, is_held
from gui.engine.runs.queue_session import ensure_scheduler, schedule
from gui.engine.runs.queue_store import QueueStore, Wish
from gui.engine.token_store import TokenStore
from gui.engine.trainer.installs import practice_install

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> AskedTrainer:
    """Return a trainer that only acts."""
    return AskedTrainer(tmp_path_factory.mktemp("trainer"))


@pytest.fixture
def store(home: Home) -> QueueStore:
    return QueueStore(home)


def test_that_of_schedulers_that_race_one_works_with_the_token_and_stops_where_it_should(
    tmp_path: Path, home: Home, store: QueueStore, asked: AskedTrainer, keyring_file: Path
) -> None:
    token = "hf_a-token-of-the-keyring"
    assert TokenStore(home).keep("huggingface_token", token) == "keyring"
    wish = Wish(asked.known_in(home), accepted=ACCEPTED)
    store.add(quick_plan(tmp_path, "first", steps=2), wish)
    gone = quick_plan(tmp_path / "gone", "gone")
    store.add(gone, wish)
    store.add(quick_plan(tmp_path, "never", steps=2), wish)
    store.set_policy("stop")
    shutil.rmtree(tmp_path / "gone" / "images")
    words = [sys.executable, "-m", "gui", "schedule", "--home", str(home.root)]
    racers = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    assert [racer.communicate(timeout=120)[1] for racer in racers] == [b""] * 3
    assert {racer.returncode for racer in racers} == {0}
    assert states(store) == ["done", "refused", "waiting"]
    assert launches(home) == [1]
    refused = store.read().items[1]
    assert refused.findings and "images" in refused.sentence and refused.run is None
    run = RunFolder(home.runs / (store.read().items[0].run or ""))
    assert hashlib.sha256(token.encode()).hexdigest().encode() in run.output_log.read_bytes()
    kept = [path for path in home.root.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert kept == []
    assert not ensure_scheduler(store), "what is held needs none"


def test_that_a_scheduler_that_cannot_be_started_says_why(
    tmp_path: Path, home: Home, store: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not ensure_scheduler(store)
    store.add(quick_plan(tmp_path, "a"), Wish(practice_install()))
    words = [sys.executable, "-c", "import sys; sys.exit('kohya-preflight: no such luck')"]
    monkeypatch.setattr("gui.engine.runs.detached.own_words", lambda: words)
    with pytest.raises(QueueRefused, match="no such luck"):
        ensure_scheduler(store)
    assert ensure_scheduler(store, wait=False)
    monkeypatch.setattr("gui.engine.runs.detached.own_words", lambda: [str(tmp_path / "nothing")])
    with pytest.raises(QueueRefused, match="No such file"):
        ensure_scheduler(store)
    lock = SupervisorLock(store.lock)
    lock.take()
    assert not ensure_scheduler(store)
    monkeypatch.setattr(queue_session, "LOOKED_AT_SECONDS", 0.0)
    assert not schedule(store), "another one lives"
    lock.release()


def test_that_a_scheduler_stays_for_what_is_added_while_it_leaves(
    tmp_path: Path, home: Home, store: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([False, False, False])

    class LooksThrice:
        def __init__(self, *_parts: object) -> None: ...

        def look(self) -> bool:
            return next(looks)

    home.queue.mkdir(parents=True)
    answers = iter([True, True, True, False])
    monkeypatch.setattr(queue_session, "Scheduler", LooksThrice)
    monkeypatch.setattr(queue_session, "has_work", lambda _queue: next(answers))
    rests: list[float] = []
    assert schedule(store, rest=rests.append)
    assert len(rests) == 2 and not is_held(store.lock)


def test_that_a_scheduler_whose_home_is_taken_away_ends(
    tmp_path: Path, home: Home, store: QueueStore
) -> None:
    store.add(quick_plan(tmp_path, "a"), Wish(practice_install()))
    store.change(1, lambda item: item.model_copy(update={"state": "running", "run": "20261130-010203-none"}))
    assert schedule(store, rest=lambda _seconds: shutil.rmtree(home.queue))
