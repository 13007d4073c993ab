"""The Review step as people use it: read, mend, undo, launch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from plan_window import OneTrainer, SomeGpus, open_document, small_plan
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from run_helper import ended, wait_until
from saved_runs import write_state

from gui.engine.errors import TrainerNotFound
from gui.engine.findings import Finding, Fix
from gui.engine.hardware.gpu import GpuSample
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.runs.queue_foresight import foresee
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.records import Manifest
from gui.engine.runs.rehearsal_reading import rehearsals_in
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.checks import Checks
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.queue_adder import QueueAdder
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review import ReviewStep, fixing_row
from gui.window.pages.review.finding_card import FindingCard
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

GIB = 1 << 30
GPU = GpuSample(
    index=0, uuid="GPU-1", name="A card", used_bytes=GIB, free_bytes=11 * GIB, total_bytes=12 * GIB
)


class Review:
    """A Review step that is open, and everything it stands on."""

    def __init__(self, qtbot: QtBot, step: ReviewStep, document: PlanDocument, checks: Checks) -> None:
        self.qtbot, self.step, self.document, self.checks = qtbot, step, document, checks
        self.trainers: OneTrainer
        self.tasks: Tasks
        self.hardware: SomeGpus

    def find(self, name: str, kind: type[QWidget] = QWidget) -> QWidget:
        return sight.find(self.step, name, kind)

    def sees(self, name: str) -> bool:
        return sight.sees(self.step, name)

    def click(self, name: str, inside: QWidget | None = None) -> None:
        sight.click(self.qtbot, inside or self.step, name)

    def click_anywhere(self, name: str) -> None:
        """Click what does not scroll."""
        self.qtbot.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def text(self, name: str = "") -> str:
        """All that can be read in a part of the page."""
        return sight.says(self.step, name)

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.checks.busy and not self.tasks.busy, timeout=20_000)

    def cards(self) -> list[FindingCard]:
        cards = sight.visible(self.step, kind=FindingCard)
        return sorted(cards, key=lambda card: card.mapTo(self.step, card.rect().topLeft()).y())


Open = Callable[..., Review]


@pytest.fixture
def review(
    qtbot: QtBot, tasks: Tasks, home: Home, theme: Theme, icons: Icons, show: Callable[..., QWidget], practice
) -> Iterator[Open]:
    """Return what opens the Review step of a plan and waits until all is there."""
    made: list[Review] = []

    def open_review(plan: TrainingPlan, *, trainer: Trainer | None = practice, width: int = 900) -> Review:
        document, trainers = open_document(home, plan), OneTrainer(trainer)
        checks = Checks(document, trainers, tasks, home)
        hardware, tokens = SomeGpus(GPU), Tokens(TokenStore(home), tasks)
        step = ReviewStep(
            document=document,
            checks=checks,
            launcher=Launcher(trainers, tasks, home, tokens.store),
            adder=QueueAdder(trainers, tasks, home),
            trainers=trainers,
            hardware=hardware,
            tokens=tokens,
            tasks=tasks,
            theme=theme,
            icons=icons,
        )
        opened = Review(qtbot, step, document, checks)
        opened.trainers, opened.tasks, opened.hardware = trainers, tasks, hardware
        made.append(opened)
        show(step, width, 760)
        step.activateWindow()
        qtbot.waitUntil(step.isActiveWindow)
        opened.settle()
        return opened

    yield open_review
    for each in made:
        each.checks.close()
        each.document.close()


def misspelt(tmp_path: Path, **more: object) -> TrainingPlan:
    return small_plan(tmp_path, max_train_stepz=4, **more)


def test_that_a_plan_without_faults_says_so_and_what_will_happen(review, tmp_path):
    page = review(small_plan(tmp_path, max_train_steps=None, max_train_epochs=2))
    assert "Nothing stops this run" in page.text("review-headline")
    told = page.text("what-will-happen")
    assert "20 images × 4 repeats, batch 2" in told
    assert "40 an epoch" in told
    assert "80 in 2 epochs" in told
    assert "known after the first steps" in told
    assert "1 save" in told
    assert "the run stops" in told
    assert "Nothing speaks against launching this plan" in page.text("review-ready")
    assert "its LoRA is of no use" in page.text("practice-trainer")
    assert "11.0 GiB of 12.0 GiB free now on A card" in page.text("gpu-memory")


def test_that_where_a_resumed_training_continues_is_said_and_put_right_by_a_click(review, tmp_path):
    table = {"base_lrs": [1e-5, 1e-4], "last_epoch": 50}
    state = write_state(tmp_path / "out" / "lora-step00000050-state", counted=50, table=table)
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"")
    page = review(small_plan(tmp_path, max_train_steps=None, max_train_epochs=2, resume=str(state)))
    assert "and trains 40 steps more; saves will overwrite lora.safetensors." in page.text("forecast-resume")
    page.click("fix-remaining")
    page.settle()
    page.click("fix-other-name")
    page.settle()
    said = "Continues at step 50 of 80; saves will not overwrite the old ones."
    page.qtbot.waitUntil(lambda: page.text("forecast-resume") == said)
    assert not page.sees("finding-resume") and not page.sees("finding-output-exists")
    assert page.document.plan.arguments["output_name"] == "lora-from50"


def test_that_a_stop_is_a_card_with_reason_arguments_and_ways_out(review, tmp_path):
    page = review(misspelt(tmp_path))
    assert page.text("review-headline") == "1 thing stops this run"
    assert not page.sees("review-ready")
    card = page.find("finding-arg-unknown")
    told = sight.says(card)
    assert "× stops" in told
    assert "max_train_stepz" in told
    assert "refuse" in told
    assert "<s>4</s>" in told


def test_that_an_argument_leads_to_its_field(review, qtbot, tmp_path):
    page = review(misspelt(tmp_path))
    with qtbot.waitSignal(page.step.show_field) as told:
        page.click("show-max_train_stepz")
    assert told.args == ["max_train_stepz"]


def test_that_a_fix_is_applied_by_a_click_and_undone(review, tmp_path):
    page = review(misspelt(tmp_path))
    card = page.find("finding-arg-unknown")
    (fix, *_others) = [each for each in card.finding.fixes if each.changes == {"max_train_stepz": None}]
    page.click(f"fix-{fix.id}", card)
    page.settle()
    assert "max_train_stepz" not in page.document.plan.arguments
    assert page.text("review-headline") == "Nothing stops this run"
    assert not page.sees("finding-arg-unknown")
    page.document.undo_stack.undo()
    page.settle()
    assert page.sees("finding-arg-unknown")


def test_that_safe_fixes_are_applied_together_told_and_undone_together(review, tmp_path):
    # Two stops of different kinds with safe ways out.
    plan = small_plan(tmp_path, max_train_steps=None, max_train_step=9, networkdim=8)
    page = review(plan)
    before = page.document.plan
    safe = [each for each in page.checks.report.findings if any(fix.safe for fix in each.fixes)]
    assert safe
    page.click("apply-safe-fixes")
    page.settle()
    assert page.document.plan != before
    assert "applied" in page.text("fixes-done")
    assert page.document.undo_stack.count() == 1
    page.click("undo-fixes")
    page.settle()
    assert page.document.plan == before
    assert not page.sees("fixes-done")


def test_that_undo_of_fixes_is_not_offered_once_something_else_was_done(review, tmp_path):
    page = review(small_plan(tmp_path, max_train_steps=None, max_train_step=9, networkdim=8))
    page.click("apply-safe-fixes")
    page.settle()
    assert page.sees("undo-fixes")
    page.document.change({"seed": 5}, "another seed")
    page.settle()
    assert not page.sees("undo-fixes")


def test_that_cards_stay_the_same_while_their_finding_lasts(review, tmp_path):
    page = review(misspelt(tmp_path, another_typo=1))
    cards = {card.finding.where: card for card in page.cards()}
    link = page.find("show-another_typo")
    link.setFocus()
    page.document.change({"max_train_stepz": None, "seed": 9}, "mended")
    page.settle()
    (left,) = page.cards()
    assert left is cards[left.finding.where]
    assert QApplication.focusWidget() is link


def test_that_the_keyboard_goes_on_to_the_next_card(review, tmp_path):
    page = review(misspelt(tmp_path, another_typo=1))
    first, second = page.cards()
    first.focus_first()
    page.qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    page.settle()
    assert first not in page.cards()
    assert second.isAncestorOf(QApplication.focusWidget())


def test_that_hints_are_one_line_that_opens(review, tmp_path):
    page = review(small_plan(tmp_path))
    hints = [each for each in page.checks.report.findings if each.severity == "hint"]
    assert hints and not page.cards()
    assert hints[0].title.rstrip(".") in page.text("hint-line")
    page.click("show-hints")
    page.qtbot.waitUntil(lambda: [card.finding for card in page.cards()] == hints)
    page.click("show-hints")
    assert not page.cards()


def test_that_thousands_of_findings_are_shown_some_at_a_time(review, tmp_path):
    page = review(small_plan(tmp_path, **{f"nonsense_{number}": 1 for number in range(100)}))
    assert page.text("review-headline") == "100 things stop this run"
    assert len(page.cards()) == 15
    page.click("show-more")
    page.qtbot.waitUntil(lambda: len(page.cards()) == 30)


def test_that_launching_with_stops_lists_them_and_starts_nothing(review, home, tmp_path):
    page = review(misspelt(tmp_path))
    page.click("launch-safely")
    assert "has no argument “max_train_stepz”" in page.text("launch-banner")
    assert not home.runs.exists()
    card = page.find("finding-arg-unknown")
    assert card.isAncestorOf(QApplication.focusWidget())


def test_that_a_danger_is_asked_about_and_no_starts_nothing(review, home, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"somebody's work")
    page = review(small_plan(tmp_path))
    page.qtbot.keyClick(page.step, Qt.Key.Key_L, Qt.KeyboardModifier.AltModifier)
    page.qtbot.waitUntil(lambda: page.sees("ask-dangers"))
    assert "lora.safetensors" in page.text("ask-dangers")
    assert page.find("ask-dangers-no").hasFocus()
    page.qtbot.keyClick(page.find("ask-dangers-no"), Qt.Key.Key_Escape)
    assert not page.sees("ask-dangers")
    assert not home.runs.exists()


@pytest.mark.torch
def test_that_a_yes_to_a_danger_launches_and_is_kept(review, qtbot, tmp_path, no_leftovers):
    pytest.importorskip("torch")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"somebody's work")
    page = review(small_plan(tmp_path))
    page.click("launch-safely")
    with qtbot.waitSignal(page.step.launched, timeout=30_000) as told:
        page.click("ask-dangers-yes")
        assert page.find("launch-safely").text() == "Starting …"
        assert page.sees("cancel-launch")
    assert page.find("launch-safely").text() == "Launch safely"
    assert Manifest.read(told.args[0].manifest).accepted == ("output-exists",)
    wait_until(lambda: ended(told.args[0]))


def test_that_a_file_that_went_after_the_check_is_refused_with_its_finding(review, tmp_path):
    page = review(small_plan(tmp_path))
    for image in (tmp_path / "images" / "sks").iterdir():
        image.unlink()
    page.click("launch-safely")
    page.qtbot.waitUntil(lambda: page.sees("launch-banner"))
    page.settle()
    assert page.checks.report.verdict == "stop"
    assert page.text("review-headline") in page.text("launch-banner")


def test_that_a_plan_is_put_into_the_queue_after_each_yes_and_says_its_number(
    review, home, tmp_path, monkeypatch
):
    found = [Finding(id=name, severity="danger", title=name) for name in ("output-exists", "just-now")]
    monkeypatch.setattr(
        "gui.engine.runs.queue_look.look_ahead",
        lambda _store, _file, _trainer, yeses, **_more: foresee(found, yeses),
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"somebody's work")
    page = review(small_plan(tmp_path))
    page.click("add-to-queue")
    page.qtbot.waitUntil(lambda: page.sees("ask-dangers"))
    assert "Add it to the queue" in page.text("ask-dangers")
    page.click("ask-dangers-yes")
    page.qtbot.waitUntil(lambda: "• just-now" in page.text("ask-dangers"), timeout=20_000)
    page.click("ask-dangers-yes")
    page.qtbot.waitUntil(lambda: page.sees("launch-banner"), timeout=20_000)
    page.qtbot.waitUntil(lambda: "number 1 in the queue" in page.text("launch-banner"))
    (item,) = QueueStore(home).read().items
    assert (item.accepted, item.state, item.practice) == (("output-exists", "just-now"), "waiting", True)
    assert not home.runs.exists()
    with page.qtbot.waitSignal(page.step.queue_wanted):
        page.click("launch-show-queue")


def test_that_a_plan_that_would_be_refused_at_its_turn_is_not_put_into_the_queue(review, home, tmp_path):
    page = review(misspelt(tmp_path))
    page.click("add-to-queue")
    page.qtbot.waitUntil(lambda: page.sees("launch-banner"))
    assert "max_train_stepz" in page.text("launch-banner") and not page.sees("launch-show-queue")
    assert not home.queue.exists()


def test_that_what_keeps_the_trainer_from_starting_is_said_in_place(review, tmp_path, monkeypatch):
    from gui.engine.errors import RunRefused

    def full(*_words: object) -> None:
        raise RunRefused("the disk is full")

    monkeypatch.setattr("gui.engine.runs.start.start_supervisor", full)
    page = review(small_plan(tmp_path))
    page.click("launch-safely")
    page.qtbot.waitUntil(lambda: page.sees("launch-banner"))
    assert "Nothing was started." in page.text("launch-banner")
    assert "the disk is full" in page.text("launch-banner")
    page.click("close-launch-banner")
    assert not page.sees("launch-banner")


def test_that_the_command_is_shown_for_each_shell_and_copied(review, qtbot, tmp_path):
    page = review(small_plan(tmp_path))
    texts = []
    for shell in ("posix", "powershell", "cmd"):
        page.click(f"shell-{shell}")
        texts.append(page.find("command-text", QPlainTextEdit).toPlainText())
    assert all("--network_module" in text for text in texts)
    assert len(set(texts)) == 3
    page.click("copy-command")
    assert QGuiApplication.clipboard().text() == texts[-1]
    assert page.find("copy-command").text() == "Copied ✓"


def test_that_there_is_no_command_while_the_trainer_would_refuse_it(review, tmp_path):
    page = review(misspelt(tmp_path))
    assert "max_train_stepz" in page.text("command-why")
    assert not page.sees("command-text")


def test_that_without_a_trainer_the_ways_on_are_offered(review, qtbot, tmp_path):
    page = review(small_plan(tmp_path), trainer=None)
    page.trainers.problem = TrainerNotFound("/somewhere", "it is gone")
    page.trainers.changed.emit()
    page.settle()
    assert "There is no trainer yet" in page.text("no-trainer")
    assert "it is gone" in page.text("no-trainer")
    assert page.sees("practise-plan")
    with qtbot.waitSignal(page.step.settings_wanted):
        page.click("choose-trainer")
    page.click("launch-safely")
    page.qtbot.waitUntil(lambda: page.sees("launch-banner"))
    assert "Nothing was started." in page.text("launch-banner")


def test_that_a_launch_waits_for_a_trainer_that_is_still_asked(review, home, tmp_path):
    page = review(small_plan(tmp_path), trainer=None)
    page.trainers.busy = True
    page.click("launch-safely")
    assert "The trainer is still being looked at." in page.text("launch-banner")
    assert not list(home.runs.glob("*"))


def test_that_a_trainer_that_comes_takes_the_note_away(review, practice, tmp_path):
    page = review(small_plan(tmp_path), trainer=None)
    page.trainers.show(practice)
    page.settle()
    assert not page.sees("no-trainer")
    assert page.sees("command-text")


def test_that_f5_looks_at_the_files_again(review, tmp_path):
    page = review(small_plan(tmp_path))
    (tmp_path / "images" / "sks" / "img00.png").unlink()
    page.qtbot.keyClick(page.step, Qt.Key.Key_F5)
    page.qtbot.waitUntil(lambda: "19 images" in page.text("what-will-happen"))


def test_that_a_failed_check_is_said(review, tmp_path, monkeypatch):
    page = review(small_plan(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("gui.engine.preflight.check.check_tokens", None)
        page.document.change({"seed": 4}, "another seed")
        page.settle()
        assert "could not be checked" in page.text("check-failed")
    page.click("check-failed-again")
    page.settle()
    assert not page.sees("check-failed")


def test_that_a_fix_done_by_hand_is_described_and_asked_first(qtbot, show, theme):
    fix = Fix(id="clear", label="delete the cache", changes={"action": "delete-cache"}, safe=False)
    finding = Finding(id="cache-old", severity="stop", title="The cache is old.", fixes=(fix,))
    card = FindingCard(finding)
    card.show_finding(finding, {}, editable=True)
    show(card, 500, 300)
    wanted = []
    card.fix_wanted.connect(lambda *given: wanted.append(given))
    qtbot.mouseClick(card.findChild(QWidget, "fix-clear"), Qt.MouseButton.LeftButton)
    assert not wanted
    assert "delete-cache" in "\n".join(
        label.text() for label in card.findChildren(QLabel) if label.isVisible()
    )
    qtbot.mouseClick(card.findChild(QWidget, "ask-clear-yes"), Qt.MouseButton.LeftButton)
    assert wanted == [(finding, fix)]


def test_that_a_plan_of_a_newer_version_cannot_be_mended_here(review, tmp_path):
    page = review(misspelt(tmp_path))
    page.document.read_only = True
    page.document.state_changed.emit()
    page.checks.check_again()
    page.settle()
    card = page.find("finding-arg-unknown")
    assert not any(
        each.isEnabled() for each in card.findChildren(QWidget) if each.objectName().startswith("fix-")
    )


@pytest.mark.parametrize("width", [480, 640, 1000])
def test_that_nothing_is_wider_than_the_page(review, tmp_path, pseudo_language, width):
    page = review(misspelt(tmp_path, another_typo=1), width=width)
    content = page.find("review-scroll").widget()
    page.qtbot.waitUntil(lambda: content.width() <= page.find("review-scroll").viewport().width())
    for card in page.cards():
        assert card.width() <= content.width()


def test_that_an_earlier_run_of_the_same_kind_tells_the_time(review, home, tmp_path):
    pytest.importorskip("torch")
    page = review(small_plan(tmp_path, max_train_steps=30))
    with page.qtbot.waitSignal(page.step.launched, timeout=30_000) as told:
        page.click("launch-safely")
    wait_until(lambda: ended(told.args[0]))
    page.document.change({"max_train_steps": 60, "output_name": "again", "unet_lr": 2e-4}, "longer")
    page.settle()
    page.qtbot.waitUntil(lambda: "Time on this machine" in page.text("what-will-happen"))
    page.document.change({"dataset.batch_size": 1}, "smaller batches")
    page.settle()
    page.qtbot.waitUntil(lambda: "known after the first steps" in page.text("what-will-happen"))


def test_that_tab_goes_as_the_eye_does(review, tmp_path):
    page = review(misspelt(tmp_path), trainer=None)
    page.document.change({"another_typo": 1}, "one more")
    page.settle()
    page.find("check-again").setFocus()
    seen: list[QWidget] = []
    while (focused := QApplication.focusWidget()) not in seen:
        seen.append(focused)
        page.qtbot.keyClick(focused, Qt.Key.Key_Tab)
    names = [each.objectName() for each in seen]
    expected = ["check-again", "practise-plan", "launch-safely", "choose-trainer", "show-max_train_stepz"]
    expected += ["show-another_typo", "show-hints"]
    assert sorted(expected, key=names.index) == expected
    ways = [seen.index(each) for each in seen if each.objectName().startswith("fix-")]
    assert names.index("show-max_train_stepz") < ways[0] < names.index("show-another_typo") < ways[-1]


def test_that_a_driver_that_hangs_is_said_instead_of_what_was_free_before(review, tmp_path):
    page = review(small_plan(tmp_path))
    page.hardware.problem = "the GPU driver does not answer"
    page.hardware.show(GPU)
    assert "The GPU driver does not answer." in page.text("gpu-memory")
    assert "free now" not in page.text("gpu-memory")
    page.hardware.problem = ""
    page.hardware.show(GPU)
    assert "free now on A card" in page.text("gpu-memory")


def test_that_another_gpu_is_asked_about(review, tmp_path):
    page = review(small_plan(tmp_path))
    asked = []
    page.checks.refresh_machine = lambda: asked.append(1)
    page.hardware.show(GPU)
    page.hardware.show(GPU)
    assert len(asked) == 1
    page.hardware.show(GpuSample(index=0, uuid="GPU-2", name="Another"))
    assert len(asked) == 2
    assert "Another does not tell" in page.text("gpu-memory")
    page.hardware.problem = "no NVIDIA GPU seen: there is no driver"
    page.hardware.show()
    assert "No NVIDIA GPU seen: there is no driver." in page.text("gpu-memory")


def test_that_a_launch_is_called_off_by_cancel(review, qtbot, home, tmp_path, monkeypatch):
    from gui.engine.runs import prepare

    go_on = threading.Event()
    own = prepare.build_command
    page = review(small_plan(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "build_command", lambda *a, **k: (go_on.wait(20), own(*a, **k))[1])
        page.click("launch-safely")
        qtbot.waitUntil(lambda: page.sees("cancel-launch"))
        page.click("cancel-launch")
        assert page.find("launch-safely").text() == "Launch safely"
        assert not page.sees("cancel-launch")
        go_on.set()
        page.settle()
    assert not any(home.runs.iterdir())


def test_that_fixes_that_cannot_be_tried_are_said_and_can_be_tried_again(review, tmp_path, monkeypatch):
    page = review(small_plan(tmp_path, max_train_steps=None, max_train_step=9, networkdim=8))
    with monkeypatch.context() as patch:
        patch.setattr("gui.window.pages.review.fixing_row.apply_safe_fixes", None)
        page.click("apply-safe-fixes")
        page.settle()
    assert "could not be tried" in page.text("fixes-done")
    assert not page.sees("undo-fixes")
    page.click("close-fixes")
    assert not page.sees("fixes-done")
    page.click("apply-safe-fixes")
    page.settle()
    assert "applied" in page.text("fixes-done")


def test_that_fixes_of_a_plan_that_was_changed_meanwhile_are_not_applied(review, tmp_path, monkeypatch):
    page = review(small_plan(tmp_path, max_train_steps=None, max_train_step=9, networkdim=8))
    go_on = threading.Event()
    own = fixing_row.apply_safe_fixes
    monkeypatch.setattr(fixing_row, "apply_safe_fixes", lambda *words: (go_on.wait(20), own(*words))[1])
    page.click("apply-safe-fixes")
    page.document.change({"seed": 8}, "another seed")
    changed = page.document.plan
    go_on.set()
    page.settle()
    assert page.document.plan == changed
    assert "changed meanwhile" in page.text("fixes-done")


def test_that_a_fix_that_a_plan_cannot_hold_is_said(review, tmp_path):
    page = review(misspelt(tmp_path))
    card = page.find("finding-arg-unknown")
    card.fix_wanted.emit(card.finding, Fix(id="x", label="x", changes={"nowhere.at.all": 1}, safe=False))
    assert "cannot be applied" in page.text("fixes-done")


def test_that_a_rehearsal_begins_when_the_one_before_has_ended_and_says_what_it_has_seen(
    review, no_leftovers, home, tmp_path
):
    pytest.importorskip("torch")
    page = review(small_plan(tmp_path))
    page.click_anywhere("rehearse-plan")
    page.qtbot.waitUntil(lambda: "Rehearsing" in page.text("rehearsal-busy"), timeout=60_000)
    page.click("rehearsal-cancel")
    page.click_anywhere("rehearse-plan")
    assert page.sees("rehearsal-busy")
    assert not page.find("rehearse-plan").isEnabled()
    page.qtbot.waitUntil(lambda: page.sees("rehearsal-figures"), timeout=60_000)
    newer, older = rehearsals_in(home)
    left = (older.path / "rehearsal.json").stat().st_mtime
    assert left <= Manifest.read(newer.manifest).created_at, "never two at once on the GPU"
    assert page.text("rehearsal-verdict") == "✓ go"
    assert "8 steps at 64×64, batch 2" in page.text("rehearsal-figures")
    assert "the whole plan:" in page.text("rehearsal-figures")
    assert not page.sees("rehearsal-older")
    page.document.change({"seed": 9}, "another")
    assert page.sees("rehearsal-older")
    page.click("rehearsal-close")
    assert not page.sees("rehearsal")


def test_that_an_isolation_test_trains_two_images_and_can_be_left(review, no_leftovers, home, tmp_path):
    pytest.importorskip("torch")
    page = review(small_plan(tmp_path))
    page.click_anywhere("isolate-plan")
    page.qtbot.waitUntil(lambda: "Isolation test" in page.text("rehearsal"))
    page.qtbot.waitUntil(lambda: "Rehearsing" in page.text("rehearsal-busy"))
    (test,) = rehearsals_in(home)
    assert len([*test.path.rglob("*.png")]) == 2
    page.find("rehearsal-cancel").setFocus()
    page.qtbot.keyClick(page.find("rehearsal-cancel"), Qt.Key.Key_Space)
    page.qtbot.waitUntil(lambda: not page.sees("rehearsal"))
    page.qtbot.waitUntil(page.find("isolate-plan").hasFocus)
    page.settle()
    assert not page.sees("rehearsal")


def test_that_a_plan_that_cannot_run_is_not_rehearsed(review, tmp_path):
    page = review(misspelt(tmp_path))
    page.click_anywhere("rehearse-plan")
    page.qtbot.waitUntil(lambda: page.sees("rehearsal-words"), timeout=20_000)
    assert "max_train_stepz" in page.text("rehearsal-words")
    assert "not rehearsed" in page.text("rehearsal-verdict")
