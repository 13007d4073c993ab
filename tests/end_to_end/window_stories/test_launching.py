"""A plan that cannot run is mended by clicks and launched; a mad one is launched against advice."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.processes import tree_of
from gui.engine.runs.records import Manifest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


def only_run(home) -> RunFolder:
    (name,) = run_names(home)
    return RunFolder(home.runs / name)


def test_that_stops_are_listed_mended_by_a_click_taken_back_and_launched(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    wrong = {"cache_latents": True, "color_aug": True, "persistent_data_loader_workers": True}
    person.open_plan(write_plan(network_dmi=4, max_train_steps=4, **wrong))
    person.reads_until("3 things stop this run", "review-headline")

    person.click("launch-safely")
    refused = person.says("launch-banner")
    assert "3 things stop this run" in refused
    assert "has no argument “network_dmi”" in refused
    assert "color_aug exclude each other" in refused
    assert "need at least one worker" in refused
    assert run_names(known_home) == []

    person.click("fix-remove", "finding-arg-unknown")
    person.reads_until("2 things stop this run", "review-headline")
    assert not person.is_seen("finding-arg-unknown")
    assert not person.is_seen("launch-banner"), "what it said is no longer true"

    person.click("apply-safe-fixes")
    person.reads_until("fixes were applied", "fixes-done")
    person.reads_until("Nothing stops this run", "review-headline")
    person.click("undo-fixes")
    person.reads_until("2 things stop this run", "review-headline")
    assert "color_aug" in person.says("finding-cache-aug")
    person.click("undo")
    person.reads_until("3 things stop this run", "review-headline")
    person.click("redo")
    person.reads_until("2 things stop this run", "review-headline")
    person.click("apply-safe-fixes")
    person.reads_until("Nothing stops this run", "review-headline")

    person.click("launch-safely")
    person.reads_until("Finished: 4 of 4 steps", "run-verdict")


def test_that_a_stop_leads_to_its_field_and_typing_there_mends_it(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    person.open_plan(write_plan(max_train_steps=-3))
    person.until(lambda: "stop" in person.says("review-headline"), "the stop")
    person.click("show-max_train_steps")
    person.until(lambda: person.is_seen("field-max_train_steps"), "the field")
    person.type_into("field-max_train_steps", "6")
    person.click("go-review")
    person.reads_until("Nothing stops this run", "review-headline")
    assert "6" in person.says("review-step")


def test_that_a_mad_rate_asks_is_stopped_and_its_files_are_told_apart(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    slowly = {"lr_scheduler": "constant_with_warmup", "lr_warmup_steps": 3}  # the first step changes nothing
    mad = write_plan("mad", unet_lr=1e4, max_train_steps=400, save_every_n_steps=1, **slowly)
    person.open_plan(mad)
    person.reads_until("is likely to go wrong", "review-headline")
    person.click("launch-safely")
    person.reads_until("Launch all the same?", "ask-dangers")
    assert "A learning rate of 10000 is very high." in person.says("ask-dangers")
    person.key(Qt.Key.Key_Escape)
    assert not person.is_seen("ask-dangers")
    assert run_names(known_home) == []
    person.click("launch-safely")
    person.click("ask-dangers-yes")

    person.until(lambda: person.is_seen("run-banner-loss-nonfinite"), "the red banner", 120_000)
    person.reads_until("stopped by the guard", "run-state")
    run = only_run(known_home)
    assert Manifest.read(run.manifest).accepted == ("lr-range",)
    assert not tree_of(run.path).alive()
    _assert_told(person)

    person.go("start")
    again = sit_down(known_home)
    again.go("runs")
    again.until(lambda: any("stopped" in row for row in again.rows("runs-table")), "the run in the table")
    again.click("runs-open")
    again.until(lambda: again.is_seen("run-banner-loss-nonfinite"), "the banner of a run long over")
    _assert_told(again)


def test_that_a_broken_loss_is_said_on_whatever_page_the_user_is(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    person.open_plan(write_plan("mad", unet_lr=1e4, max_train_steps=400))
    person.click("launch-safely")
    person.click("ask-dangers-yes")
    person.reads_until("mad", "run-title")
    person.go("plan")
    note = f"note-alarm-{only_run(known_home).name}"
    person.until(lambda: person.is_seen(note), "the note above the plan", 120_000)
    assert "mad: The loss is no longer a number" in person.says(note)
    person.click(f"{note}-show")
    person.until(lambda: person.is_seen("run-banner-loss-nonfinite"), "the run")
    assert not person.is_seen(note)
    person.go("plan")
    person.reads_until("stopped", "status-line")
    assert not person.is_seen(note), "told once is enough"


def _assert_told(person) -> None:
    """What was seen while it happened is seen again whenever the run is opened."""
    person.reads_until("no longer a number", "run-banner-loss-nonfinite")
    assert "since step" in person.says("run-banner-loss-nonfinite")
    person.until(
        lambda: "not checked yet" not in "\n".join(person.rows("run-file-list")), "all files to be checked"
    )
    files = person.rows("run-file-list")
    assert "clean" in files[-1], files
    assert "after the break" in files[0] or "broken" in files[0], files
    assert person.is_seen("run-copy-clean-loss-nonfinite")
    happened = "\n".join(person.rows("run-timeline"))
    assert "The loss is nan at step" in happened
    assert "guard" in happened.lower()
    person.until(lambda: person.is_seen("run-first-try"), "the way on")
