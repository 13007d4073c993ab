"""The whole window against the real trainer: open, review, launch, watch, pause, finish; and a mad rate.

Best on a display of its own: ``xvfb-run -a env QT_QPA_PLATFORM=xcb pytest tests/endurance/…``. With
``KOHYA_PREFLIGHT_PICTURES`` set to a folder, pictures of what was seen are kept there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import Person, persons
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from real_plan import real_plan
from run_helper import ended, wait_until

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.process_table import boottime
from gui.engine.runs.processes import tree_of
from gui.engine.runs.start import read_status

LONG_MS = 600_000

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(1500)]


@pytest.fixture
def person(real_trainer, home: Home, qtbot: QtBot, qapp: QApplication, no_leftovers) -> Iterator[Person]:
    try:
        with persons(qtbot, qapp) as sit_down:
            root, python = str(real_trainer.root), str(real_trainer.python)
            yield sit_down(home, trainer=root, python=python, size=(1280, 800))
    finally:
        for name in run_names(home):
            run = RunFolder(home.runs / name)
            tree_of(run.path).stop()
            wait_until(lambda run=run: ended(run))


@pytest.fixture
def plan(real_trainer, tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, *, rate: float, steps: int, every: int) -> Path:
        path = tmp_path / f"{name}.toml"
        text = real_plan(
            real_trainer.inputs,
            name,
            unet_lr=rate,
            optimizer_type="AdamW",
            max_train_steps=steps,
            save_every_n_steps=every,
        )
        path.write_text(text, "utf-8")
        return path

    return write


def picture(person: Person, name: str) -> None:
    folder = os.environ.get("KOHYA_PREFLIGHT_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        QApplication.processEvents()
        person.window.grab().save(str(Path(folder) / f"{name}.png"))


def tell(what: str, seconds: float) -> None:
    print(json.dumps({"measured": what, "seconds": round(seconds, 3)}))


def only_run(home: Home) -> RunFolder:
    (name,) = run_names(home)
    return RunFolder(home.runs / name)


def review(person: Person, path: Path, name: str) -> None:
    person.until(lambda: person.bench.trainers.looked, "the trainer", LONG_MS)
    picture(person, f"{name}-1-start")
    person.open_plan(path)
    person.until(lambda: "train_network.py" in person.says("command-text"), "the command")
    picture(person, f"{name}-2-review")
    assert "stop this run" not in person.says("review-headline").replace("Nothing stops", ""), person.reads()


def launch(person: Person, home: Home) -> tuple[RunFolder, float]:
    """Press the button, say yes where it is asked, and measure from the last click to the process."""
    person.click("launch-safely")
    clicked = time.time()
    person.until(lambda: person.is_seen("ask-dangers") or person.is_seen("run-title"), "an answer")
    if person.is_seen("ask-dangers"):
        person.click("ask-dangers-yes")
        clicked = time.time()
    person.until(lambda: person.is_seen("run-title"), "the run page", LONG_MS)
    run = only_run(home)
    person.until(run.launcher.is_file, "the trainer's process")
    started = run.launcher.stat().st_mtime
    tell("click to the trainer's process", started - clicked)
    return run, started


def test_that_the_real_trainer_is_reviewed_launched_watched_and_finishes(person, plan, home):
    review(person, plan("good", rate=1e-4, steps=24, every=8), "good")
    run, started = launch(person, home)
    assert not person.is_seen("run-practice")
    person.until(lambda: person.says("run-phase"), "what is done before the first step")
    picture(person, "good-3-before-the-first-step")
    person.until(lambda: "step 3 of 24" in person.says("run-progress-words"), "the third step", LONG_MS)
    tell("process to the third step seen", time.time() - started)
    picture(person, "good-4-first-steps")

    person.click("run-pause")
    person.reads_until("paused", "run-state", LONG_MS)
    step = read_status(run).step
    picture(person, "good-5-paused")
    person.until(lambda: person.says("run-pause") == "Go on", "the way on")
    person.qtbot.wait(2000)
    assert read_status(run).step == step, "it stands still"
    person.click("run-pause")
    person.until(lambda: "paused" not in person.says("run-state"), "it going on")

    person.reads_until("Finished: 24 of 24 steps", "run-verdict", LONG_MS)
    person.until(lambda: all("clean" in row for row in person.rows("run-file-list")), "clean files", LONG_MS)
    picture(person, "good-6-finished")
    assert person.says("run-final-file").endswith("demo.safetensors")
    told = "\n".join(person.rows("run-timeline"))
    assert "Paused" in told or "paused" in told
    print(json.dumps({"files": person.rows("run-file-list"), "happened": person.rows("run-timeline")}))


def test_that_a_mad_rate_is_told_in_red_and_stopped_by_the_guard(person, plan, home):
    review(person, plan("mad", rate=1e3, steps=300, every=1), "mad")
    run, _started = launch(person, home)
    person.until(lambda: person.is_seen("run-banner-loss-nonfinite"), "the red banner", LONG_MS)
    picture(person, "mad-3-banner")
    written = next(event for event in iterate_json_lines(run.events) if event["event"] == "loss-nonfinite")
    began = next(event for event in iterate_json_lines(run.events) if event["event"] == "launched")
    seen = boottime() - began["boot_seconds"]
    tell("first line with nan to the banner seen", seen - written["t"])
    person.reads_until("stopped by the guard", "run-state", LONG_MS)
    person.until(lambda: person.is_seen("run-first-try"), "the way on")
    person.until(
        lambda: "not checked yet" not in "\n".join(person.rows("run-file-list")), "the files", LONG_MS
    )
    picture(person, "mad-4-stopped")
    banner = person.says("run-banner-loss-nonfinite")
    files = person.rows("run-file-list")
    print(json.dumps({"banner": banner, "files": files, "happened": person.rows("run-timeline")}))
    assert "no longer a number" in banner
    assert f"step {written['step']}" in banner
    assert any("after the break" in row or "broken" in row for row in files)
    assert "clean" not in " ".join(files[:-1]), "what a mad rate has touched is not clean"
