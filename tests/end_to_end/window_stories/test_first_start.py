"""Somebody starts the program for the first time and practises."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


def test_that_the_first_training_needs_five_clicks_and_ends_with_a_clean_file(sit_down, home, qapp):
    person = sit_down(home, trainer=None)
    assert "Train without losing a night" in person.read_first
    assert "Finding trainers and GPUs …" in person.read_first
    person.reads_until("not found", "door-trainer")
    assert "How to install it" in person.says("door-trainer")
    assert "on the processor" in person.says("door-practice")
    assert person.is_seen("door-setup-open")

    person.click("door-practice-start")
    person.until(lambda: person.is_seen("launch-safely"), "the review of the sample plan")
    person.reads_until("Nothing stops this run", "review-headline")
    assert "pimolo" in person.reads()
    person.until(lambda: "train_network.py" in person.says("command-text"), "the command")

    person.click("launch-safely")
    person.until(lambda: person.is_seen("run-title"), "the run page")
    assert "pimolo" in person.says("run-title")
    person.reads_until("practice", "run-practice")
    person.until(lambda: re.search(r"step \d+ of \d+", person.says("run-progress-words")), "steps")
    assert person.find("run-pause").isEnabled()
    assert "pimolo" in person.says("status-run")

    person.reads_until("Finished:", "run-verdict", 180_000)
    assert person.says("run-final-file").endswith("pimolo.safetensors")
    assert person.is_seen("run-copy-path")
    person.until(lambda: all("clean" in row for row in person.rows("run-file-list")), "clean files")
    assert any("pimolo.safetensors" in row for row in person.rows("run-file-list"))
    assert any("The training began." in row for row in person.rows("run-timeline"))
    person.click("run-copy-path")
    assert qapp.clipboard().text() == str(home.root / "practice" / "out" / "pimolo.safetensors")

    person.go("runs")
    person.until(lambda: "finished" in person.rows("runs-table")[0], "the run in the table")
    person.go("start")
    person.reads_until("pimolo", "lately")
