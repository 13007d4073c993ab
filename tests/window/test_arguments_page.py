"""All arguments: found by typing, edited with the right editor, judged in the engine's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sight
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.plan.drafts import Drafts
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.recents import Recents
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import ScriptFacts
from gui.engine.trainer.values import Words, words_for
from gui.window.bridges.checks import Checks
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.bridges.trainers import Trainers
from gui.window.models.argument_groups import group_order, group_title
from gui.window.models.argument_rows import ArgumentRow, rows_of
from gui.window.models.argument_values import number_text, read_text, shown_text, value_text
from gui.window.models.arguments_model import ROW_ROLE, ArgumentsModel, Column
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.arguments.copying import command_line_text
from gui.window.pages.arguments.step import ArgumentsStep
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

SCRIPT = "sdxl_train_network.py"


class OneTrainer(QObject):
    """Gives a catalogue, as the bridge does."""

    changed = Signal()

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self.catalogue = catalogue


def _with_help(catalogue: Catalogue) -> Catalogue:
    """The same arguments, as a connected trainer declares them."""
    rows = tuple(
        row.model_copy(update={"help": f"help about {row.dest}"}) for row in catalogue.script(SCRIPT).rows
    )
    return Catalogue({SCRIPT: ScriptFacts(arguments=rows)}, version="9.9", live=True)


@pytest.fixture
def document(qtbot: QtBot, tmp_path: Path) -> PlanDocument:
    home = Home(tmp_path / "home")
    return PlanDocument(drafts=Drafts(home), recents=Recents(home), catalogue=Catalogue.bundled())


@pytest.fixture
def trainers(qtbot: QtBot) -> OneTrainer:
    return OneTrainer(Catalogue.bundled())


@pytest.fixture
def step(
    show: Callable[..., Any], icons: Icons, document: PlanDocument, trainers: OneTrainer, tokens: Tokens
) -> ArgumentsStep:
    page: ArgumentsStep = show(
        ArgumentsStep(icons=icons, document=document, trainers=trainers, tokens=tokens), 1000, 700
    )  # type: ignore[arg-type]
    page.list.setFocus()
    return page


def _find(step: QWidget, name: str) -> Any:
    return sight.find(step, name)


def _editor(step: ArgumentsStep, target: str) -> Any:
    return _find(step, f"argument-{target}")


def _names(step: ArgumentsStep) -> list[str]:
    rows = step.list.model()
    found = [rows.index(place, 0).data(ROW_ROLE) for place in range(rows.rowCount())]
    return [row.name for row in found if not row.is_heading]


def _texts(step: ArgumentsStep) -> str:
    return sight.says(step)


def _place_of(step: ArgumentsStep, target: str) -> QRect:
    row = step.model.row(target)
    assert row is not None
    return step.list.visualRect(step._index_of(row))


def _retype(qtbot: QtBot, field: QWidget, text: str) -> None:
    qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    qtbot.keyClicks(field, text)


# Finding


def test_that_typing_finds_names_values_and_help(
    qtbot: QtBot, step: ArgumentsStep, trainers: OneTrainer, document: PlanDocument
) -> None:
    qtbot.keyClick(step, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert step.search.hasFocus()
    qtbot.keyClicks(step.search, "unet_lr")
    assert _names(step) == ["unet_lr"]
    _retype(qtbot, step.search, "adamw")
    assert _names(step) == ["optimizer_type"]
    trainers.catalogue = _with_help(trainers.catalogue)
    trainers.changed.emit()
    _retype(qtbot, step.search, "about network_dim")
    assert _names(step) == ["network_dim"]
    assert _find(step, "arguments-count").text() == "1 found"
    _retype(qtbot, step.search, "train_batch_size")
    assert _names(step) == ["batch_size"]
    qtbot.keyClick(step.search, Qt.Key.Key_Escape)
    assert len(_names(step)) > 150


def test_that_a_search_without_result_says_so(qtbot: QtBot, step: ArgumentsStep) -> None:
    qtbot.keyClicks(step.search, "nothing is called so")
    assert _find(step, "arguments-nothing").isVisible()
    assert "No argument is chosen" in _texts(step)
    step.search.clear()
    qtbot.keyClicks(step.search, "seed")
    assert step.list.isVisible()


def test_that_chips_leave_what_is_set_by_the_user_and_by_presets(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    document.change({"unet_lr": 5e-5, "dataset.batch_size": 2, "netwrk_dim": 4}, "Set")
    qtbot.mouseClick(_find(step, "arguments-only-own"), Qt.MouseButton.LeftButton)
    assert set(_names(step)) == {"unet_lr", "batch_size", "netwrk_dim"}
    assert _find(step, "arguments-only-own").text() == "Set by you · 3"
    qtbot.mouseClick(_find(step, "arguments-only-preset"), Qt.MouseButton.LeftButton)
    assert "network_dim" in _names(step)
    assert "unet_lr" not in _names(step)
    qtbot.mouseClick(_find(step, "arguments-only-findings"), Qt.MouseButton.LeftButton)
    assert _names(step) == ["netwrk_dim"]


def test_that_showing_an_argument_chooses_it_and_gives_it_the_keyboard(
    qtbot: QtBot, step: ArgumentsStep
) -> None:
    qtbot.keyClicks(step.search, "seed")
    assert step.show_argument("max_grad_norm")
    assert _find(step, "argument-title").text() == "max_grad_norm"
    qtbot.waitUntil(lambda: _editor(step, "max_grad_norm").hasFocus())
    assert step.list.viewport().rect().intersects(_place_of(step, "max_grad_norm"))
    assert step.show_argument("train_batch_size")
    assert _find(step, "argument-title").text() == "batch_size"
    assert not step.show_argument("no such thing")


def test_that_clicks_on_a_value_lead_to_its_editor(qtbot: QtBot, step: ArgumentsStep) -> None:
    step.show_argument("max_grad_norm")
    place = _place_of(step, "max_grad_norm")
    value, name = step.list._delegate.places(place).value, step.list._delegate.places(place).name
    step.list.setFocus()
    qtbot.mouseClick(step.list.viewport(), Qt.MouseButton.LeftButton, pos=name.center())
    assert not _editor(step, "max_grad_norm").hasFocus()
    qtbot.mouseClick(step.list.viewport(), Qt.MouseButton.LeftButton, pos=value.center())
    assert _editor(step, "max_grad_norm").hasFocus()
    step.list.setFocus()
    qtbot.mouseDClick(step.list.viewport(), Qt.MouseButton.LeftButton, pos=name.center())
    assert _editor(step, "max_grad_norm").hasFocus()


# Editing


def test_that_typing_a_rate_keeps_how_it_was_typed_and_is_one_step(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("unet_lr")
    field = _editor(step, "unet_lr")
    qtbot.keyClicks(field, "0.0001")
    assert document.plan.arguments["unet_lr"] == 1e-4
    assert field.text() == "0.0001"
    assert document.undo_stack.count() == 1
    assert _find(step, "argument-source").text() == "set by you"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert step.list.hasFocus()
    document.undo_stack.undo()
    assert field.text() == ""
    _retype(qtbot, field, "1e-4")
    assert field.text() == "1e-4"
    assert document.plan.arguments["unet_lr"] == 1e-4


def test_that_a_wrong_value_is_said_below_the_editor_and_mended_with_a_click(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("network_dim")
    field = _editor(step, "network_dim")
    qtbot.keyClicks(field, "32.0")
    assert _find(step, "argument-trouble-1").text() == "network_dim takes a whole number; “32.0” is none."
    assert document.plan.arguments["network_dim"] == "32.0"
    qtbot.mouseClick(_find(step, "argument-fix-suggestion-1"), Qt.MouseButton.LeftButton)
    assert document.plan.arguments["network_dim"] == 32
    assert field.text() == "32"
    assert not sight.sees(step.panel, "argument-trouble-1")


def test_that_a_misspelt_argument_is_listed_first_and_can_be_taken_out(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    document.change({"netwrk_dim": 4}, "Misspelt")
    assert _names(step)[0] == "netwrk_dim"
    step.show_argument("netwrk_dim")
    assert "has no argument “netwrk_dim”" in _texts(step)
    step.list.setFocus()
    qtbot.keyClick(step.list, Qt.Key.Key_Delete)
    assert "netwrk_dim" not in document.plan.arguments
    assert "netwrk_dim" not in _names(step)
    document.undo_stack.undo()
    step.show_argument("netwrk_dim")
    qtbot.mouseClick(_find(step, "argument-fix-rename-to-network_dim"), Qt.MouseButton.LeftButton)
    assert document.plan.arguments["network_dim"] == 4


def test_that_a_choice_offers_what_the_trainer_takes_and_nothing_at_all(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("mixed_precision")
    combo = _editor(step, "mixed_precision")
    assert [combo.itemText(place) for place in range(combo.count())] == ["preset: bf16", "no", "fp16", "bf16"]
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    assert document.plan.arguments["mixed_precision"] == "fp16"
    assert (
        _find(step, "argument-facts")
        .text()
        .startswith("Preset “Common ground” says bf16. bf16 has the range")
    )
    qtbot.keyClick(combo, Qt.Key.Key_Home)
    assert "mixed_precision" not in document.plan.arguments


def test_that_a_switch_is_turned_in_the_list_and_in_the_panel(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("xformers")
    step.list.setFocus()
    row = _place_of(step, "xformers")
    place = step.list._delegate.places(row).value
    click = QPoint(place.left() + 10, place.center().y())
    qtbot.mouseClick(step.list.viewport(), Qt.MouseButton.LeftButton, pos=click)
    assert document.plan.arguments["xformers"] is True
    qtbot.keyClick(step.list, Qt.Key.Key_Space)
    assert document.plan.arguments["xformers"] is False
    qtbot.mouseClick(_editor(step, "xformers"), Qt.MouseButton.LeftButton)
    assert document.plan.arguments["xformers"] is True
    assert _editor(step, "xformers").text() == "on"


def test_that_several_values_are_typed_in_a_line_and_shown_as_the_trainer_gets_them(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("optimizer_args")
    field = _editor(step, "optimizer_args")
    qtbot.keyClicks(field, 'weight_decay=0.01 "a b')
    assert "A quote is not closed." in _texts(step)
    qtbot.keyClicks(field, '"')
    assert document.plan.arguments["optimizer_args"] == ["weight_decay=0.01", "a b"]
    assert _find(step, "argument-preview").text() == "--optimizer_args weight_decay=0.01 'a b'"
    step.show_argument("text_encoder_lr")
    qtbot.keyClicks(_editor(step, "text_encoder_lr"), "1e-5 2e-5")
    assert document.plan.arguments["text_encoder_lr"] == [1e-5, 2e-5]


def test_that_a_path_can_be_typed_and_dropped(
    qtbot: QtBot,
    step: ArgumentsStep,
    document: PlanDocument,
    drop: Callable[[QWidget, list[Path]], None],
    tmp_path: Path,
) -> None:
    step.show_argument("output_dir")
    field = _editor(step, "output_dir")
    qtbot.keyClicks(field, "out")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert document.plan.arguments["output_dir"] == "out"
    drop(field.parentWidget(), [tmp_path])
    assert document.plan.arguments["output_dir"] == str(tmp_path)


def test_that_dataset_options_stand_under_their_own_names(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    document.change({"dataset.subsets": [{"image_dir": "a", "num_repeats": 3}]}, "Images")
    step.show_argument("dataset.resolution")
    field = _editor(step, "dataset.resolution")
    assert field.placeholderText() == "preset: 1024, 1024"
    qtbot.keyClicks(field, "768x512")
    assert document.plan.dataset["resolution"] == [768, 512]
    _retype(qtbot, field, "big")
    assert "resolution must be" in _texts(step)
    step.show_argument("dataset.subsets.0.num_repeats")
    assert _find(step, "argument-title").text() == "subset 1: num_repeats"
    _retype(qtbot, _editor(step, "dataset.subsets.0.num_repeats"), "7")
    assert document.plan.dataset["subsets"][0]["num_repeats"] == 7
    assert "Dataset file (its own names)" in [
        step.model.data(step.model.index(place, 0)) for place in range(step.model.rowCount())
    ]


def test_that_what_a_plan_cannot_hold_is_said_and_not_taken(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("launch.num_processes")
    field = _editor(step, "launch.num_processes")
    qtbot.keyClicks(field, "two")
    assert "launch.num_processes must be a whole number" in _texts(step)
    assert document.plan.launch.num_processes == 1
    _retype(qtbot, field, "2")
    assert document.plan.launch.num_processes == 2
    assert "must be" not in _texts(step)


def test_that_gpus_and_variables_are_typed_in_lines(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("launch.gpu_ids")
    qtbot.keyClicks(_editor(step, "launch.gpu_ids"), "0, 1")
    assert document.plan.launch.gpu_ids == (0, 1)
    document.change({"env.HF_TOKEN": "hf_secretsecretsecret"}, "Token")
    step.show_argument("launch.env")
    field = _editor(step, "launch.env")
    qtbot.keyClicks(field, "A=b 'C=d e'")
    assert document.plan.launch.env == {"A": "b", "C": "d e", "HF_TOKEN": "hf_secretsecretsecret"}
    assert "env.A" in _names(step)
    assert "hf_secret" not in _texts(step) + field.text()
    step.show_argument("env.HF_TOKEN")
    assert "hf_secret" not in _editor(step, "env.HF_TOKEN").text()


# Taking back


def test_that_a_preset_value_comes_back_with_one_click(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("network_dim")
    field = _editor(step, "network_dim")
    assert field.placeholderText() == "preset: 32"
    qtbot.keyClicks(field, "64")
    button = _find(step, "argument-take-back")
    assert button.text() == "Take back: 32"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "network_dim" not in document.plan.arguments
    assert "A face needs rank 32" in _find(step, "argument-facts").text()
    qtbot.mouseClick(_find(step, "argument-use-default"), Qt.MouseButton.LeftButton)
    assert document.plan.without == ("network_dim",)
    assert _find(step, "argument-source").text() == "default, by you"
    qtbot.mouseClick(_find(step, "argument-take-back"), Qt.MouseButton.LeftButton)
    assert document.plan.without == ()


def test_that_emptying_a_field_takes_the_value_back(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("seed")
    field = _editor(step, "seed")
    qtbot.keyClicks(field, "7")
    _retype(qtbot, field, "")
    assert "seed" not in document.plan.arguments
    assert document.effective("seed").value == 42


def test_that_several_rows_are_taken_back_in_one_step_and_copied_as_a_command_line(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    document.change(
        {"lr_scheduler": "linear", "lr_scheduler_args": ["a b"], "huggingface_token": "hf_x" * 9}, "Set"
    )
    step.show_argument("lr_scheduler")
    step.list.setFocus()
    qtbot.keyClick(step.list, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(step.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "--lr_scheduler linear\n--lr_scheduler_args 'a b'"
    steps = document.undo_stack.count()
    qtbot.keyClick(step.list, Qt.Key.Key_Delete)
    assert "lr_scheduler" not in document.plan.arguments
    assert "lr_scheduler_args" not in document.plan.arguments
    assert document.undo_stack.count() == steps + 1
    names = (
        "huggingface_token",
        "dataset.batch_size",
        "dataset.class_tokens",
        "xformers",
        "launch.num_machines",
    )
    document.change({"dataset.batch_size": 2, "dataset.class_tokens": "mira"}, "Data")
    rows = [row for row in map(step.model.row, names) if row is not None]
    text = command_line_text(step.model, rows)
    assert text.splitlines() == [
        "--train_batch_size 2",
        "# class_tokens = mira",
        "# launch.num_machines = 1",
    ]


def test_that_keys_lead_from_the_search_to_the_editor_and_back(qtbot: QtBot, step: ArgumentsStep) -> None:
    qtbot.keyClicks(step.search, "max_train")
    qtbot.keyClick(step.search, Qt.Key.Key_Down)
    assert step.list.hasFocus()
    qtbot.keyClick(step.list, Qt.Key.Key_Down)
    assert _find(step, "argument-title").text() == "max_train_steps"
    qtbot.keyClick(step.list, Qt.Key.Key_Return)
    field = _editor(step, "max_train_steps")
    assert field.hasFocus()
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert step.list.hasFocus()


# Staying


def test_that_selection_and_place_stay_while_values_and_rows_change(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    step.show_argument("save_state")
    step.list.setFocus()
    selection = step.list.selectionModel()
    resets: list[int] = []
    step.model.modelReset.connect(lambda: resets.append(1))
    document.change({"unet_lr": 1e-5}, "Value")
    document.change({"netwrk_dim": 4, "env.B": "c"}, "Rows")
    document.set_layer("memory", "12gib")
    document.undo_stack.setIndex(0)
    assert not resets
    current = step.list.current_row()
    assert current is not None
    assert current.name == "save_state"
    assert selection.isSelected(step.list.currentIndex())
    assert step.list.viewport().rect().intersects(_place_of(step, "save_state"))


def test_that_another_family_and_another_trainer_list_other_arguments(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument, trainers: OneTrainer
) -> None:
    step.show_argument("seed")
    assert "No trainer is connected" in _find(step, "arguments-catalogue").text()
    assert "once a trainer is connected" in _find(step, "argument-help").text()
    document.set_family("flux1")
    assert "blocks_to_swap" in _names(step)
    assert "flux_train_network.py" in _find(step, "arguments-catalogue").text()
    document.undo_stack.undo()
    trainers.catalogue = _with_help(trainers.catalogue)
    trainers.changed.emit()
    assert _find(step, "argument-title").text() == "seed"
    assert _find(step, "argument-help").text() == "help about seed"
    assert "your trainer (sd-scripts 9.9)" in _find(step, "arguments-catalogue").text()
    document.change({"plan.family": "nowhere"}, "Unknown family")
    assert "No script is known" in _find(step, "arguments-catalogue").text()


def test_that_a_plan_that_can_only_be_looked_at_is_not_changed(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument, tmp_path: Path
) -> None:
    path = tmp_path / "newer.toml"
    path.write_text('schema = 99\nname = "later"\nfamily = "sdxl"\n[arguments]\nseed = 3\n')
    document.open(path)
    step.show_argument("seed")
    assert not _editor(step, "seed").isEnabled()
    step.list.setFocus()
    qtbot.keyClick(step.list, Qt.Key.Key_Delete)
    assert document.plan.arguments["seed"] == 3
    step.show_argument("xformers")
    qtbot.keyClick(step.list, Qt.Key.Key_Space)
    assert "xformers" not in document.plan.arguments


def test_that_strange_plans_are_shown_whatever_they_hold(
    qtbot: QtBot, step: ArgumentsStep, document: PlanDocument
) -> None:
    strange = {
        "unet_lr": {"a": 1},
        "a.b": 1,
        "seed": [[1]],
        "xformers": "yes",
        "optimizer_args": 5,
        "sdpa": 1,
    }
    dataset = {
        "subsets": {"x": 1},
        "datasets": [{"subsets": [3, {"num_repeats": "x"}], "resolution": "9"}],
        "q.r": 2,
    }
    document.new(TrainingPlan(family="sdxl", arguments=strange, dataset=dataset))
    for row in step.model.rows:
        if not row.is_heading:
            step.show_argument(row.target)
            assert step.model.spoken(row)
    step.grab()
    step.show_argument("a.b")
    step.list.setFocus()
    qtbot.keyClick(step.list, Qt.Key.Key_Delete)
    assert "a.b" not in document.plan.arguments


@pytest.mark.parametrize(("width", "percent"), [(1000, 100), (640, 100), (740, 150)])
def test_that_everything_has_its_place_at_every_size(
    qtbot: QtBot, step: ArgumentsStep, theme: Theme, width: int, percent: int
) -> None:
    theme.set_text_percent(percent)
    theme.set_appearance("dark")
    step.resize(width, 560)
    step.show_argument("save_precision")
    qtbot.waitUntil(lambda: step.list.viewport().rect().contains(_place_of(step, "save_precision").center()))
    wanted = Qt.Orientation.Horizontal if width == 1000 else Qt.Orientation.Vertical
    assert step.splitter.orientation() is wanted
    places = step.list._delegate.places(_place_of(step, "save_precision"))
    assert places.name.right() < places.value.left()
    assert places.value.right() <= step.list.viewport().width()
    step.grab()


def test_that_everyday_names_are_shown_and_found(
    qtbot: QtBot,
    show: Callable[..., Any],
    icons: Icons,
    document: PlanDocument,
    trainers: OneTrainer,
    tokens: Tokens,
) -> None:
    page = ArgumentsStep(
        icons=icons, document=document, trainers=trainers, tokens=tokens, titles={"unet_lr": "U-Net rate"}
    )  # type: ignore[arg-type]
    show(page)
    qtbot.keyClicks(page.search, "u-net rate")
    assert _names(page) == ["unet_lr"]
    assert _find(page, "argument-title").text() == "U-Net rate"
    assert _find(page, "argument-name").text() == "unet_lr"


def test_that_a_connected_trainer_and_preflight_have_their_say(
    qtbot: QtBot,
    show: Callable[..., Any],
    icons: Icons,
    document: PlanDocument,
    tasks: Tasks,
    home: Home,
    tokens: Tokens,
) -> None:
    trainers = Trainers(home, Settings(home), tasks)
    checks = Checks(document, trainers, tasks, home)
    page = show(
        ArgumentsStep(icons=icons, document=document, trainers=trainers, tokens=tokens, checks=checks),
        1000,
        700,
    )
    trainers.use("practice")
    qtbot.waitUntil(lambda: trainers.current is not None, timeout=30_000)
    assert "your trainer" in _find(page, "arguments-catalogue").text()

    document.change({"mixed_precision": "fp16", "unet_lr": 1.0}, "Too fast")
    qtbot.waitUntil(lambda: bool(checks.at("unet_lr")) and not checks.busy, timeout=10_000)
    page.show_argument("unet_lr")
    assert checks.at("unet_lr")[0].title in _texts(page).replace("\u200b", "")
    qtbot.mouseClick(_find(page, "arguments-only-findings"), Qt.MouseButton.LeftButton)
    assert "unet_lr" in _names(page)
    checks.close()


def test_that_long_words_of_other_languages_fit(
    qtbot: QtBot,
    pseudo_language: str,
    show: Callable[..., Any],
    icons: Icons,
    document: PlanDocument,
    trainers: OneTrainer,
    tokens: Tokens,
) -> None:
    document.change({"network_dim": 128, "output_dir": "/a/" + "very-long-folder/" * 12}, "Set")
    page = show(ArgumentsStep(icons=icons, document=document, trainers=trainers, tokens=tokens), 724, 550)  # type: ignore[arg-type]
    for name in ("network_dim", "output_dir", "optimizer_args", "mixed_precision"):
        page.show_argument(name)
        qtbot.wait(1)
        panel = page.panel
        for child in sight.visible(panel):
            if child.objectName().startswith("argument-"):
                right = child.mapTo(panel, child.rect().topRight()).x()
                assert right <= panel.width(), child.objectName()


# Values


def test_that_the_table_speaks_for_itself(document: PlanDocument) -> None:
    model = ArgumentsModel(document)
    row = model.row("learning_rate")
    assert row is not None
    index = model.index_of(row)
    cells = [model.data(index.siblingAtColumn(column)) for column in range(model.columnCount())]
    assert cells[:4] == ["learning_rate", "8e-5", "2e-6", "preset Safe"]
    assert model.data(index, Qt.ItemDataRole.AccessibleTextRole) == "learning_rate: 8e-5, preset Safe"
    assert "8e-5" in model.data(index, Qt.ItemDataRole.ToolTipRole)
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Value"
    assert model.headerData(1, Qt.Orientation.Vertical) is None
    assert model.text(row, Column.HELP) == ""


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS)
def test_that_a_shown_number_reads_back_as_the_same(number: float) -> None:
    row = ArgumentRow("unet_lr", "unet_lr", "learning", "number")
    again = read_text(row, number_text(number))
    assert again == number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-4, "1e-4"),
        (8e-05, "8e-5"),
        (1.5e-6, "1.5e-6"),
        (0.0, "0"),
        (1.0, "1"),
        (0.05, "0.05"),
        (1e22, "1e22"),
    ],
)
def test_that_numbers_are_written_as_people_write_them(number: float, text: str) -> None:
    assert number_text(number) == text


@given(data=st.data())
def test_that_what_the_trainer_takes_is_shown_and_read_back_the_same(data: st.DataObject) -> None:
    rows = [
        row
        for row in rows_of(TrainingPlan(family="sdxl"), Catalogue.bundled().script(SCRIPT))
        if row.argument
    ]
    row = data.draw(st.sampled_from(rows))
    value = data.draw(_value_of(row.argument))
    assert row.argument is not None
    words = words_for(row.argument, value)
    assert isinstance(words, Words)
    if row.kind == "switch":
        assert shown_text(row, value) in ("on", "off")
    elif not row.secret and value_text(row, value).strip():
        again = words_for(row.argument, read_text(row, value_text(row, value)))
        assert isinstance(again, Words)
        assert again.value == words.value


def _value_of(argument: Argument | None) -> st.SearchStrategy[Any]:
    assert argument is not None
    if argument.is_flag:
        return st.booleans()
    if argument.choices:
        return st.sampled_from([choice for choice in argument.choices if choice is not None])
    texts = st.text(alphabet="abc 1=\"',\\", min_size=1, max_size=6).filter(lambda text: text == text.strip())
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        "int": st.integers(),
        "float": NUMBERS.filter(lambda number: number >= 0),
        "int_or_float": st.integers(0) | st.floats(0, 0.9),
    }
    one = kinds.get(argument.type, texts)
    return st.lists(one, min_size=1, max_size=3) if argument.is_list else one


def test_that_every_argument_of_every_script_has_a_group() -> None:
    catalogue = Catalogue.bundled()
    for script in catalogue.scripts:
        rows = rows_of(TrainingPlan(), catalogue.script(script))
        orders = [group_order(row.group) for row in rows]
        assert orders == sorted(orders)
        assert all(group_title(row.group) for row in rows)
        others = [row for row in rows if row.group == "other" and not row.is_heading]
        assert len(others) < 15


def test_that_reading_is_kind_to_what_people_type() -> None:
    def read(kind: Any, text: str) -> Any:
        return read_text(ArgumentRow("x", "x", "other", kind), text)

    assert read("size", "1024") == 1024
    assert read("size", "768 × 512") == [768, 512]
    assert read("size", ",") == ","
    assert read("range", "2, 4") == [2.0, 4.0]
    assert read("steps", "10%") == "10%"
    assert read("steps", "0.1") == 0.1
    assert read("steps", "100") == 100
    assert read("whole", "ten") == "ten"
    assert read("variables", "A") == "A"
    assert read("number", "0,5") == "0,5"
    assert shown_text(ArgumentRow("x", "x", "other", "variables"), {"A": "b"}) == "A"
