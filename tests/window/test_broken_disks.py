"""Disks that do not answer: the window goes on, says so, and ends when it is closed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from person import Person, persons
from PIL import Image

from gui.engine.runs.folder import RunFolder
from gui.window.bridges import pool
from gui.window.bridges import tasks as tasks_bridge
from gui.window.bridges.run_watch import RunWatch
from gui.window.bridges.tasks import Tasks

ROOT = Path(__file__).resolve().parents[2]
PLAN = (ROOT / "resources" / "sample_project" / "plan.toml").read_text("utf-8")
needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="nothing here that hangs when it is read")

OPEN_AND_CLOSE = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gui.engine.paths import Home
from gui.window import app

made = app.make_application

def make(*words):
    application = made(*words)
    timer = QTimer(application)
    def look():
        for window in application.topLevelWidgets():
            if window.findChild(object, "note-open-setup") is not None:
                timer.stop()
                window.window().close()
                return
    timer.timeout.connect(look)
    timer.start(50)
    return application

app.make_application = make
sys.exit(app.run_window(Home(Path(sys.argv[1])), Path(sys.argv[2])))
"""


@pytest.fixture
def sit_down(qtbot, qapp):
    with persons(qtbot, qapp) as sit:
        yield sit


@pytest.fixture
def hung(tmp_path: Path):
    """Return a plan that cannot be read to its end; it comes back after the test."""
    path = tmp_path / "far" / "plan.toml"
    path.parent.mkdir()
    os.mkfifo(path)
    yield path
    if path.is_fifo():
        _answer(path)


def _answer(path: Path, text: str = "") -> None:
    """Let whoever reads go on."""
    try:
        place = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return  # nobody reads
    os.write(place, text.encode())
    os.close(place)


def test_that_work_is_done_though_all_threads_are_stuck(qtbot, monkeypatch):
    monkeypatch.setattr(pool, "STUCK_SECONDS", 0.05)
    monkeypatch.setattr(tasks_bridge, "LOOK_MS", 20)
    tasks, go_on, done = Tasks(threads=2), threading.Event(), []
    for _each in range(2):
        tasks.run(lambda _handle: go_on.wait(60), lambda _value: None)
    tasks.run(lambda _handle: 7, done.append)
    qtbot.waitUntil(lambda: done == [7])
    tasks.close(0.01)
    go_on.set()


def test_that_no_more_is_done_at_once_than_there_are_threads(qtbot):
    tasks, lock, at_once, most = Tasks(threads=2), threading.Lock(), [], []

    def work(_handle):
        with lock:
            at_once.append(1)
            most.append(len(at_once))
        threading.Event().wait(0.01)
        with lock:
            at_once.pop()

    done = []
    for _each in range(12):
        tasks.run(work, done.append)
    qtbot.waitUntil(lambda: len(done) == 12)
    assert max(most) <= 2
    tasks.close()


def test_that_work_that_waits_is_not_begun_once_all_is_closed(qtbot):
    tasks, go_on, begun = Tasks(threads=1), threading.Event(), []
    tasks.run(lambda _handle: go_on.wait(60), lambda _value: None)
    tasks.run(lambda _handle: begun.append(1), lambda _value: None)
    tasks.close(0.01)
    go_on.set()
    tasks.close(5)
    assert begun == []


@needs_fifos
def test_that_the_program_ends_though_a_disk_hangs(tmp_path, hung):
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", OPEN_AND_CLOSE, str(tmp_path / "home"), str(hung)]
    ended = subprocess.run(words, env=environment, timeout=60, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr == ""


@needs_fifos
def test_that_a_plan_on_a_disk_that_hangs_is_spoken_of_and_can_be_left(sit_down, home, hung, tmp_path):
    person: Person = sit_down(home)
    person.drop(hung)
    person.reads_until("Opening “plan.toml” …")
    near = tmp_path / "near.toml"
    near.write_text(PLAN)
    person.click("note-open-leave")
    assert not person.is_seen("note-open-setup")
    person.open_plan(near)
    assert "pimolo" in person.says("plan-name")


@needs_fifos
def test_that_coming_back_waits_for_no_disk(sit_down, home, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    person: Person = sit_down(home)
    person.open_plan(path)
    path.unlink()
    os.mkfifo(path)
    sit_down(home)
    person.come()
    person.go("runs")
    assert person.window.current == "runs"
    _answer(path, "name = 1")


@needs_fifos
def test_that_letting_go_of_a_run_waits_for_no_disk(qtbot, tmp_path):
    folder = tmp_path / "20260101-000000-far"
    folder.mkdir()
    os.mkfifo(folder / "status.json")
    watch = RunWatch(RunFolder(folder))
    watch.start()
    watch.close()
    _answer(folder / "status.json")


def test_that_pictures_dropped_on_the_first_page_become_data(sit_down, home, tmp_path):
    folder = tmp_path / "my pictures"
    folder.mkdir()
    Image.new("RGB", (64, 64)).save(folder / "one.jpg")
    person: Person = sit_down(home)
    person.drop(folder / "one.jpg")
    person.until(lambda: person.is_seen("step-data"), "the data step")
    person.reads_until("my pictures")
