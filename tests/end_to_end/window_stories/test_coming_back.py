"""Windows come and go, runs stay: closed in mid-run, two at once, from the command line, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from run_helper import at_least_step, ended, status, wait_until

from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.metrics import StepRow, read_metrics

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

ENDLESS = {"max_train_steps": 5000, "save_every_n_steps": 1000}


def only_run(home) -> RunFolder:
    wait_until(lambda: len(run_names(home)) == 1)
    (name,) = run_names(home)
    return RunFolder(home.runs / name)


def launch_endless(person, write_plan) -> RunFolder:
    person.open_plan(write_plan("endless", **ENDLESS))
    person.click("launch-safely")
    person.until(lambda: "of 5,000" in person.says("run-progress-words"), "the first step")
    return only_run(person.bench.home)


def test_that_a_closed_window_leaves_the_run_and_the_next_one_has_all_of_it(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    run = launch_endless(person, write_plan)
    person.until(lambda: person.bench.runs.living, "the run being known")
    person.window.close()
    assert person.window.isVisible()
    assert "“endless” goes on training." in person.says("closing")
    assert "Closing the window stops nothing" in person.says("closing")
    person.click("closing-no")
    assert not person.is_seen("closing")
    person.window.close()
    person.click("closing-yes")
    assert not person.window.isVisible()
    step = status(run).step
    wait_until(lambda: at_least_step(run, step + 5))

    again = sit_down(known_home)
    again.reads_until("endless", "run-title")
    again.until(lambda: "of 5,000" in again.says("run-progress-words"), "how far it is")
    again.until(lambda: any("The training began." in row for row in again.rows("run-timeline")), "history")
    again.until(lambda: drawn(again) >= step + 5, "all steps in the chart")
    assert [row.step for row in steps_of(run)][: step + 5] == list(range(1, step + 6))
    again.click("run-stop")
    again.click("run-stop-question-yes")
    again.reads_until("stopped", "run-state")
    again.window.close()
    assert not again.window.isVisible(), "nothing runs, nothing is asked"


def drawn(person) -> int:
    """Return how many steps are on the curve."""
    return len(person.find("run-curves").chart.series.steps)


def steps_of(run: RunFolder) -> list[StepRow]:
    return [row for row in read_metrics(run.metrics) if isinstance(row, StepRow)]


def picture_of(person, name: str) -> QImage:
    return person.find(name).icon().pixmap(18).toImage()


def test_that_two_windows_follow_one_run_and_agree(sit_down, known_home, write_plan):
    one = sit_down(known_home)
    run = launch_endless(one, write_plan)
    other = sit_down(known_home)
    other.reads_until("endless", "run-title")
    other.until(lambda: "of 5,000" in other.says("run-progress-words"), "the second window to follow")

    one.come()
    pausing = picture_of(one, "run-pause")
    one.click("run-pause")
    assert QApplication.focusWidget() is one.find("run-pause"), "Space again must not stop anything"
    for each in (one, other):
        each.reads_until("paused", "run-state")
        each.until(lambda each=each: each.says("run-pause") == "Go on", "the way on")
    assert picture_of(one, "run-pause") != pausing
    other.come()
    other.click("run-pause")
    for each in (one, other):
        each.until(lambda each=each: "paused" not in each.says("run-state"), "it going on")
        each.until(lambda each=each: each.says("run-pause") == "Pause", "the way to pause")

    one.come()
    one.click("run-stop")
    assert "Stop this training now?" in one.says("run-stop-question")
    assert "all" in one.says("run-stop-question") and "steps are lost" in one.says("run-stop-question")
    assert not other.is_seen("run-stop-question")
    one.key(Qt.Key.Key_Escape)
    assert not one.is_seen("run-stop-question")
    one.click("run-stop")
    one.click("run-stop-question-yes")
    for each in (one, other):
        each.until(lambda each=each: each.is_seen("run-verdict"), "the end")
        assert "Stopped" in each.says("run-verdict")
        each.until(lambda each=each: not each.is_seen("run-pause"), "no more to pause")
        asked = [row for row in each.rows("run-timeline") if "paused" in row.lower()]
        assert asked, each.rows("run-timeline")
    assert ended(run)


def test_that_a_run_of_the_command_line_is_seen_used_again_and_thrown_away(
    sit_down, known_home, write_plan, tmp_path
):
    person = sit_down(known_home)
    person.reads_until("Nothing is running", "status-idle")
    plan = write_plan("from the shell", max_train_steps=40)
    words = [sys.executable, "-m", "gui", "run", str(plan), "--practice", "--home", str(known_home.root)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as shell:
        person.reads_until("from the shell", "status-run")
        assert person.window.current == "start", "nobody is taken to another page unasked"
        person.go("runs")
        person.until(lambda: "from the shell" in person.rows("runs-table")[0], "its row")
        assert shell.wait(120) == 0
    run = only_run(known_home)
    person.until(lambda: "finished" in person.rows("runs-table")[0], "its end in the table")
    assert "1 run" in person.reads()

    person.click("runs-reuse")
    person.until(lambda: person.is_seen("launch-safely"), "the plan's review")
    assert person.says("plan-name") == "from the shell"
    assert "saved" not in person.says("plan-state"), "the run's own record is not written to"

    person.go("runs")
    person.click("runs-delete-button")
    person.reads_until("Delete the run “from the shell”?", "runs-delete")
    assert run.path.exists()
    person.click("runs-delete-no")
    assert run.path.exists()
    person.click("runs-delete-button")
    person.click("runs-delete-yes")
    person.reads_until("No runs yet")
    assert not run.path.exists()
    assert list((tmp_path / "data").rglob(run.name)), "it is in the trash"
    assert (tmp_path / "plans" / "out" / "lora.safetensors").exists(), "what was trained stays"


TYPES_A_NAME = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from gui.engine.paths import Home
from gui.window import app

make_application = app.make_application

def with_a_typist(*given):
    application = make_application(*given)
    QTimer.singleShot(100, type_a_name)
    return application

def type_a_name():
    windows = [each for each in QApplication.topLevelWidgets() if each.objectName() == "main-window"]
    field = windows[0].findChild(QLineEdit, "plan-name") if windows else None
    if field is None or not field.isVisible():
        QTimer.singleShot(100, type_a_name)
        return
    field.selectAll()
    QTest.keyClicks(field, "never saved")
    QTest.keyClick(field, "\\r")
    print("typed", flush=True)

app.make_application = with_a_typist
sys.exit(app.run_window(Home(Path(sys.argv[1])), Path(sys.argv[2]), "practice"))
"""


def test_that_unsaved_work_survives_a_killed_window(sit_down, known_home, write_plan, tmp_path):
    script = tmp_path / "window.py"
    script.write_text(TYPES_A_NAME, "utf-8")
    plan = write_plan("kept")
    before = plan.read_text("utf-8")
    words = [sys.executable, str(script), str(known_home.root), str(plan)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) as window:
        assert window.stdout is not None
        assert window.stdout.readline() == "typed\n"
        drafts = known_home.root / "drafts"
        wait_until(lambda: any("never saved" in each.read_text() for each in drafts.glob("*.json")))
        os.kill(window.pid, signal.SIGKILL)
    assert plan.read_text("utf-8") == before

    person = sit_down(known_home)
    person.reads_until("Unsaved work is back.", "note-draft-back")
    assert "“never saved” was not saved" in person.says("note-draft-back")
    assert person.says("plan-name") == "never saved"
    assert "draft kept" in person.says("plan-state")
    person.click("note-draft-back-close")
    assert not person.is_seen("note-draft-back")
    person.click("save-plan")
    person.reads_until("saved", "plan-state")
    assert 'name = "never saved"' in plan.read_text("utf-8")
