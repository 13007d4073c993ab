"""The Run page's own sentences."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.status import BarNow, FileNow, GpuNow, HostNow, RunStatus, StopNow, Verdict
from gui.window.models.run_lists import Line, LineModel
from gui.window.pages.run import words
from gui.window.pages.run.alarm_stack import AlarmBanner, AlarmStack

NOON = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))
GIB = 1 << 30


def status(**facts: object) -> RunStatus:
    return RunStatus.model_validate({"schema": 1, "name": "r", "state": "running", **facts})


def test_that_a_living_run_says_all_in_one_line():
    now = status(
        step=507,
        total=1200,
        epoch=5,
        epochs=10,
        elapsed_seconds=941,
        rate=1 / 1.86,
        mean_rate=1 / 1.84,
        remaining_seconds=22 * 60,
    )
    assert words.progress_words(now, lambda: NOON) == (
        "step 507 of 1,200 · epoch 5 of 10 · 15 min 41 s · 1.86 s a step (1.84 on average) · "
        "about 22 min left, ends 12:22"
    )


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, "before the first step"),
        ({"step": 3}, "step 3"),
        ({"step": 3, "total": 33, "begun_at": 21, "whole": 54}, "step 3 of 33 (24 of 54 in all)"),
        ({"step": 3, "rate": 2.0}, "step 3 · 2.00 steps a second"),
        ({"step": 3, "rate": 0.5}, "step 3 · 2.00 s a step"),
        ({"step": 3, "mean_rate": 2.0, "state": "ended"}, "step 3 · 2.00 steps a second on average"),
        ({"step": 3, "mean_rate": 0.25}, "step 3 · 4.00 s a step on average"),
        ({"step": 3, "rate": 2.0, "mean_rate": 2.5}, "step 3 · 2.00 steps a second (2.50 on average)"),
        ({"state": "ended", "verdict": Verdict(verdict="failed")}, ""),
    ],
)
def test_that_what_is_not_known_is_left_out(facts, said):
    assert words.progress_words(status(**facts)) == said


def test_that_a_far_end_is_told_with_its_day():
    now = status(step=1, total=2, remaining_seconds=30 * 3600)
    assert "ends Tue 18:00" in words.progress_words(now, lambda: NOON)


def test_that_bars_before_the_first_step_are_shown():
    caching = status(phase="caching-latents", bar=BarNow(name="", done=3, total=24))
    assert words.phase_line(caching) == "Caching latents: 3 of 24"
    assert words.progress_of(caching) == (3, 24)
    open_end = status(phase="caching-text", bar=BarNow(name="", done=3, total=None))
    assert words.phase_line(open_end) == "Caching text encoder outputs: 3"
    assert words.progress_of(open_end) == (0, 0)
    assert words.phase_line(status(phase="loading")) == "Loading …"
    assert words.phase_line(status(state="checking")).startswith("Looking at")
    sampling = status(phase="sampling", step=7, total=10, bar=BarNow(name="", done=1, total=30))
    assert words.phase_line(sampling) == "" and words.progress_of(sampling) == (7, 10)


@pytest.mark.parametrize(
    ("kind", "facts", "said"),
    [
        ("stop", {}, ""),
        ("stop", {"state": "ended"}, "The training is over."),
        ("pause", {"state": "starting"}, "There is nothing to pause yet."),
        ("pause", {"state": "stopping"}, "The training is being stopped already."),
        ("stop", {"state": "stopping"}, ""),
        ("stop-after-save", {"stop": StopNow(reason="after-save", sentence="Waits.")}, "Waits."),
        ("stop", {"stop": StopNow(reason="after-save", sentence="Waits.")}, ""),
        ("resume", {"state": "paused"}, ""),
    ],
)
def test_that_buttons_say_why_they_cannot_be_used(kind, facts, said):
    assert words.why_not(kind, status(**facts)) == said


def file(name: str, **facts: object) -> FileNow:
    values = {"path": Path(name), "kind": "model", "complete": True, "size": 2048, **facts}
    return FileNow.model_validate(values)


def test_that_stopping_says_what_is_lost():
    assert "not made a step" in words.loss_on_stop(status()).detail
    assert words.loss_on_stop(status(step=1234)).detail == "Nothing was saved yet: all 1,234 steps are lost."
    saved = status(step=507, files=(file("m-400.safetensors", step=400),))
    detail = words.loss_on_stop(saved).detail
    assert "107 steps" in detail and "m-400.safetensors" in detail and "No training state" in detail
    state = status(step=507, files=(file("m.safetensors"), file("m-state", kind="state")))
    assert words.loss_on_stop(state).detail == (
        "The steps since the last save are lost. The last file is m.safetensors."
    )


@pytest.mark.parametrize(
    ("facts", "tone", "said"),
    [
        ({"judgement": "clean"}, "good", "clean"),
        ({"judgement": "grown"}, "warn", "grown"),
        ({"judgement": "nonfinite"}, "bad", "broken"),
        ({"judgement": "incomplete"}, "bad", "broken"),
        ({"judgement": "after-nonfinite"}, "bad", "after the break"),
        ({"judgement": "not-checked"}, "warn", "not checked"),
        ({"judgement": "from the future"}, "plain", "from the future"),
        ({}, "plain", "not checked yet"),
        ({"kind": "state"}, "plain", "state"),
        ({"complete": False}, "plain", "being written"),
        ({"removed": True, "judgement": "clean"}, "plain", "removed"),
    ],
)
def test_that_files_are_called_what_they_are(facts, tone, said):
    assert words.file_chip(file("m.safetensors", **facts)) == (tone, said)


def test_that_memory_is_told_against_the_total():
    gpu = GpuNow(
        index=0, uuid="g", used_bytes=GIB, total_bytes=12 * GIB, peak_used_bytes=9 * GIB, process_bytes=GIB
    )
    assert words.gpu_words(gpu, over=False) == "now 1.0 GiB · peak 9.0 GiB of 12.0 GiB"
    assert words.gpu_words(gpu, over=True) == "peak 9.0 GiB of 12.0 GiB"
    host = HostNow(
        tree_rss_bytes=3 * GIB,
        tree_pss_bytes=2 * GIB,
        peak_tree_rss_bytes=4 * GIB,
        ram_available_bytes=20 * GIB,
        disk_free_bytes={"/a": 90 * GIB, "/b": 64 * GIB},
    )
    assert words.host_words(status(host=host)) == (
        "RAM 2.0 GiB of the trainer · peak 4.0 GiB · 20.0 GiB free · disk 64.0 GiB free"
    )


def test_that_lists_keep_the_newest_at_the_top_and_no_more_than_they_may(qtmodeltester):
    model = LineModel(most=3)
    qtmodeltester.check(model)
    model.add([Line("a"), Line("b")])
    model.add([Line("c"), Line("d", "bad", "00:01", struck=True, chip="x")])
    assert [model.line(row).text for row in range(model.rowCount())] == ["d", "c", "b"]
    read = model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert read == "00:01, d, x, no longer there"
    model.add([Line(str(n)) for n in range(9)])
    assert [model.line(row).text for row in range(model.rowCount())] == ["8", "7", "6"]


def test_that_a_list_that_is_shown_anew_changes_only_what_is_other(qtbot):
    model = LineModel()
    model.show([Line("a"), Line("b")])
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show([Line("a"), Line("c")])
    with qtbot.assertNotEmitted(model.dataChanged), qtbot.assertNotEmitted(model.modelReset):
        model.show([Line("a"), Line("c")])


def banners(stack: AlarmStack) -> list[AlarmBanner]:
    """Return the banners that are seen, from top to bottom."""
    return sorted(sight.visible(stack, kind=AlarmBanner), key=lambda banner: banner.y())


def test_that_what_one_reads_stays_open_while_an_alarm_changes(icons, show, qapp, qtbot):
    stack = show(AlarmStack(icons, qapp.clipboard()), 700, 400)
    quiet = Alarm(id="stalled", tone="warn", title="Nothing is heard.", next_steps=("Wait.",))
    stack.show_alarms([quiet], over=False)
    stack.show()
    qtbot.waitUntil(lambda: len(banners(stack)) == 1)
    before = banners(stack)
    stack.show_alarms([quiet], over=False)
    assert banners(stack) == before
    opener = sight.find(stack, "run-banner-stalled-ways", QPushButton)
    stack.activateWindow()
    opener.setFocus()
    qtbot.keyClick(opener, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: sight.sees(stack, "run-banner-stalled-details"))
    later = quiet.model_copy(update={"title": "Nothing is heard for long."})
    stack.show_alarms([later], over=False)
    qtbot.waitUntil(lambda: [b.title.text() for b in banners(stack)] == ["Nothing is heard for long."])
    assert sight.find(stack, "run-banner-stalled-ways") is opener, "half a click is not lost"
    found = later.model_copy(
        update={"last_clean": Path("/out/a.safetensors"), "next_steps": ("Do not wait.",)}
    )
    stack.show_alarms([found], over=False)
    sight.until_says(qtbot, stack, "Do not wait.")
    assert banners(stack) == before
    qtbot.waitUntil(lambda: sight.sees(stack, "run-copy-clean-stalled"))
    qtbot.waitUntil(lambda: sight.find(stack, "run-banner-stalled-ways").hasFocus())
    worse = Alarm(id="oom", tone="bad", title="No memory.")
    stack.show_alarms([worse, later], over=False)
    both = ["No memory.", "Nothing is heard for long."]
    qtbot.waitUntil(lambda: [b.title.text() for b in banners(stack)] == both)
    stack.show_alarms([], over=False)
    assert not stack.isVisible()
