"""The wizard's files: open, save, recent plans, drops, and work that nobody saved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from plan_wizard import Wizard, make_folder
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu

from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan


@pytest.fixture
def wizard(qtbot, home: Home, tasks, theme, icons, show) -> Iterator[Wizard]:
    """Return the wizard with a fresh plan, shown."""
    made = Wizard(qtbot, home, tasks, theme, icons)
    show(made.page, 1010, 660)
    made.settle()
    yield made
    made.settle()
    made.close()


@pytest.fixture
def saved(wizard, tmp_path, monkeypatch):
    """Return the file into which the wizard's plan was saved."""
    path = tmp_path / "mira.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(path.with_suffix("")), ""))
    wizard.click("save-plan")
    return path


def test_that_saving_asks_for_a_name_once(wizard, saved, monkeypatch):
    assert load_plan(saved).plan.family == "sdxl"
    assert wizard.text("plan-state") == "✓ saved"
    wizard.click("family-sd15")
    assert wizard.text("plan-state") == "draft kept"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", None)
    wizard.click("save-plan")
    assert load_plan(saved).plan.family == "sd15"
    assert wizard.text("plan-state") == "✓ saved"


def test_that_a_fresh_plan_is_new_and_its_changes_are_kept(wizard):
    assert wizard.text("plan-state") == "new"
    wizard.click("family-sd15")
    assert wizard.text("plan-state") == "draft kept"


def test_that_a_file_that_another_program_changed_is_not_written_over_unasked(wizard, saved):
    saved.write_text('schema = 1\nname = "theirs"\nfamily = "sd15"\n', encoding="utf-8")
    wizard.click("family-flux1")
    wizard.click("save-plan")
    assert "changed by another program" in wizard.words()
    QTest.keyClick(wizard.find("plan-ask-no"), Qt.Key.Key_Escape)
    assert not wizard.shown("plan-ask")
    assert load_plan(saved).plan.name == "theirs"
    wizard.click("save-plan")
    wizard.click("plan-ask-yes")
    assert load_plan(saved).plan.family == "flux1"
    assert wizard.text("plan-state") == "✓ saved"


def test_that_the_question_goes_once_the_plan_could_be_saved(wizard, saved):
    saved.write_text('schema = 1\nname = "theirs"\nfamily = "sd15"\n', encoding="utf-8")
    wizard.click("family-flux1")
    wizard.click("save-plan")
    assert wizard.shown("plan-ask")
    saved.unlink()
    wizard.click("save-plan")
    assert not wizard.shown("plan-ask")
    assert load_plan(saved).plan.family == "flux1"


def test_that_a_change_on_disk_is_said_and_read_again(wizard, saved):
    saved.write_text('schema = 1\nname = "theirs"\nfamily = "sd15"\n', encoding="utf-8")
    wizard.document.look_at_disk()
    assert "Another program changed this plan's file" in wizard.words()
    wizard.click("read-again")
    wizard.qtbot.waitUntil(lambda: wizard.text("plan-name") == "theirs")
    assert not wizard.shown("notice-disk")


def test_that_what_other_programs_did_is_seen_on_coming_back(wizard, saved, drop, qtbot, show):
    folder = make_folder(saved.parent / "images", 2)
    drop(wizard.page, [folder])
    wizard.wait_for("0 captions")
    wizard.click("save-plan")
    other = show(QLabel("another program"), 200, 100)
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    make_folder(folder, 2, captions=2)
    saved.write_text(saved.read_text("utf-8") + "\n# theirs\n", encoding="utf-8")
    wizard.page.activateWindow()
    wizard.wait_for("2 captions")
    assert "Another program changed this plan's file" in wizard.words()


def test_that_a_dropped_plan_is_opened_and_unsaved_work_is_kept(wizard, tmp_path, drop):
    wizard.type("plan-name", "half_done")
    path = tmp_path / "other.toml"
    path.write_text('schema = 1\nname = "other"\nfamily = "sd15"\n', encoding="utf-8")
    drop(wizard.page, [path])
    wizard.qtbot.waitUntil(lambda: wizard.text("plan-name") == "other")
    wizard.wait_for("Unsaved work on “half_done” is kept")
    wizard.click("bring-back")
    assert wizard.text("plan-name") == "half_done"
    wizard.qtbot.waitUntil(lambda: not wizard.shown("notice-left"))


