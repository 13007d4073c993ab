"""The Run page: what one sees of a run and can do with it, over real processes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QListView, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from run_helper import FINISHES, GOES_ON, at_least_step, ended, make_run, status, wait_until
from run_windows import Launches, launches

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import RunStatus, Verdict
from gui.window.pages.run.run_page import RunPage

pytestmark = pytest.mark.usefixtures("no_leftovers")

SAMPLES = """
from PIL import Image
Path(out, "sample").mkdir()
header(1000)
for n in range(3):
    step(n + 1, 1000, 0.5)
    name = f"lora_00000{n + 1}_0{n}_2026113001020{n}_1.png"
    Image.new("RGB", (64, 48), (200, 90 * n, 20)).save(f"{out}/sample/{name}")
sleep(600)
"""

BROKEN = """
header(100)
for n in range(1, 5):
    step(n, 100, 0.5)
save(f"{out}/lora-step00000004.safetensors")
sleep(2)
step(5, 100, float("nan"))
sleep(600)
"""


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launches]:
    with launches(tmp_path) as made:
        yield made


@pytest.fixture
def make_page(qtbot: QtBot, tasks, theme, icons, show) -> Iterator[Callable[..., RunPage]]:
    """Return what shows a page; its watching has ended after the test."""
    made: list[RunPage] = []

    def make(**more: object) -> RunPage:
        made.append(RunPage(tasks=tasks, theme=theme, icons=icons, **more))
        return show(made[-1], 1200, 760)

    yield make
    for each in made:
        each.close_run()


@pytest.fixture
def page(make_page: Callable[..., RunPage]) -> RunPage:
    return make_page()


def part(page: QWidget, name: str) -> QWidget:
    (found,) = page.findChildren(QWidget, name)
    return found


def seen(page: QWidget, name: str) -> str:
    """Return the words of a part that are seen; "" where it is not."""
    return sight.says(page, name)


def visible(page: QWidget, name: str) -> bool:
    return sight.sees(page, name)


def timeline(page: QWidget) -> list[str]:
    model = part(page, "run-timeline").model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def files(page: QWidget) -> list[str]:
    model = part(page, "run-file-list").model()
    return [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]


def click(qtbot: QtBot, page: QWidget, name: str) -> None:
    sight.click(qtbot, page, name)


def test_that_an_empty_page_says_what_will_be_here(page, qtbot):
    assert "Launch a plan" in seen(page, "run-empty")
    with qtbot.waitSignal(page.plan_wanted, timeout=1000):
        click(qtbot, page, "run-to-plan")


def test_that_a_finished_run_shows_how_it_ended_and_where_its_file_is(page, launch, qtbot):
    run = launch.script(FINISHES)
    page.open(run)
    qtbot.waitUntil(lambda: "Finished: 5 of 5 steps" in seen(page, "run-verdict-sentence"), timeout=60_000)
    assert seen(page, "run-state") == "✓ finished"
    assert seen(page, "run-title") == "a run"
    assert "step 5 of 5" in seen(page, "run-progress-words")
    assert not visible(page, "run-stop") and not visible(page, "run-progress")
    qtbot.waitUntil(lambda: "Finished" in timeline(page), timeout=10_000)
    assert any("Saved lora.safetensors" in line for line in timeline(page))
    assert len(files(page)) == 1 and "clean" in files(page)[0]
    click(qtbot, page, "run-copy-path")
    assert QApplication.clipboard().text() == str(status(run).verdict.final)
    with qtbot.waitSignal(page.open_as_plan, timeout=1000) as told:
        click(qtbot, page, "run-reuse")
    assert told.args == [run, None]


def test_that_a_living_run_shows_how_far_it_is(page, launch, qtbot):
    page.open(launch.script(GOES_ON))
    qtbot.waitUntil(lambda: "of 1,000" in seen(page, "run-progress-words"), timeout=60_000)
    qtbot.waitUntil(lambda: "left, ends" in seen(page, "run-progress-words"), timeout=20_000)
    assert seen(page, "run-state") == "● training"
    bar = part(page, "run-progress")
    assert isinstance(bar, QProgressBar) and bar.maximum() == 1000 and 0 < bar.value() < 1000
    qtbot.waitUntil(
        lambda: visible(page, "loss-readout") and "loss" in seen(page, "loss-readout"), timeout=20_000
    )
    assert "RAM" in seen(page, "run-host")
    assert "no NVIDIA" in seen(page, "run-no-gpu") or visible(page, "memory-chart")


def test_that_stopping_asks_once_and_says_what_is_lost(page, launch, qtbot):
    run = launch.script(GOES_ON)
    page.open(run)
    qtbot.waitUntil(
        lambda: at_least_step(run, 3) and "of 1,000" in seen(page, "run-progress-words"), timeout=60_000
    )
    click(qtbot, page, "run-stop")
    assert "Nothing was saved yet" in seen(page, "run-stop-question")
    refuse = part(page, "run-stop-question-no")
    qtbot.waitUntil(refuse.hasFocus, timeout=2000)
    qtbot.keyClick(refuse, Qt.Key.Key_Escape)
    assert not visible(page, "run-stop-question")
    assert status(run).state == "running"
    click(qtbot, page, "run-stop")
    click(qtbot, page, "run-stop-question-yes")
    assert not visible(page, "run-stop-question")
    qtbot.waitUntil(lambda: "Stopped as asked" in seen(page, "run-verdict-sentence"), timeout=60_000)
    assert seen(page, "run-state") == "! stopped by you"


def test_that_a_run_pauses_and_goes_on_by_one_button(page, launch, qtbot):
    run = launch.script(GOES_ON)
    page.open(run)
    qtbot.waitUntil(lambda: part(page, "run-pause").isEnabled() and at_least_step(run, 1), timeout=60_000)
    click(qtbot, page, "run-pause")
    qtbot.waitUntil(lambda: seen(page, "run-state") == "! paused", timeout=20_000)
    assert seen(page, "run-pause") == "Go on"
    click(qtbot, page, "run-pause")
    qtbot.waitUntil(lambda: seen(page, "run-state") == "● training", timeout=20_000)
    assert seen(page, "run-pause") == "Pause"
    assert {"Paused.", "Going on."} <= set(timeline(page))


def test_that_stop_after_save_is_asked_once_and_says_why_not_again(page, launch, qtbot):
    run = launch.script(GOES_ON)
    page.open(run)
    qtbot.waitUntil(
        lambda: at_least_step(run, 1) and part(page, "run-stop-after-save").isEnabled(), timeout=60_000
    )
    click(qtbot, page, "run-stop-after-save")
    qtbot.waitUntil(lambda: status(run).stop is not None, timeout=20_000)
    button = part(page, "run-stop-after-save")
    qtbot.waitUntil(lambda: "after the next save" in button.toolTip(), timeout=20_000)
    assert not button.isEnabled()
    assert part(page, "run-stop").isEnabled()


def test_that_a_broken_loss_is_a_red_banner_with_the_last_clean_file_and_the_ways_on(page, launch, qtbot):
    run = launch.script(BROKEN, words=("--network_module", "networks.lora", "--unet_lr", "4e-4"))
    run.plan.write_text('schema = 1\nname = "a run"\n[arguments]\nunet_lr = 4e-4\n', "utf-8")
    page.open(run)
    qtbot.waitUntil(lambda: visible(page, "run-banner-loss-nonfinite"), timeout=60_000)
    qtbot.waitUntil(lambda: seen(page, "run-state") == "× stopped by the guard", timeout=60_000)
    qtbot.waitUntil(lambda: visible(page, "run-first-try"), timeout=20_000)
    text = seen(page, "run-banner-loss-nonfinite")
    assert "no longer a number since step 5" in text and "0.5 before" in text
    assert "lora-step00000004.safetensors" in text
    assert not visible(page, "run-verdict")
    assert any("loss is nan at step 5" in line for line in timeline(page))
    assert not visible(page, "run-recovery")
    click(qtbot, page, "run-other-ways")
    qtbot.waitUntil(lambda: visible(page, "run-recovery"), timeout=5000)
    assert "unet_lr: 0.0004 → 0.0002" in seen(page, "run-try-half-rate-diff")
    assert "Outside of the plan" in seen(page, "run-recovery")
    assert seen(page, "run-first-try") == "Half the learning rate, from step 4"
    with qtbot.waitSignal(page.open_as_plan, timeout=5000) as told:
        click(qtbot, page, "run-first-try")
    clean = status(run).verdict.clean[-1]
    assert told.args[0] == run
    assert told.args[1] == {
        "unet_lr": 2e-4,
        "network_weights": str(clean),
        "max_train_steps": 96,
        "output_name": "lora-from4",
        "plan.follows": {"run": run.name, "try": "half-rate"},
    }
    click(qtbot, page, "run-copy-clean-loss-nonfinite")
    assert QApplication.clipboard().text() == str(clean)


def test_that_a_guard_that_asks_lets_the_user_say_go_on(page, launch, qtbot):
    run = launch.script(BROKEN, guard="warn")
    page.open(run)
    qtbot.waitUntil(lambda: visible(page, "run-guard-accept"), timeout=60_000)
    click(qtbot, page, "run-guard-accept")
    qtbot.waitUntil(lambda: not visible(page, "run-guard-accept"), timeout=20_000)
    assert status(run).state == "running" and status(run).guard.accepted


def test_that_two_windows_show_the_same_run(make_page, launch, qtbot):
    run = launch.script(GOES_ON)
    one, other = make_page(), make_page()
    one.open(run)
    other.open(run)
    qtbot.waitUntil(lambda: at_least_step(run, 2) and part(other, "run-stop").isEnabled(), timeout=60_000)
    click(qtbot, other, "run-stop")
    click(qtbot, other, "run-stop-question-yes")
    for each in (one, other):
        qtbot.waitUntil(lambda each=each: seen(each, "run-state") == "! stopped by you", timeout=60_000)
    qtbot.waitUntil(lambda: timeline(one) == timeline(other), timeout=10_000)


def test_that_samples_appear_and_one_of_them_is_shown_large(page, launch, qtbot):
    run = launch.script(SAMPLES)
    page.open(run)
    strip = part(page, "run-samples-strip")
    assert isinstance(strip, QListView)
    qtbot.waitUntil(lambda: strip.isVisible() and strip.model().rowCount() == 3, timeout=60_000)
    sight.click_item(qtbot, strip, strip.model().index(0, 0))
    viewer = part(page, "sample-viewer")
    qtbot.waitUntil(viewer.isVisible, timeout=2000)
    assert seen(page, "sample-caption") == "step 3 · 1 of 3"
    qtbot.waitUntil(lambda: not part(page, "sample-large").pixmap().isNull(), timeout=10_000)
    qtbot.keyClick(viewer, Qt.Key.Key_Right)
    assert seen(page, "sample-caption") == "step 2 · 2 of 3"
    shutil.rmtree(run.path.parents[2] / "out" / "sample")
    qtbot.keyClick(viewer, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: "no longer there" in seen(page, "sample-large"), timeout=10_000)
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert not viewer.isVisible()


def test_that_a_folder_deleted_under_the_feet_is_said(page, launch, qtbot):
    run = launch.script(FINISHES)
    page.open(run)
    qtbot.waitUntil(lambda: visible(page, "run-verdict"), timeout=60_000)
    shutil.rmtree(run.path)
    qtbot.waitUntil(lambda: "no longer there" in seen(page, "run-trouble"), timeout=20_000)
    click(qtbot, page, "run-folder")
    assert "no longer there" in seen(page, "run-note")
    click(qtbot, page, "run-note-close")
    assert not visible(page, "run-note")


def test_that_a_corrupt_run_is_said_and_nothing_breaks(page, qtbot, tmp_path):
    run, _order = make_run(tmp_path, FINISHES)
    RunStatus(name=run.name, plan_name="old", state="ended").write(run.status)
    run.status.write_text('{"schema": 99}')
    run.events.write_bytes(b"\x00\xff" * 5000)
    run.metrics.write_bytes(b"[[[[\n{}\n")
    page.open(run)
    qtbot.waitUntil(lambda: "newer" in seen(page, "run-trouble"), timeout=20_000)
    assert not part(page, "run-pause").isEnabled()
    assert "cannot be read" in part(page, "run-pause").toolTip()


def test_that_the_folder_is_opened_or_named(make_page, launch, qtbot):
    opened: list[Path] = []
    page = make_page(opener=lambda path: bool(opened.append(path)))
    run = launch.script(FINISHES)
    page.open(run)
    wait_until(lambda: ended(run))
    click(qtbot, page, "run-folder")
    assert opened == [run.path]
    assert str(run.path) in seen(page, "run-note")


def test_that_the_log_is_one_click_away(page, launch, qtbot):
    page.open(launch.script(FINISHES))
    qtbot.waitUntil(lambda: visible(page, "run-verdict"), timeout=60_000)
    click(qtbot, page, "run-tab-log")
    assert visible(page, "log-view") and not visible(page, "loss-chart")
    click(qtbot, page, "run-tab-loss")
    assert visible(page, "loss-chart") and not visible(page, "log-view")


def test_that_another_run_takes_the_place_of_the_first(page, launch, qtbot):
    page.open(launch.script(FINISHES, "one"))
    qtbot.waitUntil(lambda: visible(page, "run-verdict") and bool(files(page)), timeout=60_000)
    run: RunFolder = launch.script(GOES_ON, "two")
    before = timeline(page)
    page.open(run)
    assert not visible(page, "run-verdict") and not files(page)
    assert len(timeline(page)) < len(before), "what happened in the first run is told of the second"
    qtbot.waitUntil(lambda: seen(page, "run-state") == "● training", timeout=60_000)
    page.close_run()
    assert visible(page, "run-empty")
    assert not ended(run)


def test_that_every_button_has_words_for_those_who_cannot_see_it(page, launch, qtbot):
    page.open(launch.script(FINISHES))
    qtbot.waitUntil(lambda: visible(page, "run-verdict"), timeout=60_000)
    buttons = sight.visible(page, kind=QPushButton)
    assert len(buttons) > 4
    assert all(button.accessibleName() for button in buttons)


FAILS = """
header(100)
for n in range(1, 30):
    step(n, 100, 0.3)
