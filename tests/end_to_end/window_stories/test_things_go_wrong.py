"""The trainer is taken away, files are damaged: plain words, nothing lost, and the window goes on."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from run_helper import at_least_step, status, wait_until
from written_runs import write_run

from gui.engine.resources import resource_path
from gui.engine.runs.folder import RunFolder, run_names

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    """Return a trainer of its own: a copy that may be taken away."""
    for part in ("practice_trainer", "trainer_arguments"):
        shutil.copytree(resource_path(part), tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return (tmp_path / "practice_trainer").rename(tmp_path / "my trainer")


def test_that_a_trainer_taken_away_before_the_launch_is_said_and_may_come_back(
    sit_down, home, write_plan, trainer
):
    person = sit_down(home, trainer=str(trainer), python=sys.executable)
    person.until(lambda: person.bench.trainers.looked, "the trainer's answer")
    person.open_plan(write_plan(max_train_steps=4))
    person.until(lambda: "train_network.py" in person.says("command-text"), "the command")
    away = trainer.rename(trainer.with_name("moved"))
    person.click("launch-safely")
    person.until(lambda: "Nothing was started" in person.says("launch-banner"), "why not")
    assert "my trainer" in person.says("launch-banner")
    assert run_names(home) == []
    person.reads_until("No trainer", "status-trainer")
    person.reads_until("my trainer", "no-trainer")
    assert person.says("plan-name") == "small", "the plan is as it was"

    away.rename(trainer)
    person.until(lambda: not person.is_seen("no-trainer"), "the trainer to be seen again")
    person.click("launch-safely")
    person.reads_until("Finished: 4 of 4 steps", "run-verdict")


def test_that_a_trainer_taken_away_in_mid_run_loses_nothing(sit_down, home, write_plan, trainer):
    person = sit_down(home, trainer=str(trainer), python=sys.executable)
    person.until(lambda: person.bench.trainers.looked, "the trainer's answer")
    person.open_plan(write_plan(max_train_steps=5000, save_every_n_steps=10))
    person.click("launch-safely")
    person.until(lambda: "clean" in person.says("run-file-list"), "a clean file")
    (name,) = run_names(home)
    run = RunFolder(home.runs / name)
    shutil.rmtree(trainer)
    person.reads_until("No trainer", "status-trainer")
    step = status(run).step or 0
    wait_until(lambda: at_least_step(run, step + 3) or status(run).verdict is not None)
    if not person.is_seen("run-verdict"):  # what runs needs its files no more
        person.click("run-stop")
        person.click("run-stop-question-yes")
    person.until(lambda: person.is_seen("run-verdict"), "the end")
    assert "clean" in person.says("run-file-list")
    assert person.says("run-final-file").endswith(".safetensors")
    assert Path(person.says("run-final-file")).is_file()
    person.click("run-reuse")
    person.until(lambda: person.is_seen("launch-safely"), "the plan")
    person.until(lambda: person.is_seen("no-trainer"), "what is missing")


def test_that_damaged_plans_are_not_opened_and_say_where_they_are_damaged(
    sit_down, known_home, write_plan, tmp_path
):
    good = write_plan("good")
    person = sit_down(known_home, plan=good)
    person.until(lambda: person.says("plan-name") == "good", "the plan")
    torn = tmp_path / "torn.toml"
    torn.write_text(good.read_text("utf-8")[:200] + '\nname = "', "utf-8")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)) * 50)
    newer = tmp_path / "newer.toml"
    newer.write_text(good.read_text("utf-8").replace("schema = 1", "schema = 99"), "utf-8")
    gone = tmp_path / "gone.toml"
    for path in (torn, binary, gone):
        person.drop(path)
        person.until(lambda path=path: path.name in person.says("note-error"), f"words about {path.name}")
        assert "This was not opened." in person.says("note-error")
        assert "Traceback" not in person.reads()
        assert person.says("plan-name") == "good"
    person.drop(newer)
    person.reads_until("to look at only", "plan-state")
    assert "newer version of Kohya Preflight" in person.says("note-plan-notes")
    assert not person.is_seen("note-error"), "what it said is over"
    person.until(lambda: "1 thing stops" in person.says("review-headline"), "why it cannot run")
    person.open_plan(good)
    person.until(lambda: not person.is_seen("note-plan-notes"), "the note to go with its plan")
    assert person.says("plan-name") == "good"


def test_that_a_home_full_of_damage_opens_and_says_what_is_damaged(sit_down, known_home, write_plan):
    home = known_home
    home.preferences.write_text('appearance = "dark\ntrainer = [', "utf-8")
    home.window_state.write_text('{"geometry": 7, "plan": [', "utf-8")
    drafts = home.root / "drafts"
    drafts.mkdir()
    (drafts / "0123456789abcdef.json").write_text('{"schema": 1, "plan":', "utf-8")
    (home.root / "recent_plans.json").write_text("[[[", "utf-8")
    good = write_run(home, "good one", sentence="Finished: 1,000 of 1,000 steps.")
    damaged = write_run(home, "damaged")
    damaged.status.write_bytes(b"\x00\xff{" * 100)
    newer = write_run(home, "newer")
    data = json.loads(newer.status.read_text("utf-8"))
    newer.status.write_text(json.dumps({**data, "schema": 99}), "utf-8")
    (home.runs / "holiday pictures").mkdir()
    (home.runs / "holiday pictures" / "beach.txt").write_text("sun", "utf-8")
    (home.runs / "a file.txt").write_text("no folder", "utf-8")

    person = sit_down(home)
    person.reads_until("Train without losing a night")
    person.until(lambda: person.bench.runs.known and person.bench.trainers.looked, "all to be looked at")
    person.go("runs")
    person.until(lambda: len(person.rows("runs-table")) >= 3, "the runs")
    rows = person.rows("runs-table")
    assert any("good one" in row and "finished" in row for row in rows)
    assert any("damaged" in row for row in rows)
    assert any("newer" in row for row in rows)
    assert "Traceback" not in person.reads()
    for number in range(len(rows)):
        person.find("runs-table").selectRow(number)
        if person.find("runs-open").isEnabled():
            person.click("runs-open")
            person.until(lambda: person.is_seen("run-title"), "the run")
            assert "good one" in person.says("run-title")
            person.go("runs")
    person.go("settings")
    person.until(lambda: person.is_seen("settings-page"), "the settings")
    person.go("plan")
    person.until(lambda: person.is_seen("plan-name"), "the plan")
    assert good.path.exists()
    assert list(drafts.glob("*.damaged"))


def test_that_a_damaged_run_that_is_open_says_so_and_comes_back(sit_down, known_home):
    run = write_run(known_home, "good one", sentence="Finished: 1,000 of 1,000 steps.")
    person = sit_down(known_home)
    person.go("runs")
    person.until(lambda: person.rows("runs-table"), "the run")
    person.find("runs-table").setFocus()
    person.key(Qt.Key.Key_Return)
    person.reads_until("Finished: 1,000 of 1,000 steps.", "run-verdict")
    text = run.status.read_text("utf-8")
    run.status.write_text("{", "utf-8")
    person.until(lambda: person.is_seen("run-trouble"), "the trouble")
    assert "status.json" in person.says("run-trouble")
    run.status.write_text(text, "utf-8")
    person.until(lambda: not person.is_seen("run-trouble"), "the end of the trouble")
    away = run.path.rename(run.path.with_name("20200101-000000-away"))
    person.until(lambda: person.is_seen("run-trouble"), "the folder being gone")
    assert "no longer there" in person.says("run-trouble")
    assert away.exists()