def test_that_unsaved_work_is_thrown_away_only_after_a_question(wizard, tmp_path, drop):
    wizard.type("plan-name", "half_done")
    wizard.page.files.new()
    wizard.wait_for("Unsaved work on “half_done” is kept")
    wizard.click("throw-away")
    assert "cannot be brought back" in wizard.words()
    wizard.click("plan-ask-yes")
    wizard.settle()
    assert not wizard.document.drafts.left_behind()


def test_that_work_of_a_crashed_window_is_offered(wizard, qtbot, home, tasks, theme, icons, show):
    wizard.type("plan-name", "lost")
    wizard.document.close()
    second = Wizard(qtbot, home, tasks, theme, icons)
    show(second.page, 1010, 660)
    second.wait_for("Unsaved work on “lost” is kept")
    second.click("bring-back")
    assert second.text("plan-name") == "lost"
    second.settle()
    second.close()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"name = [", b'{"a": 1}', b"schema = 1\nfamily = {}\n"]
)
def test_that_what_is_no_plan_is_said_and_the_open_plan_stays(wizard, tmp_path, drop, content):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    wizard.type("plan-name", "mine")
    drop(wizard.page, [path])
    wizard.settle()
    if content:
        wizard.wait_for("That did not work.")
        assert wizard.text("plan-name") == "mine"
        wizard.click("close-error")
        assert not wizard.shown("notice-error")


def test_that_a_list_of_arguments_is_read_for_the_script_of_the_plan(wizard, tmp_path, drop):
    path = tmp_path / "run.txt"
    path.write_text("--unet_lr=5e-5\n--output_name=theirs\n--wrong_one=3\n", encoding="utf-8")
    drop(wizard.page, [path])
    wizard.qtbot.waitUntil(lambda: "theirs" in str(wizard.document.plan.arguments.get("output_name")))
    assert wizard.text("plan-state") == "draft kept"


def test_that_recent_plans_are_in_the_menu(wizard, saved, tmp_path):
    wizard.page.files.new()
    assert wizard.document.path is None
    wizard.click("plan-menu")
    menu = wizard.page.findChild(QMenu)
    action = next(each for each in menu.actions() if each.text() == "my_lora")
    assert action.toolTip() == str(saved)
    menu.close()
    action.trigger()
    wizard.qtbot.waitUntil(lambda: wizard.document.path == saved)


def test_that_a_plan_is_chosen_in_the_systems_dialog(wizard, tmp_path, monkeypatch):
    path = tmp_path / "other.toml"
    path.write_text('schema = 1\nname = "other"\nfamily = "sd15"\n', encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args: (str(path), ""))
    wizard.click("open-plan")
    wizard.qtbot.waitUntil(lambda: wizard.text("plan-name") == "other")
    assert wizard.page.current == "what"


def test_that_a_dialog_that_is_left_changes_nothing(wizard, monkeypatch):
    for name in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_args: ("", ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: "")
    wizard.click("save-plan")
    wizard.click("open-plan")
    wizard.page.show_step("data")
    wizard.click("choose-folder")
    wizard.settle()
    assert wizard.text("plan-state") == "new"


def test_that_saving_under_another_name_asks_before_it_writes_over(wizard, saved, tmp_path, monkeypatch):
    foreign = tmp_path / "foreign.toml"
    foreign.write_text('schema = 1\nname = "theirs"\nfamily = "sd15"\n', encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(tmp_path / "foreign"), ""))
    wizard.page.files.save_as()
    assert "foreign.toml already exists" in wizard.words()
    wizard.click("plan-ask-no")
    assert load_plan(foreign).plan.name == "theirs"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(foreign), ""))
    wizard.page.files.save_as()
    assert load_plan(foreign).plan.name == "my_lora"
    assert wizard.document.path == foreign


def test_that_a_folder_that_cannot_be_written_is_said(wizard, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "plan.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(place), ""))
    wizard.click("save-plan")
    assert "That did not work." in wizard.words()
    assert wizard.text("plan-state") == "new"