sys.stderr.write("\\nTraceback (most recent call last):\\n  File 'x.py', line 1\\n")
sys.stderr.write("RuntimeError: no such thing\\n")
end(1)
"""


def test_that_a_failed_run_says_why_and_leads_to_the_place_in_the_log(page, launch, qtbot):
    page.open(launch.script(FAILS))
    qtbot.waitUntil(lambda: visible(page, "run-banner-failed"), timeout=60_000)
    assert not visible(page, "run-verdict")
    qtbot.waitUntil(lambda: any("no such thing" in line for line in timeline(page)), timeout=10_000)
    happened = part(page, "run-timeline")
    row = next(n for n, line in enumerate(timeline(page)) if "no such thing" in line)
    sight.click_item(qtbot, happened, happened.model().index(row, 0))
    assert visible(page, "log-view") and not visible(page, "loss-chart")


class Told:
    """Stands for the desktop: remembers what a page has told outside the window."""

    def __init__(self) -> None:
        self.alarms: list[str] = []
        self.ends: list[str] = []

    def alarm(self, run_name: str, alarm: Alarm) -> None:
        self.alarms.append(alarm.id)

    def ended(self, run_name: str, verdict: Verdict) -> None:
        self.ends.append(verdict.verdict)


def test_that_only_news_is_told_outside_the_window(make_page, launch, qtbot):
    told = Told()
    page = make_page(alerts=told)
    run = launch.script(BROKEN)
    page.open(run)
    qtbot.waitUntil(lambda: told.ends == ["stopped"], timeout=60_000)
    assert told.alarms == ["loss-nonfinite"]
    page.close_run()
    page.open(run)
    qtbot.waitUntil(lambda: visible(page, "run-banner-loss-nonfinite"), timeout=20_000)
    qtbot.waitUntil(lambda: bool(timeline(page)), timeout=20_000)
    assert (told.alarms, told.ends) == (["loss-nonfinite"], ["stopped"])
